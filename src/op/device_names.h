/* Words for devices and memory formats; the operations' registry itself is in
** op/op.h. */
#ifndef LA_OP_DEVICE_NAMES_H
#define LA_OP_DEVICE_NAMES_H

#include "op/op.h"

const char *la_device_name(la_device d);
bool la_device_parse(const char *name, size_t n, la_device *out);
const char *la_format_name(la_memory_format f);
bool la_format_parse(const char *word, size_t n, la_memory_format *out);

#endif

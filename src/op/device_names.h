/* Words for memory formats, and with base/device.h for devices; the operations'
** registry itself is in op/op.h. */
#ifndef LA_OP_DEVICE_NAMES_H
#define LA_OP_DEVICE_NAMES_H

#include "base/device.h"
#include "op/op.h"

const char *la_format_name(la_memory_format f);
bool la_format_parse(const char *word, size_t n, la_memory_format *out);

#endif

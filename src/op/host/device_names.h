/* Words for memory formats, and with base/runtime/device.h for devices; whether
** the tensors of a call are on one. The operations' registry is in op/op.h. */
#ifndef LA_OP_HOST_DEVICE_NAMES_H
#define LA_OP_HOST_DEVICE_NAMES_H

#include "base/runtime/device.h"
#include "op/frame.h"

const char *la_format_name(la_memory_format f);
bool la_format_parse(const char *word, size_t n, la_memory_format *out);

/* LA_EARG where some tensors are on the meta device and others on the
** processor; numbers, positions and what copy_ reads may be there. */
la_status la_check_devices(const la_frame *f);

#endif

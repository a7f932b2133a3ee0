/*
** Devices: the CPU, meta (shapes without data), and those that the host gave a
** runtime. Memory of the host's devices is opaque: a block is a pointer that
** only its hooks understand, and bytes go in and out by them alone. Nothing
** here reads what a block points at.
*/
#ifndef LA_BASE_RUNTIME_DEVICE_H
#define LA_BASE_RUNTIME_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct la_runtime la_runtime;
struct la_device_def;

typedef enum la_device {
    LA_CPU,
    LA_META,        /* shapes without data */
    LA_DEVICE_EXT,  /* the first of those registered from outside */
    LA_NDEVICES = 8
} la_device;

/* Registers a device in the runtime where the thread is, from the lunarray.h
** struct, whose name is copied. Without hooks its memory is the library's own.
** LA_EARG for a name that is taken or too long, for some of the hooks without
** the others, and for too many devices; LA_ENOMEM. On any thread. */
la_status la_device_register(const struct la_device_def *def, la_device *out);
const char *la_device_name(la_device d);
bool la_device_parse(const char *name, size_t n, la_device *out);
/* Is there a device of this number where the thread is? */
bool la_device_is_known(int number);

/* All of these are of a device that the host gave, in the runtime where the
** thread is; hooks run with no lock held. Blocks are counted as tensors' bytes,
** and capped. LA_ENOMEM when there is none; the other hooks' failures have the
** host's text, or name device and hook. */
la_status la_device_alloc(la_device d, int64_t bytes, void **block);
void la_device_free(la_device d, void *block, int64_t bytes);
la_status la_device_write(la_device d, void *block, int64_t offset,
                          const void *from, int64_t bytes);
la_status la_device_read(la_device d, void *to, const void *block,
                         int64_t offset, int64_t bytes);
/* Between two blocks; through the CPU where the device has no hook for it. */
la_status la_device_move(la_device d, void *to, int64_t to_offset,
                         const void *from, int64_t from_offset,
                         int64_t bytes);
la_status la_device_clear(la_device d, void *block, int64_t offset,
                          int64_t bytes);

/* The end of a runtime. */
void la_devices_drop(la_runtime *rt);

#endif

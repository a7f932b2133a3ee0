/* Tensors shared with other libraries by DLPack: the structs of dlpack.h
** (versions 0.x and 1.x) are written out in dlpack.c. */
#ifndef LA_TENSOR_HOST_DLPACK_H
#define LA_TENSOR_HOST_DLPACK_H

#include "tensor/tensor.h"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

/* *out shares t's memory and keeps it until the consumer calls its deleter, on
** any thread. Strides are always given. LA_ESTATE for lazy bits and, without a
** version, for read-only memory, which only the newer struct can tell; LA_EGRAD
** for what needs a gradient; LA_EKEY for a device other than the CPU. */
la_status la_dlpack_export(la_tensor *t, struct DLManagedTensor **out);
la_status la_dlpack_export_versioned(la_tensor *t,
                                     struct DLManagedTensorVersioned **out);

/* 'm' is taken: its deleter runs exactly once, when the last tensor on the
** memory is gone, or at once on failure; until then m->deleter does nothing.
** LA_ESTATE for a struct that is taken already, which stays so. LA_EKEY for
** another device, LA_EDTYPE for an unknown type or lanes, LA_ESHAPE for
** negative strides, LA_EARG for a pointer that is no multiple of the element's
** size or a major version above 1. */
la_status la_dlpack_import(struct DLManagedTensor *m, la_tensor **out);
la_status la_dlpack_import_versioned(struct DLManagedTensorVersioned *m,
                                     la_tensor **out);

/* 'm' is taken and not used: its deleter runs. */
void la_dlpack_drop(void *m, bool versioned);

/* Is 'm' of version 1? The older struct begins with the address of the data,
** where 1.x has two small numbers: no address of a process like ours. */
bool la_dlpack_has_version(const void *m);

#endif

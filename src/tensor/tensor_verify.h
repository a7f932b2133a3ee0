/*
** Self-checks of a tensor in the debug build; nothing in others.
**
** la_tensor_verify: references, the number of dims, numel, the layout flags,
** the depth of the chain of views. la_tensor_verify_extent: the storage reaches
** as far as sizes and strides do, which an argument may lack (a storage can be
** made smaller under a view: the gate's error) and a result may not.
** la_storage_verify: references, and where the bytes can lie.
*/
#ifndef LA_TENSOR_TENSOR_VERIFY_H
#define LA_TENSOR_TENSOR_VERIFY_H

#include "tensor/tensor.h"

#ifdef LA_DEBUG
void la_tensor_verify(const la_tensor *t);
void la_tensor_verify_extent(const la_tensor *t);
void la_storage_verify(const la_storage *s);
#else
static inline void la_tensor_verify(const la_tensor *t) {}
static inline void la_tensor_verify_extent(const la_tensor *t) {}
static inline void la_storage_verify(const la_storage *s) {}
#endif

#endif

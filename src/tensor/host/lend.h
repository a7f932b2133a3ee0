/*
** Bytes of a tensor lent to somebody who points at them: a consumer of DLPack,
** tensors that read them and can't write.
*/
#ifndef LA_TENSOR_HOST_LEND_H
#define LA_TENSOR_HOST_LEND_H

#include "tensor/tensor.h"

/* A tensor of its own on the bytes of 't', which do not move while anybody
** holds them: no resize_, and set_ of 't' leaves them to whom they were
** lent. */
la_status la_tensor_hold(la_tensor *t, la_tensor **out);

/* A tensor that reads the elements of 't', as they are at any time, and refuses
** to be written; so do its views. Any number of states may have one. LA_EKEY
** for a device other than the CPU, LA_EGRAD for what requires grad, LA_ESTATE
** for lazy bits. */
la_status la_tensor_lend(la_tensor *t, la_tensor **out);

#endif

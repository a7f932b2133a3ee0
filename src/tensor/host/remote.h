/*
** Tensors on devices of the host's, for code that reads and writes memory: a
** copy on the CPU in the same layout, and its bytes back.
*/
#ifndef LA_TENSOR_HOST_REMOTE_H
#define LA_TENSOR_HOST_REMOTE_H

#include "tensor/tensor.h"

/* New, on the CPU: the layout, lazy bits and names of 't', which is remote,
** and its elements where 'read' is set (else they are not set). */
la_status la_remote_fetch(const la_tensor *t, bool read, la_tensor **out);
/* *owned is a copy on the CPU where it was remote. */
la_status la_remote_bring(la_tensor **owned);
/* The bytes of what la_remote_fetch gave for 't' back into it, those between
** its elements too. */
la_status la_remote_store(la_tensor *t, const la_tensor *fetched);
/* 'from', which lies on the same device in the same dense layout, into 't'. */
la_status la_remote_move(la_tensor *t, const la_tensor *from);
/* LA_EKEY for such a tensor: for code that only reads the CPU's memory. */
la_status la_remote_refuse(const la_tensor *t);
/* Address of the first element, as a pointer that counts in bytes from the
** block's. What it means the device knows. NULL without elements. */
void *la_remote_address(const la_tensor *t);

#endif

/*
** Snapshots: the data of tensors at one moment, by copy on write; slots, which
** hand tensors from thread to thread.
**
** A snapshot holds an image of each tensor's bytes. While nobody has written
** the storage since, the image has no bytes of its own: the storage is watched
** (LA_S_WATCHED), and whoever writes it asks first (la_tensor_check_writable),
** which copies the bytes of the image away. Snapshots between which nothing was
** written share an image. Memory that somebody may write through a pointer (the
** host's, or what la_tensor_data has given out) is copied at once.
**
** The storage stays where it is: pointers into it hold, and a restore writes
** into the same tensors.
*/
#ifndef LA_TENSOR_SNAPSHOT_H
#define LA_TENSOR_SNAPSHOT_H

#include "tensor/tensor.h"

typedef struct la_snapshot la_snapshot;

/* Takes n tensors of the runtime that the thread is in, with references to
** them; the same one may come twice. LA_EARG for NULL and for one of another
** runtime, LA_ESUPPORT for a tensor of another device, LA_ENOMEM. */
la_status la_snapshot_make(int64_t n, la_tensor *const *list,
                           la_snapshot **out);
/* The tensors of the list behind the first 'lent' ones were made for it: that
** only it holds them does not mean that they were freed. */
void la_snapshot_own(la_snapshot *, int64_t lent);
/* A generator of random numbers that goes back, too: NULL is that of the thread
** which puts the snapshot back. */
typedef struct la_snapshot_generator {
    la_generator *generator;    /* borrowed */
    la_generator then;
} la_snapshot_generator;
/* Once for each snapshot; copies the list. LA_ENOMEM. */
la_status la_snapshot_note(la_snapshot *, int n,
                           const la_snapshot_generator *list);
/* Write the bytes back, where they may have changed. LA_ESTATE where a tensor
** has another shape, dtype or memory by now, was freed (nobody but snapshots
** holds it) or can't be written; LA_ENOMEM. Nothing is written then. */
la_status la_snapshot_put_back(la_snapshot *s);
/* NULL is allowed; from any runtime. */
void la_snapshot_drop(la_snapshot *s);
/* The runtime of the tensors. */
uint8_t la_snapshot_owner(const la_snapshot *s);
/* Tensor k of the list, from 0; borrowed. */
la_tensor *la_snapshot_tensor(const la_snapshot *s, int64_t k);

#endif

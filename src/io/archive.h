/*
** Tensors by name: what .npz and .safetensors hold.
*/
#ifndef LA_IO_ARCHIVE_H
#define LA_IO_ARCHIVE_H

#include "io/map.h"
#include "io/stream.h"
#include "tensor/tensor.h"

typedef struct la_entry {
    char *name;             /* owned, of la_mem_alloc(n + 1); NUL behind it */
    size_t n;               /* may hold any bytes */
    la_tensor *tensor;      /* owned */
} la_entry;

typedef struct la_archive {
    la_entry *list;
    int64_t n, capacity;
} la_archive;

/* Append one. Copies the name and takes the tensor over, also when this fails
** (LA_ENOMEM): the caller has nothing to release either way. */
la_status la_archive_add(la_archive *, const char *name, size_t n,
                         la_tensor *owned);
/* Release names and tensors; empty afterwards, so it may run twice. A tensor
** that was moved out of an entry has left NULL there. */
void la_archive_free(la_archive *);
#define LA_ARCHIVE __attribute__((cleanup(la_archive_free))) la_archive
/* By name, bytewise. LA_EIO when a name is there twice. */
la_status la_archive_sort(la_archive *);

/* Everything in the file, sorted by name. After an error (LA_EIO, LA_ENOMEM,
** LA_EINTR) the archive holds what was read until then; the caller frees it. */
la_status la_npz_read(const la_reader *, la_archive *out);
la_status la_safetensors_read(const la_reader *, la_archive *out);

/* The same, without reading the data: the tensors lie in the mapping and keep
** it alive. LA_EIO also where one is not aligned for its dtype, or is bool. */
la_status la_safetensors_map(const la_reader *, la_mapping *,
                             la_archive *out);

/* Tensors are contiguous, without conj and neg bits. Sorts the archive. LA_EARG
** for a name and LA_EDTYPE for a dtype that the format does not have; the
** caller commits the sink. */
la_status la_npz_write(la_archive *, la_writer *);
la_status la_safetensors_write(la_archive *, la_writer *);

#endif

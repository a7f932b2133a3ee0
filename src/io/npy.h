/*
** NumPy's .npy format, versions 1 to 3.
*/
#ifndef LA_IO_NPY_H
#define LA_IO_NPY_H

#include "io/map.h"
#include "io/stream.h"
#include "tensor/tensor.h"

/* Fields of the header. */
typedef struct la_npy_header {
    la_dtype dtype;
    bool swapped;           /* the bytes of an item are the other way round */
    bool fortran;           /* the first dim is the fastest */
    int ndim;
    int64_t sizes[LA_MAX_DIMS];
} la_npy_header;

/* Parse the text of a header (a Python dict of literals) by our own grammar:
** nothing is evaluated. LA_EIO for any other text and for dtypes that are not
** ours. */
la_status la_npy_parse(const char *text, size_t n, la_npy_header *out);

/* A whole file: magic, header, data, and nothing behind. The tensor is new,
** owned by the caller, contiguous and in this machine's order of bytes. */
la_status la_npy_read(la_stream *in, la_tensor **out);

/* Maps without reading the data: the tensor lies in the mapping. LA_EIO where
** the bytes would have to be swapped. */
la_status la_npy_map(const la_reader *, la_mapping *, la_tensor **out);

/* Bytes that la_npy_write will write, header and padding included. LA_EDTYPE
** where NumPy has no such dtype. */
la_status la_npy_size(const la_tensor *t, int64_t *bytes);
/* 't' is contiguous, without conj and neg bits. 'write' gets the
** pieces in order; its status ends the writing. */
typedef la_status (*la_write_fn)(void *to, const void *bytes, size_t n);
la_status la_npy_write(const la_tensor *t, la_write_fn write, void *to);

#endif

/*
** Tensors by name and texts about them: what .npz and .safetensors hold.
*/
#ifndef LA_IO_ARCHIVE_H
#define LA_IO_ARCHIVE_H

#include "io/json.h"
#include "io/map.h"
#include "io/stream.h"
#include "tensor/tensor.h"

typedef struct la_entry {
    char *name;             /* owned, of la_mem_alloc(n + 1); NUL behind it */
    size_t n;               /* may hold any bytes */
    la_tensor *tensor;      /* owned */
} la_entry;

/* Texts by a key; both owned, with a NUL behind them, and any bytes. */
typedef struct la_note {
    char *key, *text;
    size_t n, text_n;
} la_note;
typedef struct la_notes {
    la_note *list;
    int64_t n, capacity;
} la_notes;

typedef struct la_archive {
    la_entry *list;
    int64_t n, capacity;
    la_notes metadata;      /* of the file; UTF-8 */
    la_notes skipped;       /* when read: names of tensors whose dtype there is
                            ** none of here, and the file's word for it */
    int64_t limit;          /* bytes that may be read; 0: any number */
} la_archive;


/* Append one. Copies the name and takes the tensor over, also when this fails
** (LA_ENOMEM): the caller has nothing to release either way. */
la_status la_archive_add(la_archive *, const char *name, size_t n,
                         la_tensor *owned);
/* Append one, by copies. LA_ENOMEM. */
la_status la_notes_add(la_notes *, const char *key, size_t n,
                       const char *text, size_t text_n);
/* Sorts by key, then by text, bytewise. */
void la_notes_sort(la_notes *);
void la_notes_free(la_notes *);
#define LA_NOTES __attribute__((cleanup(la_notes_free))) la_notes

/* A JSON object of strings, which is what both formats keep: read at 'json'
** into the notes, LA_EIO where it is something else or a key is there twice;
** appended to 'out', keys sorted. */
la_status la_metadata_read(la_json *json, la_notes *out);
void la_metadata_put(la_bytes *out, la_notes *);

/* Release names and tensors; empty afterwards, so it may run twice. A tensor
** that was moved out of an entry has left NULL there. */
void la_archive_free(la_archive *);
#define LA_ARCHIVE __attribute__((cleanup(la_archive_free))) la_archive
/* Sorts by name, bytewise. 'fault' when a name is there twice: LA_EIO is the
** file's, LA_EARG that of who writes it. */
la_status la_archive_sort(la_archive *, la_status fault);

/* Everything in the file, sorted by name; tensors of a dtype that there is none
** of here are skipped (.safetensors). After an error (LA_EIO, LA_ENOMEM,
** LA_EINTR) the archive holds what was read until then; the caller frees it. */
la_status la_npz_read(const la_reader *, la_archive *out);
la_status la_safetensors_read(const la_reader *, la_archive *out);

/* Maps without reading the data: the tensors lie in the mapping and keep it
** alive. LA_EIO also where one is not aligned for its dtype, or is bool. */
la_status la_safetensors_map(const la_reader *, la_mapping *,
                             la_archive *out);

/* Tensors are contiguous, without conj and neg bits. Sorts the archive. LA_EARG
** for a name and LA_EDTYPE for a dtype that the format does not have; the
** caller commits the sink. */
la_status la_npz_write(la_archive *, la_writer *);
la_status la_safetensors_write(la_archive *, la_writer *);

#endif

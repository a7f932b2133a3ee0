/* Formats of files, and archives from and to them. */
#include "api/files.h"

#include <string.h>

#include "io/npy.h"
#include "op/call.h"

/* Words in the order of la_file_format: extensions of paths, and what hosts
** give. */
static const char *const words[] = {"npy", "npz", "safetensors"};

la_file_format la_file_format_named(const char *word)
{
    for (int f = LA_FILE_NPY; f < LA_FILE_UNKNOWN; f++)
        if (strcmp(word, words[f]) == 0) return (la_file_format)f;
    return LA_FILE_UNKNOWN;
}

la_file_format la_file_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? la_file_format_named(dot + 1) : LA_FILE_UNKNOWN;
}

/* A .safetensors begins with the length of its header, which is a JSON
** object. */
la_status la_file_format_inside(const la_reader *in, la_file_format *out)
{
    char first[9] = {0};
    size_t n = in->size < 9 ? (size_t)in->size : 9;
    LA_TRY(la_reader_read(in, 0, first, n));
    if (n >= 6 && memcmp(first, "\x93NUMPY", 6) == 0) *out = LA_FILE_NPY;
    else if (n >= 4 && (memcmp(first, "PK\3\4", 4) == 0
                        || memcmp(first, "PK\5\6", 4) == 0))
        *out = LA_FILE_NPZ;
    else if (n == 9 && first[8] == '{') *out = LA_FILE_SAFETENSORS;
    else return la_error(LA_EIO, "the bytes are no .npy, .npz or .safetensors");
    return LA_OK;
}

/* One tensor and no name: the archive's entry has the empty one. */
static la_status read_npy(const la_reader *in, la_archive *out)
{
    la_range_stream stream;
    la_tensor *t = NULL;
    la_range_stream_init(&stream, in, 0, in->size);
    LA_TRY(la_npy_read(&stream.stream, &t));
    return la_archive_add(out, "", 0, t);
}

la_status la_file_read(const la_reader *in, la_file_format format,
                       la_archive *out)
{
    if (format != LA_FILE_NPZ) LA_TRY(la_check_limit(in->size, out->limit));
    switch (format) {
    case LA_FILE_NPY: return read_npy(in, out);
    case LA_FILE_NPZ: return la_npz_read(in, out);
    default: return la_safetensors_read(in, out);
    }
}

/* LA_READER closes the file on every way out. */
la_status la_file_load(const char *path, la_file_format format,
                       la_archive *out)
{
    LA_READER source = {.fd = -1};
    LA_TRY(la_reader_open(path, &source));
    return la_file_read(&source, format, out);
}

/* Values in a row: no bits, no gaps. Owned. */
static la_status files_plain(la_tensor *t, la_tensor **out)
{
    const uint32_t odd = LA_F_CONJ | LA_F_NEG | LA_F_DEFERRED;
    if (!(t->flags & odd) && la_is_contiguous(t)) {
        LA_TRY(la_tensor_check_bounds(t));
        *out = la_tensor_retain(t);     /* and costs no fuel */
        return LA_OK;
    }
    LA_LET(a, la_run(resolve_conj, &a, t));
    LA_LET(b, la_run(resolve_neg, &b, a));
    return la_run(contiguous, out, b);
}

/* LA_ESTATE for tensors of the meta device, or whose storage was freed. */
static la_status check_has_data(const la_tensor *t)
{
    if (t->flags & LA_F_BATCHED) return la_refuse_batched();
    if (t->device == LA_META)
        return la_error(LA_ESTATE, "a meta tensor has no data to save");
    if (t->device != LA_CPU)
        return la_error(LA_ESTATE, "the tensor is on another device: x:cpu() "
                        "can be saved");
    if (t->numel && !t->storage)
        return la_error(LA_ESTATE, "the tensor has no data to save");
    return LA_OK;
}

/* A contiguous copy, or the tensor itself if it is plain. The archive owns what
** it is given, also where la_archive_add fails. */
la_status la_file_add(la_archive *a, const char *name, size_t n, la_tensor *t)
{
    la_tensor *values = NULL;
    LA_TRY(check_has_data(t));
    LA_TRY(files_plain(t, &values));
    return la_archive_add(a, name, n, values);
}

/* The writer of la_npy_write: 'sink' is the la_writer. */
static la_status write_piece(void *sink, const void *bytes, size_t n)
{
    return la_writer_write(sink, bytes, n);
}

/* Writes from front to back, so that the writer may be a pipe or a host's
** callback. Archives of several tensors have a directory or a header, which
** .npy has not. */
la_status la_file_write(la_archive *a, la_file_format format, la_writer *out)
{
    if (format == LA_FILE_NPZ) return la_npz_write(a, out);
    if (format == LA_FILE_SAFETENSORS) return la_safetensors_write(a, out);
    if (a->n != 1)
        return la_error(LA_EARG, "a .npy holds one tensor, %lld were given",
                        (long long)a->n);
    return la_npy_write(a->list[0].tensor, write_piece, out);
}

/* Refuses, before the temporary file is there, archives that no file can
** hold. */
static la_status check_fits(const la_archive *a, la_file_format format)
{
    int64_t bytes;
    if (format != LA_FILE_NPY || a->n != 1) return LA_OK;
    return la_npy_size(a->list[0].tensor, &bytes);
}

/* Without the commit at the end LA_WRITER takes the temporary file away again,
** and the old file of that name is what it was. */
la_status la_file_save(la_archive *a, const char *path, la_file_format format)
{
    LA_WRITER sink = {.fd = -1};
    LA_TRY(check_fits(a, format));
    LA_TRY(la_writer_open(path, &sink));
    LA_TRY(la_file_write(a, format, &sink));
    return la_writer_commit(&sink);
}

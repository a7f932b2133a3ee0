/*
** Files in lunarray.h, by path, from memory, and by callbacks of the host.
** Nothing here raises a Lua error. A callback runs on the calling thread, and
** what it says by la_fail is the error.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "api/api_struct.h"
#include "api/files.h"

static la_status bad_format(void)
{
    return la_error(LA_EARG, "the path must end with .npy, .npz or"
                    " .safetensors");
}

/* Move the entry's tensor out to the caller. A .npy has one, whatever name is
** asked for. */
static la_status find_entry(la_archive *a, la_file_format format,
                            const char *from, const char *name,
                            la_tensor **out)
{
    for (int64_t i = 0; i < a->n; i++) {
        la_entry *e = &a->list[i];
        if (format != LA_FILE_NPY
            && (!name || e->n != strlen(name) || memcmp(e->name, name, e->n)))
            continue;
        *out = e->tensor;
        e->tensor = NULL;
        return LA_OK;
    }
    return la_error(LA_EARG, "%s holds no tensor named '%s'", from,
                    name ? name : "");
}

static la_status load_path(const char *path, const char *name,
                           la_tensor **out)
{
    LA_ARCHIVE a = {0};
    la_file_format format = path ? la_file_format_of(path) : LA_FILE_UNKNOWN;
    if (format == LA_FILE_UNKNOWN) return bad_format();
    LA_TRY(la_file_load(path, format, &a));
    return find_entry(&a, format, path, name, out);
}

/* The first bytes tell the format: there is no path to tell it. */
static la_status load_inside(const la_reader *in, const char *from,
                             const char *name, la_tensor **out)
{
    LA_ARCHIVE a = {0};
    la_file_format format;
    LA_TRY(la_file_format_inside(in, &format));
    LA_TRY(la_file_read(in, format, &a));
    return find_entry(&a, format, from, name, out);
}

/* Loads by the extension, as la.load does: the contents must be of that
** format. */
LA_API la_tensor *la_load(const char *path, const char *name)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    return la_api_end("la_load", load_path(path, name, &t)) ? NULL : t;
}

LA_API la_tensor *la_load_memory(const void *bytes, size_t n,
                                 const char *name)
{
    la_tensor *t = NULL;
    la_reader in;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    la_reader_of_memory(bytes, n, &in);
    la_status status = bytes || !n
        ? load_inside(&in, "the memory", name, &t)
        : la_error(LA_EARG, "no bytes given");
    return la_api_end("la_load_memory", status) ? NULL : t;
}

/* The source is read as far as it says how long it is, and closed also where
** its struct has what is not known here. */
static la_status load_source(const la_source *source, const char *name,
                             la_tensor **out)
{
    la_source s;
    la_reader in;
    la_status status = la_source_read("la_load_from", source, &s, &in);
    if (!status) status = load_inside(&in, "the source", name, out);
    la_source_close(&s);
    return status;
}

/* The caller's struct is only read: it may be shorter or longer than ours. */
LA_API la_tensor *la_load_from(la_source *source, const char *name)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    return la_api_end("la_load_from", load_source(source, name, &t)) ? NULL : t;
}

/* ---- saving ---- */

/* A list is saved in the runtime of its first tensor. */
static la_runtime *runtime_of(int n, const la_named *list)
{
    return la_owner_of(n > 0 && list ? list->tensor : NULL);
}

/* The values join an archive first, so that nothing is written of a list with
** a tensor that cannot be saved. */
static la_status api_io_collect(int n, const la_named *list,
                                la_file_format format, la_archive *a)
{
    if (n < 0 || (n > 0 && !list))
        return la_error(LA_EARG, "a list of named tensors expected");
    for (int i = 0; i < n; i++) {
        const char *name = list[i].name ? list[i].name : "";
        if (!list[i].tensor)
            return la_error(LA_EARG, "tensor %d of the list is NULL", i + 1);
        if (!list[i].name && format != LA_FILE_NPY)
            return la_error(LA_EARG, "tensor %d of the list has no name, which "
                            "only a .npy does without", i + 1);
        if (list[i].tensor->owner != la_here.owner)
            return la_error(LA_EARG, "tensor %d of the list belongs to another "
                            "runtime than the first", i + 1);
        LA_TRY(la_file_add(a, name, strlen(name), list[i].tensor));
    }
    return LA_OK;
}

/* The number of tensors is checked before anything is written. */
static la_status save_path(const char *path, int n, const la_named *list)
{
    LA_ARCHIVE a = {0};
    la_file_format format = path ? la_file_format_of(path) : LA_FILE_UNKNOWN;
    if (format == LA_FILE_UNKNOWN) return bad_format();
    LA_TRY(api_io_collect(n, list, format, &a));
    if (format == LA_FILE_NPY && n != 1)
        return la_error(LA_EARG, "a .npy holds one tensor, %d were given", n);
    return la_file_save(&a, path, format);
}

/* The old file of that name stays until the new one is complete. */
LA_API int la_save(const char *path, int n, const la_named *list)
{
    LA_API_ENTRY_IN(runtime_of(n, list));
    return la_api_end("la_save", save_path(path, n, list));
}

/* Bytes written before a failure are the host's to throw away. */
static la_status save_sink(const la_sink *sink, const char *word, int n,
                           const la_named *list)
{
    LA_ARCHIVE a = {0};
    la_sink s;
    la_writer out;
    la_file_format format = word ? la_file_format_named(word)
                                 : LA_FILE_UNKNOWN;
    if (format == LA_FILE_UNKNOWN)
        return la_error(LA_EARG, "the format is \"npy\", \"npz\" or "
                        "\"safetensors\"");
    if (!sink) return la_error(LA_EARG, "no la_sink given");
    LA_TRY(LA_READ_STRUCT("la_save_to", la_sink, sink, &s));
    LA_TRY(la_writer_to_sink(&s, &out));
    LA_TRY(api_io_collect(n, list, format, &a));
    return la_file_write(&a, format, &out);
}

/* Saves by the word for the format: there is no path whose extension could
** tell. */
LA_API int la_save_to(la_sink *sink, const char *format, int n,
                      const la_named *list)
{
    LA_API_ENTRY_IN(runtime_of(n, list));
    return la_api_end("la_save_to", save_sink(sink, format, n, list));
}

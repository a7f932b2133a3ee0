/*
** Tensors in lunarray.h: making and reading them, DLPack, the error record and
** the resources of the default runtime.
**
** A host may call from any thread and outside of any protected call. So the
** context that was current is restored on return (LA_ENTRY), and the text of
** the last failure is kept per thread.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "base/runtime/host_call.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "op/debug/describe.h"
#include "op/call.h"
#include "tensor/hash.h"
#include "tensor/host/dlpack.h"
#include "tensor/host/host.h"
#include "tensor/host/remote.h"
#include "tensor/shape.h"

bool la_api_dtype(const char *word, la_dtype *out)
{
    *out = word ? la_dtype_parse(word, strlen(word)) : LA_UNDEFINED;
    if (*out != LA_UNDEFINED) return true;
    la_error(LA_EDTYPE, "unknown dtype '%.40s' (known: %s)",
             word ? word : "(null)", la_known_dtypes);
    return false;
}

/* False with the error record set; the sizes themselves are checked where the
** tensor is made. */
bool la_api_shape(int ndim, const int64_t *sizes)
{
    if (ndim >= 0 && ndim <= LA_MAX_DIMS && (sizes || ndim == 0)) return true;
    if (ndim > 0 && ndim <= LA_MAX_DIMS)
        la_error(LA_ESHAPE, "sizes of %d dimensions expected, got NULL", ndim);
    else
        la_error(LA_ESHAPE, "0 to %d dimensions expected, got %d", LA_MAX_DIMS,
                 ndim);
    return false;
}

/* Zeros rather than whatever was there: memory of a host's other tensors must
** not show. */
static la_status new_zeros(const char *dtype, int ndim, const int64_t *sizes,
                           la_tensor **out)
{
    la_dtype d;
    if (!la_api_dtype(dtype, &d) || !la_api_shape(ndim, sizes))
        return la_error_status();
    LA_TRY(la_tensor_empty(ndim, sizes, d, out));
    if ((*out)->numel)
        memset(la_data(*out), 0, (size_t)(*out)->numel * la_itemsize(*out));
    return LA_OK;
}

/* Owned by the caller and filled with zeros; NULL on failure. */
LA_API la_tensor *la_new(const char *dtype, int ndim, const int64_t *sizes)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    la_api_end("la_new", new_zeros(dtype, ndim, sizes, &t));
    return t;
}

/* 'data' passes to the tensor in any case: 'release' is called for it on
** failure too, once. */
LA_API la_tensor *la_wrap(void *data, const char *dtype, int ndim,
                          const int64_t *sizes, const int64_t *strides,
                          void (*release)(void *, void *), void *context)
{
    la_dtype d;
    la_tensor *t = NULL;
    la_status status = LA_OK;
    LA_API_ENTRY(NULL);
    la_share_tensors();
    size_t part = 0;        /* what the memory is aligned for */
    if (la_api_dtype(dtype, &d))
        part = la_dtype_size(d) / (la_is_complex(d) ? 2 : 1);
    if (part && la_api_shape(ndim, sizes) && !la_host_aligned(data, part)) {
        status = la_tensor_wrap(data, d, ndim, sizes, strides, release,
                                context, &t);
    } else {
        status = la_error_status();
        la_host_release(release, context, data);
    }
    if (t) t->flags |= LA_F_HOST;
    return la_api_end("la_wrap", status) ? NULL : t;
}

/* The errors of these four are in the record of the thread (la_error_text). */
LA_API struct DLManagedTensor *la_to_dlpack(la_tensor *t)
{
    struct DLManagedTensor *m = NULL;
    LA_API_ENTRY_IN(la_owner_of(t));
    la_api_end("la_to_dlpack", la_dlpack_export(t, &m));
    return m;
}

LA_API struct DLManagedTensorVersioned *la_to_dlpack_versioned(la_tensor *t)
{
    struct DLManagedTensorVersioned *m = NULL;
    LA_API_ENTRY_IN(la_owner_of(t));
    la_api_end("la_to_dlpack_versioned", la_dlpack_export_versioned(t, &m));
    return m;
}

LA_API la_tensor *la_from_dlpack(struct DLManagedTensor *m)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    return la_api_end("la_from_dlpack", la_dlpack_import(m, &t)) ? NULL : t;
}

LA_API la_tensor *la_from_dlpack_versioned(struct DLManagedTensorVersioned *m)
{
    la_tensor *t = NULL;
    LA_API_ENTRY(NULL);
    la_status status = la_dlpack_import_versioned(m, &t);
    return la_api_end("la_from_dlpack_versioned", status) ? NULL : t;
}

/* Hash of the values: bits are resolved and any layout is brought to rows
** first, as la.hash does. */
static la_status hash_values(const la_tensor *t, uint64_t *out)
{
    LA_OWNED conj = NULL;
    LA_OWNED neg = NULL;
    LA_OWNED plain = NULL;
    if (!t || !out) return la_error(LA_EARG, "tensor and result expected");
    LA_TRY(la_run(detach, &conj, (la_tensor *)t));
    LA_TRY(la_run(resolve_conj, &neg, conj));
    LA_TRY(la_run(resolve_neg, &plain, neg));
    la_tensor_drop(&neg);
    LA_TRY(la_run(contiguous, &neg, plain));
    if (neg->device == LA_META)
        return la_error(LA_EKEY, "a tensor on the meta device has no data");
    LA_TRY(la_tensor_check_bounds(neg));
    LA_TRY(la_remote_bring(&neg));
    return la_tensor_hash(neg, out);
}

LA_API int la_hash(const la_tensor *t, uint64_t *out)
{
    LA_API_ENTRY_IN(la_owner_of(t));
    return la_api_end("la_hash", hash_values(t, out));
}

/* Counting cannot fail and leaves the record as it is, as do the getters that
** follow: NULL gives NULL, 0 or false. */
LA_API la_tensor *la_retain(la_tensor *t)
{
    return t ? la_tensor_retain(t) : NULL;
}
LA_API void la_release(la_tensor *t)
{
    if (!t) return;
    LA_ENTRY_IN(la_runtime_at(t->owner));
    la_tensor_release(t);
}
/* A getter: what failed before stays in the record. */
LA_API void *la_tensor_data(const la_tensor *t)
{
    la_error_note before;
    if (!t) return NULL;
    la_error_keep(&before);
    la_position here = la_move_to_owner(t->owner);
    void *data = la_tensor_check_bounds(t) ? NULL
               : la_is_remote(t->device) ? la_remote_address(t) : la_data(t);
    if (data && la_storage_expose(t->storage)) data = NULL;
    la_move_back(&here);
    la_error_restore(&before);
    return data;
}
/* Counts as a change, so that graphs which saved the elements refuse to use
** them. Lazy bits are refused: the host wrote what is stored, which reads
** otherwise. */
static la_status mark_written(la_tensor *t)
{
    if (!t) return la_error(LA_EARG, "tensor expected");
    LA_TRY(la_tensor_check_bounds(t));
    LA_TRY(la_tensor_check_writable(t));
    if (t->flags & (LA_F_CONJ | LA_F_NEG))
        return la_error(LA_ESTATE, "the tensor has lazy bits; x:resolve_conj() "
                        "and x:resolve_neg() give one without");
    if (t->storage) la_bump_version(t);
    return LA_OK;
}
LA_API int la_mark_written(la_tensor *t)
{
    LA_API_ENTRY_IN(la_owner_of(t));
    return la_api_end("la_mark_written", mark_written(t));
}
LA_API int la_tensor_ndim(const la_tensor *t) { return t ? t->ndim : 0; }
LA_API int64_t la_tensor_numel(const la_tensor *t) { return t ? t->numel : 0; }
LA_API const int64_t *la_tensor_sizes(const la_tensor *t)
{
    return t ? la_sizes(t) : NULL;
}
LA_API const int64_t *la_tensor_strides(const la_tensor *t)
{
    return t ? la_strides(t) : NULL;
}
LA_API const char *la_tensor_dtype(const la_tensor *t)
{
    return t ? la_dtype_name(t->dtype) : NULL;
}
LA_API bool la_tensor_contiguous(const la_tensor *t)
{
    return t && la_is_contiguous(t);
}
LA_API bool la_tensor_plain(const la_tensor *t)
{
    return t && t->device == LA_CPU && !(t->flags & (LA_F_CONJ | LA_F_NEG));
}
LA_API int la_version(void) { return LA_VERSION; }
LA_API const char *la_error_text(void)
{
    la_error_check();
    return la_error_message();
}
LA_API int la_error_code(void)
{
    la_error_check();
    return la_error_status();
}

/* No entry: the thread may be anywhere in the library. */
LA_API size_t la_describe_call(char *out, size_t n)
{
    la_description text = {out, n, 0};
    if (!out || !n) return 0;
    out[0] = 0;
    la_describe_running(&text);
    return text.at;
}

/* The thread's own: scripts have that of their state. */
LA_API int la_set_default_dtype(const char *dtype)
{
    la_dtype d = LA_UNDEFINED;
    LA_API_ENTRY(NULL);
    bool known = la_api_dtype(dtype, &d);
    la_status status = !known ? la_error_status() : la_is_float(d) ? LA_OK
        : la_error(LA_EDTYPE, "float16, bfloat16, float32 or float64 expected, "
                   "got %s", la_dtype_name(d));
    if (!status) la_ctx()->default_dtype = d;
    return la_api_end("la_set_default_dtype", status);
}

/* ---- resources ---- */

LA_API int la_set_allocator(void *(*alloc)(void *, size_t, size_t),
                            void (*release)(void *, void *, size_t),
                            void *context)
{
    LA_API_ENTRY_IN(&la_default_runtime);
    return la_api_end("la_set_allocator",
                      la_mem_set_allocator(alloc, release, context));
}
LA_API void la_set_memory_limit(size_t bytes)
{
    LA_ENTRY_IN(&la_default_runtime);
    la_mem_set_cap(bytes);
}

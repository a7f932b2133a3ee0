/*
** The public functions on memory of the host (lunarray.h): byte strides,
** records of structs, memory that moves.
**
** What they do is in src/tensor/host/host.c and record.c, which know nothing of
** Lua. Here are the checks of what a caller may get wrong, the names of
** functions in front of errors, and the record of errors: cleared on success.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "api/api.h"
#include "api/api_struct.h"
#include "tensor/host/lend.h"
#include "tensor/host/record.h"

/* Fields of the struct, checked as far as it does not depend on the layout:
** that is la_host_wrap's business. */
static la_status read_buffer(const la_buffer *b, la_host_memory *m)
{
    m->dtype = b->dtype ? la_dtype_parse(b->dtype, strlen(b->dtype))
                        : LA_UNDEFINED;
    if (m->dtype == LA_UNDEFINED) {
        char quoted[208];
        const char *word = b->dtype ? b->dtype : "(NULL)";
        la_quote(word, strlen(word), quoted, sizeof quoted);
        return la_error(LA_EDTYPE, "unknown dtype '%s' (known: %s)", quoted,
                        la_known_dtypes);
    }
    if (b->ndim < 0 || b->ndim > LA_MAX_DIMS || (b->ndim > 0 && !b->sizes))
        return la_error(LA_ESHAPE, "0 to %d dimensions with sizes expected, "
                        "got %d", LA_MAX_DIMS, b->ndim);
    if (b->flags & ~(unsigned)LA_READ_ONLY)
        return la_error(LA_EARG, "unknown flags 0x%x", b->flags);
    m->ndim = b->ndim;
    m->sizes = b->sizes;
    m->byte_strides = b->byte_strides;
    m->extent = b->extent;
    m->read_only = b->flags & LA_READ_ONLY;
    return LA_OK;
}

/* The memory is given back at once where the struct can be read at all. */
static la_status wrap_buffer(const la_buffer *buffer, la_tensor **out)
{
    la_buffer b;
    if (!buffer) return la_error(LA_EARG, "no la_buffer given");
    la_status status = LA_READ_STRUCT("la_wrap_ex", la_buffer, buffer, &b);
    la_host_memory m = {.data = b.data, .release = b.release,
                        .context = b.context};
    if (!status) status = read_buffer(&b, &m);
    if (!status) return la_host_wrap(&m, out);
    la_host_release(b.release, b.context, b.data);
    return status;
}

/* Tensors on host memory may be held by several threads from here on. */
LA_API la_tensor *la_wrap_ex(const la_buffer *buffer)
{
    la_tensor *t = NULL;
    LA_ENTRY(NULL);
    la_share_tensors();
    return la_api_end("la_wrap_ex", wrap_buffer(buffer, &t)) ? NULL : t;
}

LA_API la_tensor *la_read_only(la_tensor *t)
{
    la_tensor *out = NULL;
    LA_ENTRY_IN(la_owner_of(t));
    la_share_tensors();
    return la_api_end("la_read_only", t ? la_tensor_lend(t, &out)
                      : la_error(LA_EARG, "no tensor given")) ? NULL : out;
}

/* Nothing changes on failure; see the header for what becomes of views. */
LA_API int la_rebind(la_tensor *t, void *data, size_t extent)
{
    LA_ENTRY_IN(la_owner_of(t));
    la_share_tensors();
    return la_api_end("la_rebind", t ? la_host_rebind(t, data, extent)
                 : la_error(LA_EARG, "no tensor given"));
}

/* ---- records ---- */

/* 'release' is called in every case, once: a host that passes memory never has
** to look whose it is after a failure. */
LA_API la_record *la_wrap_struct(void *data, int64_t count, size_t bytes,
                                 const char *layout, unsigned flags,
                                 void (*release)(void *, void *),
                                 void *context)
{
    la_record *r = NULL;
    la_record_memory m = {data, count, bytes, flags & LA_READ_ONLY, release,
                          context};
    LA_ENTRY(NULL);
    la_share_tensors();
    la_status status = LA_OK;
    if (flags & ~(unsigned)LA_READ_ONLY) {
        status = la_error(LA_EARG, "unknown flags 0x%x", flags);
        la_host_release(release, context, data);
    }
    if (!status) status = la_record_new(&m, layout, &r);
    return la_api_end("la_wrap_struct", status) ? NULL : r;
}

/* Functions of a record run in its runtime. */
static la_runtime *runtime_of(const la_record *r)
{
    return r ? la_runtime_at(r->owner) : la_runtime_chosen();
}

/* Names are few: a linear search is what the layout's order asks for anyway. */
static la_status field(la_record *r, const char *name, la_tensor **out)
{
    if (!r || !name) return la_error(LA_EARG, "a record and a name needed");
    const la_struct_field *f = la_record_find(r, name);
    if (f) return la_record_view(r, f, out);
    char quoted[208];
    la_quote(name, strlen(name), quoted, sizeof quoted);
    return la_error(LA_EARG, "the record has no field '%s'", quoted);
}

/* Each call gives another tensor on the same storage. */
LA_API la_tensor *la_record_field(la_record *r, const char *name)
{
    la_tensor *t = NULL;
    LA_ENTRY_IN(runtime_of(r));
    la_share_tensors();
    return la_api_end("la_record_field", field(r, name, &t)) ? NULL : t;
}

LA_API void la_record_release(la_record *r)
{
    LA_ENTRY_IN(runtime_of(r));
    la_record_drop(r);
}

LA_API int la_record_rebind(la_record *r, void *data, int64_t count)
{
    LA_ENTRY_IN(runtime_of(r));
    la_share_tensors();
    return la_api_end("la_record_rebind", r ? la_record_move(r, data, count)
                 : la_error(LA_EARG, "no record given"));
}

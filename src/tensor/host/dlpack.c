/* DLPack: the layout of dlpack.h of the DMLC project, legacy and 1.x. */
#include "tensor/host/dlpack.h"

#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/memory.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "tensor/host/lend.h"

enum { CODE_INT, CODE_UINT, CODE_FLOAT, CODE_HANDLE, CODE_BFLOAT, CODE_COMPLEX,
       CODE_BOOL };
enum { DEVICE_CPU = 1, MAJOR = 1, MINOR = 0, READ_ONLY = 1 };

typedef struct DLDevice { int32_t type, id; } DLDevice;
typedef struct DLDataType { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;   /* in elements; strides NULL: row-major */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor DLManagedTensor;
struct DLManagedTensor {
    DLTensor tensor;
    void *context;
    void (*deleter)(DLManagedTensor *self);
};

typedef struct DLManagedTensorVersioned DLManagedTensorVersioned;
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor tensor;
};

/* ---- dtypes ---- */

static DLDataType type_of(la_dtype d)
{
    static const uint8_t codes[] = {
        ['b'] = CODE_BOOL, ['i'] = CODE_INT, ['u'] = CODE_UINT,
        ['f'] = CODE_FLOAT, ['c'] = CODE_COMPLEX};
    uint8_t code = d == LA_BFLOAT16 ? CODE_BFLOAT
                                    : codes[(int)la_dtype_kind(d)];
    return (DLDataType){code, (uint8_t)(la_dtype_size(d) * 8), 1};
}

static la_status read_type(DLDataType type, la_dtype *out)
{
    for (int d = 0; d < LA_NDTYPES; d++) {
        DLDataType own = type_of((la_dtype)d);
        *out = (la_dtype)d;
        if (own.code == type.code && own.bits == type.bits && type.lanes == 1)
            return LA_OK;
    }
    return la_error(LA_EDTYPE, "DLPack: no dtype for type code %d of %d bits "
                    "and %d lanes", type.code, type.bits, type.lanes);
}

/* ---- out ---- */

/* Contents that an exported struct keeps, in one block with it. */
typedef struct holder {
    union {
        DLManagedTensor plain;
        DLManagedTensorVersioned versioned;
    } m;
    la_tensor *t;
    size_t bytes;
    uint8_t owner;          /* the runtime whose memory this is */
    int64_t dims[];
} holder;

/* The consumer's thread may be in any runtime. The tensor goes last, as it is
** what keeps its runtime. */
static void dlpack_drop(holder *h)
{
    la_tensor *t = h->t;
    la_position before = la_move_to_owner(h->owner);
    la_mem_free(h, h->bytes);
    la_tensor_release(t);
    la_move_back(&before);
}

static void drop_plain(DLManagedTensor *m) { dlpack_drop(m->context); }
static void drop_versioned(DLManagedTensorVersioned *m)
{
    dlpack_drop(m->context);
}

/* A holder of 't' whose DLTensor, *d, is filled in; the rest is zero. */
static la_status dlpack_hold(la_tensor *t, size_t offset, holder **out)
{
    if (!t) return la_error(LA_EARG, "DLPack: tensor expected");
    LA_TRY(la_tensor_check_bounds(t));
    if (t->device != LA_CPU || !t->storage)
        return la_error(LA_EKEY, "DLPack: only tensors on the CPU are shared");
    if (la_grad_flag(t))
        return la_error(LA_EGRAD, "DLPack: the tensor requires grad; use "
                        "detach() first");
    if (t->flags & (LA_F_CONJ | LA_F_NEG))
        return la_error(LA_ESTATE, "DLPack: a conjugate or negated view has "
                        "other bytes; use resolve_conj() or resolve_neg()");
    size_t n = (size_t)t->ndim;
    size_t bytes = sizeof(holder) + 2 * n * sizeof(int64_t);
    holder *h = la_mem_alloc(bytes);
    if (!h) return LA_ENOMEM;
    if (t->storage && la_storage_expose(t->storage)) {
        la_mem_free(h, bytes);
        return LA_ENOMEM;
    }
    memset(h, 0, sizeof(*h));
    la_share_tensors();
    la_status status = la_tensor_hold(t, &h->t);
    if (status) {
        la_mem_free(h, bytes);
        return status;
    }
    h->bytes = bytes;
    h->owner = la_here.owner;
    memcpy(h->dims, la_sizes(t), n * sizeof(int64_t));
    memcpy(h->dims + n, la_strides(t), n * sizeof(int64_t));
    *(DLTensor *)((char *)h + offset) = (DLTensor){
        .data = la_data(t), .device = {DEVICE_CPU, 0}, .ndim = t->ndim,
        .dtype = type_of((la_dtype)t->dtype), .shape = h->dims,
        .strides = h->dims + n};
    *out = h;
    return LA_OK;
}

la_status la_dlpack_export(la_tensor *t, DLManagedTensor **out)
{
    holder *h;
    if (t && t->storage && t->storage->flags & LA_S_READ_ONLY)
        return la_error(LA_ESTATE, "DLPack: the memory is read-only, which "
                        "only the versioned struct can tell");
    LA_TRY(dlpack_hold(t, offsetof(holder, m.plain.tensor), &h));
    h->m.plain.context = h;
    h->m.plain.deleter = drop_plain;
    *out = &h->m.plain;
    return LA_OK;
}

la_status la_dlpack_export_versioned(la_tensor *t,
                                     DLManagedTensorVersioned **out)
{
    holder *h;
    LA_TRY(dlpack_hold(t, offsetof(holder, m.versioned.tensor), &h));
    DLManagedTensorVersioned *m = &h->m.versioned;
    m->major = MAJOR;
    m->minor = MINOR;
    m->context = h;
    m->deleter = drop_versioned;
    if (t->storage->flags & LA_S_READ_ONLY) m->flags |= READ_ONLY;
    *out = m;
    return LA_OK;
}

/* ---- in ---- */

/* The struct of an import and its own end. While it is taken its deleter is one
** of the two below, which do nothing: an address that is given once more shows
** it, and an end by whoever gave it away is harmless. */
typedef struct taken {
    void *m;
    union {
        void (*plain)(DLManagedTensor *self);
        void (*versioned)(DLManagedTensorVersioned *self);
    } end;
} taken;

static void taken_plain(DLManagedTensor *self) { }
static void taken_versioned(DLManagedTensorVersioned *self) { }

static la_status dlpack_taken_twice(void)
{
    return la_error(LA_ESTATE, "DLPack: a tensor has this struct already: it "
                    "is taken once, make another for each tensor");
}

/* Both end a struct that is not taken, as its own deleter does. */
static void end_plain(DLManagedTensor *m)
{
    la_host_call call;
    if (!m->deleter) return;
    la_host_begin(&call);
    m->deleter(m);
    la_host_end(&call);
}
static void end_versioned(DLManagedTensorVersioned *m)
{
    la_host_call call;
    if (!m->deleter) return;
    la_host_begin(&call);
    m->deleter(m);
    la_host_end(&call);
}

/* la_release_fn: the context is a 'taken'. */
static void give_back_plain(void *context, void *data)
{
    taken own = *(taken *)context;
    DLManagedTensor *m = own.m;
    la_mem_free(context, sizeof own);
    m->deleter = own.end.plain;
    end_plain(m);
}
static void give_back_versioned(void *context, void *data)
{
    taken own = *(taken *)context;
    DLManagedTensorVersioned *m = own.m;
    la_mem_free(context, sizeof own);
    m->deleter = own.end.versioned;
    end_versioned(m);
}

/* Checks that need no look at the memory. */
static la_status dlpack_check(const DLTensor *d, la_dtype *dtype, char **data)
{
    if (d->device.type != DEVICE_CPU)
        return la_error(LA_EKEY, "DLPack: memory of device type %d, not of the "
                        "CPU", (int)d->device.type);
    LA_TRY(read_type(d->dtype, dtype));
    if (d->ndim < 0 || d->ndim > LA_MAX_DIMS || (d->ndim && !d->shape))
        return la_error(LA_ESHAPE, "DLPack: %d dimensions, at most %d expected",
                        (int)d->ndim, LA_MAX_DIMS);
    *data = d->data ? (char *)d->data + d->byte_offset : NULL;
    size_t size = la_dtype_size(*dtype);
    if (la_is_complex(*dtype)) size /= 2;
    if ((uintptr_t)*data % size)
        return la_error(LA_EARG, "DLPack: the data is not aligned to its "
                        "elements of %s", la_dtype_name(*dtype));
    return LA_OK;
}

/* 'own' is taken over: its release gives the struct back. */
static la_status import(const DLTensor *d, la_release_fn release, taken *own,
                        la_tensor **out)
{
    la_dtype dtype = LA_UNDEFINED;
    char *data = NULL;
    la_status status = dlpack_check(d, &dtype, &data);
    if (status) {
        release(own, NULL);
        return status;
    }
    la_share_tensors();
    return la_tensor_wrap(data, dtype, d->ndim, d->shape, d->strides, release,
                          own, out);
}

bool la_dlpack_has_version(const void *m)
{
    uint32_t head[2];
    memcpy(head, m, sizeof head);
    return head[0] == MAJOR && head[1] < 256;
}

void la_dlpack_drop(void *m, bool versioned)
{
    if (versioned) end_versioned(m);
    else end_plain(m);
}

la_status la_dlpack_import(DLManagedTensor *m, la_tensor **out)
{
    if (!m) return la_error(LA_EARG, "DLPack: a struct expected");
    if (m->deleter == taken_plain) return dlpack_taken_twice();
    taken *own = la_mem_alloc(sizeof *own);
    if (!own) {
        end_plain(m);
        return LA_ENOMEM;
    }
    *own = (taken){.m = m, .end.plain = m->deleter};
    m->deleter = taken_plain;
    return import(&m->tensor, give_back_plain, own, out);
}

la_status la_dlpack_import_versioned(DLManagedTensorVersioned *m,
                                     la_tensor **out)
{
    if (!m) return la_error(LA_EARG, "DLPack: a struct expected");
    if (m->deleter == taken_versioned) return dlpack_taken_twice();
    if (m->major > MAJOR) {
        unsigned major = m->major;
        end_versioned(m);
        return la_error(LA_ESUPPORT, "DLPack: version %u, at most %d is known",
                        major, MAJOR);
    }
    bool read_only = m->flags & READ_ONLY;
    taken *own = la_mem_alloc(sizeof *own);
    if (!own) {
        end_versioned(m);
        return LA_ENOMEM;
    }
    *own = (taken){.m = m, .end.versioned = m->deleter};
    m->deleter = taken_versioned;
    LA_TRY(import(&m->tensor, give_back_versioned, own, out));
    if (read_only) (*out)->storage->flags |= LA_S_READ_ONLY;
    return LA_OK;
}

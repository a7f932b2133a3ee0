/* Results of a call: making them ready, handing them over, copying them to
** given outputs. */
#include <stdio.h>

#include "base/runtime/context.h"
#include "base/runtime/memory.h"
#include "op/call.h"
#include "op/host/device_names.h"
#include "op/cost/fuel.h"
#include "op/op.h"
#include "op/schema.h"
#include "op/look.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

void la_set_result_value(la_frame *f, int k, la_value v)
{
    f->results[k] = v;
    if (k >= f->nresults) f->nresults = k + 1;
}

void la_value_drop(la_value *v)
{
    if (v->tag == LA_VTENSOR) la_tensor_drop(&v->tensor);
    if (v->tag == LA_VTENSORS && v->tensors.list) {
        for (int64_t i = 0; i < v->tensors.n; i++)
            la_tensor_drop(&v->tensors.list[i]);
        la_mem_free(v->tensors.list,
                    (size_t)v->tensors.n * sizeof(la_tensor *));
    }
    v->tag = LA_VNONE;
}

void la_drop_results(la_frame *f)
{
    for (int k = 0; k < f->nresults; k++) la_value_drop(&f->results[k]);
}

la_status la_list_new(int64_t n, la_value *out)
{
    int64_t bytes;
    *out = (la_value){.tag = LA_VNONE};     /* may be dropped after a failure */
    if (__builtin_expect(la_fuel_running != NULL, 0))
        LA_TRY(la_fuel_objects(n));
    if (!la_mul_ok(n, sizeof(la_tensor *), &bytes))
        return la_error(LA_ENOMEM, "a list of %lld tensors is too long",
                        (long long)n);
    la_tensor **list = bytes ? la_mem_zalloc((size_t)bytes) : NULL;
    if (bytes && !list) return LA_ENOMEM;
    *out = (la_value){.tag = LA_VTENSORS, .given = true,
                      .tensors = {list, n}};
    return LA_OK;
}

/* ---- set_output ---- */

/* Shape of a given output: in place it must be that of the result; an out=
** without elements may be resized. */
static la_status results_check_shape(const la_frame *f, const la_tensor *out,
                                     int ndim, const int64_t *sizes)
{
    char have[256], want[256];
    if (la_has_sizes(out, ndim, sizes)) return LA_OK;
    if (f->form == LA_OUT && out->numel == 0) return LA_OK;
    la_sizes_text(out->ndim, la_sizes(out), have, sizeof(have));
    la_sizes_text(ndim, sizes, want, sizeof(want));
    if (f->form == LA_INPLACE)
        return la_error(LA_ESHAPE, "output with shape %s doesn't match the "
                        "broadcast shape %s", have, want);
    return la_error(LA_ESHAPE, "out has shape %s, the result needs %s: give a "
                    "tensor of that shape or an empty one", have, want);
}

enum { FEW_DTYPES = 3 };

/* The dtypes of a row that has few: ": it takes uint8, int8"; else nothing. */
static void few_dtypes(uint32_t dtypes, char *text, size_t size)
{
    size_t at = 0;
    *text = 0;
    if (__builtin_popcount(dtypes) > FEW_DTYPES) return;
    for (int d = 0; d < LA_NDTYPES && at < size; d++)
        if (dtypes & LA_DTYPE_BIT(d))
            at += (size_t)snprintf(text + at, size - at, "%s%s",
                                   at ? ", " : ": it takes ",
                                   la_dtype_name((la_dtype)d));
}

la_status la_refuse_dtype(const la_frame *f, la_dtype dtype)
{
    char few[80];
    few_dtypes(f->op->dtypes, few, sizeof(few));
    return la_error(LA_EDTYPE, "\"%s\" not implemented for '%s'%s", f->op->name,
                    la_dtype_title(dtype), few);
}

la_status la_require_dtype(const la_frame *f, la_dtype dtype)
{
    return f->op->dtypes & LA_DTYPE_BIT(dtype) ? LA_OK
                                               : la_refuse_dtype(f, dtype);
}

/* Does result k tell positions? Those of operations without derivative, and
** the ones that come after values. */
static bool is_position(const la_frame *f, int k, la_dtype dtype)
{
    return dtype == LA_INT64 && !f->op->family
        && (k > 0 || (f->op->forms & LA_NO_GRAD_OP));
}

la_status la_check_out_dtype(const la_frame *f, int k, la_dtype dtype)
{
    la_dtype have = (la_dtype)f->outs[k]->dtype;
    if (have == LA_UNDEFINED || have == dtype) return LA_OK;
    if (f->form == LA_OUT && is_position(f, k, dtype))
        return la_error(LA_EDTYPE, "Expected out tensor to have dtype %s, but "
                        "got %s instead", la_dtype_name(dtype),
                        la_dtype_name(have));
    if (la_can_cast(dtype, have)) return LA_OK;
    return la_error(LA_EDTYPE, "result type %s can't be cast to the desired "
                    "output type %s", la_dtype_name(dtype),
                    la_dtype_name(have));
}

la_status la_infer_dtype(const la_frame *f, const la_value *asked,
                         la_dtype natural, la_dtype *dtype)
{
    const la_tensor *out = f->form == LA_OUT ? f->outs[0] : NULL;
    la_dtype given = out ? (la_dtype)out->dtype : LA_UNDEFINED;
    *dtype = given != LA_UNDEFINED ? given : natural;
    if (asked->tag != LA_VDTYPE) return LA_OK;
    *dtype = asked->dtype;
    if (f->form == LA_INPLACE && (la_dtype)f->outs[0]->dtype != *dtype)
        return la_error(LA_EDTYPE, "in place the dtype must be the tensor's, "
                        "%s, but got %s",
                        la_dtype_name((la_dtype)f->outs[0]->dtype),
                        la_dtype_name(*dtype));
    if (given == LA_UNDEFINED || given == *dtype) return LA_OK;
    return la_error(LA_EDTYPE, "Expected out tensor to have dtype %s, but got "
                    "%s instead", la_dtype_name(*dtype),
                    la_dtype_name(given));
}

/* Without tensors among the arguments the outputs say where. */
static la_status results_check_device(const la_tensor *out, la_keyset keys)
{
    int want = LA_NDEVICES - 1;
    while (want >= 0 && !(keys >> want & 1)) want--;
    if (want < 0 || out->device == want) return LA_OK;
    return la_error(LA_EARG, "Expected all tensors to be on the same device, "
                    "but out is on %s and the result on %s",
                    la_device_name((la_device)out->device),
                    la_device_name((la_device)want));
}

la_status la_check_outputs(const la_frame *f, la_keyset keys)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        const la_tensor *out = f->outs[k];
        if (!out) continue;
        LA_TRY(results_check_device(out, keys));
        for (int j = 0; j < k; j++)
            if (f->outs[j] && la_pair_overlap(f->outs[j], out))
                return la_error(LA_EALIAS, "unsupported operation: two outputs "
                                "must not overlap: give each result a tensor "
                                "of its own");
    }
    return LA_OK;
}

/* Numbers and positions on the processor go with any device: composites make
** these there. */
static bool goes_along(const la_tensor *t)
{
    return t->device == LA_CPU && (t->ndim == 0 || t->dtype == LA_INT64);
}

static bool has_on(const la_value *v, la_device device, bool written)
{
    int64_t n = v->tag == LA_VTENSOR ? 1
              : v->tag == LA_VTENSORS ? v->tensors.n : 0;
    la_tensor *const *list = v->tag == LA_VTENSOR ? &v->tensor
                                                  : v->tensors.list;
    for (int64_t i = 0; i < n; i++)
        if (list[i] && list[i]->device == device
            && (written || !goes_along(list[i])))
            return true;
    return false;
}

la_status la_check_devices(const la_frame *f)
{
    bool meta = false, cpu = false;
    if (f->op->forms & LA_ANY_DEVICES) return LA_OK;
    for (int k = 0; k < la_schema_of(f->op)->nparams; k++) {
        bool written = k == 0 && f->form == LA_INPLACE;
        meta = meta || has_on(&f->args[k], LA_META, written);
        cpu = cpu || has_on(&f->args[k], LA_CPU, written);
    }
    if (!meta || !cpu) return LA_OK;
    return la_error(LA_EARG, "Expected all tensors to be on the same device, "
                    "but found at least two devices, %s and %s!",
                    la_device_name(LA_META), la_device_name(LA_CPU));
}

/* Does 'out' share memory with any input? A kernel that reads what it has
** written already would give other results. */
static bool overlaps_inputs(const la_frame *f, const la_tensor *out)
{
    for (int k = 0; k < f->nargs; k++) {
        const la_value *v = &f->args[k];
        if (v->tag == LA_VTENSOR
            && la_pair_overlap(out, v->tensor) != LA_OVERLAP_NO)
            return true;
        if (v->tag != LA_VTENSORS) continue;
        for (int64_t i = 0; i < v->tensors.n; i++)
            if (v->tensors.list[i]
                && la_pair_overlap(out, v->tensors.list[i]) != LA_OVERLAP_NO)
                return true;
    }
    return false;
}

/* Can the kernel write into 'out' itself? */
static bool direct(const la_frame *f, const la_tensor *out, int ndim,
                   const int64_t *sizes, const int64_t *strides,
                   la_dtype dtype)
{
    if (out->dtype != dtype || !la_has_sizes(out, ndim, sizes)) return false;
    if (strides ? memcmp(la_strides(out), strides, (size_t)ndim * 8) != 0
                : !la_is_contiguous(out)) return false;
    return !overlaps_inputs(f, out);
}

/* Device of the results: the highest among the arguments. */
static la_device device_of(const la_frame *f)
{
    for (int d = LA_NDEVICES - 1; d > 0; d--)
        if (f->keys & (1u << d)) return (la_device)d;
    return LA_CPU;
}

/* Are these the strides that a new tensor has anyway? */
static bool are_usual(int ndim, const int64_t *sizes, const int64_t *strides)
{
    int64_t step = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        int64_t n = sizes[d] > 1 ? sizes[d] : 1;
        if (strides[d] != step || __builtin_mul_overflow(step, n, &step))
            return false;
    }
    return true;
}

static la_status results_set_output(la_frame *f, int k, int ndim,
                                    const int64_t *sizes,
    const int64_t *strides, la_dtype dtype)
{
    la_tensor *out = f->outs[k], *fresh;
    if (out) {
        LA_TRY(results_check_shape(f, out, ndim, sizes));
        LA_TRY(la_check_out_dtype(f, k, dtype));
        if (la_internal_overlap(out) == LA_OVERLAP_YES)
            return la_error(LA_EALIAS, "unsupported operation: more than one "
                            "element of the written-to tensor refers to a "
                            "single memory location. Please clone() the "
                            "tensor before performing the operation.");
        if (direct(f, out, ndim, sizes, strides, dtype)) {
            la_set_result(f, k, la_tensor_retain(out));
            return LA_OK;
        }
    }
    la_device device = device_of(f);
    bool usual = !strides || are_usual(ndim, sizes, strides);
    if (device == LA_CPU && usual)      /* small ones in one block */
        LA_TRY(la_tensor_empty(ndim, sizes, dtype, &fresh));
    else
        LA_TRY(la_tensor_empty_on(device, ndim, sizes, strides, dtype, &fresh));
    la_set_result(f, k, fresh);
    return LA_OK;
}

la_status la_set_output(la_frame *f, int k, int ndim, const int64_t *sizes,
                        const int64_t *strides, la_dtype dtype)
{
    if (__builtin_expect(la_fuel_running == NULL, 1))
        return results_set_output(f, k, ndim, sizes, strides, dtype);
    LA_TRY(la_fuel_announce(f, ndim, sizes));
    LA_TRY(results_set_output(f, k, ndim, sizes, strides, dtype));
    return la_fuel_kernel(f);
}

la_status la_check_fits(const la_tensor *t, int arg, const char *what,
                        const la_tensor *to)
{
    char own[256], other[256];
    la_shape have = la_shape_of(to), add = la_shape_of(t), all;
    if (la_shape_broadcast(&have, &add, &all) == LA_OK
        && la_has_sizes(to, all.ndim, all.sizes)
        && all.ndim == to->ndim) return LA_OK;
    return la_error_at(LA_ESHAPE, arg, "%s of shape %s does not fit a result "
                       "of shape %s", what,
                       la_sizes_text(add.ndim, add.sizes, own, sizeof own),
                       la_sizes_text(have.ndim, have.sizes, other,
                                     sizeof other));
}

static la_status copy_to_out(la_frame *f, int k)
{
    la_tensor *out = f->outs[k], *fresh = f->results[k].tensor;
    LA_TRY(results_check_shape(f, out, fresh->ndim, la_sizes(fresh)));
    LA_TRY(la_check_out_dtype(f, k, (la_dtype)fresh->dtype));
    if (!la_has_sizes(out, fresh->ndim, la_sizes(fresh))) {
        if (la_ctx()->recorder) la_record_resizes();
        LA_TRY(la_tensor_resize(out, fresh->ndim, la_sizes(fresh)));
    }
    LA_TRY(la_run_(copy_, out, fresh));
    f->results[k].tensor = la_tensor_retain(out);
    la_tensor_release(fresh);
    return LA_OK;
}

la_status la_finish_outputs(la_frame *f)
{
    for (int k = 0; k < f->nresults; k++) {
        la_tensor *out = f->outs[k];
        if (!out || f->results[k].tag != LA_VTENSOR) continue;
        if (f->results[k].tensor != out) LA_TRY(copy_to_out(f, k));
    }
    return LA_OK;
}

/*
** Operations that copy: copy_, clone, contiguous, to and the casts; fills;
** comparison of whole tensors.
**
** What moves the data is in copy_engine.c; here is what a call means: which
** strides the result has, and when self itself is the result.
*/
#include "op/move/copy.h"

#include "base/runtime/context.h"
#include "iter/items.h"
#include "kernel/move/copy.h"
#include "tensor/promote.h"

#define LA_ROWS "op/def/copy.def"
#include "iter/iter.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/impls.h"
#include "tensor/shape.h"

/* --- copy_ and fills --- */

/* Result 0 is argument 0: a new reference, no copy. */
static la_status give_self(la_frame *f)
{
    return LA_GIVE(f, la_tensor_retain(la_arg(f, 0)));
}

/* On the meta device there is nothing to copy, but sizes and devices are
** checked as for a copy. */
la_status la_meta_copy_(la_frame *f)
{
    if (la_is_meta(f) || la_arg(f, 0)->device == LA_META)
        LA_TRY(la_copy_data(la_arg(f, 0), la_arg(f, 1)));
    return give_self(f);
}

LA_FORWARD(la_impl_copy_, la_copy_data(la_arg(f, 0), la_arg(f, 1)))

/* Refused here, so that a value out of range is an error on the meta device
** too. */
la_status la_meta_fill_(la_frame *f)
{
    LA_TRY(la_fill_check((la_dtype)la_arg(f, 0)->dtype, &f->args[1].scalar));
    return give_self(f);
}

LA_FORWARD(la_impl_fill_, la_fill_data(la_arg(f, 0), &f->args[1].scalar))

/* The form whose value is a tensor; it has a gradient, so it is not read as a
** scalar here. */
la_status la_meta_fill__tensor(la_frame *f)
{
    if (la_arg(f, 1)->ndim != 0)
        return la_error_at(LA_ESHAPE, 2, "fill_ only supports 0-dimension "
                           "value tensor but got tensor with %d dimensions.",
                           la_arg(f, 1)->ndim);
    return give_self(f);
}

LA_FORWARD(la_impl_fill__tensor, la_copy_data(la_arg(f, 0), la_arg(f, 1)))
LA_FORWARD(la_meta_zero_, give_self(f))

la_status la_impl_zero_(la_frame *f)
{
    la_scalar zero = la_scalar_int(0);
    return la_fill_data(la_arg(f, 0), &zero);
}

/* --- new tensors with the same values --- */

/* Strides of a copy of 't' in a format that may be absent; *plain means
** contiguous. */
static la_status copy_strides(const la_tensor *t, const la_value *format,
                              int64_t *strides, bool *plain)
{
    la_memory_format m = format->tag == LA_VFORMAT ? format->format
                                                   : LA_PRESERVE;
    *plain = m == LA_FORMAT_CONTIGUOUS
        || (m == LA_PRESERVE && la_is_row_major(t));
    if (*plain) return LA_OK;
    if (m != LA_PRESERVE)
        return la_format_strides(m, t->ndim, la_sizes(t), strides);
    la_preserve_strides(t, strides);
    return LA_OK;
}

/* Result 0 with the sizes and names of 't', strides by copy_strides. */
static la_status output_like(la_frame *f, const la_tensor *t,
                             const la_value *format, la_dtype dtype)
{
    int64_t strides[LA_MAX_DIMS];
    bool plain;
    LA_TRY(copy_strides(t, format, strides, &plain));
    LA_TRY(la_set_output(f, 0, t->ndim, la_sizes(t), plain ? NULL : strides,
                         dtype));
    la_copy_names(la_result(f, 0), t);
    return LA_OK;
}

/* (self, memory_format); without a format the strides are preserved where self
** is dense. */
la_status la_meta_clone(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    return output_like(f, t, &f->args[1], t->dtype);
}

LA_FORWARD(la_impl_clone, la_copy_data(la_result(f, 0), la_arg(f, 0)))

/* The dtype that the caller named, or else the other one. */
static la_dtype dtype_or(const la_value *v, la_dtype otherwise)
{
    return v->tag == LA_VDTYPE ? v->dtype : otherwise;
}

/* to_copy(self, dtype, device, memory_format) */
la_status la_meta_to_copy(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    bool leaves_meta = t->device == LA_META && la_has(f, 2)
        && f->args[2].device != LA_META;
    if (leaves_meta)
        return la_error_at(LA_EARG, 1,
                           "Cannot copy out of meta tensor; no data!");
    return output_like(f, t, &f->args[3], dtype_or(&f->args[1], t->dtype));
}

LA_FORWARD(la_impl_to_copy, la_copy_data(la_result(f, 0), la_arg(f, 0)))

/* --- the same tensor where nothing changes, else a copy --- */

/* Request of a conversion. Without 'copy', self is the result where it has all
** of this already. */
typedef struct target {
    la_value dtype, device, format;   /* LA_VNONE: as it is */
    bool copy;
} target;

/* Has 't' all that is asked for already? */
static bool is_there(const la_tensor *t, const target *g)
{
    if (g->copy) return false;
    if (g->dtype.tag == LA_VDTYPE && g->dtype.dtype != t->dtype) return false;
    if (g->device.tag == LA_VDEVICE && g->device.device != t->device)
        return false;
    return g->format.tag != LA_VFORMAT || g->format.format == LA_PRESERVE
        || la_suggest_format(t) == g->format.format;
}

/* Self where nothing changes, else a converted copy. */
static la_status copy_convert(la_frame *f, const target *g)
{
    la_tensor *t = la_arg(f, 0);
    if (is_there(t, g)) return give_self(f);
    return la_run_result(f, to_copy, t, g->dtype, g->device, g->format);
}
/* The implementation of a row that converts to a target. */
#define CONVERT(name, ...) \
    LA_FORWARD(la_impl_##name, copy_convert(f, &(target){__VA_ARGS__}))

/* to(self, dtype, copy, memory_format) */
CONVERT(to_dtype, .dtype = f->args[1], .copy = la_arg_bool(f, 2),
        .format = f->args[3])
/* to(self, device, dtype, copy, memory_format) */
CONVERT(to_device, .device = f->args[1], .dtype = f->args[2],
        .copy = la_arg_bool(f, 3), .format = f->args[4])
/* to(self, other, copy, memory_format) */
CONVERT(to_other, .dtype = la_v_dtype(la_arg(f, 1)->dtype),
        .device = la_v_device(la_arg(f, 1)->device),
        .copy = la_arg_bool(f, 2), .format = f->args[3])
/* to(self, dtype, device, copy, memory_format), by keywords */
CONVERT(to_options, .dtype = f->args[1], .device = f->args[2],
        .copy = la_arg_bool(f, 3), .format = f->args[4])
CONVERT(astype, .dtype = f->args[1], .copy = la_arg_bool(f, 2))
CONVERT(type_dtype, .dtype = f->args[1])
CONVERT(type_as, .dtype = la_v_dtype(la_arg(f, 1)->dtype))
/* cpu(self, memory_format), float(self, memory_format) and its kin */
CONVERT(to_cpu, .device = la_v_device(LA_CPU), .format = f->args[1])
#define CAST(name, to) \
    CONVERT(name, .dtype = la_v_dtype(to), .format = f->args[1])
CAST(to_float, LA_FLOAT32)
CAST(to_double, LA_FLOAT64)
CAST(to_half, LA_FLOAT16)
CAST(to_bfloat16, LA_BFLOAT16)
CAST(to_long, LA_INT64)
CAST(to_int, LA_INT32)
CAST(to_short, LA_INT16)
CAST(to_char, LA_INT8)
CAST(to_byte, LA_UINT8)
CAST(to_bool, LA_BOOL)
CAST(to_chalf, LA_COMPLEX32)
CAST(to_cfloat, LA_COMPLEX64)
CAST(to_cdouble, LA_COMPLEX128)

la_status la_impl_type(la_frame *f)
{
    la_set_result_value(f, 0, la_v_dtype(la_arg(f, 0)->dtype));
    return LA_OK;
}

/* (self, memory_format): self where it is of the format, else a clone. */
la_status la_impl_contiguous(la_frame *f)
{
    la_tensor *t = la_arg(f, 0);
    la_value format = f->args[1];
    if (format.tag != LA_VFORMAT || format.format == LA_PRESERVE)
        format = (la_value){.tag = LA_VFORMAT, .given = true,
                            .format = LA_FORMAT_CONTIGUOUS};
    if (la_tensor_is_format(t, format.format)) return give_self(f);
    return la_run_result(f, clone, t, format);
}

/* Self, not a copy: unary plus changes nothing. */
la_status la_impl_positive(la_frame *f)
{
    if (la_arg(f, 0)->dtype == LA_BOOL)
        return la_error_at(LA_EDTYPE, 1, "The `+` operator, on a bool tensor "
                           "is not supported.");
    return give_self(f);
}

/* --- comparison of whole tensors --- */

/* One search by several threads; 'found' is the only field that they write. */
typedef struct search {
    const la_iter *it;
    la_loop loop;
    _Atomic int found;
} search;

/* Elements begin..end, unless a difference was found before. */
static void search_range(int64_t begin, int64_t end, void *context)
{
    search *s = context;
    uint8_t found = 0;
    if (atomic_load(&s->found)) return;
    la_iter_range(s->it, begin, end, s->loop, &found);
    if (found) atomic_store(&s->found, 1);
}

/* Compares in the common dtype, and stops at the first difference that any
** thread finds. LA_EINTR or LA_OK. */
static la_status find_difference(la_tensor *a, la_tensor *b, bool *found)
{
    la_iter_config c = LA_ITER_CONFIG(LA_IT_PROMOTE_INPUTS | LA_IT_BORROWED,
                                      0, 2);
    c.operands[0] = a;
    c.operands[1] = b;
    LA_ITER it;
    LA_TRY(la_iter_build(&it, &c));
    search s = {.it = &it, .loop = (*LA_STUB(differ))[it.common]};
    LA_TRY(la_iter_items(it.numel, LA_GRAIN, LA_GRAIN, search_range, &s));
    *found = atomic_load(&s.found) != 0;
    return LA_OK;
}

/* (self, other) -> bool. Other sizes are no error, they are unequal; dtypes are
** promoted. NaN differs from itself. */
la_status la_impl_equal(la_frame *f)
{
    la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    bool found = false;
    if (a->device == LA_META || b->device == LA_META)
        return la_error(LA_EARG, "a tensor on the meta device has no values");
    LA_TRY(la_check_readable(f));
    if (la_same_sizes(a, b)) {
        if (a->numel > 0) LA_TRY(find_difference(a, b, &found));
    } else {
        found = true;
    }
    la_set_result_value(f, 0, la_v_bool(!found));
    return LA_OK;
}

/* (self, tensor) -> bool: one storage and one geometry; values are not
** compared. */
la_status la_impl_is_set_to(la_frame *f)
{
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    bool same = a->storage == b->storage && a->offset == b->offset
        && la_same_sizes(a, b)
        && memcmp(la_strides(a), la_strides(b), sizeof(int64_t) * a->ndim) == 0;
    la_set_result_value(f, 0, la_v_bool(same));
    return LA_OK;
}

/*
** Values: the arguments and results of operations, tagged by their type, and
** how C makes them.
*/
#ifndef LA_OP_VALUE_H
#define LA_OP_VALUE_H

#include <string.h>

#include "base/runtime/device.h"
#include "base/scalar.h"
#include "base/status.h"
#include "tensor/tensor.h"

typedef enum la_tag {
    LA_VNONE,      /* nil, or a default of nil */
    LA_VTENSOR, LA_VTENSORS, LA_VSCALAR, LA_VINT, LA_VFLOAT, LA_VBOOL,
    LA_VINTS, LA_VDTYPE, LA_VSTR, LA_VFORMAT, LA_VDEVICE, LA_VPOINTER,
    LA_VNAMES,
    LA_VFLOATS     /* the bits of doubles as 'ints': la_float_at */
} la_tag;

typedef struct la_value {
    la_tag tag;
    bool given;               /* false: the schema's default */
    union {
        la_tensor *tensor;
        struct { la_tensor **list; int64_t n; } tensors; /* NULL entries too */
        la_scalar scalar;
        int64_t i;
        double d;
        bool b;
        struct { const int64_t *list; int64_t n; } ints;
        la_dtype dtype;
        la_memory_format format;
        la_device device;
        struct { const char *text; size_t n; } str;
        struct { const char *const *list; int64_t n; } names; /* interned */
        void *pointer;
    };
} la_value;

/* A string for an error: escaped and clipped, for as long as the block. */
#define LA_QUOTED(v) \
    la_quote((v)->str.text, (v)->str.n, (char[256]){0}, 256)
static inline bool la_str_is(const la_value *v, const char *word)
{
    return v->tag == LA_VSTR && strlen(word) == v->str.n
        && memcmp(v->str.text, word, v->str.n) == 0;
}

/* Release what the value holds. */
void la_value_drop(la_value *v);
/* An owned list of 'n' NULL tensors to fill in (results of split, unbind). */
la_status la_list_new(int64_t n, la_value *out);

/* ---- made in C ---- */

/* C values as arguments. An argument list converts tensors, integers, scalars,
** booleans and strings by their C type (LA_VALUE); a double is a Scalar there.
** The functions are for what C has no type of its own for. */
static inline la_value la_v_tensor(la_tensor *t)
{
    return (la_value){.tag = t ? LA_VTENSOR : LA_VNONE, .given = true,
                      .tensor = t};
}
static inline la_value la_v_int(int64_t i)
{
    return (la_value){.tag = LA_VINT, .given = true, .i = i};
}
static inline la_value la_v_float(double d)   /* a schema's float */
{
    return (la_value){.tag = LA_VFLOAT, .given = true, .d = d};
}
static inline la_value la_v_bool(bool b)
{
    return (la_value){.tag = LA_VBOOL, .given = true, .b = b};
}
static inline la_value la_v_scalar(la_scalar s)
{
    return (la_value){.tag = LA_VSCALAR, .given = true, .scalar = s};
}
static inline la_value la_v_double(double d)   /* a schema's Scalar */
{
    return la_v_scalar(la_scalar_float(d));
}
static inline la_value la_v_string(const char *s)
{
    return (la_value){.tag = LA_VSTR, .given = true, .str = {s, strlen(s)}};
}
static inline la_value la_v_dtype(la_dtype dtype)
{
    return (la_value){.tag = LA_VDTYPE, .given = true, .dtype = dtype};
}
static inline la_value la_v_device(la_device device)
{
    return (la_value){.tag = LA_VDEVICE, .given = true, .device = device};
}
static inline la_value la_v_none(void)
{
    return (la_value){.tag = LA_VNONE};
}
static inline la_value la_v_same(la_value v) { return v; }
/* Lists; the elements stay the caller's, and are often compound literals. */
#define la_v_ints(p, n_) ((la_value){.tag = LA_VINTS, .given = true, \
                                     .ints = {(p), (n_)}})
#define la_v_tensors(p, n_) ((la_value){.tag = LA_VTENSORS, .given = true, \
                                        .tensors = {(p), (n_)}})

#define LA_VALUE(a) _Generic((a), la_tensor *: la_v_tensor, int: la_v_int, \
    int64_t: la_v_int, double: la_v_double, float: la_v_double, \
    bool: la_v_bool, la_scalar: la_v_scalar, la_value: la_v_same, \
    char *: la_v_string, const char *: la_v_string)(a)

/* LA_ARGS_(a, b, ...): the number of arguments and their values, for at most
** twelve. */
#define LA_MAP1(a) LA_VALUE(a)
#define LA_MAP2(a, ...) LA_VALUE(a), LA_MAP1(__VA_ARGS__)
#define LA_MAP3(a, ...) LA_VALUE(a), LA_MAP2(__VA_ARGS__)
#define LA_MAP4(a, ...) LA_VALUE(a), LA_MAP3(__VA_ARGS__)
#define LA_MAP5(a, ...) LA_VALUE(a), LA_MAP4(__VA_ARGS__)
#define LA_MAP6(a, ...) LA_VALUE(a), LA_MAP5(__VA_ARGS__)
#define LA_MAP7(a, ...) LA_VALUE(a), LA_MAP6(__VA_ARGS__)
#define LA_MAP8(a, ...) LA_VALUE(a), LA_MAP7(__VA_ARGS__)
#define LA_MAP9(a, ...) LA_VALUE(a), LA_MAP8(__VA_ARGS__)
#define LA_MAP10(a, ...) LA_VALUE(a), LA_MAP9(__VA_ARGS__)
#define LA_MAP11(a, ...) LA_VALUE(a), LA_MAP10(__VA_ARGS__)
#define LA_MAP12(a, ...) LA_VALUE(a), LA_MAP11(__VA_ARGS__)
#define LA_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, NAME, ...) \
    NAME
#define LA_NARGS(...) \
    LA_PICK(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define LA_MAP(...) LA_PICK(__VA_ARGS__, LA_MAP12, LA_MAP11, LA_MAP10, \
    LA_MAP9, LA_MAP8, LA_MAP7, LA_MAP6, LA_MAP5, LA_MAP4, LA_MAP3, LA_MAP2, \
    LA_MAP1, 0)(__VA_ARGS__)
#define LA_ARGS_(...) \
    LA_NARGS(__VA_ARGS__), (const la_value[]){LA_MAP(__VA_ARGS__)}

/* Number i of a list of LA_VFLOATS. */
static inline double la_float_at(const la_value *v, int64_t i)
{
    double d;
    memcpy(&d, &v->ints.list[i], sizeof d);
    return d;
}

#endif

/*
** Operations in lunarray.h: values of C become a frame's, by the schema of the
** operation, as the arguments of a script do (lua/args.c). Nothing here raises
** a Lua error.
*/
#define LA_INTERNAL
#include "lunarray.h"
#include <string.h>

#include "grad/grad.h"
#include "api/api.h"
#include "api/api_call.h"
#include "op/call.h"
#include "op/dispatch.h"
#include "op/host/device_names.h"
#include "op/host/hosted.h"
#include "tensor/names.h"

/* These only note where the list is: it is looked at by the call. */
LA_API la_any la_any_ints(const int64_t *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_INTEGERS, .list = list, .count = n};
}
LA_API la_any la_any_tensors(la_tensor *const *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_TENSORS, .list = list, .count = n};
}
LA_API la_any la_any_numbers(const double *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_NUMBERS, .list = list, .count = n};
}
LA_API la_any la_any_texts(const char *const *list, int64_t n)
{
    return (la_any){.kind = LA_ARG_TEXTS, .list = list, .count = n};
}
LA_API la_any la_any_named(const char *name, la_any value)
{
    value.name = name;
    return value;
}

/* ---- one argument ---- */

/* Dims and indices count from 1 for callers and from 0 in a frame. Negative
** ones count from the end on both sides and stay as they are. */
static la_status api_call_shifted(int64_t v, la_type t, int64_t *out)
{
    if (!la_type_counted(t)) *out = v;
    else if (v == 0) return la_error(LA_EINDEX, "counting starts at 1");
    else *out = v - (v > 0);
    return LA_OK;
}

enum { LA_MOST_OWNED = 32 };

/* Arguments of one call. Lists that had to be converted are in 'pool', numbers
** that became tensors in 'owned'; all else is borrowed from the caller. */
typedef struct conversion {
    la_value args[LA_MAX_ARGS];
    la_tensor *outs[LA_MAX_RESULTS];
    int nouts, nowned;
    la_tensor *owned[LA_MOST_OWNED];
    int64_t pool[LA_POOL_INTS];
    int used;
} conversion;

/* Memory for 'n' integers, NULL with the record set where there is none. It
** lasts as long as the call; nothing is given back before. */
static int64_t *api_call_reserve(conversion *c, int64_t n)
{
    if (n < 0 || n > LA_POOL_INTS - c->used) {
        la_error(LA_EARG, "the list is too long");
        return NULL;
    }
    c->used += (int)n;
    return c->pool + c->used - n;
}

/* Copied where they are counted otherwise: the caller's list is const. */
static la_status api_call_integers(conversion *c, const int64_t *list,
                                   int64_t n, la_type t, la_value *v)
{
    if (n < 0 || (n > 0 && !list))
        return la_error(LA_EARG, "no integers given");
    if (!la_type_counted(t)) {
        *v = la_v_ints(list, n);
        return LA_OK;
    }
    int64_t *to = api_call_reserve(c, n);
    if (!to) return LA_EARG;
    for (int64_t i = 0; i < n; i++) LA_TRY(api_call_shifted(list[i], t,
                                                            &to[i]));
    *v = la_v_ints(to, n);
    return LA_OK;
}

/* Error that names the type a parameter takes, when something else was
** given. */
static la_status type_error(la_type t)
{
    return la_error(LA_EARG, "%s expected", la_type_name(t));
}

/* Entry k of a list of numbers: integers or doubles. */
static la_scalar api_call_number_at(const la_any *a, int64_t k)
{
    return a->kind == LA_ARG_INTEGERS
        ? la_scalar_int(((const int64_t *)a->list)[k])
        : la_scalar_float(((const double *)a->list)[k]);
}

/* Number[]: 0-dim tensors, which the call drops. */
static la_status number_tensors(conversion *c, const la_any *a, la_value *v)
{
    la_tensor **first = c->owned + c->nowned;
    if (a->count > LA_MOST_OWNED - c->nowned)
        return la_error(LA_EARG, "the list is too long");
    for (int64_t i = 0; i < a->count; i++) {
        la_scalar s = api_call_number_at(a, i);
        LA_TRY(la_tensor_from_scalar(&s, &c->owned[c->nowned]));
        c->nowned++;
    }
    *v = la_v_tensors(first, a->count);
    return LA_OK;
}

static void api_call_drop_owned(conversion *c)
{
    while (c->nowned > 0) la_tensor_drop(&c->owned[--c->nowned]);
}

/* Numbers as the bits of doubles, LA_VFLOATS. */
static la_status numbers(conversion *c, const la_any *a, const la_param *p,
                         la_value *v)
{
    bool boxed = p->type == LA_TYPE_TENSORS && p->numbers;
    if ((p->type != LA_TYPE_FLOATS && !boxed) || a->count < 0
        || (a->count && !a->list))
        return type_error(p->type);
    if (boxed) return number_tensors(c, a, v);
    int64_t *to = api_call_reserve(c, a->count);
    if (!to) return LA_EARG;
    for (int64_t i = 0; i < a->count; i++) {
        la_scalar s = api_call_number_at(a, i);
        memcpy(&to[i], &s.re, sizeof s.re);
    }
    *v = la_v_ints(to, a->count);
    v->tag = LA_VFLOATS;
    return LA_OK;
}

/* One number where a list of them is expected. */
static la_status api_call_one_number(conversion *c, const la_any *a,
                                     const la_param *p, la_value *v)
{
    la_any list = *a;
    bool whole = a->kind == LA_ARG_INTEGER;
    list.kind = whole ? LA_ARG_INTEGERS : LA_ARG_NUMBERS;
    list.list = whole ? (const void *)&a->integer : (const void *)&a->number;
    list.count = 1;
    return numbers(c, &list, p, v);
}

/* Integers fit where lists of them are expected; two lists of dims stand one
** behind the other. */
static la_status integer_list(conversion *c, const la_any *a,
                              const la_param *p, la_value *v)
{
    la_type t = p->type;
    bool pair = t == LA_TYPE_DIM_LISTS;
    if (t == LA_TYPE_FLOATS || p->numbers) return numbers(c, a, p, v);
    if (!pair && !la_type_is_ints(t))
        return la_error(LA_EARG, "%s expected, got integers", la_type_name(t));
    if (pair && a->count % 2)
        return la_error(LA_EARG, "two lists of one length expected, got %lld "
                        "integers", (long long)a->count);
    return api_call_integers(c, a->list, a->count, t, v);
}

/* A dim by its name, which the first argument may have. */
static la_status api_call_dim_of(const conversion *c, const char *text,
                                 int64_t *dim)
{
    const la_value *first = &c->args[0];
    int d = text && first->tag == LA_VTENSOR
        ? la_dim_by_name(first->tensor, text, strlen(text)) : -1;
    if (d < 0)
        return la_error(LA_EARG, "no dimension is named '%.40s'",
                        text ? text : "(null)");
    *dim = d;
    return LA_OK;
}

/* Lists whose entries may be named. */
static bool is_dims(la_type t)
{
    return t == LA_TYPE_DIMS || t == LA_TYPE_DIMS_VARIADIC;
}

/* Dims by their names, or new names. */
static la_status texts(conversion *c, const char *const *list, int64_t n,
                       la_type t, la_value *v)
{
    bool dims = is_dims(t);
    if ((t != LA_TYPE_NAMES && !dims) || (n && !list)) return type_error(t);
    int64_t *to = api_call_reserve(c, n);
    const char **names = (const char **)to;
    if (!to) return LA_EARG;
    for (int64_t i = 0; i < n; i++) {
        if (dims) {         /* counted from 0 already */
            LA_TRY(api_call_dim_of(c, list[i], &to[i]));
            continue;
        }
        if (!list[i]) return type_error(t);
        names[i] = la_name_intern(list[i], strlen(list[i]));
        if (!names[i]) return LA_ENOMEM;
    }
    *v = dims ? la_v_ints(to, n)
        : (la_value){.tag = LA_VNAMES, .given = true, .names = {names, n}};
    return LA_OK;
}

/* Texts are borrowed until the call ends. */
static la_status api_call_word(conversion *c, const char *text, la_type t,
                               la_value *v)
{
    if (!text) return type_error(t);
    size_t n = strlen(text);
    *v = la_v_string(text);
    if (t == LA_TYPE_DTYPE) {
        *v = la_v_dtype(la_dtype_parse(text, n));
        if (v->dtype == LA_UNDEFINED)
            return la_error(LA_EARG, "unknown dtype '%.40s' (known: %s)", text,
                            la_known_dtypes);
    } else if (t == LA_TYPE_DEVICE) {
        v->tag = LA_VDEVICE;
        if (!la_device_parse(text, n, &v->device))
            return la_error(LA_EARG, "unknown device '%.40s'", text);
    } else if (t == LA_TYPE_FORMAT) {
        v->tag = LA_VFORMAT;
        if (!la_format_parse(text, n, &v->format))
            return la_error(LA_EARG, "unknown memory format '%.40s'", text);
    } else if (t == LA_TYPE_DIM) {
        *v = la_v_int(0);
        return api_call_dim_of(c, text, &v->i);
    } else if (is_dims(t)) {
        return texts(c, &text, 1, t, v);
    } else if (t != LA_TYPE_STR) {
        return type_error(t);
    }
    return LA_OK;
}

/* The list is borrowed as it is; NULL entries only where the schema allows
** nil. */
static la_status tensors(const la_any *a, const la_param *p, la_value *v)
{
    la_tensor *const *list = a->list;
    if (p->type != LA_TYPE_TENSORS || a->count < 0 || (a->count && !list))
        return type_error(p->type);
    for (int64_t i = 0; i < a->count; i++)
        if (!list[i] && !p->nullable)
            return la_error(LA_EARG, "tensor %lld of the list is NULL",
                            (long long)i + 1);
    *v = la_v_tensors((la_tensor **)a->list, a->count);
    return LA_OK;
}

/* An integer fits numbers, dims, booleans, and lists as a list of one. */
static la_status integer(conversion *c, const la_any *a, const la_param *p,
                         la_value *v)
{
    la_type t = p->type;
    switch (t) {
    case LA_TYPE_TENSOR:
        if (p->no_number) return la_error(LA_EARG, "tensor expected");
        *v = la_v_int(a->integer);
        return LA_OK;
    case LA_TYPE_SCALAR: case LA_TYPE_FLOAT:
    case LA_TYPE_INT: case LA_TYPE_DIM: case LA_TYPE_INDEX:
        *v = la_v_int(a->integer);
        return api_call_shifted(a->integer, t, &v->i);
    case LA_TYPE_BOOL:      /* a comparison in C is an int */
        *v = la_v_bool(a->integer != 0);
        return LA_OK;
    case LA_TYPE_FLOATS: return api_call_one_number(c, a, p, v);
    default:
        return la_type_is_ints(t) ? api_call_integers(c, &a->integer, 1, t, v)
                                  : type_error(t);
    }
}

/* One argument by the type of its parameter; LA_EARG where it does not fit. */
static la_status api_call_convert(conversion *c, const la_any *a,
                                  const la_param *p, la_value *v)
{
    la_type t = p->type;
    bool fits = true;
    switch (a->kind) {
    case LA_ARG_NONE: *v = la_v_none(); return LA_OK;
    case LA_ARG_TENSOR:
        *v = la_v_tensor(a->tensor);
        fits = t == LA_TYPE_TENSOR && a->tensor;
        break;
    case LA_ARG_TENSORS: return tensors(a, p, v);
    case LA_ARG_INTEGERS: return integer_list(c, a, p, v);
    case LA_ARG_NUMBERS: return numbers(c, a, p, v);
    case LA_ARG_TEXTS: return texts(c, a->list, a->count, t, v);
    case LA_ARG_TEXT: return api_call_word(c, a->text, t, v);
    case LA_ARG_NUMBER:
        if (t == LA_TYPE_FLOATS) return api_call_one_number(c, a, p, v);
        *v = la_v_float(a->number);
        fits = t == LA_TYPE_FLOAT || t == LA_TYPE_SCALAR
            || (t == LA_TYPE_TENSOR && !p->no_number);
        break;
    case LA_ARG_BOOLEAN:
        *v = la_v_bool(a->integer != 0);
        fits = t == LA_TYPE_BOOL || t == LA_TYPE_SCALAR
            || (t == LA_TYPE_TENSOR && !p->no_number);
        break;
    case LA_ARG_INTEGER: return integer(c, a, p, v);
    case LA_ARG_TOO_LARGE:
        return la_error(LA_EARG, "the integer is above 9223372036854775807");
    default: return la_error(LA_EARG, "the argument is of no known kind");
    }
    return fits ? LA_OK : type_error(t);
}

/* ---- the arguments of a call ---- */

/* Integers by position behind each other fill a varargs parameter. *i ends
** behind the last one taken. */
static la_status variadic(conversion *c, int n, const la_any *args, int *i,
                          la_type t, la_value *v)
{
    int64_t *list = api_call_reserve(c, 0);
    int count = 0;
    for (; *i < n && args[*i].kind == LA_ARG_INTEGER && !args[*i].name; ++*i) {
        if (!api_call_reserve(c, 1)) return LA_EARG;
        LA_TRY(api_call_shifted(args[*i].integer, t, &list[count++]));
    }
    *v = la_v_ints(list, count);
    return LA_OK;
}

/* So do tensors where a list of them is expected. */
static la_status api_call_tensors_in_row(conversion *c, int n,
                                         const la_any *args, int *i,
    la_value *v)
{
    la_tensor **list = (la_tensor **)api_call_reserve(c, 0);
    int count = 0;
    for (; *i < n && args[*i].kind == LA_ARG_TENSOR && !args[*i].name; ++*i) {
        if (!args[*i].tensor) return la_error(LA_EARG, "a tensor is NULL");
        if (!api_call_reserve(c, 1)) return LA_EARG;
        list[count++] = args[*i].tensor;
    }
    *v = la_v_tensors(list, count);
    return LA_OK;
}

/* out = a tensor, or a list of them for several results. */
static la_status read_outs(conversion *c, const la_schema *s, const la_any *a)
{
    la_tensor *const *list = a->kind == LA_ARG_TENSOR ? &a->tensor : a->list;
    int64_t n = a->kind == LA_ARG_TENSOR ? 1 : a->count;
    bool fits = a->kind == LA_ARG_TENSOR || a->kind == LA_ARG_TENSORS;
    if (!fits || !list || n != s->nresults)
        return la_error(LA_EARG, "out: %d tensor%s expected, one for each "
                        "result", s->nresults, s->nresults == 1 ? "" : "s");
    for (int k = 0; k < (int)n; k++) {
        if (!list[k]) return la_error(LA_EARG, "out: a tensor is NULL");
        c->outs[k] = list[k];
    }
    c->nouts = (int)n;
    return LA_OK;
}

/* Parameter k takes args[*i], and *i goes on behind what it took. */
static la_status by_position(conversion *c, const la_schema *s, int n,
                             const la_any *args, int *i, int k)
{
    const la_param *p = &s->params[k];
    if (k >= s->nparams)
        return la_error(LA_EARG, "at most %d arguments expected", s->nparams);
    if (la_type_is_variadic(p->type) && args[*i].kind == LA_ARG_INTEGER)
        return variadic(c, n, args, i, p->type, &c->args[k]);
    if (p->type == LA_TYPE_TENSORS && args[*i].kind == LA_ARG_TENSOR)
        return api_call_tensors_in_row(c, n, args, i, &c->args[k]);
    return api_call_convert(c, &args[(*i)++], p, &c->args[k]);
}

/* Like a keyword in Lua; "out" is one of every operation that has the form. */
static la_status by_name(conversion *c, const la_op *op, const la_schema *s,
                         const la_any *a)
{
    if ((op->forms & LA_OUT_FORM) && strcmp(a->name, "out") == 0)
        return read_outs(c, s, a);
    int k = la_schema_find(s, a->name, strlen(a->name));
    if (k < 0)
        return la_error(LA_EARG, "there is no parameter '%.40s'", a->name);
    return api_call_convert(c, a, &s->params[k], &c->args[k]);
}

/* Defaults for what was not given; varargs may be none. */
static la_status api_call_complete(conversion *c, const la_schema *s)
{
    for (int k = 0; k < s->nrequired; k++) {
        const la_param *p = &s->params[k];
        la_value *v = &c->args[k];
        if (v->tag != LA_VNONE || !p->required || p->optional) continue;
        if (!la_type_is_variadic(p->type))
            return la_error_at(LA_EARG, k + 1, "%s expected, got nothing",
                               la_type_name(p->type));
        *v = la_v_ints(c->pool, 0);
    }
    return LA_OK;
}

/* Named arguments may come in any order; a later one replaces an earlier one of
** the same parameter. *fitted is how many of them were taken: of overloads that
** all do not fit, the one that most arguments fit speaks. */
static la_status read_args(conversion *c, const la_op *op, int n,
                           const la_any *args, int *fitted)
{
    const la_schema *s = la_schema_of(op);
    int k = 0;
    api_call_drop_owned(c);
    c->used = c->nouts = 0;
    if (s->broken) return la_schema_fault(op->signature);
    for (int j = 0; j < s->nparams; j++) c->args[j] = s->params[j].fallback;
    for (int i = 0; i < n;) {
        int at = i;
        la_status status = args[i].name ? by_name(c, op, s, &args[i++])
                                        : by_position(c, s, n, args, &i, k++);
        *fitted = at;
        if (__builtin_expect(status != LA_OK, 0))
            return la_blame(status, at + 1);
    }
    *fitted = n;
    return api_call_complete(c, s);
}

/* ---- calls ---- */

/* One overload, whose arguments are read. The frame is on the C stack and what
** it needs besides is the operation's own: a call allocates nothing else.
** Results are owned by the caller after LA_OK. What was written (self, or the
** tensors of out=) is given back, retained. */
static la_status api_call_run(const la_op *op, bool inplace, conversion *c,
                              la_value *results)
{
    la_frame f;
    bool self = inplace || (op->forms & LA_MUTATES);
    la_tensor *first = c->args[0].tag == LA_VTENSOR ? c->args[0].tensor : NULL;
    if (self && !first)
        return la_error_at(LA_EARG, 1, "tensor expected to work on in place");
    f.op = op;
    f.form = c->nouts ? LA_OUT : inplace ? LA_INPLACE : LA_FUNCTIONAL;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        f.outs[k] = k < c->nouts ? c->outs[k] : NULL;
    if (inplace) f.outs[0] = first;
    LA_TRY(la_do_frame(&f, la_schema_of(op)->nparams, c->args));
    if (!self && !c->nouts) {
        memcpy(results, f.results, sizeof(f.results));
        return LA_OK;
    }
    la_drop_results(&f);
    if (self) results[0] = la_v_tensor(la_tensor_retain(first));
    for (int k = 0; k < c->nouts && !self; k++)
        results[k] = la_v_tensor(la_tensor_retain(c->outs[k]));
    return LA_OK;
}

la_status la_api_call(const la_callable *what, int n, const la_any *args,
                      la_value *results)
{
    conversion c;
    const la_op *best = what->op;
    int fitted = 0, most = -1;
    uint32_t forms = what->inplace ? LA_INPLACE_FORM : LA_ANY;
    if (n < 0 || n > LA_MAX_ARGS || (n > 0 && !args))
        return la_error(LA_EARG, "at most %d arguments expected", LA_MAX_ARGS);
    if (__builtin_expect(!la_autograd_kernel, 0)) la_grad_init();
    LA_TRY(la_op_usable(what->op));
    c.nowned = 0;
    for (const la_op *op = what->op; op; op = op->state->next) {
        if (!(op->forms & forms)) continue;
        if (!read_args(&c, op, n, args, &fitted)) {
            la_status status = api_call_run(op, what->inplace, &c, results);
            api_call_drop_owned(&c);
            return status;
        }
        if (fitted >= most) best = op;
        if (fitted > most) most = fitted;
    }
    la_status status = read_args(&c, best, n, args, &fitted);
    api_call_drop_owned(&c);
    return status;
}

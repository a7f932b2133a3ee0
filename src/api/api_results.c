/*
** Results of operations in lunarray.h. Nothing here raises a Lua error.
**
** A handle (la_op of the public header) is a la_callable: the chain of
** overloads and the form, so that a call through it looks no name up and parses
** nothing.
*/
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "api/api_call.h"
#include "op/call.h"

/* A boolean becomes a 0-dim tensor, and so does the integer that manual_seed
** gives. Takes over the value; *out is owned, NULL for no value. */
static la_status as_tensor(la_value *v, la_tensor **out)
{
    la_scalar s;
    *out = NULL;
    switch (v->tag) {
    case LA_VTENSOR: *out = v->tensor; return LA_OK;
    case LA_VNONE: return LA_OK;
    case LA_VBOOL: s = la_scalar_bool(v->b); break;
    case LA_VINT: s = la_scalar_int(v->i); break;
    case LA_VTENSORS:
        la_value_drop(v);
        return la_error(LA_EARG, "the result is a list: use la_call_many");
    default:
        la_value_drop(v);
        return la_error(LA_EARG, "the result is no tensor");
    }
    return la_tensor_from_scalar(&s, out);
}

/* With 'results' all LA_MAX_RESULTS entries are written and owned by the
** caller, *first among them; otherwise the others are released. */
static la_status api_results_give(la_value *values, la_tensor **results,
                               la_tensor **first)
{
    la_tensor *outputs[LA_MAX_RESULTS];
    la_status status = LA_OK;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (as_tensor(&values[k], &outputs[k])) status = la_error_status();
    for (int k = status || !results ? !status : 0; k < LA_MAX_RESULTS; k++) {
        if (!status && results) results[k] = outputs[k];
        else la_tensor_drop(&outputs[k]);
    }
    *first = outputs[0];
    return status;
}

/* The name for texts of errors, as the caller would write it. */
static const char *api_results_name(const la_callable *what, char *out,
                                    size_t capacity)
{
    size_t n = la_op_name_length(what->op);
    if (n > capacity - 2) n = capacity - 2;
    memcpy(out, what->op->signature, n);
    if (what->inplace) out[n++] = '_';
    out[n] = '\0';
    return out;
}

/* Sets no record: a getter. */
LA_API la_op *la_op_find(const char *name)
{
    LA_ENTRY_IN(la_runtime_chosen());
    return name ? (la_op *)la_op_callable(name, strlen(name)) : NULL;
}

/* The handle is looked through on every call, so that overloads of a name that
** are told apart by arguments stay one handle; it costs a few comparisons. The
** name is only made where there is an error to be told. */
LA_API la_tensor *la_op_call(lua_State *L, la_op *op, int n,
                             const la_any *args, la_tensor **results)
{
    la_value values[LA_MAX_RESULTS] = {{0}};
    la_tensor *first = NULL;
    char name[64];
    const la_callable *what = (const la_callable *)op;
    LA_API_ENTRY(la_context_of(L));
    la_share_tensors();
    if (!what) {
        la_api_end("la_op_call", la_error(LA_EARG, "the operation is NULL"));
        return NULL;
    }
    la_status status = la_api_call(what, n, args, values);
    if (!status) status = api_results_give(values, results, &first);
    if (__builtin_expect(status != LA_OK, 0))
        la_api_end(api_results_name(what, name, sizeof(name)), status);
    else
        la_api_end("", LA_OK);
    return first;
}

/* manual_seed(n) is no operation, as its effect is on the settings; its result
** is the seed. */
static la_status seed_generator(int n, const la_any *args, la_value *values)
{
    if (n != 1 || args[0].kind != LA_ARG_INTEGER)
        return la_error(LA_EARG, "one integer expected");
    la_ctx()->generator = (la_generator){.seed = (uint64_t)args[0].integer};
    values[0] = la_v_int(args[0].integer);
    return LA_OK;
}

/* Stand-in for seeding among the operations by name. */
static const la_callable seeding;

/* Finds by name through a hash; NULL, and LA_EARG in the record, for others,
** shown up to the length that a name may have. */
static const la_callable *find_named(const char *name)
{
    const la_callable *what = name ? la_op_callable(name, strlen(name)) : NULL;
    if (what) return what;
    if (name && strcmp(name, "manual_seed") == 0) return &seeding;
    la_error(LA_EARG, "there is no operation '%.60s'", name ? name : "(null)");
    return NULL;
}

static la_status call_named(const la_callable *what, int n, const la_any *args,
                            la_value *values)
{
    return what == &seeding ? seed_generator(n, args, values)
                            : la_api_call(what, n, args, values);
}

/* Failures are reported under the caller's name of the operation. */
LA_API la_tensor *la_call_list(lua_State *L, const char *op, int n,
                               const la_any *args, la_tensor **results)
{
    la_value values[LA_MAX_RESULTS] = {{0}};
    la_tensor *first = NULL;
    LA_API_ENTRY(la_context_of(L));
    la_share_tensors();
    const la_callable *what = find_named(op);
    la_status status = what ? call_named(what, n, args, values)
                            : la_error_status();
    if (!status) status = api_results_give(values, results, &first);
    la_api_end(what ? op : "la_call", status);
    return first;
}

/* The caller's array of results: of tensors alone, or of values of any kind. */
typedef struct results_out {
    int capacity;
    la_tensor **tensors;        /* NULL: to 'values' */
    la_any *values;
} results_out;

static void put_result(const results_out *to, int k, la_any a)
{
    if (to->tensors) to->tensors[k] = a.tensor;
    else to->values[k] = a;
}

/* Numbers, booleans and dtypes as they are; false for all else. */
static bool as_plain(const la_value *v, la_any *out)
{
    switch (v->tag) {
    case LA_VBOOL: *out = la_any_bool(v->b); return true;
    case LA_VINT: *out = la_any_int(v->i); return true;
    case LA_VFLOAT: *out = la_any_double(v->d); return true;
    case LA_VDTYPE: *out = la_any_text(la_dtype_name(v->dtype)); return true;
    case LA_VSCALAR: break;
    default: return false;
    }
    const la_scalar *s = &v->scalar;
    if (s->kind == LA_KBOOL) *out = la_any_bool(s->i != 0);
    else if (s->kind == LA_KINT && !la_scalar_above_int(s))
        *out = la_any_int(s->i);
    else if (s->kind == LA_KFLOAT) *out = la_any_double(s->re);
    else return false;
    return true;
}

/* Takes over the value. */
static la_status as_result(la_value *v, const results_out *to, la_any *out)
{
    la_tensor *t = NULL;
    *out = la_any_tensor(NULL);
    if (!to->tensors && as_plain(v, out)) return LA_OK;
    LA_TRY(as_tensor(v, &t));
    v->tag = LA_VNONE;
    *out = la_any_tensor(t);
    return LA_OK;
}

/* Results one by one; how many there are. Nothing is written where one of them
** can't be given. */
static int give_each(la_value *values, const results_out *to)
{
    la_any given[LA_MAX_RESULTS];
    int n = 0, k = 0;
    while (n < LA_MAX_RESULTS && values[n].tag != LA_VNONE) n++;
    for (; k < n && k < to->capacity; k++)
        if (as_result(&values[k], to, &given[k])) {
            while (k-- > 0) la_tensor_drop(&given[k].tensor);
            return -1;
        }
    while (k-- > 0) put_result(to, k, given[k]);
    return n;
}

/* The tensors of a list one by one. */
static int give_list(la_value *values, const results_out *to)
{
    int n = (int)values[0].tensors.n;
    for (int k = 0; k < n && k < to->capacity; k++) {
        put_result(to, k, la_any_tensor(values[0].tensors.list[k]));
        values[0].tensors.list[k] = NULL;
    }
    return n;
}

/* Ends a call that gives all its results: how many there are, also of those
** beyond the capacity. What does not go to the caller is released. -1 with
** the record set, under 'name', where the call failed or a result can't be
** given. */
static int give_all(const char *name, la_status status, la_value *values,
                    const results_out *to)
{
    int n = status ? -1
        : values[0].tag == LA_VTENSORS ? give_list(values, to)
        : give_each(values, to);
    if (n < 0 && !status) status = la_error_status();
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_value_drop(&values[k]);
    la_api_end(name, status);
    return n;
}

static la_status check_results(const results_out *to)
{
    bool some = to->capacity == 0 || to->tensors || to->values;
    return to->capacity >= 0 && some ? LA_OK
        : la_error(LA_EARG, "an array for the results expected");
}

/* Operations with one result or several are fine here too: a list is only one
** form of having many. */
LA_API int la_call_many(lua_State *L, const char *op, int n,
                        const la_any *args, int capacity, la_tensor **results)
{
    la_value values[LA_MAX_RESULTS] = {{0}};
    results_out to = {.capacity = capacity, .tensors = results};
    LA_API_ENTRY(la_context_of(L));
    la_share_tensors();
    const la_callable *what = find_named(op);
    la_status status = what ? check_results(&to) : la_error_status();
    if (!status) status = call_named(what, n, args, values);
    return give_all(what ? op : "la_call_many", status, values, &to);
}

/* The capacity is checked before the call, since an operation with effects
** can't be undone for want of space. */
LA_API int la_call_any(lua_State *L, la_op *op, int n, const la_any *args,
                       int capacity, la_any *results)
{
    la_value values[LA_MAX_RESULTS] = {{0}};
    char name[64];
    const la_callable *what = (const la_callable *)op;
    results_out to = {.capacity = capacity, .values = results};
    LA_API_ENTRY(la_context_of(L));
    la_share_tensors();
    la_status status = what ? check_results(&to)
        : la_error(LA_EARG, "the operation is NULL");
    if (!status) status = la_api_call(what, n, args, values);
    return give_all(what ? api_results_name(what, name, sizeof name)
                         : "la_call_any", status, values, &to);
}

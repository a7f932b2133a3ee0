/*
** Operations in lunarray.h: what the reader of schemas (op/arguments.inc) asks
** of an array of C values, and the call of an operation by such. Nothing here
** raises a Lua error.
*/
#define LA_INTERNAL
#include "lunarray.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "grad/grad.h"
#include "api/api.h"
#include "api/api_call.h"
#include "base/format.h"
#include "base/size.h"
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

/* ---- the arguments of one call ---- */

enum { LA_MOST_OWNED = 32 };

/* Lists that had to be converted are in 'pool', numbers that became tensors in
** 'owned'; all else is borrowed from the caller. 'items' are the arguments by
** position, then those by name. 'entry' is the one of a list that is looked at.
** 'status' is what the record of the thread says, LA_OK where it says nothing
** of these arguments. */
typedef struct reader {
    const la_op *op;
    const la_schema *schema;
    la_value args[LA_MAX_ARGS];
    la_tensor *outs[LA_MAX_RESULTS];
    bool quiet, method;
    int last, most;
    int odd_word, score, nouts, nowned, used;
    la_status status;
    const la_any *given;        /* the caller's array */
    const la_any *items[LA_MAX_ARGS];
    la_any entry;
    la_tensor *owned[LA_MOST_OWNED];
    int64_t pool[LA_POOL_INTS];
} reader;

enum { AT_ENTRY = -1 };         /* the 'at' of 'entry' */

static inline const la_any *item_at(const reader *r, int at)
{
    return at == AT_ENTRY ? &r->entry : r->items[at - 1];
}

/* ---- errors ---- */

/* An argument by name has its index in the caller's array as well; one that is
** not there has that of its parameter. */
#define BY_NAME(at, k) (at)
#define LEFT_OUT(k) (-1 - (k))

static bool note_failure(reader *r, la_status status, int arg)
{
    r->status = la_blame(status, arg < 0 ? -arg
                         : (int)(r->items[arg - 1] - r->given) + 1);
    return false;
}

/* False; the record is left alone while another overload may fit. */
static __attribute__((format(LA_PRINTF, 3, 4), cold)) bool
fail(reader *r, int arg, const char *fmt, ...)
{
    char text[LA_ERROR_TEXT];
    va_list list;
    if (r->quiet) return false;
    va_start(list, fmt);
    la_format_list(text, sizeof(text), fmt, list);
    va_end(list);
    return note_failure(r, la_error(LA_EARG, "%s", text), arg);
}

#define fail_keyword fail

static bool fail_zero(reader *r, int arg, const char *what)
{
    return r->quiet ? false
        : note_failure(r, la_error(LA_EINDEX, "%s 0: counting starts at 1",
                                   what), arg);
}

static bool fail_out(reader *r, int at, const char *why)
{
    return fail(r, at, "out: %s", why);
}

/* Memory is out: no other overload is better off. */
static bool fail_memory(reader *r)
{
    r->status = LA_ENOMEM;
    return false;
}

/* A user's word for what was given, as lua_typename's for scripts. */
static const char *kind_text(reader *r, int at)
{
    const la_any *a = item_at(r, at);
    switch (a->kind) {
    case LA_ARG_NONE: return "nil";
    case LA_ARG_TENSOR: return a->tensor ? "tensor" : "NULL";
    case LA_ARG_INTEGER: case LA_ARG_NUMBER: return "number";
    case LA_ARG_BOOLEAN: return "boolean";
    case LA_ARG_TEXT: return a->text ? "string" : "NULL";
    case LA_ARG_INTEGERS: return a->list ? "list of integers" : "NULL";
    case LA_ARG_TENSORS: return a->list ? "list of tensors" : "NULL";
    case LA_ARG_NUMBERS: return a->list ? "list of numbers" : "NULL";
    case LA_ARG_TEXTS: return a->list ? "list of strings" : "NULL";
    default: return "argument of no known kind";
    }
}

static bool expected(reader *r, int at, int arg, const char *what)
{
    const la_any *a = item_at(r, at);
    if (a->kind == LA_ARG_TOO_LARGE)
        return fail(r, arg, "the integer is above 9223372036854775807");
    if (a->kind == LA_ARG_NUMBER && strcmp(what, "number") == 0)
        return fail(r, arg, "integer expected, got a number of type double");
    return fail(r, arg, "%s expected, got %s", what, kind_text(r, at));
}

#define refuse_operand expected

/* ---- single values ---- */

#define LIST_WORD "list"
#define MOST_ENTRIES LA_POOL_INTS

static inline bool is_kind(const reader *r, int at, int kind)
{
    return item_at(r, at)->kind == kind;
}
static inline bool is_nil(reader *r, int at)
{
    return is_kind(r, at, LA_ARG_NONE);
}
static inline bool is_tensor(reader *r, int at)
{
    return is_kind(r, at, LA_ARG_TENSOR);
}
static inline bool in_row(reader *r, int at)
{
    return is_kind(r, at, LA_ARG_INTEGER);
}
static inline bool is_number(reader *r, int at)
{
    return is_kind(r, at, LA_ARG_INTEGER) || is_kind(r, at, LA_ARG_NUMBER);
}

static inline bool integer_at(reader *r, int at, int64_t *out)
{
    *out = item_at(r, at)->integer;
    return is_kind(r, at, LA_ARG_INTEGER);
}

/* A comparison in C is an int. */
static inline bool bool_at(reader *r, int at, bool *out)
{
    *out = item_at(r, at)->integer != 0;
    return is_kind(r, at, LA_ARG_BOOLEAN) || is_kind(r, at, LA_ARG_INTEGER);
}

/* Texts are borrowed until the call ends. */
static inline const char *text_at(reader *r, int at, size_t *n)
{
    const la_any *a = item_at(r, at);
    if (a->kind != LA_ARG_TEXT || !a->text) return NULL;
    *n = strlen(a->text);
    return a->text;
}

/* No value of C is a generator. */
static inline void *pointer_at(reader *r, int at)
{
    (void)r, (void)at;
    return NULL;
}

/* No tensor counts as a number here, whatever its size. */
static inline bool scalar_at(reader *r, int at, la_type type, la_scalar *out)
{
    const la_any *a = item_at(r, at);
    switch (a->kind) {
    case LA_ARG_INTEGER: *out = la_scalar_int(a->integer); return true;
    case LA_ARG_NUMBER: *out = la_scalar_float(a->number); return true;
    case LA_ARG_BOOLEAN:
        *out = la_scalar_bool(a->integer != 0);
        return type != LA_TYPE_FLOAT;
    default: return false;
    }
}

static inline int tensor_at(reader *r, int at, int arg, int k, la_value *v)
{
    (void)arg, (void)k;
    const la_any *a = item_at(r, at);
    if (a->kind != LA_ARG_TENSOR || !a->tensor) return 0;
    *v = la_v_tensor(a->tensor);
    return 1;
}

static inline const la_tensor *first_tensor(reader *r)
{
    return r->args[0].tag == LA_VTENSOR ? r->args[0].tensor : NULL;
}

/* ---- lists ---- */

static inline bool is_list(reader *r, int at)
{
    int kind = item_at(r, at)->kind;
    return kind == LA_ARG_INTEGERS || kind == LA_ARG_TENSORS
        || kind == LA_ARG_NUMBERS || kind == LA_ARG_TEXTS;
}

static int64_t count_at(reader *r, int at)
{
    const la_any *a = item_at(r, at);
    bool there = a->count == 0 || (a->count > 0 && a->list);
    return is_list(r, at) && there ? a->count : -1;
}

/* Entries become arguments of their own, one at a time, so that one reader
** serves lists and single values. */
static int entry_at(reader *r, int at, int64_t i)
{
    const la_any *a = item_at(r, at);
    switch (a->kind) {
    case LA_ARG_INTEGERS:
        r->entry = la_any_int(((const int64_t *)a->list)[i]);
        break;
    case LA_ARG_NUMBERS:
        r->entry = la_any_double(((const double *)a->list)[i]);
        break;
    case LA_ARG_TEXTS:
        r->entry = la_any_text(((const char *const *)a->list)[i]);
        break;
    default: r->entry = la_any_tensor(((la_tensor *const *)a->list)[i]);
    }
    return AT_ENTRY;
}

#define leave_entry(r) ((void)(r))
#define settle_list(r, at) ((void)0)
#define end_list(r, at, arg, n) true
#define is_object(r, at) true

/* Nothing is given back before the call ends. */
static int64_t *reserve(reader *r, int arg, int64_t n)
{
    if (n > LA_POOL_INTS - r->used) {
        fail(r, arg, "the lists are too long: they have more than %d entries",
             LA_POOL_INTS);
        return NULL;
    }
    r->used += (int)n;
    return r->pool + r->used - n;
}

/* Integers that are counted as in a frame: however many there are. */
static inline bool borrow_ints(reader *r, int at, la_type type, la_value *v)
{
    const la_any *a = item_at(r, at);
    if (a->kind != LA_ARG_INTEGERS || la_type_counted(type)
        || type == LA_TYPE_FLOATS || count_at(r, at) < 0) return false;
    *v = la_v_ints(a->list, a->count);
    return true;
}

/* A list of tensors is borrowed as it is, and put_tensor finds in it what it
** would write. Numbers become tensors of the call's own. */
static la_tensor **box(reader *r, int at, int arg, int64_t n)
{
    const la_any *a = at ? item_at(r, at) : NULL;
    if (a && a->kind == LA_ARG_TENSORS) return (la_tensor **)a->list;
    if (a && n > LA_MOST_OWNED - r->nowned) {
        fail(r, arg, "more than %d numbers for tensors", LA_MOST_OWNED);
        return NULL;
    }
    la_tensor **list = a ? r->owned + r->nowned
                         : (la_tensor **)reserve(r, arg, n);
    for (int64_t i = 0; list && i < n; i++) list[i] = NULL;
    return list;
}

/* A list of tensors is the caller's and const: it is compared with, and never
** written. */
static bool put_tensor(reader *r, int at, int arg, int64_t i, bool numbers,
                       la_tensor **out)
{
    la_scalar s;
    const la_any *a = item_at(r, at);
    if (a->kind == LA_ARG_TENSOR && !a->tensor)
        return fail(r, arg, "a tensor is NULL");
    if (a->kind == LA_ARG_TENSOR && *out != a->tensor) *out = a->tensor;
    if (a->kind == LA_ARG_TENSOR || i < 0 || !numbers
        || !scalar_at(r, at, LA_TYPE_TENSOR, &s)) return true;
    la_status status = la_tensor_from_scalar(&s, out);
    if (status) return note_failure(r, status, arg);
    r->nowned++;
    return true;
}

static const char *put_out(reader *r, int at, int k)
{
    const la_any *a = item_at(r, at);
    if (a->kind != LA_ARG_TENSOR || !a->tensor) return "tensor expected";
    r->outs[k] = a->tensor;
    return NULL;
}

/* Lists of op/arguments.inc: two of one length stand one after the other, and
** cells are a list of integers, as in a frame. */
static bool read_ints(reader *r, int at, int arg, la_type type, la_value *v);

static bool read_dim_lists(reader *r, int at, int arg, la_value *v)
{
    int64_t n = count_at(r, at);
    if (n < 0 || n % 2 != 0)
        return expected(r, at, arg, "two lists of dimensions, of one length,");
    return read_ints(r, at, arg, LA_TYPE_DIM_LISTS, v);
}

static bool read_cells(reader *r, int at, int arg, la_value *v)
{
    return read_ints(r, at, arg, LA_TYPE_CELLS, v);
}

#define ends_positions(r, at, k) false
#define takes_more(r, at, k) 0
#define NIL_IS_LEFT_OUT true
#include "op/arguments.inc"

static void drop_numbers(reader *r)
{
    while (r->nowned > 0) la_tensor_drop(&r->owned[--r->nowned]);
}

/* Arguments by position first, which is the order in which they are read. */
static void sort_items(reader *r, int n)
{
    int k = 0;
    for (int i = 0; i < n; i++)
        if (!r->given[i].name) r->items[k++] = &r->given[i];
    r->last = k;
    for (int i = 0; i < n && k < n; i++)
        if (r->given[i].name) r->items[k++] = &r->given[i];
}

/* Reads the arguments for 'op'. False with 'status' set; a quiet reader leaves
** LA_OK there where another overload may fit. */
static bool read_arguments(reader *r, const la_op *op, int n, bool quiet)
{
    int at = 1;
    drop_numbers(r);
    r->op = op;
    r->schema = la_schema_of(op);
    r->quiet = quiet;
    r->used = r->score = 0;
    r->status = LA_OK;
    if (r->schema->broken) {
        r->status = la_schema_fault(op->signature);
        return false;
    }
    r->most = r->schema->nparams;
    begin_reading(r);
    if (!read_positional(r, &at)) return false;
    if (at <= r->last) return too_many(r, at);
    for (int i = at; i <= n; i++, r->score += 2) {
        const char *name = r->items[i - 1]->name;
        if (!read_keyword(r, i, name, strlen(name))) return false;
    }
    return fill_defaults(r);
}

/* ---- calls ---- */

/* One overload, whose arguments are read. The frame is on the C stack and what
** it needs besides is the operation's own: a call allocates nothing else.
** Results are owned by the caller after LA_OK. What was written (self, or the
** tensors of out=) is given back, retained. */
static la_status api_call_run(const la_op *op, bool inplace, reader *r,
                              la_value *results)
{
    la_frame f;
    bool self = inplace || (op->forms & LA_MUTATES);
    la_tensor *first = r->args[0].tag == LA_VTENSOR ? r->args[0].tensor : NULL;
    if (self && !first)
        return la_error_at(LA_EARG, 1, "tensor expected to work on in place");
    f.op = op;
    f.form = r->nouts ? LA_OUT : inplace ? LA_INPLACE : LA_FUNCTIONAL;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        f.outs[k] = k < r->nouts ? r->outs[k] : NULL;
    if (inplace) f.outs[0] = first;
    LA_TRY(la_do_frame(&f, la_schema_of(op)->nparams, r->args));
    if (!self && !r->nouts) {
        memcpy(results, f.results, sizeof(f.results));
        return LA_OK;
    }
    la_drop_results(&f);
    if (self) results[0] = la_v_tensor(la_tensor_retain(first));
    for (int k = 0; k < r->nouts && !self; k++)
        results[k] = la_v_tensor(la_tensor_retain(r->outs[k]));
    return LA_OK;
}

/* Overloads are tried quietly, in the order of rows. Where none fits, the one
** that most arguments fitted is read again and says why; want of memory
** ends the search at once. */
la_status la_api_call(const la_callable *what, int n, const la_any *args,
                      la_value *results)
{
    reader r;
    const la_op *best = what->op;
    la_status status = LA_OK;
    int most = -1;
    uint32_t forms = what->inplace ? LA_INPLACE_FORM : LA_ANY;
    if (n < 0 || n > LA_MAX_ARGS || (n > 0 && !args))
        return la_error(LA_EARG, "at most %d arguments expected", LA_MAX_ARGS);
    if (__builtin_expect(!la_autograd_kernel, 0)) la_grad_init();
    LA_TRY(la_op_usable(what->op));
    r.nowned = 0;
    r.method = false;
    r.given = args;
    sort_items(&r, n);
    bool fits = false;
    for (const la_op *op = what->op; op && !fits && !status;
         op = op->state->next) {
        if (!(op->forms & forms)) continue;
        fits = read_arguments(&r, op, n, true);
        if (!fits && r.score >= most) best = op;
        most = la_max(most, r.score);
        status = r.status;
    }
    if (!fits && !status) fits = read_arguments(&r, best, n, false);
    status = fits ? api_call_run(r.op, what->inplace, &r, results) : r.status;
    drop_numbers(&r);
    return status;
}

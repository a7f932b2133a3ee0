/*
** The machine of pickles: opcodes, their stack, its marks, the memo. Bytes of
** the stream are read as they are needed, so that what follows a pickle in a
** file is left alone.
*/
#include "modules/pickle/io/pickle.h"

#include <string.h>

#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "io/zip.h"

enum { WINDOW = 64 << 10 };     /* bytes of the first reading */

/* ---- the stream ---- */

/* Reads on until the stream's first 'end' bytes are here. */
static la_status pickle_fill(la_pickle *p, size_t end)
{
    size_t n = p->window_bytes ? 2 * p->window_bytes : WINDOW;
    while (n < end) n *= 2;
    if (n > (size_t)p->size) n = (size_t)p->size;
    char *window = la_mem_alloc(n);
    if (!window) return LA_ENOMEM;
    if (p->have) memcpy(window, p->window, p->have);
    la_mem_free(p->window, p->window_bytes);
    p->window = window;
    p->data = window;
    p->window_bytes = n;
    LA_TRY(la_reader_read(p->in, p->base + (int64_t)p->have, window + p->have,
                          n - p->have));
    p->have = n;
    return LA_OK;
}

/* The next n bytes are there; they begin at *at of the stream. */
static la_status pickle_take(la_pickle *p, uint64_t n, size_t *at)
{
    if (n > (uint64_t)(p->size - p->at))
        return la_pickle_fail(p, "truncated: %llu bytes were to follow",
                              (unsigned long long)n);
    *at = (size_t)p->at;
    if (*at + n > p->have) LA_TRY(pickle_fill(p, *at + (size_t)n));
    p->at += (int64_t)n;
    return LA_OK;
}

static la_status pickle_number(la_pickle *p, int bytes, uint64_t *out)
{
    size_t at = 0;
    LA_TRY(pickle_take(p, (uint64_t)bytes, &at));
    *out = la_little(p->data + at, bytes);
    return LA_OK;
}

/* The rest of the line, without its end: *at and *n. */
static la_status pickle_line(la_pickle *p, size_t *at, size_t *n)
{
    size_t from = (size_t)p->at, seen = from;
    for (;;) {
        const char *end = seen < p->have
            ? memchr(p->data + seen, '\n', p->have - seen) : NULL;
        if (end) {
            *at = from;
            *n = (size_t)(end - p->data) - from;
            p->at = (int64_t)(from + *n + 1);
            return LA_OK;
        }
        if (p->have == (size_t)p->size)
            return la_pickle_fail(p, "truncated: the end of a line is missing");
        seen = p->have > from ? p->have : from;
        LA_TRY(pickle_fill(p, seen + 1));
    }
}

/* ---- stack, marks, memo ---- */

static la_status pickle_push(la_pickle *p, uint32_t node)
{
    LA_TRY(la_pickle_grow(&p->stack, &p->stack_capacity, p->depth + 1,
                       sizeof *p->stack));
    p->stack[p->depth++] = node;
    return LA_OK;
}

/* The depth at the innermost mark; 0: there is none. */
static size_t pickle_floor(const la_pickle *p)
{
    return p->nmarks ? p->marks[p->nmarks - 1] : 0;
}

static la_status pickle_pop(la_pickle *p, uint32_t *out)
{
    if (p->depth <= pickle_floor(p))
        return la_pickle_fail(p, "the stack is empty");
    *out = p->stack[--p->depth];
    return LA_OK;
}

static la_status pickle_top(const la_pickle *p, uint32_t *out)
{
    if (p->depth <= pickle_floor(p))
        return la_pickle_fail(p, "the stack is empty");
    *out = p->stack[p->depth - 1];
    return LA_OK;
}

static la_status pickle_mark(la_pickle *p)
{
    if (p->depth > UINT32_MAX) return la_pickle_fail(p, "too many objects");
    LA_TRY(la_pickle_grow(&p->marks, &p->marks_capacity, p->nmarks + 1,
                       sizeof *p->marks));
    p->marks[p->nmarks++] = (uint32_t)p->depth;
    return LA_OK;
}

/* Everything above the mark is taken off: it stays behind the stack's end until
** something is pushed. */
static la_status pickle_pop_mark(la_pickle *p, const uint32_t **items,
                                 size_t *n)
{
    if (!p->nmarks) return la_pickle_fail(p, "there is no mark");
    size_t from = p->marks[--p->nmarks];
    *items = p->stack + from;
    *n = p->depth - from;
    p->depth = from;
    return LA_OK;
}

/* Writers count from 0, so that an index is below the number of bytes. */
static la_status pickle_memoize(la_pickle *p, uint64_t k)
{
    uint32_t node = 0;
    LA_TRY(pickle_top(p, &node));
    if (k >= (uint64_t)p->size)
        return la_pickle_fail(p, "memo %llu of a pickle of %lld bytes",
                              (unsigned long long)k, (long long)p->size);
    LA_TRY(la_pickle_grow(&p->memo, &p->memo_capacity, (size_t)k + 1,
                       sizeof *p->memo));
    p->memo[k] = node + 1;
    return LA_OK;
}

static la_status pickle_get(la_pickle *p, uint64_t k)
{
    if (k >= p->memo_capacity || !p->memo[k])
        return la_pickle_fail(p, "nothing is in memo %llu",
                              (unsigned long long)k);
    return pickle_push(p, p->memo[k] - 1);
}

/* MEMOIZE counts what is in the memo; writers that use it use nothing else, so
** that the first free index is the count. */
static la_status pickle_memoize_next(la_pickle *p, size_t *next)
{
    while (*next < p->memo_capacity && p->memo[*next]) ++*next;
    return pickle_memoize(p, *next);
}

static la_status pickle_read_index(la_pickle *p, uint64_t *out)
{
    size_t at = 0, n = 0;
    LA_TRY(pickle_line(p, &at, &n));
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(p->data[at + i] - '0');
        if (digit > 9 || n > 18)
            return la_pickle_fail(p, "a memo index is damaged");
        *out = *out * 10 + digit;
    }
    return n ? LA_OK : la_pickle_fail(p, "a memo index is damaged");
}

/* ---- making ---- */

static la_status pickle_push_new(la_pickle *p, la_pickle_kind kind, int64_t i)
{
    uint32_t node = 0;
    LA_TRY(la_pickle_new(p, kind, &node));
    if (kind <= LA_PICKLE_INT) p->nodes[node].i = i;
    return pickle_push(p, node);
}

/* The bytes whose number stands before them, in 'count' bytes; they stay in the
** stream. */
static la_status pickle_take_counted(la_pickle *p, int count, const char *what,
                                     uint64_t *n, size_t *at)
{
    LA_TRY(pickle_number(p, count, n));
    LA_TRY(pickle_take(p, *n, at));
    return *n <= INT32_MAX ? LA_OK
        : la_pickle_fail(p, "a %s of %llu bytes", what, (unsigned long long)*n);
}

static la_status pickle_push_text(la_pickle *p, int count)
{
    uint64_t n = 0;
    size_t at = 0;
    uint32_t node = 0;
    LA_TRY(pickle_take_counted(p, count, "string", &n, &at));
    LA_TRY(la_pickle_new(p, LA_PICKLE_TEXT, &node));
    p->nodes[node].i = (int64_t)at;
    p->nodes[node].n = (uint32_t)n;
    return pickle_push(p, node);
}

static la_status pickle_push_long(la_pickle *p, int count)
{
    uint64_t n = 0;
    size_t at = 0;
    uint32_t node = 0;
    LA_TRY(pickle_take_counted(p, count, "number", &n, &at));
    LA_TRY(la_pickle_new_long(p, (int64_t)at, (size_t)n, false, &node));
    return pickle_push(p, node);
}

static la_status pickle_push_float(la_pickle *p)
{
    size_t at = 0;
    uint32_t node = 0;
    uint64_t bits = 0;
    LA_TRY(pickle_take(p, 8, &at));
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | (unsigned char)p->data[at + (size_t)i];
    LA_TRY(la_pickle_new(p, LA_PICKLE_FLOAT, &node));
    memcpy(&p->nodes[node].f, &bits, sizeof bits);
    return pickle_push(p, node);
}

/* 'read' makes a node of the rest of the line. */
static la_status pickle_push_line(la_pickle *p,
    la_status (*read)(la_pickle *, const char *, size_t, uint32_t *))
{
    size_t at = 0, n = 0;
    uint32_t node = 0;
    LA_TRY(pickle_line(p, &at, &n));
    LA_TRY(read(p, p->data + at, n, &node));
    return pickle_push(p, node);
}

static la_status pickle_read_plain_int(la_pickle *p, const char *line,
                                       size_t n, uint32_t *out)
{
    return la_pickle_read_int(p, line, n, false, out);
}

static la_status pickle_read_long_int(la_pickle *p, const char *line, size_t n,
                                      uint32_t *out)
{
    return la_pickle_read_int(p, line, n, true, out);
}

/* The last n of the stack as a tuple. */
static la_status pickle_push_tuple(la_pickle *p, const uint32_t *items,
                                   size_t n, la_pickle_kind kind)
{
    uint32_t node = 0;
    LA_TRY(la_pickle_new(p, kind, &node));
    for (size_t i = 0; i < n; i++) LA_TRY(la_pickle_put(p, node, items[i]));
    return pickle_push(p, node);
}

static la_status pickle_small_tuple(la_pickle *p, size_t n)
{
    if (p->depth < pickle_floor(p) + n)
        return la_pickle_fail(p, "the stack is empty");
    p->depth -= n;
    return pickle_push_tuple(p, p->stack + p->depth, n, LA_PICKLE_TUPLE);
}

static la_status pickle_collect(la_pickle *p, la_pickle_kind kind)
{
    const uint32_t *items = NULL;
    size_t n = 0;
    LA_TRY(pickle_pop_mark(p, &items, &n));
    if (kind == LA_PICKLE_DICT && n % 2)
        return la_pickle_fail(p, "a key without a value");
    return pickle_push_tuple(p, items, n, kind);
}

/* Items of a list, or of an object that is like one. */
static la_status pickle_append(la_pickle *p, const uint32_t *items, size_t n)
{
    uint32_t to = 0;
    LA_TRY(pickle_top(p, &to));
    if (p->nodes[to].kind == LA_PICKLE_OBJECT) to = p->nodes[to].items[1];
    if (p->nodes[to].kind != LA_PICKLE_LIST)
        return la_pickle_fail(p, "items can be appended to lists alone");
    for (size_t i = 0; i < n; i++) LA_TRY(la_pickle_put(p, to, items[i]));
    return LA_OK;
}

static la_status pickle_set_items(la_pickle *p, const uint32_t *items, size_t n)
{
    uint32_t to = 0;
    LA_TRY(pickle_top(p, &to));
    if (n % 2) return la_pickle_fail(p, "a key without a value");
    if (p->nodes[to].kind != LA_PICKLE_DICT
        && p->nodes[to].kind != LA_PICKLE_OBJECT)
        return la_pickle_fail(p, "keys can be set in dicts alone");
    for (size_t i = 0; i < n; i++) LA_TRY(la_pickle_put(p, to, items[i]));
    return LA_OK;
}

static la_status pickle_add_items(la_pickle *p)
{
    const uint32_t *items = NULL;
    size_t n = 0;
    uint32_t to = 0;
    LA_TRY(pickle_pop_mark(p, &items, &n));
    LA_TRY(pickle_top(p, &to));
    if (p->nodes[to].kind != LA_PICKLE_SET)
        return la_pickle_fail(p, "items can be added to sets alone");
    for (size_t i = 0; i < n; i++) LA_TRY(la_pickle_put(p, to, items[i]));
    return LA_OK;
}

/* ---- names and calls ---- */

/* "module.name" of two texts that lie anywhere. */
static la_status pickle_push_name(la_pickle *p, const char *module, size_t m,
                                  const char *name, size_t n)
{
    LA_BYTES whole = {0};
    uint32_t node = 0;
    if (n + m > 2000) return la_pickle_fail(p, "a name of %zu bytes", n + m);
    la_bytes_put(&whole, module, m);
    la_bytes_put_byte(&whole, '.');
    la_bytes_put(&whole, name, n);
    LA_TRY(whole.status);
    LA_TRY(la_pickle_global(p, (const char *)whole.data, whole.n, &node));
    return pickle_push(p, node);
}

static la_status pickle_line_global(la_pickle *p)
{
    size_t at = 0, m = 0, name_at = 0, n = 0;
    LA_TRY(pickle_line(p, &at, &m));
    LA_TRY(pickle_line(p, &name_at, &n));
    return pickle_push_name(p, p->data + at, m, p->data + name_at, n);
}

static la_status pickle_stack_global(la_pickle *p)
{
    uint32_t name = 0, module = 0;
    LA_TRY(pickle_pop(p, &name));
    LA_TRY(pickle_pop(p, &module));
    const la_pickle_node *a = la_pickle_at(p, module);
    const la_pickle_node *b = la_pickle_at(p, name);
    if (a->kind != LA_PICKLE_TEXT || b->kind != LA_PICKLE_TEXT)
        return la_pickle_fail(p, "the name of a global is no text");
    return pickle_push_name(p, la_pickle_text(p, a), a->n,
                            la_pickle_text(p, b), b->n);
}

typedef la_status (*apply_fn)(la_pickle *, uint32_t, uint32_t, uint32_t *);

/* A callable and a tuple of arguments are replaced by what 'apply' makes. */
static la_status pickle_apply(la_pickle *p, apply_fn apply)
{
    uint32_t arguments = 0, callable = 0, node = 0;
    LA_TRY(pickle_pop(p, &arguments));
    LA_TRY(pickle_pop(p, &callable));
    if (p->nodes[arguments].kind != LA_PICKLE_TUPLE)
        return la_pickle_fail(p, "arguments that are no tuple");
    LA_TRY(apply(p, callable, arguments, &node));
    return pickle_push(p, node);
}

/* NEWOBJ_EX: keywords are taken for empty, else the object is not known. */
static la_status pickle_new_with_keywords(la_pickle *p)
{
    uint32_t keywords = 0;
    LA_TRY(pickle_pop(p, &keywords));
    if (p->nodes[keywords].kind != LA_PICKLE_DICT
        || (p->nodes[keywords].n && !p->lenient))
        return la_pickle_fail(p, "an object with keywords is not known");
    return pickle_apply(p, la_pickle_new_object);
}

/* INST and OBJ of protocol 0 and 1: a class and its arguments above a mark. */
static la_status pickle_instance(la_pickle *p, bool named)
{
    const uint32_t *items = NULL;
    size_t n = 0, at = 0, m = 0, name_at = 0, name_n = 0;
    uint32_t node = 0, arguments = 0;
    if (named) {
        LA_TRY(pickle_line(p, &at, &m));
        LA_TRY(pickle_line(p, &name_at, &name_n));
    }
    LA_TRY(pickle_pop_mark(p, &items, &n));
    if (!named && !n) return la_pickle_fail(p, "the stack is empty");
    LA_TRY(la_pickle_new(p, LA_PICKLE_TUPLE, &arguments));
    for (size_t i = !named; i < n; i++)
        LA_TRY(la_pickle_put(p, arguments, items[i]));
    if (named) LA_TRY(pickle_push_name(p, p->data + at, m, p->data + name_at,
                                       name_n));
    else LA_TRY(pickle_push(p, items[0]));
    LA_TRY(pickle_pop(p, &node));
    LA_TRY(la_pickle_reduce(p, node, arguments, &node));
    return pickle_push(p, node);
}

static la_status pickle_persistent(la_pickle *p)
{
    uint32_t id = 0, node = 0;
    LA_TRY(pickle_pop(p, &id));
    LA_TRY(la_pickle_persistent(p, id, &node));
    return pickle_push(p, node);
}

static la_status pickle_build(la_pickle *p)
{
    uint32_t state = 0, object = 0;
    LA_TRY(pickle_pop(p, &state));
    LA_TRY(pickle_top(p, &object));
    return la_pickle_build(p, object, state);
}

/* ---- opcodes ---- */

static la_status pickle_pop_one(la_pickle *p)
{
    uint32_t node;
    if (p->nmarks && p->depth == p->marks[p->nmarks - 1]) {
        p->nmarks--;
        return LA_OK;
    }
    return pickle_pop(p, &node);
}

static la_status pickle_signed(la_pickle *p)
{
    uint64_t v = 0;
    LA_TRY(pickle_number(p, 4, &v));
    return pickle_push_new(p, LA_PICKLE_INT, (int32_t)(uint32_t)v);
}

static la_status pickle_unsigned(la_pickle *p, int bytes)
{
    uint64_t v = 0;
    LA_TRY(pickle_number(p, bytes, &v));
    return pickle_push_new(p, LA_PICKLE_INT, (int64_t)v);
}

static la_status pickle_one_item(la_pickle *p, size_t n,
    la_status (*put)(la_pickle *, const uint32_t *, size_t))
{
    if (p->depth < pickle_floor(p) + n)
        return la_pickle_fail(p, "the stack is empty");
    p->depth -= n;
    return put(p, p->stack + p->depth, n);
}

static la_status pickle_many_items(la_pickle *p,
    la_status (*put)(la_pickle *, const uint32_t *, size_t))
{
    const uint32_t *items = NULL;
    size_t n = 0;
    LA_TRY(pickle_pop_mark(p, &items, &n));
    return put(p, items, n);
}

static la_status pickle_duplicate(la_pickle *p)
{
    uint32_t node = 0;
    LA_TRY(pickle_top(p, &node));
    return pickle_push(p, node);
}

static la_status pickle_drop_mark(la_pickle *p)
{
    const uint32_t *items = NULL;
    size_t n = 0;
    return pickle_pop_mark(p, &items, &n);
}

/* The opcodes that take their argument from memo, stack or stream, and make one
** object. *known: is it one of these? */
static la_status pickle_step_value(la_pickle *p, unsigned char code,
                                   bool *known)
{
    *known = true;
    switch (code) {
    case 'N': return pickle_push_new(p, LA_PICKLE_NONE, 0);
    case 0x88: return pickle_push_new(p, LA_PICKLE_BOOL, 1);
    case 0x89: return pickle_push_new(p, LA_PICKLE_BOOL, 0);
    case 'J': return pickle_signed(p);
    case 'K': return pickle_unsigned(p, 1);
    case 'M': return pickle_unsigned(p, 2);
    case 'I': return pickle_push_line(p, pickle_read_plain_int);
    case 'L': return pickle_push_line(p, pickle_read_long_int);
    case 'F': return pickle_push_line(p, la_pickle_read_float);
    case 'S': return pickle_push_line(p, la_pickle_read_string);
    case 'V': return pickle_push_line(p, la_pickle_read_unicode);
    case 'G': return pickle_push_float(p);
    case 0x8a: return pickle_push_long(p, 1);
    case 0x8b: return pickle_push_long(p, 4);
    case 'U': case 'C': case 0x8c: return pickle_push_text(p, 1);
    case 'T': case 'X': case 'B': return pickle_push_text(p, 4);
    case 0x8d: case 0x8e: case 0x96: return pickle_push_text(p, 8);
    case ')': return pickle_push_new(p, LA_PICKLE_TUPLE, 0);
    case ']': return pickle_push_new(p, LA_PICKLE_LIST, 0);
    case '}': return pickle_push_new(p, LA_PICKLE_DICT, 0);
    case 0x8f: return pickle_push_new(p, LA_PICKLE_SET, 0);
    case 't': return pickle_collect(p, LA_PICKLE_TUPLE);
    case 'l': return pickle_collect(p, LA_PICKLE_LIST);
    case 'd': return pickle_collect(p, LA_PICKLE_DICT);
    case 0x91: return pickle_collect(p, LA_PICKLE_SET);
    case 0x85: case 0x86: case 0x87:
        return pickle_small_tuple(p, (size_t)code - 0x84);
    case 'c': return pickle_line_global(p);
    case 0x93: return pickle_stack_global(p);
    default: *known = false; return LA_OK;
    }
}

/* PERSID: an id of text. */
static la_status pickle_text_persistent(la_pickle *p)
{
    return la_pickle_fail(p, "a persistent id that is a text");
}

/* FRAME says how many bytes follow, which is of no use here. */
static la_status pickle_frame(la_pickle *p)
{
    uint64_t n = 0;
    LA_TRY(pickle_number(p, 8, &n));
    if (n > (uint64_t)(p->size - p->at))
        return la_pickle_fail(p, "truncated: a frame of %llu bytes",
                              (unsigned long long)n);
    return LA_OK;
}

static la_status pickle_protocol(la_pickle *p)
{
    uint64_t v = 0;
    LA_TRY(pickle_number(p, 1, &v));
    if (v > 5) return la_pickle_fail(p, "protocol %d (0 to 5 are known)",
                                     (int)v);
    return LA_OK;
}

static la_status pickle_step_rest(la_pickle *p, unsigned char code,
                                  size_t *next)
{
    uint64_t k = 0;
    switch (code) {
    case '(': return pickle_mark(p);
    case '0': return pickle_pop_one(p);
    case '1': return pickle_drop_mark(p);
    case '2': return pickle_duplicate(p);
    case 'a': return pickle_one_item(p, 1, pickle_append);
    case 'e': return pickle_many_items(p, pickle_append);
    case 's': return pickle_one_item(p, 2, pickle_set_items);
    case 'u': return pickle_many_items(p, pickle_set_items);
    case 0x90: return pickle_add_items(p);
    case 'R': return pickle_apply(p, la_pickle_reduce);
    case 0x81: return pickle_apply(p, la_pickle_new_object);
    case 0x92: return pickle_new_with_keywords(p);
    case 'b': return pickle_build(p);
    case 'i': return pickle_instance(p, true);
    case 'o': return pickle_instance(p, false);
    case 'P': return pickle_text_persistent(p);
    case 'Q': return pickle_persistent(p);
    case 'g': LA_TRY(pickle_read_index(p, &k)); return pickle_get(p, k);
    case 'h': LA_TRY(pickle_number(p, 1, &k)); return pickle_get(p, k);
    case 'j': LA_TRY(pickle_number(p, 4, &k)); return pickle_get(p, k);
    case 'p': LA_TRY(pickle_read_index(p, &k)); return pickle_memoize(p, k);
    case 'q': LA_TRY(pickle_number(p, 1, &k)); return pickle_memoize(p, k);
    case 'r': LA_TRY(pickle_number(p, 4, &k)); return pickle_memoize(p, k);
    case 0x94: return pickle_memoize_next(p, next);
    case 0x95: return pickle_frame(p);
    case 0x80: return pickle_protocol(p);
    default: return la_pickle_fail(p, "opcode 0x%02x is not known", code);
    }
}

/* A pickle begins with an empty stack and memo. */
static void pickle_begin(la_pickle *p)
{
    p->depth = 0;
    p->nmarks = 0;
    if (p->memo) memset(p->memo, 0, p->memo_capacity * sizeof *p->memo);
}

la_status la_pickle_load(la_pickle *p)
{
    size_t at = 0, next = 0;
    bool known = false;
    pickle_begin(p);
    for (uint32_t k = 0;; k++) {
        if (k % 8192 == 0) LA_TRY(la_poll());
        p->opcode_at = p->at;
        LA_TRY(pickle_take(p, 1, &at));
        unsigned char code = (unsigned char)p->data[at];
        if (code == '.') break;
        LA_TRY(pickle_step_value(p, code, &known));
        if (!known) LA_TRY(pickle_step_rest(p, code, &next));
    }
    if (p->nmarks) return la_pickle_fail(p, "a mark is left at the end");
    return pickle_pop(p, &p->result);
}

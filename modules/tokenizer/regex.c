/*
** Patterns as programs. A step is an operation:
**
**     SET a           a character of the class of items a .. b - 1
**     REPEAT a b      least to most of them
**     SPLIT a b       goes on at a, and at b when that fails
**     JUMP a
**     LOOK a          the steps up to END must match here (mode 0), or not (1);
**                     goes on at a
**     WHOLE a         the steps up to END match here, in their first way only;
**                     goes on at a, behind them
**     EDGE            an edge of a word
**     FIRST, LAST     the begin of the text, its end
**     END             a match
**
** Groups that repeat a known number of times are written as often. What repeats
** without limit must not be empty, so that a match ends.
*/
#include "modules/tokenizer/regex.h"

#include <stdbool.h>
#include <string.h>

#include "base/runtime/interrupt.h"
#include "modules/tokenizer/regex_classes.h"

enum { SET, REPEAT, SPLIT, JUMP, LOOK, WHOLE, EDGE, FIRST, LAST, END };
enum { GREEDY, LAZY, POSSESSIVE };
enum { MOST_STEPS = 20000, DEPTH = 32 };
#define ENDLESS INT32_MAX

/* ---- writing a program ---- */

typedef struct parser {
    const char *at, *begin, *end;
    la_regex *r;
    int depth;
    bool caseless;                /* (?i: small and capital letters alike */
} parser;

static la_status regex_fault(const parser *p, const char *what)
{
    return la_error(LA_EARG, "pattern: %s at byte %lld", what,
                    (long long)(p->at - p->begin) + 1);
}

static int32_t step_count(const la_regex *r)
{
    return (int32_t)(r->steps.n / sizeof(la_regex_step));
}

static int32_t item_count(const la_regex *r)
{
    return (int32_t)(r->items.n / sizeof(la_regex_item));
}

static la_regex_step *steps_of(const la_regex *r)
{
    return (la_regex_step *)(void *)r->steps.data;
}

/* Append a step. The number of steps is bounded, as groups are written as often
** as they repeat. */
static la_status emit(parser *p, la_regex_step s)
{
    if (step_count(p->r) >= MOST_STEPS) return regex_fault(p, "too long");
    la_bytes_put(&p->r->steps, &s, sizeof s);
    return p->r->steps.status;
}

/* Append an item to the class that is read; letters without regard to case are
** two. */
static void put_item(parser *p, la_regex_item i)
{
    la_bytes_put(&p->r->items, &i, sizeof i);
    uint32_t c = i.first | 32;
    bool letter = i.first == i.last && c >= 'a' && c <= 'z';
    if (p->caseless && letter && !i.categories && !i.space) {
        i.first = i.last = i.first ^ 32;
        la_bytes_put(&p->r->items, &i, sizeof i);
    }
}

/* ---- classes ---- */

/* Is the name this word? */
static bool is_word(const char *name, size_t n, const char *word)
{
    return strlen(word) == n && memcmp(word, name, n) == 0;
}

/* \p{...} and \P{...}, behind the letter. */
static la_status parse_property(parser *p, bool outside)
{
    const char *name = p->at + 1;
    const char *close = p->at < p->end && *p->at == '{'
        ? memchr(p->at, '}', (size_t)(p->end - p->at)) : NULL;
    if (!close) return regex_fault(p, "a category between { and } expected");
    size_t n = (size_t)(close - name);
    p->at = close + 1;
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++)
        if (is_word(name, n, properties[k].name)) {
            put_item(p, (la_regex_item){.categories = properties[k].set,
                                        .outside = outside});
            return LA_OK;
        }
    for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++)
        if (is_word(name, n, scripts[k].name) && !outside) {
            const uint32_t *r = scripts[k].ranges;
            for (int i = 0; i < 16 && r[i]; i += 2)
                put_item(p, (la_regex_item){.first = r[i], .last = r[i + 1]});
            return LA_OK;
        }
    p->at = name;
    return regex_fault(p, "an unknown category");
}

/* The value of a hexadecimal digit, -1 for other characters. */
static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
        : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The code of \xHH, \uHHHH or \x{H...}, behind the letter. */
static la_status parse_hex(parser *p, int digits, uint32_t *code)
{
    bool open = p->at < p->end && *p->at == '{';
    p->at += open;
    *code = 0;
    for (int k = 0; open || k < digits; k++) {
        if (p->at < p->end && open && *p->at == '}') break;
        int h = p->at < p->end && k < 6 ? hex_of(*p->at) : -1;
        if (h < 0) return regex_fault(p, "hexadecimal digits expected");
        *code = *code << 4 | (uint32_t)h;
        p->at++;
    }
    p->at += open;
    return LA_OK;
}

/* Behind a backslash: a class becomes an item (*code -1), a character *code. */
static la_status parse_escape(parser *p, int64_t *code)
{
    uint32_t hex = 0;
    if (p->at == p->end) return regex_fault(p, "a letter expected");
    char c = *p->at++;
    *code = -1;
    switch (c) {
    case 'p': case 'P': return parse_property(p, c == 'P');
    case 's': case 'S':
        put_item(p, (la_regex_item){.space = 1, .outside = c == 'S'});
        return LA_OK;
    case 'd': case 'D':
        put_item(p, (la_regex_item){.categories = CATEGORY(ND),
                                    .outside = c == 'D'});
        return LA_OK;
    case 'w': case 'W':
        put_item(p, (la_regex_item){.categories = WORD_CHARACTERS,
                                    .outside = c == 'W'});
        if (c == 'w')           /* joiners */
            put_item(p, (la_regex_item){.first = 0x200c, .last = 0x200d});
        return LA_OK;
    case 'n': *code = '\n'; return LA_OK;
    case 'r': *code = '\r'; return LA_OK;
    case 't': *code = '\t'; return LA_OK;
    case 'f': *code = '\f'; return LA_OK;
    case 'v': *code = '\v'; return LA_OK;
    case 'x': case 'u':
        LA_TRY(parse_hex(p, c == 'x' ? 2 : 4, &hex));
        *code = hex;
        return LA_OK;
    default:
        p->at--;
        p->at += la_utf8_next(p->at, p->end, &hex);
        *code = hex;
        return (hex | 32) >= 'a' && (hex | 32) <= 'z'
            ? regex_fault(p, "an unknown escape") : LA_OK;
    }
}

/* One character of a class, or an escape that put items (*code -1). */
static la_status class_code(parser *p, int64_t *code)
{
    uint32_t c;
    if (*p->at == '\\') {
        p->at++;
        return parse_escape(p, code);
    }
    p->at += la_utf8_next(p->at, p->end, &c);
    *code = c;
    return LA_OK;
}

/* Behind '['. Sets inside sets (&&) are not part of the grammar. */
static la_status parse_class(parser *p, bool *outside)
{
    int64_t first, last;
    *outside = p->at < p->end && *p->at == '^';
    p->at += *outside;
    for (bool begin = true; ; begin = false) {
        if (p->at == p->end) return regex_fault(p, "] expected");
        if (*p->at == ']' && !begin) break;
        LA_TRY(class_code(p, &first));
        if (first < 0) continue;
        last = first;
        if (p->end - p->at >= 2 && *p->at == '-' && p->at[1] != ']') {
            p->at++;
            LA_TRY(class_code(p, &last));
            if (last < first) return regex_fault(p, "a range backwards");
        }
        put_item(p, (la_regex_item){.first = (uint32_t)first,
                                    .last = (uint32_t)last});
    }
    p->at++;
    return LA_OK;
}

/* ---- repetition ---- */

/* Digits of a repetition. */
static la_status parse_number(parser *p, int32_t *out)
{
    *out = 0;
    if (p->at == p->end || *p->at < '0' || *p->at > '9')
        return regex_fault(p, "a number expected");
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        *out = *out * 10 + (*p->at - '0');
        if (*out > 1000) return regex_fault(p, "more than 1000 times");
    }
    return LA_OK;
}

/* least, most and mode of what comes before; 1, 1 where nothing follows. */
static la_status parse_times(parser *p, la_regex_step *s)
{
    char c = p->at < p->end ? *p->at : 0;
    s->least = s->most = 1;
    if (c != '?' && c != '*' && c != '+' && c != '{') return LA_OK;
    p->at++;
    s->least = c == '+';
    s->most = c == '?' ? 1 : ENDLESS;
    if (c == '{') {
        LA_TRY(parse_number(p, &s->least));
        s->most = s->least;
        if (p->at < p->end && *p->at == ',') {
            p->at++;
            s->most = ENDLESS;
            if (p->at < p->end && *p->at != '}')
                LA_TRY(parse_number(p, &s->most));
        }
        if (p->at == p->end || *p->at != '}' || s->most < s->least)
            return regex_fault(p, "} behind the times expected");
        p->at++;
    }
    s->mode = GREEDY;
    if (p->at < p->end && (*p->at == '?' || *p->at == '+'))
        s->mode = *p->at++ == '?' ? LAZY : POSSESSIVE;
    return LA_OK;
}

/* Can the steps from 'at' to the last one match nothing? By the shortest way
** through them, as all jumps but those of loops lead forward. */
static bool may_be_empty(const la_regex *r, int32_t at, int *budget)
{
    while (at < step_count(r) && --*budget > 0) {
        const la_regex_step *s = steps_of(r) + at;
        if (s->op == SET) return false;
        if (s->op == REPEAT && s->least > 0) return false;
        if (s->op == SPLIT && s->b > at) {
            if (may_be_empty(r, at + 1, budget)) return true;
            at = s->b;
            continue;
        }
        at = (s->op == JUMP || s->op == LOOK) && s->a > at ? s->a : at + 1;
    }
    return true;
}

/* A step that goes elsewhere goes so much farther. */
static void shift_step(la_regex_step *s, int32_t by)
{
    if (s->op == SPLIT || s->op == JUMP || s->op == LOOK || s->op == WHOLE)
        s->a += by;
    if (s->op == SPLIT) s->b += by;
}

/* The steps from 'from' on once more, at the end. */
static la_status copy_steps(parser *p, int32_t from, int32_t n)
{
    int32_t by = step_count(p->r) - from;
    for (int32_t k = 0; k < n; k++) {
        la_regex_step s = steps_of(p->r)[from + k];
        shift_step(&s, by);
        LA_TRY(emit(p, s));
    }
    return LA_OK;
}

/* The steps from 'from' on become a WHOLE: what they have taken stays. */
static la_status make_whole(parser *p, int32_t from)
{
    int32_t n = step_count(p->r) - from;
    LA_TRY(emit(p, (la_regex_step){.op = END}));
    LA_TRY(emit(p, (la_regex_step){.op = END}));
    la_regex_step *s = steps_of(p->r) + from;
    memmove(s + 1, s, (size_t)n * sizeof *s);
    for (int32_t k = 1; k <= n; k++) shift_step(s + k, 1);
    *s = (la_regex_step){.op = WHOLE, .a = step_count(p->r)};
    return LA_OK;
}

/* A way that goes on at the next step, or, tried later, at 'past'; lazy: the
** other way round. */
static la_regex_step split_at(int32_t at, int32_t past, bool lazy)
{
    return (la_regex_step){.op = SPLIT, .a = lazy ? past : at + 1,
                           .b = lazy ? at + 1 : past};
}

/* A group, whose steps begin at 'from', as often as it is to be: copies, then
** optional ones, then a loop. 'from' has a step left free for a SPLIT. */
static la_status repeat_group(parser *p, int32_t from, const la_regex_step *t)
{
    int32_t n = step_count(p->r) - from - 1, copies = 1;
    int budget = MOST_STEPS;
    bool lazy = t->mode == LAZY;
    if (t->most == 0) {
        p->r->steps.n = (size_t)(from + 1) * sizeof(la_regex_step);
        return LA_OK;
    }
    if (t->most == ENDLESS && may_be_empty(p->r, from + 1, &budget))
        return regex_fault(p, "what repeats may be empty");
    for (; copies < t->least; copies++) LA_TRY(copy_steps(p, from + 1, n));
    if (t->most == ENDLESS) {
        int32_t head = from;
        if (t->least > 0) {
            head = step_count(p->r);
            LA_TRY(emit(p, (la_regex_step){.op = SPLIT}));
            LA_TRY(copy_steps(p, from + 1, n));
        }
        LA_TRY(emit(p, (la_regex_step){.op = JUMP, .a = head}));
        steps_of(p->r)[head] = split_at(head, step_count(p->r), lazy);
    }
    for (; t->most != ENDLESS && copies < t->most; copies++) {
        int32_t head = step_count(p->r);
        LA_TRY(emit(p, split_at(head, head + 1 + n, lazy)));
        LA_TRY(copy_steps(p, from + 1, n));
    }
    if (t->least == 0 && t->most != ENDLESS)
        steps_of(p->r)[from] = split_at(from, step_count(p->r), lazy);
    return t->mode == POSSESSIVE ? make_whole(p, from) : LA_OK;
}

/* ---- alternatives ---- */

static la_status parse_either(parser *p);

/* Behind '('. */
static la_status parse_group(parser *p)
{
    bool caseless = p->caseless, look = false, negative = false;
    int32_t from = step_count(p->r);
    la_regex_step times = {0};
    if (++p->depth > DEPTH) return regex_fault(p, "groups nest too deep");
    LA_TRY(emit(p, (la_regex_step){.op = JUMP, .a = from + 1}));
    if (p->end - p->at >= 2 && *p->at == '?') {
        char c = p->at[1];
        look = c == '=' || c == '!';
        negative = c == '!';
        p->at += 2;
        if (c == 'i' && p->at < p->end && *p->at == ':') {
            p->caseless = true;
            p->at++;
        } else if (c != ':' && !look) {
            return regex_fault(p, "an unknown group");
        }
    }
    LA_TRY(parse_either(p));
    if (p->at == p->end || *p->at != ')')
        return regex_fault(p, ") expected");
    p->at++;
    p->caseless = caseless;
    p->depth--;
    if (!look) {
        LA_TRY(parse_times(p, &times));
        return times.least == 1 && times.most == 1 ? LA_OK
            : repeat_group(p, from, &times);
    }
    LA_TRY(emit(p, (la_regex_step){.op = END}));
    steps_of(p->r)[from] = (la_regex_step){.op = LOOK, .mode = negative,
                                           .a = step_count(p->r)};
    return LA_OK;
}

/* A character, a class or an edge, and how often. */
static la_status parse_atom(parser *p)
{
    la_regex_step s = {.op = SET, .a = item_count(p->r)};
    int64_t code = -1;
    bool outside = false;
    char c = *p->at;
    if (c == '^' || c == '$') {
        p->at++;
        return emit(p, (la_regex_step){.op = c == '^' ? FIRST : LAST});
    }
    if (p->end - p->at >= 2 && c == '\\' && p->at[1] == 'b') {
        p->at += 2;
        return emit(p, (la_regex_step){.op = EDGE});
    }
    if (c == '?' || c == '*' || c == '+' || c == '{')
        return regex_fault(p, "nothing to repeat");
    if (c == '[') {
        p->at++;
        LA_TRY(parse_class(p, &outside));
    } else if (c == '.') {
        p->at++;
        put_item(p, (la_regex_item){.first = '\n', .last = '\n'});
        outside = true;
    } else {
        LA_TRY(class_code(p, &code));
        if (code >= 0)
            put_item(p, (la_regex_item){.first = (uint32_t)code,
                                        .last = (uint32_t)code});
    }
    s.b = item_count(p->r);
    LA_TRY(p->r->items.status);
    LA_TRY(parse_times(p, &s));
    s.op = s.least == 1 && s.most == 1 ? SET : REPEAT;
    s.mode |= outside ? 4 : 0;
    return emit(p, s);
}

/* Atoms and groups up to the end of an alternative. */
static la_status parse_sequence(parser *p)
{
    while (p->at < p->end && *p->at != '|' && *p->at != ')') {
        if (*p->at == '(') {
            p->at++;
            LA_TRY(parse_group(p));
        } else {
            LA_TRY(parse_atom(p));
        }
    }
    return LA_OK;
}

/* Alternatives: each begins with a step that leads to the next one, and ends
** with one that leads behind all; these are linked until that is known. */
static la_status parse_either(parser *p)
{
    int32_t link = -1;
    for (;;) {
        int32_t head = step_count(p->r);
        LA_TRY(emit(p, (la_regex_step){.op = JUMP, .a = head + 1}));
        LA_TRY(parse_sequence(p));
        if (p->at == p->end || *p->at != '|') break;
        p->at++;
        LA_TRY(emit(p, (la_regex_step){.op = JUMP, .a = link}));
        link = step_count(p->r) - 1;
        steps_of(p->r)[head] = (la_regex_step){.op = SPLIT, .a = head + 1,
                                               .b = link + 1};
    }
    for (int32_t end = step_count(p->r); link >= 0; ) {
        int32_t next = steps_of(p->r)[link].a;
        steps_of(p->r)[link].a = end;
        link = next;
    }
    return LA_OK;
}

la_status la_regex_compile(la_regex *r, const char *pattern, size_t n)
{
    parser p = {.at = pattern, .begin = pattern, .end = pattern + n, .r = r};
    LA_TRY(parse_either(&p));
    if (p.at < p.end) return regex_fault(&p, "( expected before");
    return emit(&p, (la_regex_step){.op = END});
}

void la_regex_free(la_regex *r)
{
    la_bytes_free(&r->steps);
    la_bytes_free(&r->items);
}

/* ---- matching ---- */

/* Is the character one of the item's? */
static bool item_has(const la_regex_item *i, uint32_t c)
{
    bool in = i->categories ? i->categories >> la_unicode_category(c) & 1
        : i->space ? la_unicode_is_space(c) : c >= i->first && c <= i->last;
    return in != (i->outside != 0);
}

/* The bytes of the character at 'at' where it is in the step's class, or 0. */
static int take_one(const la_regex *r, const la_regex_step *s,
                    const la_regex_match *m, const char *at)
{
    const la_regex_item *items = (const la_regex_item *)(void *)r->items.data;
    uint32_t c;
    if (at == m->end) return 0;
    int n = la_utf8_next(at, m->end, &c);
    bool in = false;
    for (int32_t k = s->a; !in && k < s->b; k++) in = item_has(items + k, c);
    return in != (s->mode >= 4) ? n : 0;
}

/* Is the character before 'at' one of words? */
static bool word_before(const la_regex_match *m, const char *at)
{
    uint32_t c;
    if (at == m->begin) return false;
    la_utf8_next(la_utf8_before(m->begin, at), m->end, &c);
    la_letter_kind k = la_unicode_category(c);
    return WORD_CHARACTERS >> k & 1;
}

/* Do a character of words and another one meet here? */
static bool is_edge(const la_regex_match *m, const char *at)
{
    uint32_t c;
    bool before = word_before(m, at);
    if (at == m->end) return before;
    la_utf8_next(at, m->end, &c);
    la_letter_kind k = la_unicode_category(c);
    return before != (bool)(WORD_CHARACTERS >> k & 1);
}

/* A way that is left when another fails: at 'step' with 'at', and with one
** character less as long as that is behind 'least'; lazy: with one more, so
** many times. */
typedef struct retry {
    const char *at, *least;
    int32_t step, lazy;
} retry;

/* Failures of memory stay in the stack's status, which ends the run. */
static void push_retry(la_regex_match *m, retry r)
{
    la_bytes_put(&m->stack, &r, sizeof r);
}

/* Takes the last one; false: none since 'floor'. */
static bool pop_retry(const la_regex *r, la_regex_match *m, size_t floor,
                      int32_t *step, const char **at)
{
    while (m->stack.n > floor) {
        retry *top = (retry *)(void *)(m->stack.data + m->stack.n) - 1;
        *step = top->step;
        *at = top->at;
        if (top->lazy > 0) {
            const la_regex_step *s = (const la_regex_step *)(void *)
                r->steps.data + top->step - 1;
            int n = take_one(r, s, m, top->at);
            if (n == 0) {
                m->stack.n -= sizeof *top;
                continue;
            }
            *at = top->at += n;
            if (top->lazy != ENDLESS) top->lazy--;
            if (top->lazy == 0) m->stack.n -= sizeof *top;
            return true;
        }
        if (top->least < top->at) top->at = la_utf8_before(m->begin, top->at);
        else m->stack.n -= sizeof *top;
        return true;
    }
    return false;
}

/* A REPEAT from 'at': the end of the longest run, or NULL for too few. */
static const char *repeat(const la_regex *r, const la_regex_step *s,
                          la_regex_match *m, int32_t step, const char *at)
{
    int32_t k = 0, n, most = (s->mode & 3) == LAZY ? s->least : s->most;
    const char *least = at;
    for (; k < most && (n = take_one(r, s, m, at)) > 0; k++) {
        at += n;
        if (k + 1 == s->least) least = at;
    }
    m->left -= k;
    if (k < s->least) return NULL;
    if ((s->mode & 3) == LAZY && s->most > s->least)
        push_retry(m, (retry){at, at, step + 1, s->most == ENDLESS ? ENDLESS
                              : s->most - s->least});
    if ((s->mode & 3) == GREEDY && at > least)
        push_retry(m, (retry){la_utf8_before(m->begin, at), least, step + 1,
                              0});
    return at;
}

static const char *run(const la_regex *r, la_regex_match *m, int32_t step,
                       const char *at);

/* One step: the position behind it, or NULL where it fails. *step goes on. */
static const char *advance(const la_regex *r, la_regex_match *m, int32_t *step,
                           const char *at)
{
    const la_regex_step *s = steps_of(r) + *step;
    int32_t here = (*step)++;
    int n;
    switch (s->op) {
    case SET:
        n = take_one(r, s, m, at);
        return n > 0 ? at + n : NULL;
    case REPEAT: return repeat(r, s, m, here, at);
    case SPLIT:
        push_retry(m, (retry){at, at, s->b, 0});
        *step = s->a;
        return at;
    case JUMP: *step = s->a; return at;
    case LOOK:
        *step = s->a;
        return (run(r, m, here + 1, at) != NULL) != (s->mode == 1) ? at : NULL;
    case WHOLE:
        *step = s->a;
        return run(r, m, here + 1, at);
    case EDGE: return is_edge(m, at) ? at : NULL;
    case FIRST: return at == m->begin ? at : NULL;
    default: return at == m->end ? at : NULL;
    }
}

/* The end of a match from a step on, or NULL. Groups that look ahead or keep
** what they took nest no deeper than the parser allows. */
static const char *run(const la_regex *r, la_regex_match *m, int32_t step,
                       const char *at)
{
    size_t floor = m->stack.n;
    for (;;) {
        if (--m->left < 0 || m->stack.status) break;
        if (steps_of(r)[step].op == END) {
            m->stack.n = floor;
            return at;
        }
        at = advance(r, m, &step, at);
        if (!at && !pop_retry(r, m, floor, &step, &at)) break;
    }
    m->stack.n = floor;
    return NULL;
}

/* Does the program begin with a run that takes at least one character? Where it
** failed from a character on, it fails from the others of that run, too. Not so
** a lazy one that may take none: an empty match counts as a failure. */
static const la_regex_step *leading_run(const la_regex *r)
{
    const la_regex_step *s = steps_of(r);
    while (s->op == JUMP && s->a > s - steps_of(r)) s = steps_of(r) + s->a;
    bool empty = s->least == 0 && (s->mode & 3) == LAZY;
    return s->op == REPEAT && s->least <= 1 && s->most == ENDLESS && !empty
        ? s : NULL;
}

la_status la_regex_find(const la_regex *r, la_regex_match *m, const char *at,
                        const char **first, const char **last)
{
    const la_regex_step *lead = leading_run(r);
    uint32_t c;
    int n;
    for (*first = NULL; at < m->end; at += la_utf8_next(at, m->end, &c)) {
        const char *end = run(r, m, 0, at);
        if (end && end > at) {
            *first = at;
            *last = end;
            return LA_OK;
        }
        LA_TRY(m->stack.status);
        if (m->left < 0)
            return la_error(LA_EARG, "the pattern takes too many steps on this "
                            "text");
        while (lead && (n = take_one(r, lead, m, at)) > 0
               && at + n < m->end && take_one(r, lead, m, at + n)) at += n;
        LA_TRY(la_poll());
    }
    return LA_OK;
}

/*
** la.tokenizer.native: vocabularies, patterns and texts, of which lua/tokenizer
** makes tokenizers.
*/
#include <string.h>

#include "lua/binding.h"
#include "lua/files/growing_bytes.h"
#include "modules/tokenizer/regex.h"
#include "modules/tokenizer/texts.h"
#include "modules/tokenizer/unicode.h"
#include "modules/tokenizer/vocab.h"

#define VOCAB "lunarray.Vocabulary"
#define PATTERN "lunarray.Pattern"
#define NAME "tokenizer"

/* A text at 'arg' with its length. */
typedef struct span { const char *text; size_t n; } span;

/* The string stays on the Lua stack, which keeps its bytes alive: every caller
** uses the span before it pops anything. */
static span check_span(lua_State *L, int arg)
{
    span s;
    s.text = luaL_checklstring(L, arg, &s.n);
    return s;
}

/* Pushes the bytes as a string. The box that la_push_bytes made frees them
** again, harmlessly, if Lua has no memory for the string. */
static int push_and_free(lua_State *L, la_bytes *b)
{
    LA_CHECK(L, NAME, b->status);
    lua_pushlstring(L, (const char *)b->data, b->n);
    la_bytes_free(b);
    return 1;
}

/* ---- vocabularies ---- */

/* A script's finalizer may still have it: it is none of its kind any more. */
static int retire(lua_State *L)
{
    lua_pushnil(L);
    lua_setmetatable(L, 1);
    return 0;
}

/* Frees an object that was never filled as well: push_object zeroes it before
** the finalizer is set, so a failure in between leaves nothing behind. */
static int vocab_gc(lua_State *L)
{
    la_enter_state(L);
    la_vocab_free(lua_touserdata(L, 1));
    return retire(L);
}

/* Frees a pattern, also a zeroed one. */
static int pattern_gc(lua_State *L)
{
    la_enter_state(L);
    la_regex_free(lua_touserdata(L, 1));
    return retire(L);
}

/* A field of the table of options: whatever Lua calls true. */
static bool option_flag(lua_State *L, int at, const char *key)
{
    lua_getfield(L, at, key);
    bool yes = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return yes;
}

/* An integer of the options, or what stands for a missing one. */
static lua_Integer option_integer(lua_State *L, int at, const char *key,
                                  lua_Integer fallback)
{
    lua_getfield(L, at, key);
    lua_Integer v = luaL_optinteger(L, -1, fallback);
    lua_pop(L, 1);
    return v;
}

/* A short text of the options with its NUL. 15 bytes hold every prefix and
** suffix that known tokenizers write; a longer one is an error rather than
** cut. */
static void option_text(lua_State *L, int at, const char *key, char out[16])
{
    size_t n = 0;
    lua_getfield(L, at, key);
    const char *text = lua_tolstring(L, -1, &n);
    if (n > 15) luaL_error(L, "tokenizer: %s is longer than 15 bytes", key);
    if (text) memcpy(out, text, n);
    lua_pop(L, 1);
}

/* The tokens of the list at 2 with the scores at 3. */
static void add_tokens(lua_State *L, la_vocab *v, lua_Integer n)
{
    for (lua_Integer i = 1; i <= n; i++) {
        size_t bytes = 0;
        lua_Number score = 0;
        if (lua_rawgeti(L, 2, i) != LUA_TSTRING)
            luaL_error(L, "tokenizer: token %I is no text", i - 1);
        const char *text = lua_tolstring(L, -1, &bytes);
        if (lua_istable(L, 3)) {
            lua_rawgeti(L, 3, i);
            score = lua_tonumber(L, -1);
            lua_pop(L, 1);
        }
        LA_CHECK(L, NAME, la_vocab_add(v, text, bytes, (float)score));
        lua_pop(L, 1);
    }
    la_vocab_finish(v);
}

/* Merges are texts "left right", or lists of two. The first byte may be a
** space that belongs to the left one. */
static void add_merge(lua_State *L, la_vocab *v, int32_t rank)
{
    size_t n = 0, m = 0;
    const char *left, *right;
    if (lua_istable(L, -1)) {
        lua_rawgeti(L, -1, 1);
        lua_rawgeti(L, -2, 2);
        left = lua_tolstring(L, -2, &n);
        right = lua_tolstring(L, -1, &m);
        if (left && right) la_vocab_merge(v, left, n, right, m, rank);
        else luaL_error(L, "tokenizer: merge %d is no pair", (int)rank);
        lua_pop(L, 2);
        return;
    }
    left = lua_tolstring(L, -1, &n);
    right = left && n > 2 ? memchr(left + 1, ' ', n - 1) : NULL;
    if (!right) luaL_error(L, "tokenizer: merge %d is no pair", (int)rank);
    m = n - (size_t)(right + 1 - left);
    la_vocab_merge(v, left, (size_t)(right - left), right + 1, m, rank);
}

/* Marks and limits of the vocabulary. A field that is missing leaves its
** default: no unknown token, no longest word. */
static void read_options(lua_State *L, la_vocab *v, int at)
{
    v->unknown = (int32_t)option_integer(L, at, "unknown", -1);
    v->ignore_merges = option_flag(L, at, "ignore_merges");
    v->byte_fallback = option_flag(L, at, "byte_fallback");
    v->fuse_unknown = option_flag(L, at, "fuse_unknown");
    v->most = (int32_t)option_integer(L, at, "most", INT32_MAX);
    option_text(L, at, "suffix", v->suffix);
    option_text(L, at, "start", v->start);
    option_text(L, at, "next", v->next);
}

/* vocab(kind, tokens, scores or nil, merges or nil, options) */
static int native_vocab(lua_State *L)
{
    static const char *const kinds[] = {"bpe", "spm", "unigram", "wordpiece",
                                        NULL};
    la_begin(L, NAME, 0);
    int kind = luaL_checkoption(L, 1, NULL, kinds);
    luaL_checktype(L, 2, LUA_TTABLE);
    luaL_checktype(L, 5, LUA_TTABLE);
    lua_Integer n = luaL_len(L, 2), m = 0;
    if (lua_istable(L, 4)) m = luaL_len(L, 4);
    /* Ids are 32 bits, and tables of slots have up to four times as many
    ** entries. */
    if (n > INT32_MAX / 4 || m > INT32_MAX / 4)
        luaL_error(L, "tokenizer: too many tokens");
    la_vocab *v = la_push_collected(L, sizeof *v, VOCAB, vocab_gc);
    v->kind = (la_vocab_kind)kind;
    read_options(L, v, 5);
    LA_CHECK(L, NAME, la_vocab_begin(v, n, m));
    add_tokens(L, v, n);
    for (lua_Integer i = 1; i <= m; i++) {
        lua_rawgeti(L, 4, i);
        add_merge(L, v, (int32_t)i);
        lua_pop(L, 1);
    }
    return 1;
}

/* The vocabulary that each of the following functions takes first; raises for
** any other value. */
static la_vocab *check_vocab(lua_State *L)
{
    return luaL_checkudata(L, 1, VOCAB);
}

/* encode(vocabulary, word, out): appends the word's ids. */
static int native_encode(lua_State *L)
{
    la_begin(L, NAME, 0);
    la_vocab *v = check_vocab(L);
    span s = check_span(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    la_bytes *ids = la_push_bytes(L);
    LA_CHECK(L, NAME, la_vocab_encode(v, s.text, s.n, ids));
    lua_Integer at = (lua_Integer)lua_rawlen(L, 3);
    for (size_t i = 0; i + 4 <= ids->n; i += 4) {
        int32_t id;
        memcpy(&id, ids->data + i, 4);
        lua_pushinteger(L, id);
        lua_rawseti(L, 3, ++at);
    }
    la_bytes_free(ids);
    return 0;
}

/* id(vocabulary, text): the token's id, or nil. */
static int native_id(lua_State *L)
{
    la_vocab *v = check_vocab(L);
    span s = check_span(L, 2);
    int32_t id = la_vocab_id(v, s.text, s.n);
    if (id < 0) return 0;
    lua_pushinteger(L, id);
    return 1;
}

/* text(vocabulary, id): the token, or nil. */
static int native_text(lua_State *L)
{
    la_vocab *v = check_vocab(L);
    lua_Integer id = luaL_checkinteger(L, 2);
    size_t n = 0;
    if (id < 0 || id >= v->n) return 0;
    const char *text = la_vocab_text(v, (int32_t)id, &n);
    lua_pushlstring(L, text, n);
    return 1;
}

/* ---- patterns ---- */

/* pattern(text) */
static int native_pattern(lua_State *L)
{
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    la_regex *r = la_push_collected(L, sizeof *r, PATTERN, pattern_gc);
    LA_CHECK(L, NAME, la_regex_compile(r, s.text, s.n));
    return 1;
}

/* Pieces of a text as a list. */
typedef struct pieces {
    lua_State *L;
    int list;
    lua_Integer n;
    const char *open;         /* of one that is not put yet; NULL: none */
    const char *open_end;
} pieces;

/* Appends a piece; there are no empty ones. */
static void put_piece(pieces *p, const char *from, const char *to)
{
    if (from >= to) return;
    lua_pushlstring(p->L, from, (size_t)(to - from));
    lua_rawseti(p->L, p->list, ++p->n);
}

/* Puts the open piece: nothing that follows can join it any more. */
static void flush(pieces *p)
{
    if (p->open) put_piece(p, p->open, p->open_end);
    p->open = NULL;
}

enum { ISOLATED, REMOVED, PREVIOUS, NEXT, CONTIGUOUS };

/* A part of the text, which is a match or what lies between two. */
static void add_part(pieces *p, const char *from, const char *to, bool match,
                     int how, bool *after)
{
    if (from >= to) return;
    bool joins = (how == PREVIOUS && match && !*after)
        || (how == NEXT && !match && *after)
        || (how == CONTIGUOUS && match && *after);
    if (p->open && joins) {
        p->open_end = to;
    } else if (how != REMOVED || !match) {
        flush(p);
        p->open = from;
        p->open_end = to;
    }
    *after = match;
}

/* Walks from match to match. Parts between two matches count as the opposite of
** a match, so that one rule (add_part) serves all behaviours, with 'invert' or
** not. 'left' bounds the steps of backtracking for the whole text, so that no
** pattern of a file can hang a host. */
static int split_text(lua_State *L, const la_regex *r, span s, int how,
                      bool invert)
{
    la_bytes *stack = la_push_bytes(L);
    la_regex_match m = {.begin = s.text, .end = s.text + s.n,
                        .left = 100000 + 500 * (int64_t)s.n};
    pieces p = {.L = L, .list = 3, .n = (lua_Integer)lua_rawlen(L, 3)};
    const char *at = s.text, *first, *last = s.text;
    bool after = false;
    while (at < m.end) {
        /* The stack may grow inside: the box on Lua's stack must own it before
        ** anything can raise. */
        m.stack = *stack;
        la_status status = la_regex_find(r, &m, at, &first, &last);
        *stack = m.stack;
        LA_CHECK(L, NAME, status);
        if (!first) break;
        add_part(&p, at, first, invert, how, &after);
        add_part(&p, first, last, !invert, how, &after);
        at = last;
    }
    add_part(&p, at, m.end, invert, how, &after);
    flush(&p);
    la_bytes_free(stack);
    return 0;
}

/* split(pattern, text, out, behaviour[, invert]): appends pieces. Behaviours
** are those of the tokenizers package; invert takes what does not match for the
** matches. */
static int native_split(lua_State *L)
{
    static const char *const how[] = {"Isolated", "Removed",
        "MergedWithPrevious", "MergedWithNext", "Contiguous", NULL};
    la_begin(L, NAME, 0);
    const la_regex *r = luaL_checkudata(L, 1, PATTERN);
    span s = check_span(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    return split_text(L, r, s, luaL_checkoption(L, 4, "Isolated", how),
                      lua_toboolean(L, 5));
}

/* words(text, out): BERT's words. */
static int native_words(lua_State *L)
{
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    const char *at = s.text, *end = s.text + s.n;
    uint32_t c;
    luaL_checktype(L, 2, LUA_TTABLE);
    pieces p = {.L = L, .list = 2, .n = (lua_Integer)lua_rawlen(L, 2)};
    while (at < end) {
        int k = la_utf8_next(at, end, &c);
        const char *to = la_unicode_is_space(c) ? at + k
                                                : la_text_word(at, end);
        if (!la_unicode_is_space(c)) put_piece(&p, at, to);
        at = to;
    }
    return 0;
}

/* ---- texts ---- */

/* normalize(text, "NFC" ...) */
static int native_normalize(lua_State *L)
{
    static const char *const forms[] = {"NFC", "NFD", "NFKC", "NFKD", NULL};
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    int form = luaL_checkoption(L, 2, NULL, forms);
    la_bytes *b = la_push_bytes(L);
    LA_CHECK(L, NAME, la_unicode_normalize(b, s.text, s.n, form >= 2,
                                           form % 2 == 0));
    return push_and_free(L, b);
}

/* clean(text, {clean =, chinese =, accents =, lower =}) */
static int native_clean(lua_State *L)
{
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    la_text_cleaning how = {option_flag(L, 2, "clean"),
                            option_flag(L, 2, "chinese"),
                            option_flag(L, 2, "accents"),
                            option_flag(L, 2, "lower")};
    la_bytes *b = la_push_bytes(L);
    la_text_clean(b, s.text, s.n, how);
    return push_and_free(L, b);
}

/* bytes(text), unbytes(text) */
static int native_bytes(lua_State *L)
{
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    la_bytes *b = la_push_bytes(L);
    la_text_put_bytes(b, s.text, s.n);
    return push_and_free(L, b);
}

/* The reverse: characters that stand for bytes become those bytes. */
static int native_unbytes(lua_State *L)
{
    la_begin(L, NAME, 0);
    span s = check_span(L, 1);
    la_bytes *b = la_push_bytes(L);
    la_text_from_bytes(b, s.text, s.n);
    return push_and_free(L, b);
}

/* map(charsmap, text) */
static int native_map(lua_State *L)
{
    la_begin(L, NAME, 0);
    span map = check_span(L, 1), s = check_span(L, 2);
    la_bytes *b = la_push_bytes(L);
    LA_CHECK(L, NAME, la_text_map(b, map.text, map.n, s.text, s.n));
    return push_and_free(L, b);
}

static const luaL_Reg natives[] = {
    {"vocab", native_vocab}, {"encode", native_encode}, {"id", native_id},
    {"text", native_text}, {"pattern", native_pattern},
    {"split", native_split}, {"words", native_words},
    {"normalize", native_normalize}, {"clean", native_clean},
    {"bytes", native_bytes}, {"unbytes", native_unbytes}, {"map", native_map},
    {NULL, NULL}
};

/* la.tokenizer.native(): the functions above. */
static int tokenizer_native(lua_State *L)
{
    lua_newtable(L);
    for (const luaL_Reg *f = natives; f->name; f++) {
        lua_pushnil(L);
        la_closure(L, f->func);
        lua_setfield(L, -2, f->name);
    }
    return 1;
}

static const la_function members[] = {
    {"native", tokenizer_native, 0}, {NULL, NULL, 0}
};

const la_module la_module_tokenizer = {NULL, members, NULL};

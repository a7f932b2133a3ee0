/*
** Checkpoints: nested tables, lists, numbers, booleans and strings next to
** tensors, as la.save takes and la.load gives them.
**
** The text "lunarray.tree" of the metadata is a JSON array with one array of
** strings for each leaf: its keys, then its value. A key is "s" and a string,
** or "i" and an integer; a value "t" (the tensor of that name), "s" and a
** string, "i" and an integer, "d" and the 16 hexadecimal digits of a float's
** bits (decimal ones would depend on the locale), "b0", "b1", or "e", an empty
** table. "x" and hexadecimal digits are a string that is no UTF-8. Nothing in
** it is ever run. Leaves are sorted: the same values give the same bytes.
*/
#include "lua/files/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "api/files.h"
#include "base/ascii.h"
#include "lua/embed.h"

#define TREE "lunarray.tree"
enum { DEEPEST = 64 };

/* ---- archives of the collector's ---- */

#define ARCHIVE_NAME "lunarray.archive"

/* Leaves collected so far; the archive leads, so that a pointer to it is one to
** the whole. */
typedef struct checkpoint {
    la_archive archive;
    la_bytes path;          /* the keys on the way, as JSON: ["sa","i1", */
    la_notes leaves;
    bool needs_tree;        /* the names alone would not do */
} checkpoint;

static void free_all(checkpoint *c)
{
    la_archive_free(&c->archive);
    la_bytes_free(&c->path);
    la_notes_free(&c->leaves);
}

/* Afterwards it is empty, so that it may run again here. */
static int archive_gc(lua_State *L)
{
    la_enter_state(L);
    free_all(lua_touserdata(L, 1));
    return 0;
}

la_archive *la_push_archive(lua_State *L)
{
    checkpoint *c = la_push_collected(L, sizeof *c, ARCHIVE_NAME, archive_gc);
    return &c->archive;
}

/* ---- collecting ---- */

/* The string as a JSON string with 'tag' before it, or in digits. */
static la_status put_tagged(la_bytes *out, char tag, const char *s, size_t n)
{
    LA_BYTES text = {0};
    if (la_json_is_utf8(s, n)) {
        la_bytes_put_byte(&text, (unsigned char)tag);
        la_bytes_put(&text, s, n);
    } else {
        la_bytes_put_byte(&text, 'x');
        for (size_t i = 0; i < n; i++) {
            char digits[3];
            snprintf(digits, sizeof digits, "%02x", (unsigned char)s[i]);
            la_bytes_put(&text, digits, 2);
        }
    }
    LA_TRY(text.status);
    la_json_put(out, (const char *)text.data, text.n);
    return out->status;
}

/* The value on the top, none of ours, as a leaf's last string. */
static la_status checkpoint_put_value(lua_State *L, la_bytes *out)
{
    char text[40] = "t";
    size_t n;
    switch (lua_type(L, -1)) {
    case LUA_TSTRING: {
        const char *s = lua_tolstring(L, -1, &n);
        return put_tagged(out, 's', s, n);
    }
    case LUA_TBOOLEAN:
        strcpy(text, lua_toboolean(L, -1) ? "b1" : "b0");
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1)) {
            snprintf(text, sizeof text, "i%lld",
                     (long long)lua_tointeger(L, -1));
        } else {
            double v = lua_tonumber(L, -1);
            uint64_t bits;
            memcpy(&bits, &v, sizeof bits);
            snprintf(text, sizeof text, "d%016llx", (unsigned long long)bits);
        }
        break;
    case LUA_TTABLE:
        strcpy(text, "e");
        break;
    }
    la_json_put(out, text, strlen(text));
    return out->status;
}

/* One more leaf: the keys of the path, then the value on the top. */
static la_status add_leaf(lua_State *L, checkpoint *c)
{
    size_t kept = c->path.n;
    LA_TRY(checkpoint_put_value(L, &c->path));
    la_bytes_put_byte(&c->path, ']');
    LA_TRY(c->path.status);
    LA_TRY(la_notes_add(&c->leaves, "", 0, (const char *)c->path.data,
                        c->path.n));
    c->path.n = kept;
    return LA_OK;
}

/* The key below the top joins the path. */
static la_status add_key(lua_State *L, checkpoint *c)
{
    char text[32];
    size_t n;
    if (lua_type(L, -2) == LUA_TSTRING) {
        const char *s = lua_tolstring(L, -2, &n);
        LA_TRY(put_tagged(&c->path, 's', s, n));
    } else {
        snprintf(text, sizeof text, "i%lld", (long long)lua_tointeger(L, -2));
        la_json_put(&c->path, text, strlen(text));
        c->needs_tree = true;
    }
    la_bytes_put_byte(&c->path, ',');
    return c->path.status;
}

/* The number on the top as a 0-dim tensor, for readers without our metadata. */
static la_status checkpoint_add_number(lua_State *L, la_archive *a,
                                       const char *name, size_t n)
{
    la_tensor *t = NULL;
    la_scalar v;
    la_to_scalar(L, -1, &v);
    LA_TRY(la_tensor_from_scalar(&v, &t));
    return la_archive_add(a, name, n, t);
}

/* Mutual recursion with collect_value, to the depth of DEEPEST at most: there a
** table that contains itself raises. */
static void checkpoint_collect(lua_State *L, checkpoint *c, int table,
                               int depth);

/* The value on the top, of the name at 'at', is none that can be saved. */
static void refuse_value(lua_State *L, int at, const la_handle *h)
{
    size_t n;
    char shown[900];
    const char *name = lua_tolstring(L, at, &n);
    la_quote(name, n, shown, sizeof shown);
    if (h) la_raise_arg(L, 1, "save", "'%s': tensor was freed", shown);
    la_raise_arg(L, 1, "save", "'%s': a %s cannot be saved", shown,
                 la_type_text(L, -1));
}

/* The value on the top goes by the name at 'at'. The archive takes a reference
** of its own, so that the value may leave the stack. */
static void collect_value(lua_State *L, checkpoint *c, int at, int depth)
{
    size_t n;
    const char *name = lua_tolstring(L, at, &n);
    la_handle *h = la_to_handle(L, -1);
    int type = lua_type(L, -1);
    if (h && h->tensor) {
        LA_CHECK_TWICE(L, "save", la_file_add(
            &c->archive, name, n, la_check_tensor(L, lua_gettop(L), "save")));
        LA_CHECK(L, "save", add_leaf(L, c));
        return;
    }
    if (h || (type != LUA_TNUMBER && type != LUA_TBOOLEAN
              && type != LUA_TSTRING && type != LUA_TTABLE))
        refuse_value(L, at, h);
    c->needs_tree = true;
    if (type == LUA_TTABLE) {
        checkpoint_collect(L, c, at, depth + 1);
        return;
    }
    if (type == LUA_TNUMBER)
        LA_CHECK(L, "save", checkpoint_add_number(L, &c->archive, name, n));
    LA_CHECK(L, "save", add_leaf(L, c));
}

/* Push the name of a leaf: that of its table (at 'prefix', nil for none), a dot
** and the key (at 'key'). The key is converted in a copy: lua_tostring on the
** key itself would confuse lua_next. */
static void checkpoint_push_name(lua_State *L, int prefix, int key)
{
    if (lua_type(L, key) != LUA_TSTRING && !lua_isinteger(L, key))
        la_raise_arg(L, 1, "save", "names must be strings or integers, got a"
                     " %s", la_type_text(L, key));
    lua_pushvalue(L, key);
    lua_tostring(L, -1);
    if (lua_isnil(L, prefix)) return;
    lua_pushvalue(L, prefix);
    lua_pushliteral(L, ".");
    lua_rotate(L, -3, 2);
    lua_concat(L, 3);
}

/* A module or an optimizer: it has state and methods; what is saved is the
** table that state_dict() gives. */
static void refuse_object(lua_State *L, int table)
{
    if (!luaL_getmetafield(L, table, "__name")) return;
    if (lua_getfield(L, table, "state_dict") == LUA_TFUNCTION)
        la_raise_arg(L, 1, "save", "table of tensors expected, got %s: save "
                     "its state_dict()", lua_tostring(L, -2));
    lua_pop(L, 2);
}

/* All leaves of the table on the top, whose name is at 'name'. */
static void checkpoint_collect(lua_State *L, checkpoint *c, int name, int depth)
{
    int table = lua_gettop(L);
    bool any = false;
    if (depth > DEEPEST) la_raise_arg(L, 1, "save", "nested too deep");
    refuse_object(L, table);
    luaL_checkstack(L, 12, "nested too deep");
    lua_pushnil(L);
    while (lua_next(L, table)) {        /* the key, the value */
        size_t kept = c->path.n;
        any = true;
        checkpoint_push_name(L, name, table + 1);
        lua_insert(L, -3);              /* the name, the key, the value */
        LA_CHECK(L, "save", add_key(L, c));
        collect_value(L, c, table + 1, depth);
        c->path.n = kept;
        lua_pop(L, 1);
        lua_remove(L, table + 1);
    }
    if (!any && depth > 0) LA_CHECK(L, "save", add_leaf(L, c));
}

/* The text of all leaves joins the metadata. */
static la_status add_tree(checkpoint *c)
{
    LA_BYTES text = {0};
    la_notes_sort(&c->leaves);
    for (int64_t i = 0; i < c->leaves.n; i++) {
        const la_note *leaf = &c->leaves.list[i];
        la_bytes_put_byte(&text, i ? ',' : '[');
        la_bytes_put(&text, leaf->text, leaf->text_n);
    }
    la_bytes_put_byte(&text, ']');
    LA_TRY(text.status);
    return la_notes_add(&c->archive.metadata, TREE, sizeof TREE - 1,
                        (const char *)text.data, text.n);
}

/* Anew where memory was out: the path keeps its failure. */
static la_status begin_path(checkpoint *c)
{
    la_bytes_free(&c->path);
    la_bytes_put_byte(&c->path, '[');
    return c->path.status;
}

void la_collect_values(lua_State *L, la_archive *a, int table)
{
    checkpoint *c = (checkpoint *)a;
    lua_pushnil(L);
    lua_pushvalue(L, table);
    LA_CHECK_TWICE(L, "save", begin_path(c));
    checkpoint_collect(L, c, lua_gettop(L) - 1, 0);
    if (c->needs_tree) LA_CHECK(L, "save", add_tree(c));
    lua_pop(L, 2);
}

/* ---- the tree of a file ---- */

typedef struct tree {
    lua_State *L;
    const char *name;       /* of the function that reads */
    la_json json;
    char *text;             /* decoded strings, one at a time */
    size_t capacity;
    int flat, root;         /* indices: tensors by name, the result */
} tree;

static void damaged(const tree *t)
{
    la_raise(t->L, t->name, la_error(LA_EIO, "the file's '" TREE "' is "
                                     "damaged"));
}

/* The number of n digits as they are written here: small letters. */
static bool read_hex(const char *digits, size_t n, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (la_is_upper(digits[i]) || la_hex_digit(digits[i]) < 0) return false;
        *out = *out << 4 | (uint64_t)la_hex_digit(digits[i]);
    }
    return true;
}

/* Push the string of hexadecimal digits. */
static void push_bytes(const tree *t, const char *digits, size_t n)
{
    luaL_Buffer b;
    luaL_buffinit(t->L, &b);
    for (size_t i = 0; i < n; i += 2) {
        uint64_t byte = 0;
        if (n - i < 2 || !read_hex(digits + i, 2, &byte)) damaged(t);
        luaL_addchar(&b, (char)byte);
    }
    luaL_pushresult(&b);
}

static bool checkpoint_read_integer(const char *digits, size_t n,
                                    lua_Integer *out)
{
    bool minus = n && *digits == '-';
    lua_Integer v = 0;
    size_t i = minus;
    for (; i < n && la_is_digit(digits[i]); i++) {
        int digit = digits[i] - '0';
        if (__builtin_mul_overflow(v, 10, &v)
            || __builtin_add_overflow(v, minus ? -digit : digit, &v))
            return false;
    }
    *out = v;
    return i == n && n > (size_t)minus;
}

/* Push a string or an integer by its tag; false for another tag. The digits
** have to be all there is. */
static bool checkpoint_push_plain(const tree *t, const char *s, size_t n)
{
    if (n && s[0] == 's') {
        lua_pushlstring(t->L, s + 1, n - 1);
    } else if (n && s[0] == 'x') {
        push_bytes(t, s + 1, n - 1);
    } else if (n > 1 && s[0] == 'i') {
        lua_Integer v = 0;
        if (!checkpoint_read_integer(s + 1, n - 1, &v)) damaged(t);
        lua_pushinteger(t->L, v);
    } else {
        return false;
    }
    return true;
}

/* The next string of the leaf, decoded, with a NUL behind it. */
static const char *next_string(tree *t, size_t *n)
{
    LA_CHECK(t->L, t->name, la_json_string(&t->json, t->text, t->capacity - 1,
                                           n));
    t->text[*n] = '\0';
    return t->text;
}

/* Push what the last string of a leaf says; the tensor of the name on the top,
** which it replaces, is taken out of those that no leaf named. */
static void checkpoint_push_value(tree *t, const char *s, size_t n)
{
    lua_State *L = t->L;
    uint64_t bits;
    lua_pushvalue(L, -1);
    lua_rawget(L, t->flat);             /* the name, its tensor or nil */
    lua_rotate(L, -2, 1);
    lua_pushnil(L);
    lua_rawset(L, t->flat);             /* the tensor */
    if (n == 1 && s[0] == 't') {
        if (lua_isnil(L, -1)) damaged(t);
        return;
    }
    lua_pop(L, 1);
    if (checkpoint_push_plain(t, s, n)) return;
    if (n == 2 && s[0] == 'b') {
        lua_pushboolean(L, s[1] == '1');
    } else if (n == 1 && s[0] == 'e') {
        lua_newtable(L);
    } else if (n == 17 && s[0] == 'd' && read_hex(s + 1, 16, &bits)) {
        double v;
        memcpy(&v, &bits, sizeof v);
        lua_pushnumber(L, v);
    } else {
        damaged(t);
    }
}

/* Push the table at the key on the top of the table below it, made when there
** is none; the key goes. */
static void checkpoint_enter_table(tree *t)
{
    lua_State *L = t->L;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) == LUA_TNIL) {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -2);
        lua_pushvalue(L, -2);
        lua_rawset(L, -5);
    }
    if (!lua_istable(L, -1)) damaged(t);
    lua_remove(L, -2);
}

/* Push the keys of a leaf joined by dots: the name of its tensor. */
static void push_joined(lua_State *L, int first, int last)
{
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = first; i <= last; i++) {
        if (i > first) luaL_addchar(&b, '.');
        lua_pushvalue(L, i);
        luaL_addvalue(&b);
    }
    luaL_pushresult(&b);
}

/* One leaf: all keys go on the stack, the one before a value is known by the
** string behind it. */
static void checkpoint_read_leaf(tree *t)
{
    lua_State *L = t->L;
    int first = lua_gettop(L) + 1;
    size_t n;
    LA_CHECK(L, t->name, la_json_expect(&t->json, '['));
    const char *s = next_string(t, &n);
    while (la_json_accept(&t->json, ',')) {
        if (!checkpoint_push_plain(t, s, n)
            || lua_gettop(L) - first > DEEPEST) damaged(t);
        s = next_string(t, &n);
    }
    LA_CHECK(L, t->name, la_json_expect(&t->json, ']'));
    int last = lua_gettop(L);
    if (last < first) damaged(t);
    lua_pushvalue(L, t->root);
    for (int i = first; i < last; i++) {
        lua_pushvalue(L, i);
        checkpoint_enter_table(t);
        lua_remove(L, -2);
    }
    lua_pushvalue(L, last);             /* the table, the key */
    push_joined(L, first, last);
    checkpoint_push_value(t, s, n);
    lua_rawset(L, -3);
    lua_settop(L, first - 1);
}

/* Adds, by their names, the tensors that no leaf named. */
static void add_rest(tree *t)
{
    lua_State *L = t->L;
    lua_pushnil(L);
    while (lua_next(L, t->flat)) {
        lua_pushvalue(L, -2);
        if (lua_rawget(L, t->root) != LUA_TNIL) damaged(t);
        lua_pop(L, 1);
        lua_pushvalue(L, -2);
        lua_rotate(L, -2, 1);
        lua_rawset(L, t->root);
    }
}

/* The table of tensors by name, on the top, is replaced by the tree of them. */
static void build_tree(lua_State *L, const char *name, const la_note *note)
{
    tree t = {L, name, {note->text, note->text + note->text_n}, NULL,
              note->text_n + 8, lua_gettop(L), lua_gettop(L) + 1};
    luaL_checkstack(L, DEEPEST + 24, "nested too deep");
    lua_newtable(L);
    t.text = lua_newuserdatauv(L, t.capacity, 0);
    LA_CHECK(L, name, la_json_expect(&t.json, '['));
    do {
        checkpoint_read_leaf(&t);
    } while (la_json_accept(&t.json, ','));
    LA_CHECK(L, name, la_json_expect(&t.json, ']'));
    if (t.json.at != t.json.end) damaged(&t);
    add_rest(&t);
    lua_settop(L, t.root);
    lua_remove(L, t.flat);
}

static bool is_tree(const la_note *note)
{
    return note->n == sizeof TREE - 1 && memcmp(note->key, TREE, note->n) == 0;
}

void la_push_values(lua_State *L, const char *name, la_archive *a)
{
    la_state *s = la_state_of(L);
    lua_createtable(L, 0, (int)la_min(a->n, 1 << 20));
    for (int64_t i = 0; i < a->n; i++) {
        lua_pushlstring(L, a->list[i].name, a->list[i].n);
        la_handle *h = la_new_handle(L, s);
        la_fill_handle(s, h, a->list[i].tensor);
        a->list[i].tensor = NULL;
        lua_rawset(L, -3);
    }
    for (int64_t i = 0; i < a->metadata.n; i++)
        if (is_tree(&a->metadata.list[i]))
            build_tree(L, name, &a->metadata.list[i]);
}

/* ---- metadata ---- */

void la_push_notes(lua_State *L, const la_notes *list)
{
    lua_createtable(L, 0, (int)la_min(list->n, 1 << 20));
    for (int64_t i = 0; i < list->n; i++) {
        const la_note *one = &list->list[i];
        if (is_tree(one)) continue;
        lua_pushlstring(L, one->key, one->n);
        lua_pushlstring(L, one->text, one->text_n);
        lua_rawset(L, -3);
    }
}

/* A string of UTF-8 at 'at' of the stack, as the formats want it. */
static const char *check_text(lua_State *L, int at, int arg, size_t *n)
{
    if (lua_type(L, at) != LUA_TSTRING)
        la_raise_arg(L, arg, "save", "metadata: texts by texts expected, got a"
                     " %s", la_type_text(L, at));
    const char *s = lua_tolstring(L, at, n);
    if (!la_json_is_utf8(s, *n))
        la_raise_arg(L, arg, "save", "metadata must be UTF-8");
    return s;
}

void la_collect_metadata(lua_State *L, la_archive *a, int at, int arg)
{
    if (!lua_istable(L, at))
        la_raise_arg(L, arg, "save", "metadata: table of texts expected, got "
                     "%s", la_type_text(L, at));
    lua_pushnil(L);
    while (lua_next(L, at)) {
        size_t n, m;
        int key = lua_gettop(L) - 1;
        const char *k = check_text(L, key, arg, &n);
        const char *text = check_text(L, key + 1, arg, &m);
        if (la_is_module_name(k))
            la_raise_arg(L, arg, "save", "metadata: names that begin with "
                         "'lunarray.' are taken");
        LA_CHECK(L, "save", la_notes_add(&a->metadata, k, n, text, m));
        lua_pop(L, 1);
    }
}

/*
** la.load of PyTorch's files: the tree of a pickle as Lua tables. Dicts keep
** their keys, lists and tuples count from 1, and what a pickle holds twice is
** one table or tensor here. TorchScript files give the parameters and buffers
** of their modules by attribute path.
*/
#include <string.h>

#include "lua/build_options.h"
#include "lua/files/checkpoint.h"
#include "lua/files/loader.h"
#include "modules/pickle/io/torch_file.h"

enum { DEEPEST = 64, PATH_SHOWN = 400 };

/* A file and the tables that are made of it; a userdata, whose finalizer closes
** it. */
typedef struct reading {
    la_torch_file file;
    lua_State *L;
    la_open_file *source;
    int values;             /* index of a table: node -> its value */
    int depth;
    uint32_t path[DEEPEST + 1];     /* keys that lead to a value, as nodes */
    int64_t numbers[DEEPEST + 1];   /* ... or an index, where that is not 0 */
    uint32_t way[DEEPEST + 1];      /* containers that are being made */
    int64_t steps;          /* of a script's attributes */
} reading;

#define READING_NAME "lunarray.pickle"

static int reading_gc(lua_State *L)
{
    la_enter_state(L);
    la_torch_close(&((reading *)lua_touserdata(L, 1))->file);
    return 0;
}

static reading *push_reading(lua_State *L, la_open_file *source)
{
    reading *r = la_push_collected(L, sizeof *r, READING_NAME, reading_gc);
    r->L = L;
    r->source = source;
    return r;
}

/* ---- errors ---- */

/* "a.b[3]" of the keys on the way. */
static const char *path_text(const reading *r, char *out)
{
    size_t n = 0;
    out[0] = 0;
    for (int i = 0; i < r->depth && n + 64 < PATH_SHOWN; i++) {
        const la_pickle *p = &r->file.pickle;
        const la_pickle_node *key = la_pickle_at(p, r->path[i]);
        char shown[200], digits[32];
        size_t m = 0;
        if (r->numbers[i] || key->kind == LA_PICKLE_INT) {
            int64_t v = r->numbers[i] ? r->numbers[i] : key->i;
            lua_Integer whole = (lua_Integer)v;
            uint64_t left = whole < 0 ? 0 - (uint64_t)whole : (uint64_t)whole;
            char back[24];
            int k = 0;
            digits[m++] = '[';
            if (whole < 0) digits[m++] = '-';
            do back[k++] = (char)('0' + left % 10); while (left /= 10);
            while (k) digits[m++] = back[--k];
            digits[m++] = ']';
            memcpy(out + n, digits, m);
        } else if (key->kind == LA_PICKLE_TEXT) {
            size_t most = key->n < 40 ? key->n : 40;
            la_quote(la_pickle_text(p, key), most, shown, sizeof shown);
            if (n) out[n++] = '.';
            m = strlen(shown);
            if (m > PATH_SHOWN - n - 60) m = PATH_SHOWN - n - 60;
            memcpy(out + n, shown, m);
        }
        n += m;
        out[n] = 0;
    }
    return out;
}

/* Raises, with the keys that lead to the value. */
static void reading_check(const reading *r, la_status status)
{
    char path[PATH_SHOWN], text[LA_ERROR_TEXT];
    if (status == LA_EIO && *path_text(r, path)) {
        strcpy(text, la_error_message());
        status = la_error(LA_EIO, "%s: %s", path, text);
    }
    la_load_check(r->L, r->source, status);
}

static void reading_fail(const reading *r, const char *what)
{
    reading_check(r, la_error(LA_EIO, "%s", what));
}

/* ---- values ---- */

static void push_node(reading *r, uint32_t node);

/* The tensor as a leaf, once more after a collection where memory ran out. */
static void push_tensor(reading *r, const la_pickle_node *node)
{
    lua_State *L = r->L;
    la_tensor *t = NULL;
    la_state *s = la_state_of(L);
    la_handle *h = la_new_handle(L, s);
    la_status status = la_torch_tensor(&r->file, node, &t);
    if (status == LA_ENOMEM && la_collect_here(L))
        status = la_torch_tensor(&r->file, node, &t);
    reading_check(r, status);
    la_fill_handle(s, h, t);
    if (node->flag && node->kind == LA_PICKLE_TENSOR)
        reading_check(r, la_require_grad(t, true));
}

/* One level deeper, along the key (a node) or the index. */
static void enter(reading *r, uint32_t key, int64_t index)
{
    if (r->depth == DEEPEST) reading_fail(r, "nested too deep");
    r->path[r->depth] = key;
    r->numbers[r->depth] = index;
    r->depth++;
}

/* The items of a list from 'first' on go to the table on the top, from 1 on.
** None is nil; where there is one, the field n has the length. */
static void fill_list(reading *r, uint32_t list)
{
    lua_State *L = r->L;
    bool holes = false;
    uint32_t n = la_pickle_at(&r->file.pickle, list)->n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t item = la_pickle_at(&r->file.pickle, list)->items[i];
        enter(r, 0, (int64_t)i + 1);
        push_node(r, item);
        r->depth--;
        holes = holes || lua_isnil(L, -1);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    if (!holes) return;
    lua_pushinteger(L, n);
    lua_setfield(L, -2, "n");
}

/* A key of a table: None is the text "None", NaN is refused. */
static void push_key(reading *r, uint32_t node)
{
    lua_State *L = r->L;
    push_node(r, node);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushliteral(L, "None");
    }
    if (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1)
        != lua_tonumber(L, -1))
        reading_fail(r, "NaN as a key");
}

/* Pairs of the node's items from 'first' on, into the table on the top. */
static void fill_pairs(reading *r, uint32_t node, uint32_t first)
{
    lua_State *L = r->L;
    const la_pickle *p = &r->file.pickle;
    for (uint32_t i = first; i + 1 < la_pickle_at(p, node)->n; i += 2) {
        uint32_t key = la_pickle_at(p, node)->items[i];
        enter(r, key, 0);
        push_key(r, key);
        push_node(r, la_pickle_at(p, node)->items[i + 1]);
        r->depth--;
        lua_rawset(L, -3);
    }
}

static void fill_set(reading *r, uint32_t node)
{
    lua_State *L = r->L;
    const la_pickle *p = &r->file.pickle;
    for (uint32_t i = 0; i < la_pickle_at(p, node)->n; i++) {
        enter(r, 0, (int64_t)i + 1);
        push_key(r, la_pickle_at(p, node)->items[i]);
        r->depth--;
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
}

/* The attributes of an object: a dict, a pair of dicts, or any value. */
static void fill_state(reading *r, uint32_t state)
{
    const la_pickle *p = &r->file.pickle;
    const la_pickle_node *node = la_pickle_at(p, state);
    bool pair = node->kind == LA_PICKLE_TUPLE && node->n == 2;
    for (uint32_t i = 0; pair && i < 2; i++) {
        int kind = la_pickle_at(p, node->items[i])->kind;
        pair = kind == LA_PICKLE_DICT || kind == LA_PICKLE_NONE;
    }
    if (node->kind == LA_PICKLE_DICT) fill_pairs(r, state, 0);
    else if (pair)
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t part = la_pickle_at(p, state)->items[i];
            if (la_pickle_at(p, part)->kind == LA_PICKLE_DICT)
                fill_pairs(r, part, 0);
        }
    else if (node->kind != LA_PICKLE_NONE) {
        enter(r, state, 0);
        push_node(r, state);
        r->depth--;
        lua_setfield(r->L, -2, "__state");
    }
}

/* The name behind the table on the top. */
static void set_class(reading *r, uint32_t global)
{
    const la_pickle *p = &r->file.pickle;
    const la_pickle_node *node = la_pickle_at(p, global);
    if (node->kind != LA_PICKLE_GLOBAL) {
        lua_pushliteral(r->L, "?");
    } else {
        lua_pushlstring(r->L, la_pickle_text(p, node), node->n);
    }
    lua_setfield(r->L, -2, "__class");
}

/* Arguments that the class was called with stay in a list, where there are
** some. */
static void fill_object(reading *r, uint32_t node)
{
    const la_pickle *p = &r->file.pickle;
    const uint32_t *items = la_pickle_at(p, node)->items;
    fill_list(r, items[1]);
    fill_state(r, items[2]);
    fill_pairs(r, node, 3);
    if (la_pickle_at(p, items[0])->n) {
        lua_newtable(r->L);
        fill_list(r, items[0]);
        lua_setfield(r->L, -2, "__args");
    }
    set_class(r, la_pickle_at(p, node)->of);
}

/* A container, which is there for its own items before they are: those that
** hold themselves are refused. */
static void push_container(reading *r, uint32_t node, la_pickle_kind kind)
{
    lua_State *L = r->L;
    for (int i = 0; i < r->depth; i++)
        if (r->way[i] == node) reading_fail(r, "a cycle: it holds itself");
    r->way[r->depth] = node;
    luaL_checkstack(L, 8, "nested too deep");
    lua_newtable(L);
    switch (kind) {
    case LA_PICKLE_DICT: fill_pairs(r, node, 0); break;
    case LA_PICKLE_SET: fill_set(r, node); break;
    case LA_PICKLE_OBJECT: fill_object(r, node); break;
    default: fill_list(r, node); break;
    }
    r->way[r->depth] = UINT32_MAX;
}

/* torch.float32 is "float32"; a class, or a function, is a table. */
static void push_global(reading *r, const la_pickle_node *node, uint32_t index)
{
    const char *text = la_pickle_text(&r->file.pickle, node);
    if (node->what == LA_GLOBAL_DTYPE) {
        lua_pushlstring(r->L, text + 6, node->n - 6);
        return;
    }
    lua_newtable(r->L);
    set_class(r, index);
}

/* Values that are no containers; false for these. */
static bool push_plain(reading *r, const la_pickle_node *node, uint32_t index)
{
    lua_State *L = r->L;
    const la_pickle *p = &r->file.pickle;
    switch (node->kind) {
    case LA_PICKLE_NONE: lua_pushnil(L); return true;
    case LA_PICKLE_BOOL: lua_pushboolean(L, node->i != 0); return true;
    case LA_PICKLE_INT: lua_pushinteger(L, node->i); return true;
    case LA_PICKLE_FLOAT: lua_pushnumber(L, node->f); return true;
    case LA_PICKLE_LONG:
        lua_pushnumber(L, la_pickle_long(p, node));
        return true;
    case LA_PICKLE_TEXT: case LA_PICKLE_ITEM_TYPE:
        lua_pushlstring(L, la_pickle_text(p, node), node->n);
        return true;
    case LA_PICKLE_GLOBAL: push_global(r, node, index); return true;
    case LA_PICKLE_TENSOR: case LA_PICKLE_STORAGE:
        push_tensor(r, node);
        return true;
    default: return false;
    }
}

static bool is_shared(const la_pickle_node *node)
{
    return node->kind >= LA_PICKLE_TUPLE;
}

/* A node is the same value wherever it is held. */
static void push_node(reading *r, uint32_t index)
{
    lua_State *L = r->L;
    const la_pickle_node *node = la_pickle_at(&r->file.pickle, index);
    luaL_checkstack(L, 16, "nested too deep");
    if (is_shared(node)) {
        lua_Integer k = (lua_Integer)index + 1;
        if (lua_rawgeti(L, r->values, k) != LUA_TNIL) return;
        lua_pop(L, 1);
    }
    if (!push_plain(r, node, index))
        push_container(r, index, (la_pickle_kind)node->kind);
    if (!is_shared(node)) return;
    lua_pushvalue(L, -1);
    lua_rawseti(L, r->values, (lua_Integer)index + 1);
}

/* ---- TorchScript ---- */

/* Push the set of parameters and buffers of the class, or false where the file
** does not say; kept by the class's name. */
static void push_names(reading *r, const la_pickle_node *class_node, int names)
{
    lua_State *L = r->L;
    bool found = false;
    const char *name = la_pickle_text(&r->file.pickle, class_node);
    lua_pushlstring(L, name, class_node->n);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, names) != LUA_TNIL) {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    la_archive *a = la_push_archive(L);
    const la_notes *notes = &a->metadata;
    reading_check(r, la_torch_script_names(&r->file, name, class_node->n,
                                           &a->metadata, &found));
    lua_newtable(L);
    for (int64_t i = 0; i < notes->n; i++) {
        lua_pushlstring(L, notes->list[i].key, notes->list[i].n);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
    }
    if (!found) {
        lua_pop(L, 1);
        lua_pushboolean(L, 0);
    }
    la_archive_free(a);
    lua_remove(L, -2);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, names);
    lua_remove(L, -2);
}

/* Push the attribute's path: the keys on the way joined by dots. */
static void push_path(const reading *r)
{
    luaL_Buffer b;
    luaL_buffinit(r->L, &b);
    for (int i = 0; i < r->depth; i++) {
        const la_pickle *p = &r->file.pickle;
        const la_pickle_node *key = la_pickle_at(p, r->path[i]);
        if (i) luaL_addchar(&b, '.');
        luaL_addlstring(&b, la_pickle_text(p, key), key->n);
    }
    luaL_pushresult(&b);
}

/* Is the attribute one of the set at the index, or is there none? */
static bool is_listed(const reading *r, const la_pickle_node *key, int set)
{
    if (!lua_istable(r->L, set)) return true;
    lua_pushlstring(r->L, la_pickle_text(&r->file.pickle, key), key->n);
    bool listed = lua_rawget(r->L, set) != LUA_TNIL;
    lua_pop(r->L, 1);
    return listed;
}

static bool is_module(const reading *r, const la_pickle_node *node)
{
    const la_pickle *p = &r->file.pickle;
    return node->kind == LA_PICKLE_OBJECT
        && la_pickle_at(p, node->of)->what == LA_GLOBAL_MODULE;
}

/* Indices of the stack: the sets of names by class, the results. */
typedef struct script_tables { int names, out; } script_tables;

static void add_module(reading *r, uint32_t module, script_tables t);

/* One attribute: a tensor, another module, or what is left out. */
static void add_attribute(reading *r, uint32_t key, uint32_t value, int set,
                          script_tables t)
{
    lua_State *L = r->L;
    const la_pickle *p = &r->file.pickle;
    const la_pickle_node *node = la_pickle_at(p, value);
    if (la_pickle_at(p, key)->kind != LA_PICKLE_TEXT) return;
    if (++r->steps > 16 * (int64_t)p->n + 1000)
        reading_fail(r, "too many attributes");
    enter(r, key, 0);
    if (is_module(r, node)) {
        add_module(r, value, t);
    } else if (node->kind == LA_PICKLE_TENSOR
               && is_listed(r, la_pickle_at(p, key), set)) {
        push_path(r);
        push_node(r, value);
        lua_rawset(L, t.out);
    }
    r->depth--;
}

static void add_module(reading *r, uint32_t module, script_tables t)
{
    const la_pickle *p = &r->file.pickle;
    const la_pickle_node *node = la_pickle_at(p, module);
    uint32_t state = node->items[2];
    for (int i = 0; i < r->depth; i++)
        if (r->way[i] == module) reading_fail(r, "a cycle: it holds itself");
    r->way[r->depth] = module;
    luaL_checkstack(r->L, 16, "nested too deep");
    push_names(r, la_pickle_at(p, node->of), t.names);
    int set = lua_gettop(r->L);
    for (uint32_t i = 0; la_pickle_at(p, state)->kind == LA_PICKLE_DICT
         && i + 1 < la_pickle_at(p, state)->n; i += 2)
        add_attribute(r, la_pickle_at(p, state)->items[i],
                      la_pickle_at(p, state)->items[i + 1], set, t);
    lua_settop(r->L, set - 1);
    r->way[r->depth] = UINT32_MAX;
}

/* A module, as torch.jit.save writes it; torch.save may have written a file of
** the same members. */
static void push_script(reading *r)
{
    lua_State *L = r->L;
    if (!is_module(r, la_pickle_at(&r->file.pickle, r->file.root))) {
        push_node(r, r->file.root);
        return;
    }
    lua_newtable(L);
    lua_newtable(L);
    add_module(r, r->file.root, (script_tables){lua_gettop(L) - 1,
                                                lua_gettop(L)});
}

/* ---- the reader ---- */

/* {unknown = "table"}: objects of classes that are not known. */
static bool read_unknown(lua_State *L, const la_open_file *source)
{
    if (!lua_istable(L, source->options)) return false;
    if (lua_getfield(L, source->options, "unknown") == LUA_TNIL) {
        lua_pop(L, 1);
        return false;
    }
    if (lua_type(L, -1) != LUA_TSTRING
        || (strcmp(lua_tostring(L, -1), "table")
            && strcmp(lua_tostring(L, -1), "error")))
        la_raise_arg(L, 2, source->name, "unknown: \"error\" or \"table\" "
                     "expected");
    bool table = *lua_tostring(L, -1) == 't';
    lua_pop(L, 1);
    return table;
}

static int push_pickle(lua_State *L, la_open_file *source)
{
    bool lenient = read_unknown(L, source);
    reading *r = push_reading(L, source);
    la_load_check(L, source, la_torch_open(&r->file, &source->in,
                                           source->mapping, lenient,
                                           source->limit));
    lua_newtable(L);
    r->values = lua_gettop(L);
    if (r->file.script) push_script(r);
    else push_node(r, r->file.root);
    la_torch_close(&r->file);
    return 1;
}

static const char *const options[] = {"unknown", NULL};

const la_loader la_loader_pickle = {
    .extensions = "pt pth bin ckpt jit pkl", .options = options,
    .fits = la_torch_fits, .push = push_pickle
};

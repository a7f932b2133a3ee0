/*
** Records of the host in Lua: p.pos, p.pos = v, #p, pairs(p), p:get, p:set.
**
** One userdata per record and state. Its user value is a table with the handles
** of the fields that were asked for, so that p.pos is the same one each time;
** the table is emptied when the host has moved the memory. A handle that was
** freed (x:free()) is made anew; scopes leave them alone. Fields are roots, no
** views of one another: what is written to one leaves the versions of the
** others, unless they share bytes.
*/
#include "lua/lifetime/record_handle.h"

#include <string.h>

#include "op/call.h"

typedef struct holder {
    la_record *record;      /* owned; NULL after the finalizer */
    uint32_t moves;         /* the record's when the handles were made */
} holder;

/* Registry: the userdata by the address of the record, with weak values. */
static const char holders_key;

/* The record's holder at 1; raises for anything else and after its end. */
static holder *record_check_holder(lua_State *L)
{
    holder *h = luaL_testudata(L, 1, LA_RECORD_NAME);
    if (!h)
        luaL_error(L, "record: lunarray.Record expected, got %s",
                   la_type_text(L, 1));
    if (!h->record) luaL_error(L, "record: was freed");
    return h;
}

bool la_is_record(lua_State *L, int arg)
{
    return luaL_testudata(L, arg, LA_RECORD_NAME) != NULL;
}

/* The record lives on while the host or tensors of fields hold it. */
static int record_gc(lua_State *L)
{
    holder *h = luaL_checkudata(L, 1, LA_RECORD_NAME);
    la_record *r = h->record;
    h->record = NULL;
    la_record_drop(r);
    return 0;
}

/* The field of the name at stack index 2; raises for any other. */
static const la_struct_field *check_field(lua_State *L, const la_record *r)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        luaL_error(L, "record: name of a field expected, got %s",
                   la_type_text(L, 2));
    size_t n;
    const char *name = lua_tolstring(L, 2, &n);
    const la_struct_field *f = strlen(name) == n ? la_record_find(r, name)
                                                 : NULL;
    if (f) return f;
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (int i = 0; i < r->nfields && i < 20; i++) {
        if (i) luaL_addstring(&b, ", ");
        luaL_addstring(&b, r->fields[i].name);
    }
    if (r->nfields > 20) luaL_addstring(&b, ", ...");
    luaL_pushresult(&b);
    char quoted[208];
    la_quote(name, n, quoted, sizeof quoted);
    luaL_error(L, "record: no field '%s' (fields: %s)", quoted,
               lua_tostring(L, -1));
    return NULL;
}

/* The text that begins errors of a field, left on the stack. */
static const char *record_name_of(lua_State *L, const la_struct_field *f)
{
    return lua_pushfstring(L, "record.%s", f->name);
}

/* Push the table of handles of the userdata at 'at', without those of memory
** that was moved. */
static void push_handles(lua_State *L, int at, holder *h)
{
    if (lua_getiuservalue(L, at, 1) == LUA_TTABLE
        && h->moves == h->record->moves) return;
    lua_pop(L, 1);
    lua_createtable(L, 0, h->record->nfields < 32 ? h->record->nfields : 32);
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, at, 1);
    h->moves = h->record->moves;
}

/* Push the field's tensor: the handle there is, unless it was freed, or a new
** one. The record's holder is at 'at'. */
static la_tensor *record_push_view(lua_State *L, int at,
                                   const la_struct_field *f)
{
    la_state *s = la_enter(L);
    holder *h = lua_touserdata(L, at);
    push_handles(L, at, h);
    if (lua_getfield(L, -1, f->name) == LUA_TUSERDATA) {
        la_handle *there = la_to_handle(L, -1);
        if (there && there->tensor) return there->tensor;
    }
    lua_pop(L, 1);
    la_handle *view = la_lasting_handle(L, s);
    la_tensor *t = NULL;
    la_status status = la_record_view(h->record, f, &t);
    if (status) la_raise(L, record_name_of(L, f), status);
    view->tensor = t;           /* the host's memory is no load of Lua's */
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, f->name);
    return t;
}

/* Push what can be read and written of the field: its tensor, or that of its
** bytes where it has none. */
static void push_data(lua_State *L, int at, const la_struct_field *f)
{
    la_record *r = ((holder *)lua_touserdata(L, at))->record;
    if (la_record_has_view(r, f)) {
        record_push_view(L, at, f);
        return;
    }
    la_handle *bytes = la_lasting_handle(L, la_enter(L));
    la_tensor *t = NULL;
    la_status status = la_record_bytes(r, f, &t);
    if (status) la_raise(L, record_name_of(L, f), status);
    bytes->tensor = t;
}

bool la_push_fields(lua_State *L, int arg)
{
    holder *h = luaL_testudata(L, arg, LA_RECORD_NAME);
    if (!h || !h->record) return false;
    luaL_checkstack(L, 8, "fields of a record");
    arg = lua_absindex(L, arg);
    lua_createtable(L, h->record->nfields, 0);
    int list = lua_gettop(L);
    for (int k = 0; k < h->record->nfields; k++) {
        push_data(L, arg, &h->record->fields[k]);
        lua_rawseti(L, list, k + 1);
        lua_settop(L, list);
    }
    return true;
}

/* ---- copies, of any field ---- */

/* Sizes of the field in all structs together; as many as its tensor has dims
** count. */
static void full_sizes(const la_record *r, const la_struct_field *f,
                       int64_t *sizes)
{
    sizes[0] = r->count;
    sizes[1] = f->sizes[0];
    sizes[2] = f->sizes[1];
}

/* The bytes of a contiguous tensor as {count, nbytes}. */
static la_status record_bytes_of(la_tensor *t, int64_t count, int64_t nbytes,
                                 la_tensor **out)
{
    int64_t sizes[2] = {count, nbytes}, strides[2] = {nbytes, 1};
    int64_t at = t->offset * (int64_t)la_itemsize(t);
    return la_tensor_view_as(t, LA_UINT8, 2, sizes, strides, at, out);
}

/* A new tensor of the field's elements, and its bytes as the field has them. */
static la_status record_new_copy(la_record *r, const la_struct_field *f,
                                 la_tensor **out, la_tensor **bytes)
{
    int64_t sizes[3];
    full_sizes(r, f, sizes);
    LA_TRY(la_tensor_empty(1 + f->ndim, sizes, f->dtype, out));
    return record_bytes_of(*out, r->count, f->nbytes, bytes);
}

static la_status copy_out(la_record *r, const la_struct_field *f,
                          la_tensor **out)
{
    LA_OWNED to = NULL;
    bool view = la_record_has_view(r, f);
    LA_LET(from,
           view ? la_record_view(r, f, &from) : la_record_bytes(r, f, &from));
    LA_LET(t, record_new_copy(r, f, &t, &to));
    LA_TRY(la_run_(copy_, view ? t : to, from));
    return la_tensor_hand(&t, out);
}

/* 'value' NULL: the scalar. */
static la_status write_to(la_tensor *t, la_tensor *value, const la_scalar *s)
{
    return value ? la_run_(copy_, t, value) : la_run_(fill_, t, *s);
}

/* Read-only structs are refused before anything is computed. No history is kept
** of the value of a field without a view. */
static la_status copy_in(la_record *r, const la_struct_field *f,
                         la_tensor *value, const la_scalar *s)
{
    LA_OWNED t = NULL;
    LA_OWNED plain = NULL;
    if (la_record_has_view(r, f)) {
        LA_TRY(la_record_view(r, f, &t));
        return write_to(t, value, s);
    }
    LA_LET(to, la_record_bytes(r, f, &to));
    LA_TRY(la_tensor_check_writable(to));
    LA_LET(from, record_new_copy(r, f, &t, &from));
    if (value) LA_TRY(la_run(detach, &plain, value));
    LA_TRY(write_to(t, plain, s));
    return la_run_(copy_, to, from);
}

/* Into the field by its tensor, whose history it becomes a part of; a script
** may have given that another shape or memory, which is not the field then. No
** other tensor is made where it has not: while a program is recorded that would
** be another call. */
static la_status record_write_view(la_record *r, const la_struct_field *f,
                                   la_tensor *view, la_tensor *value,
                                   const la_scalar *s)
{
    if (la_record_is_view(r, f, view)) return write_to(view, value, s);
    LA_LET(t, la_record_view(r, f, &t));
    return write_to(t, value, s);
}

/* p:get(name): a new tensor that shares nothing with the structs, of any field
** and whatever lies between the elements there. */
static int record_get(lua_State *L)
{
    la_state *s = la_enter(L);
    holder *h = record_check_holder(L);
    const la_struct_field *f = check_field(L, h->record);
    la_handle *result = la_new_handle(L, s);
    la_tensor *t = NULL;
    LA_CHECK_TWICE(L, record_name_of(L, f), copy_out(h->record, f, &t));
    la_fill_handle(s, result, t);
    la_pace(L, s);
    return 1;
}

/* The value at 3, a tensor or the scalar, into the field. Making the field's
** handle may run finalizers, so the value is looked up after it. */
static la_status record_put_value(lua_State *L, holder *h,
                                  const la_struct_field *f, const char *name,
    const la_scalar *scalar)
{
    la_tensor *t = la_record_has_view(h->record, f) ? record_push_view(L, 1, f)
        : NULL;
    bool given = la_to_handle(L, 3) != NULL;
    la_tensor *value = given ? la_check_tensor(L, 3, name) : NULL;
    return t ? record_write_view(h->record, f, t, value, scalar)
             : copy_in(h->record, f, value, scalar);
}

/* The value at 3 into the field, broadcast and converted; once more after a
** full collection where memory is out. */
static int set_field(lua_State *L, holder *h, const la_struct_field *f)
{
    la_scalar scalar;
    const char *name = record_name_of(L, f);
    la_handle *v = la_to_handle(L, 3);
    if (!v && !la_to_scalar(L, 3, &scalar))
        return luaL_error(L, "%s: number or tensor expected as the value, got "
                          "%s", name, la_operand_text(L, 3));
    if (v) la_check_tensor(L, 3, name);
    la_status status = record_put_value(L, h, f, name, &scalar);
    if (status == LA_ENOMEM && la_collect_all(L, la_up_state(L))) {
        la_enter(L);
        status = record_put_value(L, h, f, name, &scalar);
    }
    return status ? la_raise(L, name, status) : 0;
}

/* p:set(name, value): as p.name = value, of any field; returns p. */
static int record_set(lua_State *L)
{
    la_enter(L);
    holder *h = record_check_holder(L);
    const la_struct_field *f = check_field(L, h->record);
    lua_settop(L, 3);
    set_field(L, h, f);
    lua_settop(L, 1);
    return 1;
}

/* ---- the metatable ---- */

/* Methods before fields: of a field named 'get' p:get("get") gives a copy.
** Upvalue LA_UP_OWN is the table of methods. */
static int record_index(lua_State *L)
{
    holder *h = record_check_holder(L);
    lua_settop(L, 2);
    if (lua_type(L, 2) == LUA_TSTRING) {
        lua_pushvalue(L, 2);
        if (lua_rawget(L, lua_upvalueindex(LA_UP_OWN)) != LUA_TNIL) return 1;
        lua_pop(L, 1);
    }
    record_push_view(L, 1, check_field(L, h->record));
    return 1;
}

static int record_newindex(lua_State *L)
{
    la_enter(L);
    holder *h = record_check_holder(L);
    const la_struct_field *f = check_field(L, h->record);
    if (!la_record_has_view(h->record, f) && !h->record->withdrawn)
        return luaL_error(L, "record.%s: the field is not aligned; p:set(\"%s\""
                          ", value) copies into it", f->name, f->name);
    return set_field(L, h, f);
}

static int record_length(lua_State *L)
{
    lua_pushinteger(L, record_check_holder(L)->record->count);
    return 1;
}

/* Iterator for pairs: the name of the field after the one at 2 (nil: the
** first), and its tensor, or a copy where it has no view. */
static int record_next(lua_State *L)
{
    la_state *s = la_enter(L);
    holder *h = record_check_holder(L);
    const la_record *r = h->record;
    lua_settop(L, 2);
    int at = 0;
    if (!lua_isnil(L, 2)) at = (int)(check_field(L, r) - r->fields) + 1;
    if (at == r->nfields) return 0;
    const la_struct_field *f = &r->fields[at];
    lua_pushstring(L, f->name);
    if (la_record_has_view(r, f) || r->withdrawn) {
        record_push_view(L, 1, f);
        lua_pushvalue(L, 3);
        lua_insert(L, -2);
        return 2;
    }
    la_handle *copy = la_new_handle(L, s);
    la_tensor *t = NULL;
    LA_CHECK_TWICE(L, record_name_of(L, f), copy_out(h->record, f, &t));
    la_fill_handle(s, copy, t);
    return 2;
}

/* Upvalue LA_UP_OWN is record_next. */
static int record_pairs(lua_State *L)
{
    record_check_holder(L);
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

/* tostring(p): counts and fields, no address. */
static int record_text(lua_State *L)
{
    const la_record *r = record_check_holder(L)->record;
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    lua_pushfstring(L, "record of %I structs of %I bytes%s:",
                    (LUAI_UACINT)r->count, (LUAI_UACINT)r->bytes,
                    r->read_only ? ", read-only" : "");
    luaL_addvalue(&b);
    for (int i = 0; i < r->nfields; i++) {
        const la_struct_field *f = &r->fields[i];
        lua_pushfstring(L, " %s %s", f->name, la_dtype_name(f->dtype));
        luaL_addvalue(&b);
        for (int d = 0; d < f->ndim; d++) {
            lua_pushfstring(L, "x%I", (LUAI_UACINT)f->sizes[d]);
            luaL_addvalue(&b);
        }
        if (i < r->nfields - 1) luaL_addchar(&b, ',');
    }
    luaL_pushresult(&b);
    return 1;
}

/* ---- pushing ---- */

/* la_set_event with the upvalue on the top, which is popped. */
static void record_event(lua_State *L, const char *event, lua_CFunction fn)
{
    la_closure(L, fn);
    lua_setfield(L, -2, event);
}

static void new_metatable(lua_State *L)
{
    la_new_metatable(L, LA_RECORD_NAME, "a record's metatable is locked");
    lua_newtable(L);
    lua_pushnil(L);
    record_event(L, "get", record_get);
    lua_pushnil(L);
    record_event(L, "set", record_set);
    record_event(L, "__index", record_index);
    lua_pushnil(L);
    record_event(L, "__newindex", record_newindex);
    lua_pushnil(L);
    la_closure(L, record_next);
    record_event(L, "__pairs", record_pairs);
    la_set_event(L, "__gc", record_gc);
    la_set_event(L, "__len", record_length);
    la_set_event(L, "__tostring", record_text);
    lua_pop(L, 1);
}

/* Push the table of holders, with the metatable of records on its first use. */
static void record_push_holders(lua_State *L)
{
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &holders_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    new_metatable(L);
    la_push_weak_table(L, &holders_key, "v");
}

void la_push_record_value(lua_State *L, la_record *r)
{
    record_push_holders(L);
    if (lua_rawgetp(L, -1, r) != LUA_TUSERDATA) {
        lua_pop(L, 1);
        holder *h = lua_newuserdatauv(L, sizeof *h, 1);
        h->record = NULL;
        h->moves = r->moves;
        la_set_metatable(L, LA_RECORD_NAME);
        lua_pushvalue(L, -1);
        lua_rawsetp(L, -3, r);
        h->record = la_record_retain(r);
    }
    lua_remove(L, -2);
}

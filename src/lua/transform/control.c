/*
** la.cond, la.while_loop and la.scan: control flow that depends on values. The
** forms themselves are in lua/lunarray/control.lua; here is what they need of
** the library, and how la.cond tells its two meanings apart.
*/
#include <string.h>

#include "lua/binding.h"
#include "lua/embed.h"
#include "op/call.h"
#include "op/op.h"
#include "program/program.h"
#include "vmap/vmap.h"

/* ---- a loop that is recorded ---- */

typedef struct control_loop {
    la_loop_record record;
    int n;
    la_tensor *carry[64];       /* owned by the record or by 'kept' */
    la_tensor_box *kept;        /* functions of the script may free these */
} control_loop;

enum { CONTROL_CARRY = 32 };

/* Pushes a loop of no tensors, and its box: of the carry and of what both
** branches give. */
static control_loop *control_new(lua_State *L)
{
    control_loop *l = lua_newuserdatauv(L, sizeof *l, 0);
    memset(l, 0, sizeof *l);
    l->kept = la_push_box(L, 3 * CONTROL_CARRY);
    return l;
}

/* Holds n tensors, in place of those that were held from 'first' on. */
static void control_keep(control_loop *l, int first, int n, la_tensor **list)
{
    for (int i = 0; i < n; i++) {
        la_tensor_drop(&l->kept->list[first + i]);
        l->kept->list[first + i] = la_tensor_retain(list[i]);
    }
}

/* Tensors of the list at 'at', as many as the carry has. */
static bool control_read(lua_State *L, int at, int n, la_tensor **out)
{
    if (!lua_istable(L, at) || (int)lua_rawlen(L, at) != n) return false;
    for (int i = 0; i < n; i++) {
        lua_rawgeti(L, at, i + 1);
        la_handle *h = la_to_handle(L, -1);
        lua_pop(L, 1);
        if (!h || !h->tensor) return false;
        out[i] = h->tensor;
    }
    return true;
}

/* Calls the function at 'f' with the list at 'list', and leaves its result. */
static bool control_call(lua_State *L, int f, int list)
{
    lua_pushvalue(L, f);
    lua_pushvalue(L, list);
    int failed = lua_pcall(L, 1, 1, 0);
    la_enter(L);
    return !failed;
}

/* One element, a bool: what the test gave, at the top. */
static bool control_flag(lua_State *L, la_tensor **flag)
{
    la_handle *h = la_to_handle(L, -1);
    *flag = h ? h->tensor : NULL;
    return *flag && (*flag)->dtype == LA_BOOL && (*flag)->numel == 1
        && (*flag)->device == LA_CPU && (*flag)->storage
        && la_tensor_check_bounds(*flag) == LA_OK;
}

/* The calls before the error are in no program; a function that goes on after
** it runs in each call. */
static int control_fail(lua_State *L, control_loop *l)
{
    la_loop_drop(&l->record);
    la_record_refuse("an error ends a loop");
    return lua_error(L);
}

/* The rest of the passes, which nobody records: the carry is at 'list'. */
static int control_go_on(lua_State *L, control_loop *l, int list)
{
    la_tensor *flag;
    la_record_pause(true);
    for (;;) {
        bool ok = control_call(L, 1, list);
        if (ok && control_flag(L, &flag) && !*(uint8_t *)la_data(flag)) break;
        if (ok) {
            lua_settop(L, list);
            ok = control_call(L, 2, list);
        }
        if (!ok) {
            la_record_pause(false);
            return control_fail(L, l);
        }
        lua_replace(L, list);
    }
    la_record_pause(false);
    lua_settop(L, list);
    return 0;
}

static int control_give(lua_State *L, la_state *s, control_loop *l, int list)
{
    la_tensor *results[64] = {NULL}, *last[64];
    int first = lua_gettop(L) + 2;
    luaL_checkstack(L, l->n + 8, "while_loop");
    lua_createtable(L, l->n, 0);
    for (int i = 0; i < l->n; i++) la_new_handle(L, s);
    if (!control_read(L, list, l->n, last)) {
        la_loop_drop(&l->record);
        return luaL_error(L, "while_loop: a result was freed by a finalizer");
    }
    la_record_pause(true);
    la_status status = la_loop_end(&l->record, l->n, last, results);
    la_record_pause(false);
    for (int i = 0; i < l->n; i++)
        if (results[i])
            la_fill_handle(s, la_to_handle(L, first + i), results[i]);
    LA_CHECK(L, "while_loop", status);
    for (int i = l->n; i > 0; i--) lua_rawseti(L, first - 1, i);
    for (int i = 0; i < l->n; i++) {
        if (!l->record.through[i]) continue;
        lua_rawgeti(L, 3, i + 1);
        lua_rawseti(L, first - 1, i + 1);
    }
    return 1;
}

/* The list at 4 becomes one of copies: body and test may use a tensor of the
** carry by another way, too, which is not what goes through the loop. */
static void control_copies(lua_State *L, la_state *s, control_loop *l)
{
    luaL_checkstack(L, 8, "while_loop");
    lua_createtable(L, l->n, 0);
    for (int i = 0; i < l->n; i++) {
        la_handle *h = la_new_handle(L, s);
        la_tensor *copy = NULL;
        la_record_pause(true);
        la_status status = la_run(clone, &copy, l->carry[i]);
        la_record_pause(false);
        if (status) {
            la_loop_drop(&l->record);
            la_raise(L, "while_loop", status);
        }
        la_fill_handle(s, h, copy);
        l->carry[i] = copy;
        lua_rawseti(L, -2, i + 1);
    }
    control_keep(l, 0, l->n, l->carry);
    lua_replace(L, 4);
}

/* A body that writes its carry has written copies (list 4): the tensors that it
** got (list 3) become what these are, as often as it wrote, and its results
** (list 'to', or 0), where they are copies. */
static la_status control_write_back(lua_State *L, control_loop *l, int to)
{
    la_tensor *copies[64], *own[64];
    la_status status = LA_OK;
    if (!control_read(L, 3, l->n, own) || !control_read(L, 4, l->n, copies))
        return LA_OK;           /* freed by a finalizer: nobody sees them */
    for (int i = 0; i < l->n && !status; i++) {
        uint32_t writes = la_tensor_version(copies[i]);
        if (writes) status = la_run_(copy_, own[i], copies[i]);
        for (; writes > 1 && !status; writes--) la_bump_version(own[i]);
        for (int k = 1; to && k <= (int)lua_rawlen(L, to); k++) {
            lua_rawgeti(L, to, k);
            la_handle *h = la_to_handle(L, -1);
            bool same = h && h->tensor == copies[i];
            lua_pop(L, 1);
            if (!same) continue;
            lua_rawgeti(L, 3, i + 1);
            lua_rawseti(L, to, k);
        }
    }
    return status;
}

/* (test, body, carry), functions of a list of tensors and such a list: while a
** program is recorded, the list that the loop ends with, which is a step of the
** program. Nothing: the loop runs in Lua. false and a list: it goes on there
** with that. */
static int control_while(lua_State *L)
{
    la_state *s = la_enter(L);
    la_tensor *flag, *next[64];
    int holds;
    lua_settop(L, 3);
    lua_pushvalue(L, 3);
    lua_insert(L, 3);           /* the carry as it came stays at 3 */
    control_loop *l = control_new(L);
    int n = lua_istable(L, 3) ? (int)lua_rawlen(L, 3) : 0;
    if (n > CONTROL_CARRY || !control_read(L, 3, n, l->carry)
        || !la_loop_begin(&l->record, NULL, n, l->carry)) {
        if (n <= CONTROL_CARRY) la_loop_drop(&l->record);
        return 0;
    }
    l->n = n;
    /* A loop without a pass gives the carry itself. */
    if (!control_call(L, 1, 3)) return control_fail(L, l);
    if (!control_flag(L, &flag) || !*(uint8_t *)la_data(flag)) {
        la_loop_drop(&l->record);
        return 0;
    }
    LA_CHECK(L, "while_loop", la_record_choice(flag, true, &holds));
    lua_pop(L, 1);
    control_copies(L, s, l);
    LA_CHECK(L, "while_loop", la_loop_part(&l->record, n, l->carry));
    if (!control_call(L, 1, 4)) return control_fail(L, l);
    bool fits = control_flag(L, &flag) && *(uint8_t *)la_data(flag)
        && la_loop_part_end(&l->record, 1, &flag, l->carry);
    lua_pop(L, 1);
    if (!fits) {
        la_loop_drop(&l->record);
        return 0;
    }
    LA_CHECK(L, "while_loop", la_loop_part(&l->record, n, l->carry));
    if (!control_call(L, 2, 4)) {
        la_loop_drop(&l->record);
        if (control_write_back(L, l, 0)) la_error_clear();
        return control_fail(L, l);
    }
    fits = control_read(L, lua_gettop(L), n, next)
        && la_loop_part_end(&l->record, n, next, l->carry);
    if (!fits) {
        la_loop_drop(&l->record);
        la_record_refuse("the body of la.while_loop gives no carry");
        if (lua_istable(L, -1))
            LA_CHECK(L, "while_loop",
                     control_write_back(L, l, lua_gettop(L)));
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    int list = lua_gettop(L);
    control_go_on(L, l, list);
    return control_give(L, s, l, list);
}

/* Branch 'f' of la.cond, 1 or 2, on the list at 4: true with its results at the
** top, as many as 'n' says, which it sets where it is below 0. Errors of the
** branch are those of the way without a program. */
static bool control_branch(lua_State *L, control_loop *l, int f, int *n,
                           la_tensor **out)
{
    LA_CHECK(L, "cond", la_loop_part(&l->record, l->n, l->carry));
    if (!control_call(L, f, 4)) return false;
    int at = lua_gettop(L), have = lua_istable(L, at)
        ? (int)lua_rawlen(L, at) : -1;
    if (have < 1 || have > CONTROL_CARRY || (*n >= 0 && have != *n)
        || !control_read(L, at, have, out)) return false;
    *n = have;
    control_keep(l, f * CONTROL_CARRY, have, out);
    return la_loop_part_end(&l->record, have, out, l->carry);
}

static bool control_alike(const la_tensor *a, const la_tensor *b)
{
    return a->dtype == b->dtype && a->names == b->names
        && !((a->flags ^ b->flags) & (LA_F_CONJ | LA_F_NEG))
        && la_same_geometry(a, b);
}

/* (f, g, list, pred): while a program is recorded, the list that f or g gives,
** and both are parts of it. Nothing where they can't be: they have derivatives,
** write what is around, or give tensors of other forms. */
static int control_cond(lua_State *L)
{
    la_state *s = la_enter(L);
    la_tensor *yes[64], *no[64], *flag;
    int n = -1;
    lua_settop(L, 4);
    control_loop *l = control_new(L);
    l->n = lua_istable(L, 3) ? (int)lua_rawlen(L, 3) : CONTROL_CARRY + 1;
    lua_pushvalue(L, 4);
    bool fits = control_flag(L, &flag);
    lua_pop(L, 1);
    if (!fits || l->n > CONTROL_CARRY || !control_read(L, 3, l->n, l->carry))
        return 0;
    bool holds = *(const uint8_t *)la_data(flag) != 0;
    if (!la_loop_begin(&l->record, flag, l->n, l->carry)) {
        la_loop_drop(&l->record);
        return 0;
    }
    control_copies(L, s, l);
    fits = control_branch(L, l, 1, &n, yes);
    int first = lua_gettop(L);
    fits = fits && control_branch(L, l, 2, &n, no);
    for (int i = 0; i < n && fits; i++) fits = control_alike(yes[i], no[i]);
    la_enter(L);
    if (!fits) {
        la_error_clear();
        la_loop_drop(&l->record);
        return 0;
    }
    l->n = n;
    return control_give(L, s, l, holds ? first : lua_gettop(L));
}

/* (t), whose elements are a condition: what stands behind a tensor with a batch
** of la.vmap, through all levels; nil and its truth while a program is
** recorded, which then knows of it; nothing for any other tensor. */
static int behind(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TFUNCTION)
        return lua_gettop(L) > 3 ? control_cond(L) : control_while(L);
    la_state *s = la_enter(L);
    la_vmap *level;
    int holds;
    la_handle *h = la_new_handle(L, s);
    la_tensor *t = la_check_tensor(L, 1, "control");
    LA_CHECK(L, "control", la_vmap_level(t, &level));
    if (!level) {
        bool records = la_record_choice(t, false, &holds) == LA_OK;
        if (!records) return la_raise(L, "control", LA_ESTATE);
        if (holds < 0) return 0;
        lua_pushnil(L);
        lua_pushboolean(L, holds);
        return 2;
    }
    la_fill_handle(s, h, la_tensor_retain(la_vmap_root(t)));
    return 1;
}

/* Call the module's function 'name' with 'behind' and what is on the stack. */
static int call_control(lua_State *L, const char *name)
{
    int n = lua_gettop(L);
    lua_pushcfunction(L, la_require);
    lua_pushliteral(L, "lunarray.control");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, name);
    lua_remove(L, -2);
    lua_pushnil(L);
    la_closure(L, behind);
    lua_rotate(L, 1, 2);
    lua_call(L, n + 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* A function, or what can be called like one: a layer, a la.Function. */
static bool is_callable(lua_State *L, int at)
{
    if (lua_type(L, at) == LUA_TFUNCTION) return true;
    if (luaL_getmetafield(L, at, "__call") == LUA_TNIL) return false;
    lua_pop(L, 1);
    return true;
}

/* la.cond(A[, p]), the operation (upvalue LA_UP_OWN), or la.cond(pred, f, g,
** ...). */
static int fn_cond(lua_State *L)
{
    int n = lua_gettop(L);
    if (n >= 2 && (is_callable(L, 2) || (n >= 3 && is_callable(L, 3))))
        return call_control(L, "cond");
    lua_pushvalue(L, lua_upvalueindex(LA_UP_OWN));
    lua_insert(L, 1);
    lua_call(L, n, LUA_MULTRET);
    return lua_gettop(L);
}

static int fn_while_loop(lua_State *L) { return call_control(L, "while_loop"); }
static int fn_scan(lua_State *L) { return call_control(L, "scan"); }

static const la_function functions[] = {
    {"while_loop", fn_while_loop, LA_MANY}, {"scan", fn_scan, LA_MANY},
    {NULL, NULL, 0}};
const la_part la_part_control = {functions, NULL};

void la_open_cond(lua_State *L, int lib)
{
    if (!la_push_operation(L, "cond", 4, LA_FN)) lua_pushnil(L);
    la_closure(L, fn_cond);
    lua_setfield(L, lib, "cond");
}

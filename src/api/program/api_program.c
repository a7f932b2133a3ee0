/* Programs in lunarray.h. Nothing here raises a Lua error. */
#define LA_INTERNAL
#include "lunarray.h"

#include <string.h>

#include "api/api.h"
#include "api/api_struct.h"
#include "api/program/api_program.h"
#include "base/os/clock.h"
#include "grad/grad.h"

static la_runtime *api_program_runtime(const la_program *g)
{
    return g ? la_runtime_at(g->owner) : la_runtime_chosen();
}

static la_status api_program_none(void)
{
    return la_error(LA_EARG, "no program given");
}

/* ---- files ---- */

/* The first program of a file: the signature that was used last. */
static la_status api_program_first(const la_reader *in, la_program **out)
{
    la_prog_list list = {0};
    la_grad_init();
    LA_TRY(la_program_read(in, 0, &list));
    *out = *LA_PROG_AT(list, la_program *, 0);
    *LA_PROG_AT(list, la_program *, 0) = NULL;
    la_program_drop_list(&list);
    return LA_OK;
}

LA_API la_program *la_program_load(la_runtime *rt, const void *bytes, size_t n)
{
    la_program *g = NULL;
    la_reader in;
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_share_tensors();
    la_reader_of_memory(bytes, n, &in);
    la_status status = bytes && n ? api_program_first(&in, &g)
        : la_error(LA_EARG, "no bytes given");
    return la_api_end("la_program_load", status) ? NULL : g;
}

/* 'name' picks one of a source that holds several files, which none does by
** itself: the host's 'open' has answered it. */
static la_status api_program_source(const la_source *source, la_program **out)
{
    la_source s;
    la_reader in;
    la_status status = la_source_read("la_program_load_from", source, &s, &in);
    if (!status) status = api_program_first(&in, out);
    la_source_close(&s);
    return status;
}

LA_API la_program *la_program_load_from(la_runtime *rt, la_source *source,
                                        const char *name)
{
    la_program *g = NULL;
    LA_API_ENTRY_IN(rt ? rt : &la_default_runtime);
    la_share_tensors();
    (void)name;
    la_status status = api_program_source(source, &g);
    return la_api_end("la_program_load_from", status) ? NULL : g;
}

/* All plans, the sizes that ran last first: whoever loads one program of the
** file gets those. */
static la_status api_program_write(la_program *g, la_writer *to)
{
    la_program *list[LA_PROGRAM_SIZES + 1];
    int n = 0;
    if (!g->now) list[n++] = g;
    for (int32_t i = g->others.n - 1; i >= 0; i--)
        list[n++] = *LA_PROG_AT(g->others, la_program *, i);
    if (g->now) list[n++] = g;
    return la_program_write(n, list, to);
}

static la_status api_program_save(la_program *g, const la_sink *sink,
                                  const char *format)
{
    la_sink s;
    la_writer to;
    if (!g) return api_program_none();
    if (format && strcmp(format, "laprog") != 0)
        return la_error(LA_EARG, "the format of a program is \"laprog\"");
    if (!sink) return la_error(LA_EARG, "no la_sink given");
    if (la_program_is_whole(g))
        return la_error(LA_ESUPPORT, "elements of the inputs choose what the "
                        "model computes: its own file is what can be kept");
    LA_TRY(LA_READ_STRUCT("la_program_save_to", la_sink, sink, &s));
    LA_TRY(la_writer_to_sink(&s, &to));
    return api_program_write(g, &to);
}

LA_API int la_program_save_to(la_program *g, la_sink *sink, const char *format)
{
    LA_API_ENTRY_IN(api_program_runtime(g));
    return la_api_end("la_program_save_to", api_program_save(g, sink, format));
}

/* ---- what goes in and out ---- */

LA_API int la_program_inputs(const la_program *g)
{
    return g ? (int)g->p->narguments : 0;
}

LA_API int la_program_outputs(const la_program *g)
{
    return g ? (int)g->p->outputs.n : 0;
}

LA_API const char *la_program_name(const la_program *g, int what, int i)
{
    if (!g || what < 0 || what >= LA_PROGRAM_NAMES || i < 0
        || i >= g->names[what].n) return NULL;
    return la_program_key(g, what, i);
}

static const la_tensor *api_program_form(const la_program *g, int what, int i)
{
    const la_prog *p = g->p;
    if (what == LA_PROGRAM_WEIGHT) return la_program_weight_at(g, i);
    if (what == LA_PROGRAM_INPUT) return la_prog_object_at(p, i)->form;
    const la_prog_output *o = la_prog_output_at(p, i);
    return o->object >= 0 ? la_prog_object_at(p, o->object)->form
                          : la_prog_view_at(p, o->view)->form;
}

LA_API int la_program_form(const la_program *g, int what, int i,
                           const char **dtype, int capacity, int64_t *sizes)
{
    if (!la_program_name(g, what, i)) return -1;
    const la_tensor *f = api_program_form(g, what, i);
    if (dtype) *dtype = la_dtype_name((la_dtype)f->dtype);
    for (int d = 0; d < f->ndim && d < capacity; d++)
        sizes[d] = la_program_is_open(g, what, i, d) ? -1 : la_sizes(f)[d];
    return f->ndim;
}

/* ---- running ---- */

LA_API int la_program_run(la_program *g, la_tensor *const *in, la_tensor **out)
{
    LA_API_ENTRY_IN(api_program_runtime(g));
    la_share_tensors();
    return la_api_end("la_program_run", g ? la_program_call(g, in, out)
                      : api_program_none());
}

LA_API int la_program_begin(la_program *g, la_tensor *const *in,
                            la_tensor **out)
{
    LA_API_ENTRY_IN(api_program_runtime(g));
    la_share_tensors();
    return la_api_end("la_program_begin", g ? la_program_start(g, true, in, out)
                      : api_program_none());
}

/* LA_MORE is no failure: it leaves the record empty. */
LA_API int la_program_step(la_program *g, int64_t nanoseconds)
{
    bool done = false;
    int64_t end;
    LA_API_ENTRY_IN(api_program_runtime(g));
    if (!g) return la_api_end("la_program_step", api_program_none());
    if (nanoseconds < 0) nanoseconds = 0;
    if (__builtin_add_overflow(la_nanoseconds(), nanoseconds, &end))
        end = INT64_MAX;
    la_status status = la_program_go_on(g, end, &done);
    if (status) return la_api_end("la_program_step", status);
    la_error_clear();
    return done ? LA_OK : LA_MORE;
}

/* ---- life and memory ---- */

LA_API la_program *la_program_clone(la_program *g)
{
    la_program *copy = NULL;
    LA_API_ENTRY_IN(api_program_runtime(g));
    la_share_tensors();
    la_status status = g ? la_program_copy(g, &copy) : api_program_none();
    return la_api_end("la_program_clone", status) ? NULL : copy;
}

static size_t api_program_weights(const la_program *g)
{
    size_t sum = 0;
    for (int32_t i = 0; i < g->weights.n; i++) {
        const la_storage *s = la_program_weight_at(g, i)->storage;
        bool seen = !s;
        for (int32_t k = 0; k < i && !seen; k++)
            seen = la_program_weight_at(g, k)->storage == s;
        if (!seen) sum += (size_t)la_storage_bytes(s);
    }
    return sum;
}

static size_t api_plan_bytes(const la_program *g)
{
    return (size_t)(g->p->arena_bytes + (g->parts ? g->parts->arena_bytes : 0));
}

/* The memory of the plans, those for other sizes too. */
static size_t api_program_arena(const la_program *g)
{
    size_t sum = api_plan_bytes(g);
    for (int32_t i = 0; i < g->others.n; i++)
        sum += api_plan_bytes(*LA_PROG_AT(g->others, la_program *, i));
    return sum;
}

LA_API size_t la_program_bytes(const la_program *g, int what)
{
    if (!g) return 0;
    switch (what) {
    case LA_BYTES_WEIGHTS: return api_program_weights(g);
    case LA_BYTES_ARENA: return api_program_arena(g);
    default: return 0;
    }
}

LA_API la_tensor *la_program_weight(la_program *g, const char *name)
{
    LA_API_ENTRY_IN(api_program_runtime(g));
    la_share_tensors();
    if (!g || !name) {
        la_api_end("la_program_weight",
                   la_error(LA_EARG, "a program and a name expected"));
        return NULL;
    }
    for (int32_t i = 0; i < g->weights.n; i++)
        if (strcmp(la_program_key(g, LA_PROGRAM_WEIGHT, i), name) == 0)
            return la_tensor_retain(la_program_weight_at(g, i));
    char shown[256];
    la_api_end("la_program_weight", la_error(LA_EARG, "no weight is named '%s'",
               la_quote(name, strlen(name), shown, sizeof shown)));
    return NULL;
}

LA_API void la_program_retain(la_program *g)
{
    if (g) la_take_ref(&g->refs);
}

LA_API void la_program_release(la_program *g)
{
    if (!g) return;
    la_position before = la_move_to_owner(g->owner);
    la_program_drop(g);
    la_move_back(&before);
}

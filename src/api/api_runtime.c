/*
** Runtimes, for hosts: include/lunarray.h says what they are,
** base/runtime/runtime.h how a thread is in one.
**
** A host never sees the default runtime: NULL stands for it in arguments and
** results, so that a host that knows of none need not care. Functions that name
** a runtime go there for their own time only.
*/
#include "base/runtime/background.h"
#include "base/runtime/local.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/passage.h"
#include "base/runtime/runtime.h"
#include "base/runtime/thread_pool.h"
#include "api/api_struct.h"
#include "lunarray.h"
#include "op/lockstep.h"

/* NULL stands for the default one on both sides: the host never gets a pointer
** to that. */
static la_runtime *runtime_of(la_runtime *rt)
{
    return rt ? rt : &la_default_runtime;
}
static la_runtime *api_runtime_shown(la_runtime *rt)
{
    return rt == &la_default_runtime ? NULL : rt;
}

static la_status api_runtime_wrong(const char *what)
{
    return la_error(LA_EARG, "la_runtime_new: %s", what);
}

/* An all-zero struct means none, even without its size. */
static la_status read_jobs(const la_jobs *in, la_jobs *out)
{
    const char *bytes = (const char *)in;
    size_t k = 0;
    while (k < sizeof *in && !bytes[k]) k++;
    *out = (la_jobs){0};
    if (k == sizeof *in) return LA_OK;
    if (in->size > sizeof *in)  /* what follows are the config's other fields */
        return api_runtime_wrong("la_jobs.size is larger than in this library");
    LA_TRY(LA_READ_STRUCT("la_runtime_new", la_jobs, in, out));
    if (!out->enqueue != !out->finish)
        return api_runtime_wrong("a job system needs enqueue and finish");
    if (out->enqueue && out->parallel_for)
        return api_runtime_wrong("a job system has either parallel_for, or "
                                 "enqueue and finish");
    return out->workers < 0 ? api_runtime_wrong("la_jobs.workers is negative")
        : LA_OK;
}

/* Fields left NULL in a config are the library's own. */
static la_status read_config(const la_config *in, la_config *out)
{
    la_jobs jobs;
    LA_TRY(LA_READ_STRUCT("la_runtime_new", la_config, in, out));
    LA_TRY(read_jobs(&out->jobs, &jobs));
    out->jobs = jobs;
    if (out->flags & ~(unsigned)(LA_DETERMINISTIC | LA_ZERO_MEMORY))
        return api_runtime_wrong("unknown flags");
    if (out->flags & LA_DETERMINISTIC) LA_TRY(la_lockstep_check());
    if (!out->alloc != !out->release)
        return api_runtime_wrong("an allocator needs both functions");
    return LA_OK;
}

/* All fields are read here, and the host's struct is not needed afterwards. */
LA_API la_runtime *la_runtime_new(const la_config *config)
{
    la_config c;
    la_error_clear();
    return read_config(config, &c) ? NULL : la_runtime_make(&c);
}

/* Makes no entry: nothing of the runtime may be there when it has ended. */
LA_API int la_runtime_destroy(la_runtime *rt) { return la_runtime_end(rt); }

/* The choice ends with the thread, or with the runtime. */
LA_API la_runtime *la_use(la_runtime *rt)
{
    la_runtime *former = la_runtime_chosen();
    la_runtime_choose(runtime_of(rt));
    return api_runtime_shown(former);
}

LA_API la_runtime *la_runtime_of(const la_tensor *t)
{
    return t ? api_runtime_shown(la_runtime_at(t->owner)) : NULL;
}

/* la_num_threads of the runtime; decided at the first question. */
LA_API int la_thread_count(la_runtime *rt)
{
    LA_ENTRY_IN(runtime_of(rt));
    return la_num_threads();
}

/* A host's job system decides by itself how many threads work: to set a number
** there would change nothing, and is an error. */
LA_API int la_set_thread_count(la_runtime *rt, int n)
{
    LA_ENTRY_IN(runtime_of(rt));
    la_error_clear();
    if (la_has_jobs(&la_runtime_here()->jobs))
        return la_error(LA_ESTATE, "la_set_thread_count: the host's job system "
                        "has the threads");
    if (n < 1 || n > LA_MAX_THREADS)
        return la_error(LA_EARG, "la_set_thread_count: 1 to %d expected, got "
                        "%d", LA_MAX_THREADS, n);
    la_set_num_threads(n);
    return LA_OK;
}

/* No entry either: an allocator may ask. */
LA_API int la_memory_stat(la_runtime *rt, la_memory *out)
{
    rt = runtime_of(rt);
    la_error_clear();
    la_mem_info m = la_mem_stat_of(rt);
    la_memory known = {.now = m.used, .peak = m.peak, .cap = m.cap,
                       .cached = m.cached,
                       .blocks = atomic_load(&rt->memory.blocks)};
    return LA_WRITE_STRUCT("la_memory_stat", la_memory, &known, out);
}

/* Threads of ours and of the host keep a few small blocks each; those go when
** the thread ends, or the runtime. */
LA_API size_t la_trim(la_runtime *rt)
{
    LA_ENTRY_IN(runtime_of(rt));
    return la_memory_trim();
}

/* Threads of the host keep what they have in it until they end. */
LA_API int la_shutdown(void)
{
    LA_ENTRY_IN(&la_default_runtime);
    la_error_clear();
    if (!la_pool_end(&la_default_runtime.pool))
        return la_error(LA_ESTATE, "la_shutdown: a call runs");
    la_background_end(&la_default_runtime);
    la_memory_trim();
    la_local_forget();
    la_memory_restart(&la_default_runtime);
    return LA_OK;
}

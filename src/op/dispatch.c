/*
** The launch gate and the choice of kernels.
**
** la_dispatch checks every tensor of a call once (alive, with dtype and
** storage, inside its storage, outputs writable), collects the keys, resolves
** lazy bits for operations that do not know them, and runs the kernel of the
** highest key. Between the gate and the end of the kernel no Lua code runs.
*/
#include "base/runtime/context.h"
#include "base/os/cpu.h"
#include "base/runtime/memory.h"
#include "base/runtime/parts.h"
#include "base/runtime/thread_pool.h"
#include "base/runtime/runtime.h"
#include "base/runtime/stop_note.h"
#include "base/runtime/token.h"
#include "base/trace.h"
#include "op/call.h"
#include "op/composite.h"
#include "op/dispatch.h"
#include "op/families.h"
#include "op/cost/fuel.h"
#include "op/host/hosted.h"
#include "op/lockstep.h"
#include "op/host/device_names.h"
#include "op/observe.h"
#include "op/op.h"
#include "op/schema.h"
#include "op/debug/trace.h"
#include "op/debug/frame_verify.h"
#include "tensor/tensor_verify.h"

#define BIT(key) ((la_keyset)1 << (key))
/* The keys of devices of the host's. */
#define REMOTE (BIT(LA_KEY_INPLACE_OR_VIEW) - BIT(LA_KEY_EXT))
#define LAZY (LA_F_CONJ | LA_F_NEG)

typedef struct gate {
    la_keyset keys;
    uint32_t flags;         /* of all tensors together */
    const la_storage *written;   /* of the tensor that is written; or NULL */
    int sharing;            /* arguments that lie in it */
    uint8_t here;           /* the runtime of the call */
    uint8_t foreign;        /* not 0: a tensor of another one is there */
} gate;

/* Contiguous tensors are the common case: one multiplication. */
static inline bool dispatch_is_inside(const la_tensor *t)
{
    return la_is_contiguous(t) && t->storage
        && (t->offset + t->numel) * (int64_t)la_itemsize(t)
           <= t->storage->nbytes;
}

static __attribute__((noinline)) la_status look_closer(const la_tensor *t)
{
    if (t->flags & LA_F_BATCHED) return LA_OK;      /* src/vmap looks */
    if (t->device == LA_META) return LA_OK;
    return la_tensor_check_bounds(t);
}

/* A tensor is alive and inside its storage; its key and flags join the gate. */
static inline la_status dispatch_check_tensor(const la_tensor *t, gate *g)
{
    la_tensor_verify(t);
    g->flags |= t->flags | la_grad_flag(t);
    g->keys |= BIT(t->device);
    g->sharing += t->storage == g->written;
    g->foreign |= t->owner ^ g->here;
    return __builtin_expect(dispatch_is_inside(t), 1) ? LA_OK : look_closer(t);
}

static la_status dispatch_check_list(const la_value *v, gate *g)
{
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i])
            LA_TRY(dispatch_check_tensor(v->tensors.list[i], g));
    return LA_OK;
}

/* Every value is of the type that its parameter declares, whatever brought it
** here: the binding, a C host, another operation. Implementations read a
** value's member without a look at its tag. */
static __attribute__((noinline, cold)) la_status
wrong_tag(const la_frame *f, const la_schema *s)
{
    int k = 0;
    while (k < s->nparams - 1 && (s->tags[k] >> f->args[k].tag & 1)) k++;
    return la_error_at(LA_EARG, k + 1, "%s expected",
                       la_type_name(s->params[k].type));
}

/* Storage of the first argument when the call writes it: in-place forms, and
** rows with LA_MUTATES. */
static inline const la_storage *written_storage(const la_frame *f)
{
    return (f->form == LA_INPLACE || (f->op->forms & LA_MUTATES))
        && f->args[0].tag == LA_VTENSOR ? f->args[0].tensor->storage : NULL;
}

static la_status check_args(const la_frame *f, gate *g)
{
    const la_schema *s = la_schema_of(f->op);
    unsigned fits = 1;
    int k = 0;
    for (; k < s->nwatched; k++) {
        const la_value *v = &f->args[k];
        fits &= (unsigned)s->tags[k] >> v->tag;
        if (v->tag == LA_VTENSOR) LA_TRY(dispatch_check_tensor(v->tensor, g));
        else if (v->tag == LA_VTENSORS) LA_TRY(dispatch_check_list(v, g));
        else if (v->tag == LA_VDEVICE) g->keys |= BIT(v->device);
    }
    for (; k < s->nparams; k++)
        fits &= (unsigned)s->tags[k] >> f->args[k].tag;
    if (__builtin_expect(!fits, 0)) return wrong_tag(f, s);
    if ((f->op->forms & (LA_MUTATES | LA_METADATA)) == LA_MUTATES)
        return la_tensor_check_writable(f->args[0].tensor);
    return LA_OK;
}

/* An in-place call's output is the first argument, which has been checked: not
** every overload begins with a tensor. */
static la_status check_outputs(const la_frame *f, gate *g)
{
    if (f->form == LA_INPLACE) {
        if (f->args[0].tag != LA_VTENSOR || f->outs[0] != f->args[0].tensor)
            return la_error_at(LA_EARG, 1, "tensor expected to work on "
                               "in place");
        return la_tensor_check_writable(f->outs[0]);
    }
    LA_TRY(la_check_outputs(f, g->keys));
    for (int k = 0; k < LA_MAX_RESULTS; k++) {
        if (!f->outs[k]) continue;
        LA_TRY(dispatch_check_tensor(f->outs[k], g));
        LA_TRY(la_tensor_check_writable(f->outs[k]));
    }
    return LA_OK;
}

/* ---- kernels that every operation has ---- */

static la_op_fn meta_of(const la_op *op)
{
    const la_family *family = op->family;
    return family ? family->meta : op->meta;
}

static la_status no_values(void)
{
    return la_error(LA_EKEY, "the result's shape depends on data, and a tensor "
                    "on the meta device has none");
}

/* The first argument's dtype has to be one of the row's. A number that became a
** tensor for the call takes the dtype of the tensors next to it. */
static inline la_status dispatch_check_dtype(const la_frame *f)
{
    const la_value *v = f->args;
    const la_tensor *t = NULL;
    if (f->nargs && v->tag == LA_VTENSOR) t = v->tensor;
    else if (f->nargs && v->tag == LA_VTENSORS && v->tensors.n)
        t = v->tensors.list[0];
    if (!t || (t->flags & LA_F_WRAPPED) || (f->op->forms & LA_ASKS_DTYPE))
        return LA_OK;
    return la_blame(la_require_dtype(f, (la_dtype)t->dtype), 1);
}

/* Iterators look at the devices of their operands themselves. */
static la_status run_meta(la_frame *f)
{
    la_op_fn meta = meta_of(f->op);
    if (f->keys & BIT(LA_KEY_CPU)) LA_TRY(la_check_devices(f));
    if (!f->op->family) LA_TRY(dispatch_check_dtype(f));
    return meta ? meta(f) : no_values();
}

static inline la_status run_cpu(la_frame *f)
{
    const la_family *family = f->op->family;
    if (__builtin_expect(la_trace_on, 0)) la_trace_kernel(f);
    la_op_fn impl = family ? family->impl : f->op->impl;
    if (!family) LA_TRY(dispatch_check_dtype(f));
    if (!family && f->op->meta) LA_TRY(f->op->meta(f));
    if (__builtin_expect(la_fuel_running != NULL, 0)) LA_TRY(la_fuel_kernel(f));
    la_status status = impl ? impl(f) : LA_OK;
    la_clear_upper();
    return status;
}

static bool dispatch_writes(const la_frame *f)
{
    return f->form != LA_FUNCTIONAL || (f->op->forms & LA_MUTATES);
}

/* A change of sizes, strides or storage writes no element of the memory. */
static void note_change(const la_frame *f, la_tensor *t)
{
    la_storage *counter = la_counter(t);
    if (!(f->op->forms & LA_METADATA)) la_bump_version(t);
    else if (counter) la_count_write(&counter->version);
}

/* Versions of what was written rise once the kernels below are done, also
** after a stop in the middle. */
static la_status note_write(la_frame *f, la_status status)
{
    int n = f->form == LA_OUT ? LA_MAX_RESULTS : 1;
    if (status && !la_is_stop(status)) return status;
    for (int k = 0; k < n; k++)
        if (f->outs[k]) note_change(f, f->outs[k]);
    if (f->form == LA_FUNCTIONAL && f->args[0].tag == LA_VTENSOR
        && !(f->op->forms & LA_KEEPS_VERSION))
        note_change(f, f->args[0].tensor);
    return status;
}

static la_status run_inplace_or_view(la_frame *f)
{
    return note_write(f, la_redispatch(f, LA_KEY_INPLACE_OR_VIEW));
}

static la_op_fn dispatch_kernel_of(int key)
{
    switch (key) {
    case LA_KEY_CPU: return run_cpu;
    case LA_KEY_META: return run_meta;
    case LA_KEY_INPLACE_OR_VIEW: return run_inplace_or_view;
    case LA_KEY_RECORD: return la_record_kernel;
    case LA_KEY_AUTOGRAD: return la_autograd_kernel;
    default: return NULL;
    }
}

la_op_fn la_autograd_kernel, la_vmap_kernel, la_record_kernel;
la_status (*la_record_read)(const la_tensor *t);
void (*la_record_peek)(const la_tensor *t);
la_status (*la_record_body)(la_frame *f, la_op_fn body);
void (*la_record_owned)(la_tensor *t);

/* Nothing records and no kernel comes from outside: the same as the walk over
** the keys below, without it. */
static inline bool on_cpu_alone(const la_frame *f)
{
    return !(f->keys & ~(BIT(LA_KEY_CPU) | BIT(LA_KEY_INPLACE_OR_VIEW)))
        && !atomic_load_explicit(&la_runtime_here()->kernels_replaced,
                                 memory_order_relaxed);
}

static la_status run_keys(la_frame *f)
{
    if (la_fuel_running) LA_TRY(la_fuel_kernel(f));
    while (f->keys) {
        int key = 31 - __builtin_clz(f->keys);
        la_op_fn fn = dispatch_kernel_of(key),
            host = la_registered_kernel(f->op, key);
        if (key < LA_NDEVICES && la_is_remote((uint8_t)key))
            return la_run_remote(f, (la_device)key, host);
        if (host) return la_hosted_kernel(f, host);
        if (fn) return fn(f);
        f->keys &= ~BIT(key);
    }
    return run_cpu(f);
}

la_status la_redispatch(la_frame *f, la_key below)
{
    f->keys &= BIT(below) - 1;
    return run_keys(f);
}

/* ---- outputs of composites and lazy bits ---- */

static bool is_argument(const la_frame *f, const la_tensor *t)
{
    for (int k = 0; k < f->nargs; k++)
        if (f->args[k].tag == LA_VTENSOR && f->args[k].tensor == t) return true;
    return false;
}

void la_own_memory(la_tensor *t)
{
    la_tensor_drop(&t->base);
    t->flags &= ~(uint32_t)(LA_F_NO_GRAD_VIEW | LA_F_MULTI_VIEW
                            | LA_F_CUSTOM_VIEW);
}

/* A result that is a view of a tensor which nobody else holds is that tensor's
** only user: it becomes the owner, so that it has a history of its own and may
** be detached or written like any other result. An argument that is given back
** keeps its root, which may have a history that the view has not seen yet. */
static void own_result(const la_frame *f, la_tensor *t)
{
    if (!t->base || atomic_load(&t->base->refs) != 1) return;
    if ((t->flags & LA_F_BATCHED) || is_argument(f, t)) return;
    la_own_memory(t);
    if (__builtin_expect(la_ctx()->recorder != NULL, 0)) la_record_owned(t);
}

la_status la_check_reads(const la_frame *f)
{
    if (!la_ctx()->recorder) return LA_OK;
    for (int k = 0; k < f->nargs; k++) {
        const la_value *v = &f->args[k];
        if (v->tag == LA_VTENSOR) LA_TRY(la_record_read(v->tensor));
        for (int64_t i = 0; v->tag == LA_VTENSORS && i < v->tensors.n; i++)
            if (v->tensors.list[i]) LA_TRY(la_record_read(v->tensors.list[i]));
    }
    return LA_OK;
}

/* Does the composite look at elements, or give Lua a truth about them? */
static bool gives_values(const la_frame *f)
{
    return (f->op->forms & LA_READS_VALUES)
        || (la_schema_of(f->op)->results[0] == LA_VBOOL
            && !(f->op->forms & LA_OF_HANDLES));
}

static la_status run_plainly(la_frame *f)
{
    return f->op->forms & LA_IN_FLOAT32 ? la_in_float32(f, 0, f->op->impl)
                                        : f->op->impl(f);
}

static inline la_status run_implementation(la_frame *f)
{
    if (__builtin_expect(la_ctx()->recorder != NULL, 0))
        return la_record_body(f, run_plainly);
    return run_plainly(f);
}

/* A composite runs in its functional form; its results go to the outputs by
** copy_, which records what autograd needs. The host may have a kernel for its
** device, which nothing records. */
static la_status run_composite(la_frame *f)
{
    LA_TRY(dispatch_check_dtype(f));
    if (la_fuel_running) LA_TRY(la_fuel_kernel(f));
    if ((f->op->forms & LA_READS_VALUES) && (f->keys & BIT(LA_KEY_META)))
        return no_values();
    if (__builtin_expect(la_ctx()->recorder != NULL, 0) && gives_values(f))
        LA_TRY(la_check_reads(f));
    if (__builtin_expect(f->keys & REMOTE, 0)) {
        la_device d = (la_device)(31 - __builtin_clz(f->keys & REMOTE));
        la_op_fn fn = f->keys & BIT(LA_KEY_AUTOGRAD) ? NULL
                    : la_registered_kernel(f->op, d);
        if (fn || (f->op->forms & LA_READS_VALUES))
            return la_run_remote(f, d, fn);
    }
    LA_TRY(run_implementation(f));
    for (int k = 0; k < f->nresults; k++)
        if (f->results[k].tag == LA_VTENSOR)
            own_result(f, f->results[k].tensor);
    return LA_OK;
}

la_status la_run_body(la_frame *f) { return run_composite(f); }

/* Arguments whose bits the operation does not know are replaced by resolved
** copies for the time of the call. */
static la_status resolve_one(la_tensor *t, la_tensor **out)
{
    la_tensor *plain = NULL;
    LA_TRY(la_run(resolve_conj, &plain, t));
    la_status status = la_run(resolve_neg, out, plain);
    la_tensor_release(plain);
    return status;
}

static la_status run_resolved(la_frame *f);
static la_status run_apart(la_frame *f);
static bool has_entangled(const la_frame *f);

static bool outs_are_lazy(const la_frame *f)
{
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        if (f->outs[k] && (f->outs[k]->flags & LAZY)) return true;
    return false;
}

static bool knows_bits(const la_frame *f, uint32_t bits)
{
    if (f->op->forms & LA_BITS_OK) return true;
    return (f->op->forms & LA_CONJ_OK) && bits == LA_F_CONJ
        && !outs_are_lazy(f);
}

/* Is the call src/vmap's? Random numbers are, with or without a batch. */
static bool is_mapped(const la_frame *f, const gate *g)
{
    if (g->flags & LA_F_BATCHED) return la_vmap_kernel != NULL;
    return la_draws_numbers(la_schema_of(f->op));
}

/* Tensors that are written to out= have no history: refused as in PyTorch where
** a result would get one, or has one that the call would leave behind. Here and
** not under the Autograd key, which composites never reach: copy_ would record
** what they give. */
static __attribute__((noinline, cold)) la_status
refuse_history(const la_frame *f)
{
    bool recorded = !(f->op->forms & LA_NO_GRAD_OP), refused = false;
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        refused |= f->outs[k] && la_is_inexact((la_dtype)f->outs[k]->dtype)
            && (recorded || (f->outs[k]->flags & LA_F_REQUIRES_GRAD));
    return !refused ? LA_OK
        : la_error(LA_EGRAD, "functions with out=... arguments don't "
                   "support automatic differentiation, but one of the "
                   "arguments requires grad");
}

static la_status launch(la_frame *f, const gate *g);

/* out= of tensors that require grad, into what gets no history. */
static __attribute__((noinline, cold)) la_status
launch_without_history(la_frame *f, const gate *g)
{
    LA_TRY(refuse_history(f));
    LA_WITHOUT_KEYS(BIT(LA_KEY_AUTOGRAD));
    return launch(f, g);
}

/* A composite that draws numbers, may compute on elements between its calls,
** and has no derivative: a recording takes it as one call, not as those that it
** makes, and what these give has no history. */
static __attribute__((noinline)) la_status run_drawn(la_frame *f)
{
    bool writes = f->form != LA_FUNCTIONAL || (f->op->forms & LA_MUTATES);
    LA_WITHOUT_KEYS(writes ? 0 : BIT(LA_KEY_AUTOGRAD));
    return la_ctx()->recorder
        && !(la_ctx()->excluded_keys & BIT(LA_KEY_RECORD))
        ? la_record_kernel(f) : run_composite(f);
}

/* The way from the gate to a kernel: vmap before all else, lazy bits
** resolved, composites before keys (they have none), then the
** keys. */
static la_status launch(la_frame *f, const gate *g)
{
    const la_context *c = la_ctx();
    la_keyset keys = g->keys ? g->keys : BIT(LA_CPU);
    if (__builtin_expect(c->vmap || (g->flags & LA_F_BATCHED), 0)
        && is_mapped(f, g)) {
        f->keys = keys;
        return la_vmap_kernel(f);
    }
    if (f->form == LA_OUT && (g->flags & LA_F_REQUIRES_GRAD) && !c->no_grad
        && !(c->excluded_keys & BIT(LA_KEY_AUTOGRAD)))
        return launch_without_history(f, g);
    if ((g->flags & LAZY) && !knows_bits(f, g->flags & LAZY))
        return run_resolved(f);
    if (dispatch_writes(f) && (g->sharing > 1 || f->form == LA_OUT)
        && has_entangled(f))
        return run_apart(f);
    if ((g->flags & LA_F_REQUIRES_GRAD) && !c->no_grad)
        keys |= BIT(LA_KEY_AUTOGRAD);
    if (dispatch_writes(f)) keys |= BIT(LA_KEY_INPLACE_OR_VIEW);
    f->keys = (keys | c->included_keys) & ~c->excluded_keys;
    if (f->op->forms & LA_COMPOSITE)
        return (f->op->forms & LA_NO_GRAD_OP)
            && la_draws_numbers(la_schema_of(f->op))
            ? run_drawn(f) : run_composite(f);
    if (__builtin_expect(la_trace_on, 0)) la_trace_keys(f);
    if (!on_cpu_alone(f)) return run_keys(f);
    bool written = f->keys & BIT(LA_KEY_INPLACE_OR_VIEW);
    f->keys = BIT(LA_KEY_CPU);
    la_status status = run_cpu(f);
    return written ? note_write(f, status) : status;
}

/* The refusal comes before anything runs, of calls that a fuse records too. */
static la_status launch_in_lockstep(la_frame *f, const gate *g)
{
    unsigned before;
    LA_TRY(la_lockstep_begin(f->op, &before));
    la_status status = launch(f, g);
    la_lockstep_end(before);
    return status;
}

/* Launches in lockstep, before an observer, or both. */
static __attribute__((noinline, cold)) la_status
launch_watched(la_frame *f, const gate *g, const la_context *c)
{
    la_observed call;
    bool observed = c->observed;
    if (observed)
        la_observe_begin(&call, LA_OBSERVED_CALL, f->op->signature,
                         la_op_name_length(f->op), 0);
    if (observed) call.frame = f;
    la_status status = c->lockstep ? launch_in_lockstep(f, g) : launch(f, g);
    if (observed) la_observe_end(&call);
    return status;
}

typedef struct swap {
    la_value *slot;
    la_value before;
} swap;

static void undo(swap *s, int n)
{
    while (n-- > 0) {
        la_tensor_release(s[n].slot->tensor);
        *s[n].slot = s[n].before;
    }
}

/* Elements of the input interleave with those of the written tensor, and which
** of them are the same is too hard to tell: written one by one, some would be
** read after they changed. (The iterator refuses what is plain to see.) */
static bool is_entangled(const la_tensor *in, const la_tensor *out)
{
    return out && in != out && in->storage == out->storage && in->storage
        && la_pair_overlap(out, in) == LA_OVERLAP_TOO_HARD;
}

static inline bool must_copy(const la_frame *f, int k)
{
    const la_tensor *in = f->args[k].tensor;
    if (f->args[k].tag != LA_VTENSOR || (f->op->forms & LA_METADATA))
        return false;
    if ((f->op->forms & LA_MUTATES) && k > 0
        && is_entangled(in, f->args[0].tensor)) return true;
    if (is_entangled(in, f->outs[0])) return true;
    for (int j = 1; f->form == LA_OUT && j < LA_MAX_RESULTS; j++)
        if (is_entangled(in, f->outs[j])) return true;
    return false;
}

static bool has_entangled(const la_frame *f)
{
    for (int k = 0; k < f->nargs; k++)
        if (must_copy(f, k)) return true;
    return false;
}

/* The call with copies of such inputs. */
static __attribute__((noinline)) la_status run_apart(la_frame *f)
{
    swap done[LA_MAX_ARGS];
    la_status status = LA_OK;
    int n = 0;
    for (int k = 0; k < f->nargs && !status; k++) {
        la_tensor *copy = NULL;
        if (!must_copy(f, k)) continue;
        status = la_run(clone, &copy, f->args[k].tensor);
        if (status) break;
        done[n++] = (swap){&f->args[k], f->args[k]};
        f->args[k].tensor = copy;
    }
    if (!status) status = la_dispatch(f);
    undo(done, n);
    return status;
}

/* Lists (cat, stack) with lazy members are rare: copies of the whole list. */
static la_status resolve_list(la_value *v, la_tensor ***owned)
{
    size_t bytes = (size_t)v->tensors.n * sizeof(la_tensor *);
    la_tensor **list = la_mem_zalloc(bytes ? bytes : 1);
    if (!list) return LA_ENOMEM;
    *owned = list;
    for (int64_t i = 0; i < v->tensors.n; i++)
        if (v->tensors.list[i])
            LA_TRY(resolve_one(v->tensors.list[i], &list[i]));
    return LA_OK;
}

static void drop_list(la_tensor **list, int64_t n)
{
    if (!list) return;
    for (int64_t i = 0; i < n; i++) la_tensor_drop(&list[i]);
    la_mem_free(list, n ? (size_t)n * sizeof(*list) : 1);
}

/* Runs an in-place form with a lazy self: the values are computed into a new
** tensor and copied. */
static la_status run_functional(la_frame *f)
{
    la_frame g = *f;
    g.form = LA_FUNCTIONAL;
    memset(g.outs, 0, sizeof(g.outs));
    LA_TRY(la_dispatch(&g));
    memcpy(f->results, g.results, sizeof(g.results));
    f->nresults = g.nresults;
    la_status status = la_finish_outputs(f);
    if (status) la_drop_results(f);
    return status;
}

/* The frame has its own values again on every way out: they are the caller's,
** and the node that autograd makes above saves them as they were given. */
static la_status run_resolved(la_frame *f)
{
    if (outs_are_lazy(f)) return run_functional(f);
    swap done[LA_MAX_ARGS];
    la_tensor **lists[LA_MAX_ARGS] = {NULL};
    la_value lists_before[LA_MAX_ARGS];
    int n = 0;
    la_status status = LA_OK;
    for (int k = 0; k < f->nargs && !status; k++) {
        la_value *v = &f->args[k];
        if (v->tag == LA_VTENSORS) {
            lists_before[k] = *v;
            status = resolve_list(v, &lists[k]);
            if (lists[k]) v->tensors.list = lists[k];
        }
        if (v->tag != LA_VTENSOR || !(v->tensor->flags & LAZY)) continue;
        la_tensor *plain = NULL;
        status = resolve_one(v->tensor, &plain);
        if (status) break;
        done[n++] = (swap){v, *v};
        v->tensor = plain;
    }
    if (!status) status = la_dispatch(f);
    undo(done, n);
    for (int k = 0; k < f->nargs; k++)
        if (lists[k]) {
            drop_list(lists[k], lists_before[k].tensors.n);
            f->args[k] = lists_before[k];
        }
    return status;
}

/* ---- the entrance ---- */

la_status la_dispatch(la_frame *f)
{
    gate g = {0, 0, written_storage(f), 0, la_here.owner, 0};
    for (int k = 0; k < LA_MAX_RESULTS; k++) {  /* memset is slower here */
        f->results[k].tag = LA_VNONE;
        f->results[k].tensor = NULL;
    }
    la_frame_verify(f);
    LA_TRY(check_args(f, &g));
    if (f->form != LA_FUNCTIONAL) LA_TRY(check_outputs(f, &g));
    if (__builtin_expect(g.foreign, 0))
        return la_error(LA_EARG, "a tensor belongs to another runtime than the "
                        "call");
    if (__builtin_expect(la_trace_on, 0)) la_trace_frame(f);
    const la_context *c = la_ctx();
    la_token *k = c->token;
    la_status status = LA_OK;
    la_fuel_scope scope;
    bool limited = __builtin_expect(la_token_armed(k), 0);
    if (limited) status = la_fuel_begin(&scope, f, k);
    f->outer = la_running_call;
    la_running_call = f;
    if (!status) status = __builtin_expect(c->watched, 0)
        ? launch_watched(f, &g, c) : launch(f, &g);
    la_running_call = f->outer;
    if (limited) status = la_fuel_end(&scope, status);
    if (status == LA_OK && f->form != LA_FUNCTIONAL)
        status = la_finish_outputs(f);
    if (__builtin_expect(la_host_fault || la_is_stopping(), 0))
        status = la_region_status(status);
    if (status) la_drop_results(f);
    else la_frame_verify_results(f);
    if (__builtin_expect(la_trace_on, 0)) la_trace_results(f);
    return status;
}

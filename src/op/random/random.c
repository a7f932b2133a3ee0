/*
** Random tensors: creation (rand, randn, randint, randperm and their _like
** forms) and filling in place (uniform_, normal_, random_, bernoulli_,
** exponential_, cauchy_).
**
** The bits come from the counter-based generator Philox4x32-10 (Salmon et al.
** 2011) in kernel/random/random_loops.c; here are the rules on arguments and
** the drawing of counters. An element depends on seed, counter and its position
** only, never on threads or the CPU.
*/
#include "op/random/random.h"

#include <math.h>

#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "iter/items.h"
#include "op/create/create.h"
#include "op/move/copy.h"

#define LA_ROWS "op/def/random.def"
#include "base/runtime/interrupt.h"
#include "iter/iter.h"
#include "op/call.h"
#include "op/impls.h"
#include "tensor/shape.h"

enum { GROUPS_AT_ONCE = 256 };      /* between looks at the interrupt */

/* ---- the generator and the loop ---- */

/* The context's generator is the default. */
la_generator *la_random_generator(const la_frame *f, int k)
{
    const la_value *v = &f->args[k];
    if (v->tag == LA_VPOINTER && v->pointer) return v->pointer;
    return &la_ctx()->generator;
}

/* Counters are drawn in multiples of 16, so that every call begins a new group
** of the vector kernels. */
uint64_t la_random_draw(la_generator *g, uint64_t blocks)
{
    uint64_t first = (g->offset + 15) & ~(uint64_t)15;
    g->offset = first + blocks;
    return first;
}

typedef struct job {
    char *out;
    int64_t n;
    la_random_fill fill;
    const la_random_call *call;
} job;

/* A range of groups; the words of a group depend on its number alone. */
static void random_run_groups(int64_t begin, int64_t end, void *context)
{
    const job *j = context;
    j->fill(j->out, begin, end, j->n, j->call);
}

/* Fill 'n' elements at 'out' by 'fill', which takes 'words' words for each.
** 'call' needs its numbers only. LA_EINTR leaves the rest unwritten.
**
** One counter block is four words; a group is what the kernels fill at once. */
static la_status random_run(void *out, int64_t n, la_random_fill fill,
                            int words, la_generator *g, la_random_call *call)
{
    int64_t groups = (n + LA_RANDOM_GROUP - 1) / LA_RANDOM_GROUP;
    job j = {.out = out, .n = n, .fill = fill, .call = call};
    call->seed = g->seed;
    call->block = la_random_draw(g, (uint64_t)groups
                                    * (uint64_t)LA_RANDOM_BLOCKS(words));
    return la_iter_items(groups, LA_GRAIN / LA_RANDOM_GROUP, GROUPS_AT_ONCE,
                         random_run_groups, &j);
}

/* Complex tensors are filled as twice as many reals. */
static la_status into_contiguous(la_tensor *t, const la_random_fills *fills,
                                 int words, la_generator *g,
                                 la_random_call *call)
{
    la_dtype d = (la_dtype)t->dtype, real = la_dtype_to_real(d);
    int64_t n = t->numel * (la_is_complex(d) ? 2 : 1);
    int w = words ? words : real == LA_FLOAT64 ? 2 : 1;
    return random_run(la_data(t), n, (*fills)[real], w, g, call);
}

/* Fills a tensor of any layout; 'fills' are chosen by its dtype. words 0: one,
** or two for float64. Complex tensors are filled as pairs.
**
** Other layouts are filled through a contiguous tensor, so that the values
** don't depend on the layout. */
static la_status random_into(la_tensor *t, const la_random_fills *fills,
                             int words, la_generator *g, la_random_call *call)
{
    if (t->numel == 0 || t->device == LA_META) return LA_OK;
    if (la_is_contiguous(t)) return into_contiguous(t, fills, words, g, call);
    LA_LET(plain,
           la_tensor_empty(t->ndim, la_sizes(t), (la_dtype)t->dtype, &plain));
    LA_TRY(into_contiguous(plain, fills, words, g, call));
    return la_run_(copy_, t, plain);
}

/* Doubles in [0, 1), two words each. */
la_status la_random_doubles(int64_t n, double *out, la_generator *g)
{
    la_random_call call = {.b = 1};
    return random_run(out, n, LA_STUB(random)->uniform[LA_FLOAT64], 2, g,
                      &call);
}

/* The parameters of a distribution, which are then read by plain loops. */
la_status la_random_doubles_of(la_tensor *self, const la_shape *shape,
                               la_tensor **out)
{
    la_shape own = la_shape_of(self);
    const la_shape *s = shape ? shape : &own;
    LA_LET(doubles, la_tensor_empty(s->ndim, s->sizes, LA_FLOAT64, &doubles));
    LA_LET(wide, la_run(expand, &wide, self, la_v_ints(s->sizes, s->ndim)));
    LA_TRY(la_run_(copy_, doubles, wide));
    return la_tensor_same(doubles, out);
}

/* ---- what the distributions have in common ---- */

/* LA_EDTYPE with 'what' for integer dtypes, and for complex ones unless
** allowed. */
static la_status need_float(la_dtype d, const char *what, bool complex_too)
{
    if (la_is_float(d) || (complex_too && la_is_complex(d))) return LA_OK;
    return la_error(LA_EDTYPE, "%s numbers need a floating dtype, got %s",
                    what, la_dtype_name(d));
}

/* [from, to). */
static la_status random_uniform(la_tensor *t, double from, double to,
                                la_generator *g)
{
    la_random_call call = {.a = from, .b = to};
    return random_into(t, &LA_STUB(random)->uniform, 0, g, &call);
}

/* Complex values of variance std^2: half of it in each part. */
static la_status normal(la_tensor *t, double mean, double std, la_generator *g)
{
    la_random_call call = {.a = mean, .b = std};
    if (la_is_complex((la_dtype)t->dtype)) call.b *= 0.70710678118654752440;
    return random_into(t, &LA_STUB(random)->normal, 0, g, &call);
}

/* low..high, both included. Two words for each element when the range is below
** 2^32, four above, so that the bias of the multiplication is below 2^-32. */
static la_status random_integers(la_tensor *t, int64_t low, int64_t high,
                                 la_generator *g)
{
    const la_random_kernels *k = LA_STUB(random);
    la_random_call call = {.low = (uint64_t)low};
    call.range = (uint64_t)high - (uint64_t)low + 1;
    if (call.range == 0 || call.range > UINT32_MAX)
        return random_into(t, &k->wide, 4, g, &call);
    return random_into(t, &k->integer, 2, g, &call);
}

/* The integers that a dtype holds exactly. */
static void exact_limits(la_dtype d, int64_t *low, int64_t *high)
{
    int bits = (int)la_dtype_size(d) * 8;
    switch (d) {
    case LA_COMPLEX32: case LA_COMPLEX64: case LA_COMPLEX128:
        *low = *high = 0;         /* refused by check_range */
        return;
    case LA_BOOL: *low = 0; *high = 1; return;
    case LA_FLOAT16: bits = 12; break;
    case LA_BFLOAT16: bits = 9; break;
    case LA_FLOAT32: bits = 25; break;
    case LA_FLOAT64: bits = 54; break;
    default: break;
    }
    bool sign = la_dtype_kind(d) != 'u';
    *low = !sign ? 0 : bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    *high = bits == 64 ? INT64_MAX
          : ((int64_t)1 << (sign ? bits - 1 : bits)) - !la_is_float(d);
}

/* low <= high, and within the dtype unless it is floating point, which
** rounds. */
static la_status random_check_range(la_dtype d, int64_t low, int64_t high)
{
    int64_t least, most;
    if (la_is_complex(d))
        return la_error(LA_EDTYPE, "random integers can't be %s",
                        la_dtype_name(d));
    if (low > high)
        return la_error(LA_EARG, "low (%lld) must not be above high (%lld)",
                        (long long)low, (long long)high);
    exact_limits(d, &least, &most);
    if (la_is_float(d) || (low >= least && high <= most)) return LA_OK;
    return la_error(LA_EDTYPE, "%lld..%lld does not fit %s (%lld..%lld)",
                    (long long)low, (long long)high, la_dtype_name(d),
                    (long long)least, (long long)most);
}

/* ---- creation by size or like a tensor ---- */

/* The arguments after the sizes are those of all creations (create.h), and a
** generator. */
enum { OPTION_GENERATOR = LA_NOPTIONS };

/* The dtype of the result: that of the options, of out, or 'otherwise'. */
static la_status random_option_dtype(const la_frame *f, int first,
                                     la_dtype otherwise, la_dtype *out)
{
    return la_infer_dtype(f, &f->args[first + LA_OPT_DTYPE], otherwise, out);
}

/* Result 0 with the sizes of argument 'sizes'; options follow it. */
static la_status random_sized(la_frame *f, int sizes, la_dtype otherwise)
{
    const la_value *v = &f->args[sizes];
    if (v->ints.n > LA_MAX_DIMS)
        return la_error(LA_ESHAPE, "size overflow: at most %d dimensions",
                        LA_MAX_DIMS);
    return la_option_output(f, sizes + 1, (int)v->ints.n, v->ints.list,
                            otherwise, NULL);
}

/* Result 0 with shape, layout and names of argument 0. */
static la_status random_like(la_frame *f, int options)
{
    const la_tensor *x = la_arg(f, 0);
    LA_TRY(la_option_output(f, options, x->ndim, la_sizes(x),
                            (la_dtype)x->dtype, x));
    if (!la_has(f, options + LA_OPT_NAMES)) la_copy_names(la_result(f, 0), x);
    return LA_OK;
}

/* A result that is to need a gradient is filled as one that does not: 'begun'
** before, 'created' after. */
static la_tensor *begun(la_frame *f, int options)
{
    la_tensor *t = la_result(f, 0);
    if (la_arg_bool(f, options + LA_OPT_GRAD))
        t->flags &= ~(uint32_t)LA_F_REQUIRES_GRAD;
    return t;
}

/* requires_grad= of a new tensor, once it is filled. */
static la_status created(la_frame *f, int options, la_status status)
{
    if (!status && la_arg_bool(f, options + LA_OPT_GRAD))
        la_result(f, 0)->flags |= LA_F_REQUIRES_GRAD;
    return status;
}

/* Metas of floats, called 'what' in messages, and of integers low..high. */
static la_status sized_floats(la_frame *f, const char *what)
{
    la_dtype usual = la_ctx()->default_dtype, d;
    LA_TRY(random_option_dtype(f, 1, usual, &d));
    LA_TRY(need_float(d, what, true));
    return random_sized(f, 0, usual);
}

static la_status floats_like(la_frame *f, const char *what)
{
    LA_TRY(random_like(f, 1));
    return need_float((la_dtype)la_result(f, 0)->dtype, what, true);
}

static la_status sized_integers(la_frame *f, int sizes, int64_t low,
                                int64_t high)
{
    la_dtype d;
    LA_TRY(random_option_dtype(f, sizes + 1, LA_INT64, &d));
    LA_TRY(random_check_range(d, low, high));
    return random_sized(f, sizes, LA_INT64);
}

static la_status integers_like(la_frame *f, int options, int64_t low,
                               int64_t high)
{
    LA_TRY(random_like(f, options));
    return random_check_range((la_dtype)la_result(f, 0)->dtype, low, high);
}

/* Fills result 0; the options begin at argument 'options'. */
static la_status create_uniform(la_frame *f, int options)
{
    la_generator *g = la_random_generator(f, options + OPTION_GENERATOR);
    return created(f, options, random_uniform(begun(f, options), 0, 1, g));
}

static la_status create_normal(la_frame *f, int options)
{
    la_generator *g = la_random_generator(f, options + OPTION_GENERATOR);
    return created(f, options, normal(begun(f, options), 0, 1, g));
}

/* low..high into result 0. */
static la_status create_integers(la_frame *f, int options, int64_t low,
                                 int64_t high)
{
    la_generator *g = la_random_generator(f, options + OPTION_GENERATOR);
    return created(f, options,
                   random_integers(begun(f, options), low, high, g));
}

/* rand, rand_like: uniform in [0, 1). Complex: both parts. */
la_status la_meta_rand(la_frame *f) { return sized_floats(f, "uniform"); }
LA_FORWARD(la_impl_rand, create_uniform(f, 1))
la_status la_meta_rand_like(la_frame *f) { return floats_like(f, "uniform"); }
LA_FORWARD(la_impl_rand_like, create_uniform(f, 1))

/* randn, randn_like: normal with mean 0 and variance 1, of complex values too
** (half of it in each part). */
la_status la_meta_randn(la_frame *f) { return sized_floats(f, "normal"); }
LA_FORWARD(la_impl_randn, create_normal(f, 1))
la_status la_meta_randn_like(la_frame *f) { return floats_like(f, "normal"); }
LA_FORWARD(la_impl_randn_like, create_normal(f, 1))

/* randint(high, size), randint(low, high, size) and their _like forms: integers
** from low (1 by default) to high, both included. */
LA_FORWARD(la_meta_randint, sized_integers(f, 1, 1, la_arg_int(f, 0)))
LA_FORWARD(la_impl_randint, create_integers(f, 2, 1, la_arg_int(f, 0)))
LA_FORWARD(la_meta_randint_low,
           sized_integers(f, 2, la_arg_int(f, 0), la_arg_int(f, 1)))
LA_FORWARD(la_impl_randint_low,
           create_integers(f, 3, la_arg_int(f, 0), la_arg_int(f, 1)))
LA_FORWARD(la_meta_randint_like, integers_like(f, 2, 1, la_arg_int(f, 1)))
LA_FORWARD(la_impl_randint_like, create_integers(f, 2, 1, la_arg_int(f, 1)))
LA_FORWARD(la_meta_randint_like_low,
           integers_like(f, 3, la_arg_int(f, 1), la_arg_int(f, 2)))
LA_FORWARD(la_impl_randint_like_low,
           create_integers(f, 3, la_arg_int(f, 1), la_arg_int(f, 2)))

/* ---- a random order ---- */

/* randperm(n, options): 1..n in random order; n must be exact in the dtype. */
la_status la_meta_randperm(la_frame *f)
{
    int64_t n = la_arg_int(f, 0), least, most;
    la_dtype d;
    LA_TRY(random_option_dtype(f, 1, LA_INT64, &d));
    if (n < 0) return la_error_at(LA_EARG, 1, "n must not be negative, got "
                                  "%lld", (long long)n);
    if (la_is_complex(d) || d == LA_BOOL)
        return la_error(LA_EDTYPE, "positions can't be %s", la_dtype_name(d));
    exact_limits(d, &least, &most);
    /* Converted values would repeat. */
    if (n > most)
        return la_error(LA_EDTYPE, "n is too large for %s, which holds "
                        "integers up to %lld", la_dtype_name(d),
                        (long long)most);
    return la_option_output(f, 1, 1, &n, LA_INT64, NULL);
}

/* Fisher-Yates shuffle from the front: element i is exchanged with one of those
** not yet fixed. Words are drawn in portions; word k decides step k, whatever
** the portions. */
enum { PORTION = 4096 };
static la_status permute_by(uint64_t *words, int64_t *p, int64_t n,
                            la_generator *g)
{
    LA_EACH_POLLED(i, 0, n) p[i] = i + 1;
    int64_t left = la_poll_every(n);
    la_random_call call = {.low = 0, .range = 0};
    for (int64_t i = 0; i < n - 1; i++) {
        int64_t k = i % PORTION;
        if (k == 0 && la_poll_run(&left, PORTION)) return la_poll();
        if (k == 0)
            LA_TRY(random_run(words, n - i < PORTION ? n - i : PORTION,
                              LA_STUB(random)->wide[LA_UINT64], 4, g,
                              &call));
        /* Multiply-high maps a 64-bit word to 0..n-i-1 without a division
        ** (Lemire 2019). */
        unsigned __int128 wide = (unsigned __int128)words[k];
        int64_t j = i + (int64_t)(wide * (uint64_t)(n - i) >> 64), x = p[i];
        p[i] = p[j];
        p[j] = x;
    }
    return LA_OK;
}

static la_status random_permute(int64_t *p, int64_t n, la_generator *g)
{
    size_t bytes = (size_t)la_min(n, PORTION) * sizeof(uint64_t);
    uint64_t *words = la_mem_alloc(bytes);
    if (!words) return LA_ENOMEM;
    la_status status = permute_by(words, p, n, g);
    la_mem_free(words, bytes);
    return status;
}

/* Other dtypes are converted from int64. */
la_status la_impl_randperm(la_frame *f)
{
    la_tensor *out = begun(f, 1);
    int64_t n = out->numel;
    la_generator *g = la_random_generator(f, 1 + OPTION_GENERATOR);
    if (out->device == LA_META || n == 0) return created(f, 1, LA_OK);
    if (out->dtype == LA_INT64)
        return created(f, 1, random_permute((int64_t *)la_data(out), n, g));
    LA_LET(plain, la_tensor_empty(1, &n, LA_INT64, &plain));
    LA_TRY(random_permute((int64_t *)la_data(plain), n, g));
    return created(f, 1, la_run_(copy_, out, plain));
}

/* ---- filling self ---- */

/* Result 0 is self, unless several of its elements share memory. */
static la_status self_result(la_frame *f)
{
    la_tensor *x = la_arg(f, 0);
    if (la_internal_overlap(x) == LA_OVERLAP_YES)
        return la_error(LA_EALIAS, "unsupported operation: more than one "
                        "element of the written-to tensor refers to a single "
                        "memory location. Please clone() the tensor before "
                        "performing the operation.");
    return LA_GIVE(f, la_tensor_retain(x));
}

/* uniform_(self, from, to): [from, to) */
la_status la_meta_uniform_(la_frame *f)
{
    double from = la_arg_float(f, 1), to = la_arg_float(f, 2);
    LA_TRY(need_float((la_dtype)la_arg(f, 0)->dtype, "uniform", true));
    if (!(from <= to))
        return la_error(LA_EARG, "uniform_ expects to return a [from, to) "
                        "range, but found from=%g > to=%g", from, to);
    return self_result(f);
}

/* The metas have checked; self is result 0. */
la_status la_impl_uniform_(la_frame *f)
{
    return random_uniform(la_result(f, 0), la_arg_float(f, 1),
                          la_arg_float(f, 2), la_random_generator(f, 3));
}

/* normal_(self, mean, std) */
la_status la_meta_normal_(la_frame *f)
{
    LA_TRY(need_float((la_dtype)la_arg(f, 0)->dtype, "normal", true));
    if (!(la_arg_float(f, 2) >= 0))
        return la_error(LA_EARG, "normal expects std >= 0.0, but found std %g",
                        la_arg_float(f, 2));
    return self_result(f);
}

la_status la_impl_normal_(la_frame *f)
{
    return normal(la_result(f, 0), la_arg_float(f, 1), la_arg_float(f, 2),
                  la_random_generator(f, 3));
}

/* random_(from, to), random_(to) from 1, random_(): 0 to all that the dtype
** holds. */
static void random_limits(const la_frame *f, int64_t *low, int64_t *high)
{
    exact_limits((la_dtype)la_arg(f, 0)->dtype, low, high);
    *low = 0;
    if (!la_has(f, 1)) return;
    *low = la_has(f, 2) ? la_arg_int(f, 1) : 1;
    *high = la_arg_int(f, la_has(f, 2) ? 2 : 1);
}

/* random_(self, from, to): integers, both ends included. */
la_status la_meta_random_(la_frame *f)
{
    int64_t low, high;
    random_limits(f, &low, &high);
    LA_TRY(random_check_range((la_dtype)la_arg(f, 0)->dtype, low, high));
    return self_result(f);
}

/* The limits are computed again from the arguments. */
la_status la_impl_random_(la_frame *f)
{
    int64_t low, high;
    random_limits(f, &low, &high);
    return random_integers(la_result(f, 0), low, high,
                           la_random_generator(f, 3));
}

/* bernoulli_(self, p): 1 with probability p, to the nearest multiple of
** 2^-32. */
la_status la_meta_bernoulli_(la_frame *f)
{
    double p = la_arg_float(f, 1);
    if (la_is_complex((la_dtype)la_arg(f, 0)->dtype))
        return la_error(LA_EDTYPE, "bernoulli numbers can't be complex");
    if (!(p >= 0 && p <= 1))
        return la_error(LA_EARG, "bernoulli_ expects p to be in [0, 1], but "
                        "got p=%g", p);
    return self_result(f);
}

la_status la_impl_bernoulli_(la_frame *f)
{
    /* A 32-bit word below the threshold is a 1. */
    la_random_call call = {.threshold =
        (uint64_t)(la_arg_float(f, 1) * 0x1p32 + 0.5)};
    return random_into(la_result(f, 0), &LA_STUB(random)->bernoulli, 1,
                       la_random_generator(f, 2), &call);
}

/* exponential_(self, lambda): density lambda exp(-lambda x). */
la_status la_meta_exponential_(la_frame *f)
{
    LA_TRY(need_float((la_dtype)la_arg(f, 0)->dtype, "exponential", false));
    if (!(la_arg_float(f, 1) > 0))
        return la_error(LA_EARG, "exponential_ expects lambda > 0.0, but found "
                        "lambda=%g", la_arg_float(f, 1));
    return self_result(f);
}

la_status la_impl_exponential_(la_frame *f)
{
    la_random_call call = {.a = la_arg_float(f, 1)};
    return random_into(la_result(f, 0), &LA_STUB(random)->exponential, 0,
                       la_random_generator(f, 2), &call);
}

/* cauchy_(self, median, sigma) */
la_status la_meta_cauchy_(la_frame *f)
{
    LA_TRY(need_float((la_dtype)la_arg(f, 0)->dtype, "Cauchy", false));
    if (!(la_arg_float(f, 2) > 0))
        return la_error(LA_EARG, "cauchy_ expects sigma > 0.0, but found "
                        "sigma=%g", la_arg_float(f, 2));
    return self_result(f);
}

la_status la_impl_cauchy_(la_frame *f)
{
    la_random_call call = {.a = la_arg_float(f, 1), .b = la_arg_float(f, 2)};
    return random_into(la_result(f, 0), &LA_STUB(random)->cauchy, 0,
                       la_random_generator(f, 3), &call);
}

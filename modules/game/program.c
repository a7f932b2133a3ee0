/* Programs over rows: writing, gradients, registers. See program.h. */
#include "modules/game/program.h"

#include "base/runtime/memory.h"

/* ---- growing lists ---- */

#define MOST ((int32_t)1 << 20)   /* instructions of a program */
#define SMALL 1024            /* bytes of a list at first, quickly allocated */

/* Capacity for one more element of 'item' bytes behind *n of them. */
static bool program_grow(la_recipe *b, void **list, int32_t n,
                         int32_t *capacity, size_t item)
{
    if (b->status) return false;
    if (n < *capacity) return true;
    int32_t more = *capacity ? *capacity * 2 : (int32_t)(SMALL / item);
    void *wider = more <= MOST ? la_mem_alloc((size_t)more * item) : NULL;
    if (!wider) {
        b->status = more <= MOST ? LA_ENOMEM
            : la_error(LA_ENOMEM, "the program is too long");
        return false;
    }
    if (n > 0) memcpy(wider, *list, (size_t)n * item);
    if (*list) la_mem_free(*list, (size_t)*capacity * item);
    *list = wider;
    *capacity = more;
    return true;
}

la_status la_recipe_start(la_recipe *b, bool is_double, int ninputs,
                           const int64_t *comps)
{
    *b = (la_recipe){.is_double = is_double, .ninputs = ninputs};
    for (int k = 0; k < ninputs; k++) {
        b->comps[k] = comps[k];
        if (!la_add_ok(b->nins, comps[k], &b->nins) || b->nins > MOST)
            return la_error(LA_ESHAPE, "more components than a program holds");
    }
    b->ins = la_mem_alloc((size_t)(b->nins + 1) * sizeof(*b->ins));
    if (!b->ins) return LA_ENOMEM;
    for (int64_t i = 0; i < b->nins; i++) b->ins[i] = LA_NO_VALUE;
    return LA_OK;
}

static void free_list(void *list, int64_t capacity, size_t item)
{
    if (list) la_mem_free(list, (size_t)capacity * item);
}

void la_recipe_free(la_recipe *b)
{
    free_list(b->list, b->capacity, sizeof(*b->list));
    free_list(b->consts, b->consts_capacity, sizeof(*b->consts));
    free_list(b->const_at, b->const_at_capacity, sizeof(*b->const_at));
    free_list(b->outs, b->outs_capacity, sizeof(*b->outs));
    free_list(b->ins, b->nins + 1, sizeof(*b->ins));
    *b = (la_recipe){.status = LA_OK};
}

/* ---- writing ---- */

int la_emit(la_recipe *b, la_row_op op, int x, int y, int z)
{
    if (!program_grow(b, (void **)&b->list, b->n, &b->capacity,
                      sizeof(*b->list)))
        return 0;
    b->list[b->n] = (la_insn){op, b->n, x, y, z};
    return b->n++;
}

/* Gives the same value each time, so that its gradient is one sum. */
int la_in(la_recipe *b, int input, int64_t comp)
{
    int64_t at = comp;
    for (int k = 0; k < input; k++) at += b->comps[k];
    if (b->ins[at] < 0)
        b->ins[at] = la_emit(b, LA_ROW_IN, input, (int)comp, 0);
    return b->ins[at];
}

/* The index of x in the pool, or -1 after a failure. */
static int32_t program_pool(la_recipe *b, double x)
{
    int32_t k = 0;
    while (k < b->nconsts && memcmp(&b->consts[k], &x, sizeof x) != 0) k++;
    if (k < b->nconsts) return k;
    if (!program_grow(b, (void **)&b->consts, k, &b->consts_capacity, sizeof x)
        || !program_grow(b, (void **)&b->const_at, k, &b->const_at_capacity,
                         sizeof(*b->const_at)))
        return -1;
    b->consts[k] = x;
    b->const_at[k] = LA_NO_VALUE;
    b->nconsts++;
    return k;
}

int la_const(la_recipe *b, double x)
{
    int32_t k = program_pool(b, x);
    if (k < 0) return 0;
    if (b->const_at[k] < 0)
        b->const_at[k] = la_emit(b, LA_ROW_CONST, k, 0, 0);
    return b->const_at[k];
}

int la_seed(la_recipe *b, uint32_t bits)
{
    int32_t k = program_pool(b, (double)bits);
    return k < 0 ? 0 : la_emit(b, LA_ROW_SEED, k, 0, 0);
}

void la_put(la_recipe *b, int value)
{
    if (!program_grow(b, (void **)&b->outs, b->nouts, &b->outs_capacity,
                      sizeof(*b->outs)))
        return;
    b->outs[b->nouts++] = value;
}

int la_negate(la_recipe *b, int x)
{
    return la_minus(b, la_const(b, 0), x);
}

int la_lesser(la_recipe *b, int x, int y)
{
    return la_choose(b, la_less(b, x, y), x, y);
}

int64_t la_number_param(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

double la_param_number(const la_recipe *b, int k)
{
    double x;
    memcpy(&x, &b->params[k], sizeof x);
    return x;
}

/* ---- gradients ---- */

static int sum(la_recipe *b, int x, int y)
{
    return x < 0 ? y : y < 0 ? x : la_plus(b, x, y);
}

/* g where the truth holds, else zero; of 'not', the other way. */
static int program_where(la_recipe *b, int truth, int g, bool not)
{
    int zero = la_const(b, 0);
    return not ? la_choose(b, truth, zero, g) : la_choose(b, truth, g, zero);
}

/* Slope of the square root y: nothing at zero, where it has no slope. */
static int root_slope(la_recipe *b, int y, int g)
{
    int zero = la_equals(b, y, la_const(b, 0)), one = la_const(b, 1);
    int slope = la_over(b, la_scale(b, g, 0.5), la_choose(b, zero, one, y));
    return program_where(b, zero, slope, true);
}

/* Gradients of both operands of atan2(y, x); nothing at the origin. */
static void atan2_slopes(la_recipe *b, const la_insn *k, int g, int *gy,
                         int *gx)
{
    int y = k->a, x = k->b;
    int square = la_plus(b, la_times(b, x, x), la_times(b, y, y));
    int zero = la_equals(b, square, la_const(b, 0));
    int part = la_over(b, g, la_choose(b, zero, la_const(b, 1), square));
    *gy = la_times(b, part, x);
    *gx = la_negate(b, la_times(b, part, y));
}

/* Terms that instruction k adds to the gradients of its operands a, b and c,
** from g, that of its own value. */
static void slopes(la_recipe *b, la_insn k, int g, int out[3])
{
    switch ((la_row_op)k.op) {
    case LA_ROW_ADD: out[0] = out[1] = g; break;
    case LA_ROW_SUB: out[0] = g; out[1] = la_negate(b, g); break;
    case LA_ROW_MUL:
        out[0] = la_times(b, g, k.b);
        out[1] = la_times(b, g, k.a);
        break;
    case LA_ROW_DIV:
        out[0] = la_over(b, g, k.b);
        out[1] = la_negate(b, la_times(b, out[0], la_over(b, k.a, k.b)));
        break;
    case LA_ROW_SQRT: out[0] = root_slope(b, k.d, g); break;
    case LA_ROW_SIN:
        out[0] = la_times(b, g, la_emit(b, LA_ROW_COS, k.a, 0, 0));
        break;
    case LA_ROW_COS:
        out[0] = la_negate(b, la_times(b, g, la_emit(b, LA_ROW_SIN, k.a, 0,
                                                     0)));
        break;
    case LA_ROW_ABS: {
        int minus = la_less(b, k.a, la_const(b, 0));
        out[0] = la_choose(b, minus, la_negate(b, g), g);
        break;
    }
    case LA_ROW_MAX: {
        int first = la_less(b, k.b, k.a);
        out[0] = program_where(b, first, g, false);
        out[1] = program_where(b, first, g, true);
        break;
    }
    case LA_ROW_ATAN2: atan2_slopes(b, &k, g, &out[0], &out[1]); break;
    case LA_ROW_SELECT:
        out[1] = program_where(b, k.a, g, false);
        out[2] = program_where(b, k.a, g, true);
        break;
    default: break;           /* no slope: constants, steps, truths, bits */
    }
}

/* Can a gradient go on from this operand? */
static bool has_slope(const la_recipe *b, int value)
{
    int32_t op = b->list[value].op;
    return op != LA_ROW_CONST && op != LA_ROW_FLOOR
        && op != LA_ROW_POWER;
}

static void program_sweep(la_recipe *b, int32_t *adjoint, int32_t end)
{
    for (int32_t i = end - 1; i >= 0 && !b->status; i--) {
        int g = adjoint[i], more[3] = {LA_NO_VALUE, LA_NO_VALUE, LA_NO_VALUE};
        la_insn k = b->list[i];
        if (g < 0 || k.op == LA_ROW_IN) continue;
        slopes(b, k, g, more);
        int32_t to[3] = {k.a, k.b, k.c};
        for (int j = 0; j < 3; j++)
            if (more[j] >= 0 && has_slope(b, to[j]))
                adjoint[to[j]] = sum(b, adjoint[to[j]], more[j]);
    }
}

void la_recipe_gradient(la_recipe *b, int nouts, const int *outs,
                         const int *gs, int n, const int *wanted, int *grads)
{
    int32_t end = b->n;
    size_t bytes = (size_t)(end + 1) * sizeof(int32_t);
    for (int k = 0; k < n; k++) grads[k] = LA_NO_VALUE;
    if (b->status) return;
    int32_t *adjoint = la_mem_alloc(bytes);
    if (!adjoint) {
        b->status = LA_ENOMEM;
        return;
    }
    for (int32_t i = 0; i < end; i++) adjoint[i] = LA_NO_VALUE;
    for (int k = 0; k < nouts; k++)
        if (gs[k] >= 0) adjoint[outs[k]] = sum(b, adjoint[outs[k]], gs[k]);
    program_sweep(b, adjoint, end);
    for (int k = 0; k < n; k++) grads[k] = adjoint[wanted[k]];
    la_mem_free(adjoint, bytes);
}

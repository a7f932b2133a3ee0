/*
** Comparisons and logic of two inputs, which go by value: a number that the
** other operand's integer dtype can't hold is below or above all elements.
**
** Integers are compared with a number as integers, never as floats that round
** them: x < 2.5 is x < 3. So the number is replaced by the integer that divides
** the integers alike, or the answer is the same for all elements.
*/
#include <math.h>

#include "op/families.h"
#include "op/op.h"
#include "op/scalar_range.h"
#include "tensor/promote.h"
#include "tensor/scalar.h"

LA_STUB_DECLARE(la_loops, always);
LA_STUB_DECLARE(la_loops, never);

/* The operation with the number as its second operand. */
typedef enum relation { EQ, NE, LT, LE, GT, GE, LOGIC } relation;

static relation relation_of(const la_op *op, bool is_mirrored)
{
    switch (op->role) {
    case LA_ROLE_eq: return EQ;
    case LA_ROLE_ne: return NE;
    case LA_ROLE_lt: return is_mirrored ? GT : LT;
    case LA_ROLE_le: return is_mirrored ? GE : LE;
    case LA_ROLE_gt: return is_mirrored ? LT : GT;
    case LA_ROLE_ge: return is_mirrored ? LE : GE;
    default: return LOGIC;
    }
}

/* AS_IT_IS: the operands promote as everywhere. INTEGER: as the integer 'i'. */
typedef enum outcome { AS_IT_IS, INTEGER, NEVER, ALWAYS } outcome;

static outcome answer(bool yes) { return yes ? ALWAYS : NEVER; }

/* A real number against integers (or bools) of 'dtype'. */
static outcome compare_real(relation r, la_scalar s, la_dtype dtype, int64_t *i)
{
    if (s.re != s.re) return answer(r == NE);
    if (s.kind == LA_KFLOAT) {
        bool is_whole = s.re == floor(s.re);
        if (!is_whole && (r == EQ || r == NE)) return answer(r == NE);
        s.re = r == LT || r == GE ? ceil(s.re) : floor(s.re);
    }
    int side = la_scalar_side(&s, dtype);
    if (side > 0) return answer(r == NE || r == LT || r == LE);
    if (side < 0) return answer(r == NE || r == GT || r == GE);
    if (s.kind != LA_KFLOAT) return AS_IT_IS;
    *i = s.re < 0x1p63 ? (int64_t)s.re : (int64_t)(uint64_t)s.re;
    return INTEGER;
}

/* Complex numbers have no order, and are equal to real ones without an
** imaginary part. */
static outcome judge(relation r, la_scalar s, la_dtype dtype, int64_t *i)
{
    if (r == LOGIC) {
        if (s.kind <= LA_KINT && la_scalar_side(&s, dtype) == 0)
            return AS_IT_IS;
        *i = s.kind <= LA_KINT ? s.i != 0 : s.re != 0 || s.im != 0;
        return INTEGER;
    }
    if (s.kind == LA_KCOMPLEX) {
        if (r != EQ && r != NE) return AS_IT_IS;
        if (s.im != 0) return answer(r == NE);
        s = la_scalar_float(s.re);
    }
    bool counts = s.kind == LA_KINT ? dtype != LA_BOOL : s.kind == LA_KFLOAT;
    return counts ? compare_real(r, s, dtype, i) : AS_IT_IS;
}

/* The operand that counts as a number against the whole numbers of the other: a
** number of Lua, and of integers a 0-dim tensor too, whose dtype takes no part
** in the promotion. Tensors without values at hand are none. */
static bool is_number(const la_tensor *t, const la_tensor *other)
{
    if (t->flags & LA_F_WRAPPED) return t->device == LA_CPU;
    return t->ndim == 0 && other->ndim > 0 && t->dtype != other->dtype
        && la_is_integral((la_dtype)t->dtype) && t->device == LA_CPU
        && la_is_integral((la_dtype)other->dtype);
}

/* Which operand is the number, and what comes of it. */
static outcome find_outcome(const la_frame *f, int *number, int64_t *i)
{
    for (int k = 1; k >= 0; k--) {
        const la_tensor *t = la_arg(f, k), *other = la_arg(f, 1 - k);
        la_dtype dtype = (la_dtype)other->dtype;
        if (!is_number(t, other) || la_is_inexact(dtype))
            continue;
        *number = k;
        la_scalar s = la_scalar_load((la_dtype)t->dtype, la_data(t));
        return judge(relation_of(f->op, k == 0), s, dtype, i);
    }
    return AS_IT_IS;
}

static la_status adapt_compare(la_frame *f, la_iter_config *c,
                               la_tensor **spare)
{
    int number;
    int64_t i;
    outcome o = find_outcome(f, &number, &i);
    if (o == INTEGER) {
        la_scalar s = la_scalar_int(i);
        LA_TRY(la_tensor_from_scalar(&s, spare));
        c->operands[number + 1] = *spare;
    } else if (o != AS_IT_IS) {
        c->ninputs = 1;
        c->operands[1] = la_arg(f, 1 - number);
    }
    return LA_OK;
}

/* Is the operand of the dtype, or a number that the dtype holds? */
static inline bool is_of(const la_tensor *t, la_dtype dtype)
{
    return t->dtype == dtype
        || (t->dtype == LA_INT64 && (t->flags & LA_F_WRAPPED)
            && la_integer_fits(*(const int64_t *)la_data(t), dtype));
}

/* Loops of one input give the answer that all elements share. Calls that skip
** the iterator have none. */
static la_status pick_compare(la_frame *f, la_dtype dtype, la_loop_plan *plan)
{
    int number;
    int64_t i;
    const la_tensor *a = la_arg(f, 0), *b = la_arg(f, 1);
    if (a->dtype == b->dtype || la_is_inexact(dtype)
        || (is_of(a, dtype) && is_of(b, dtype))) return LA_OK;
    outcome o = find_outcome(f, &number, &i);
    if (o == ALWAYS) plan->loop = (*LA_STUB(always))[dtype];
    if (o == NEVER) plan->loop = (*LA_STUB(never))[dtype];
    return LA_OK;
}

const la_family la_family_COMPARE = {
    .meta = la_pointwise_meta, .impl = la_pointwise_impl, LA_IT_COMPARISON_OP,
    LA_BOOL, .ninputs = 2, .fast = LA_FAST_ALL, .by_value = true,
    .pick = pick_compare, .adapt = adapt_compare};

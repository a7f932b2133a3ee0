/* Questions of composites to elements: look.h tells why. */
#include "op/look.h"

#include "base/runtime/context.h"

la_status (*la_record_look)(const la_op *op, const la_look_question *q,
                            la_tensor *t, int64_t answer);

void (*la_record_resizes)(void);

bool la_look_decides(la_look_kind kind)
{
    static const bool decides[] = {
#define LOOK(id, decides) decides,
#include "op/looks.def"
#undef LOOK
    };
    return decides[kind];
}

/* ---- the questions ---- */

static la_status look_zero(const la_look_question *q, const la_tensor *t)
{
    if (*(const int64_t *)la_data(t) == 0) return LA_OK;
    return la_error_at(LA_EARG, q->arg, "%s", q->a
                       ? "var has negative entries"
                       : "all elements of input should be between 0 and 1");
}

static la_status look_classes(const la_look_question *q, const la_tensor *t)
{
    const int64_t *x = (const int64_t *)la_data(t);
    for (int64_t i = 0; i < t->numel; i++)
        if (x[i] < q->a || x[i] > q->b)
            return q->kind == LA_LOOK_classes
                ? la_error_at(LA_EINDEX, q->arg, "class %lld (element %lld) is "
                              "out of range: classes go from 1 to %lld",
                              (long long)x[i], (long long)i + 1,
                              (long long)q->b)
                : la_error_at(LA_EINDEX, q->arg, "class label %lld is out of "
                              "range: labels start at 1 and go to %lld",
                              (long long)x[i], (long long)q->b);
    return LA_OK;
}

/* With a hint for labels that were meant to count from 0. */
static la_status look_bad_label(const la_look_question *q, int64_t label)
{
    if (label == 0)
        return la_error_at(LA_EINDEX, q->arg, "class label 0 is out of "
                           "range: labels start at 1 (and go to %lld)",
                           (long long)q->a);
    return la_error_at(LA_EINDEX, q->arg, "class label %lld is out of "
                       "range: there are %lld classes", (long long)label,
                       (long long)q->a);
}

static la_status look_ignored(const la_look_question *q, const la_tensor *t,
                              int64_t *answer)
{
    const int64_t *at = (const int64_t *)la_data(t);
    int64_t n = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        if (at[i] == q->b) n++;
        else if (at[i] < 1 || at[i] > q->a) return look_bad_label(q, at[i]);
    }
    *answer = q->kind == LA_LOOK_count ? n : n > 0;
    return LA_OK;
}

/* Composites that ask run with tensors of the meta device, too. */
static la_status check_elements(const la_tensor *t)
{
    if (t->storage && t->storage->device != LA_CPU)
        return la_error(LA_EKEY, "the call depends on elements of a tensor, "
                        "and one on the %s device has none here",
                        la_device_name((la_device)t->storage->device));
    return la_tensor_check_bounds(t);
}

la_status la_look_ask(const la_look_question *q, const la_tensor *t,
                      int64_t *answer)
{
    *answer = 0;
    LA_TRY(check_elements(t));
    switch (q->kind) {
    case LA_LOOK_truth:
        *answer = *(const uint8_t *)la_data(t) != 0;
        return LA_OK;
    case LA_LOOK_zero: return look_zero(q, t);
    case LA_LOOK_classes: case LA_LOOK_labels: return look_classes(q, t);
    default: return look_ignored(q, t, answer);
    }
}

/* ---- with a recording ---- */

la_status la_look(const la_op *op, const la_look_question *q, la_tensor *t,
                  int64_t *answer)
{
    LA_TRY(la_look_ask(q, t, answer));
    if (__builtin_expect(la_ctx()->recorder != NULL, 0))
        return la_record_look(op, q, t, *answer);
    return LA_OK;
}

la_status la_look_sizes(const la_tensor *t)
{
    if (__builtin_expect(la_ctx()->recorder != NULL, 0))
        LA_TRY(la_record_read(t));
    return check_elements(t);
}

la_status la_look_alone(const la_tensor *t)
{
    if (__builtin_expect(la_ctx()->recorder != NULL, 0)) la_record_peek(t);
    return check_elements(t);
}

/*
** Boxes that overlap a better one are left out: greedy, from the highest score
** down, as every detector ends. Boxes that were kept are compared with the next
** one, so the work is the number of boxes times that of those kept.
*/
#include "base/runtime/interrupt.h"
#include "tensor/tensor.h"

#define LA_ROWS "modules/vision/ops.def"
#include "op/call.h"
#include "op/impls.h"

/* ---- arguments ---- */

static la_status nms_check(const la_frame *f)
{
    const la_tensor *boxes = la_arg(f, 0), *scores = la_arg(f, 1);
    if (boxes->ndim != 2 || la_sizes(boxes)[1] != 4)
        return la_error_at(LA_ESHAPE, 1, "boxes of n x 4 expected (x1, y1, x2,"
                           " y2), got %d dims%s", boxes->ndim,
                           boxes->ndim == 2 ? " of other sizes" : "");
    if (scores->ndim != 1 || la_sizes(scores)[0] != la_sizes(boxes)[0])
        return la_error_at(LA_ESHAPE, 2, "a score for each of %lld boxes "
                           "expected", (long long)la_sizes(boxes)[0]);
    return LA_OK;
}

/* ---- boxes ---- */

/* The part of two boxes that they share, by the area of both together. */
static float nms_overlap(const float *a, const float *b)
{
    float left = a[0] > b[0] ? a[0] : b[0];
    float right = a[2] < b[2] ? a[2] : b[2];
    float top = a[1] > b[1] ? a[1] : b[1];
    float bottom = a[3] < b[3] ? a[3] : b[3];
    if (!(right > left) || !(bottom > top)) return 0;
    float shared = (right - left) * (bottom - top);
    float both = (a[2] - a[0]) * (a[3] - a[1])
        + (b[2] - b[0]) * (b[3] - b[1]) - shared;
    return both > 0 ? shared / both : 0;
}

/* Positions (from 1) in 'order' of the boxes that stay, to the front of it. */
static la_status nms_select(const float *boxes, int64_t *order, int64_t n,
                            double threshold, int64_t limit, int64_t *kept)
{
    int64_t count = 0;
    for (int64_t k = 0; k < n && count < limit; k++) {
        const float *box = boxes + 4 * (order[k] - 1);
        bool stays = true;
        if (k % 256 == 0) LA_TRY(la_poll());
        for (int64_t i = 0; i < count && stays; i++)
            stays = !(nms_overlap(boxes + 4 * (order[i] - 1), box) > threshold);
        if (stays) order[count++] = order[k];
    }
    *kept = count;
    return LA_OK;
}

/* (boxes, scores, iou_threshold, limit) */
la_status la_impl_vision_nms(la_frame *f)
{
    LA_OWNED x = NULL;
    int64_t n, kept = 0, limit = la_arg_int(f, 3);
    LA_TRY(nms_check(f));
    n = la_sizes(la_arg(f, 0))[0];
    if (limit < 0) limit = n;
    LA_TRY(la_run(to_dtype, &x, la_arg(f, 0), la_v_dtype(LA_FLOAT32)));
    LA_LET(boxes, la_run(contiguous, &boxes, x));
    LA_LET(order, la_run(argsort, &order, la_arg(f, 1), 0, true, true));
    LA_LET(own, la_run(clone, &own, order));
    LA_TRY(nms_select((const float *)la_data(boxes), (int64_t *)la_data(own), n,
                      la_arg_float(f, 2), limit, &kept));
    LA_LET(part, la_run(narrow, &part, own, 0, 0, kept));
    return la_run_result(f, clone, part);
}

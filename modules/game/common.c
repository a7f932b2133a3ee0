/* Functions that the operations of la.game share; see game.h. */
#include "modules/game/game.h"

#include "base/runtime/context.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/runtime/thread_pool.h"
#include "op/call.h"
#include "tensor/promote.h"
#include "tensor/shape.h"

/* Names the first argument that brought a dtype that nothing computes in. */
static la_status game_refuse(const la_frame *f, const int *args, int n,
                             la_dtype dtype)
{
    int k = 0;
    while (k < n - 1 && la_arg(f, args[k])->dtype != dtype) k++;
    la_dtype have = (la_dtype)la_arg(f, args[k])->dtype;
    return la_error_at(LA_EDTYPE, args[k] + 1, "float32 or float64 (or "
                       "integers) expected, got %s: %s", la_dtype_name(have),
                       la_is_complex(have) ? "take its real part"
                                           : "x:float() converts it");
}

la_status la_game_dtype(const la_frame *f, const int *args, int n,
                        la_dtype *dtype)
{
    la_result_type type = LA_RESULT_TYPE_INIT;
    for (int k = 0; k < n; k++) la_result_type_add(&type, la_arg(f, args[k]));
    LA_TRY(la_result_type_get(&type, dtype));
    if (!la_is_inexact(*dtype))
        *dtype = (la_dtype)la_ctx()->default_dtype;
    if (*dtype == LA_FLOAT32 || *dtype == LA_FLOAT64) return LA_OK;
    return game_refuse(f, args, n, *dtype);
}

la_status la_game_check_points(const la_frame *f, int k)
{
    char text[120];
    const la_tensor *t = la_arg(f, k);
    const int64_t *s = la_sizes(t);
    if (t->ndim == 2 && (s[1] == 2 || s[1] == 3)) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "points {N, 2} or {N, 3} expected, "
                       "got the shape %s",
                       la_sizes_text(t->ndim, s, text, sizeof text));
}

la_status la_game_points_of(const la_frame *f, int k, la_game_points *out)
{
    LA_LET(wide, la_run(astype, &wide, la_arg(f, k), la_v_dtype(LA_FLOAT64)));
    LA_LET(t, la_run(contiguous, &t, wide));
    *out = (la_game_points){.n = la_sizes(t)[0], .d = (int)la_sizes(t)[1]};
    size_t bytes = (size_t)t->numel * sizeof(double);
    out->x = la_mem_alloc(bytes ? bytes : 1);
    if (!out->x) return LA_ENOMEM;
    const double *from = (const double *)la_data(t);
    LA_EACH_POLLED(i, 0, t->numel) out->x[i] = from[i];
    return la_poll();
}

void la_game_points_free(la_game_points *p)
{
    size_t bytes = (size_t)(p->n * p->d) * sizeof(double);
    if (p->x) la_mem_free(p->x, bytes ? bytes : 1);
    p->x = NULL;
}

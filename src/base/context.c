/* The settings of a state, and the ones a thread has without a state. */
#include "base/context.h"

/* PyTorch's default seed, so that an unseeded run can be compared. */
#define DEFAULT_SEED UINT64_C(67280421310721)

_Thread_local la_context *la_current_context;
static _Thread_local la_context own;
static _Thread_local bool own_ready;

void la_context_init(la_context *c)
{
    *c = (la_context){
        .default_dtype = LA_FLOAT32,
        .generator = {.seed = DEFAULT_SEED},
        .print = {.precision = 4, .threshold = 1000, .edgeitems = 3,
                  .linewidth = 80, .sci_mode = -1}
    };
}

la_context *la_context_fallback(void)
{
    if (!own_ready) {
        la_context_init(&own);
        own_ready = true;
    }
    return &own;
}

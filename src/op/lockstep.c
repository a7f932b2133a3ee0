/* Operations that a state in lockstep runs, and their kernels. */
#include "op/lockstep.h"

#include "op/op.h"

const char *la_lockstep_way(const la_op *op)
{
    if (op->forms & LA_BY_C_LIBRARY) return "refused";
    if (op->forms & LA_SAME_BITS) return "native";
    return op->forms & LA_COMPOSITE ? "steps" : "baseline";
}

static __attribute__((noinline, cold)) la_status refuse(const la_op *op)
{
    return la_error(LA_ESUPPORT, "lockstep has no %.*s: it is computed by the "
                    "C library, whose bits differ from machine to machine. "
                    "Compute it outside of lockstep "
                    "(la.use_deterministic(true)) on one machine and send the "
                    "result", (int)la_op_name_length(op), op->signature);
}

la_status la_lockstep_begin(const la_op *op, unsigned *before)
{
    if (op->forms & LA_BY_C_LIBRARY) return refuse(op);
    *before = la_cap_mask;
    la_cap_mask = op->forms & LA_SAME_BITS ? ~0u : (unsigned)LA_CAP_default;
    return LA_OK;
}

la_status la_lockstep_check(void)
{
    if (la_cpu_has_cap(LA_CAP_default)) return LA_OK;
    return la_error(LA_ESUPPORT, "lockstep needs the kernels that every "
                    "machine has, and this build is without them: build with "
                    "'default' in CAPS");
}

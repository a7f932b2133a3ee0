/*
** Convolutions on plain geometry, below the operations: the three things that
** can be computed from the other two operands (see op/conv/method.h).
*/
#ifndef LA_OP_CONV_ENGINE_H
#define LA_OP_CONV_ENGINE_H

#include "op/conv/method.h"

/* Empty operands included. LA_ENOMEM before anything is written, LA_EINTR,
** LA_EDTYPE. */
la_status la_conv_run(const la_conv *c, la_conv_goal goal);

#endif

/* Names of dtypes in messages. A header of its own: kernels need none. */
#ifndef LA_BASE_DTYPE_TITLE_H
#define LA_BASE_DTYPE_TITLE_H

#include "base/dtype.h"

/* PyTorch's name: "Float", "Long", "ComplexFloat"; "Undefined" for none. */
const char *la_dtype_title(la_dtype d);

#endif

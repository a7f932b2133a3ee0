/* Names of dtypes in messages. */
#include "base/dtype_title.h"

const char *la_dtype_title(la_dtype d)
{
    static const char *const titles[LA_NDTYPES + 1] = {
#define DTYPE(ID, name, ctype, kind, tag, title) title,
#include "base/dtype.def"
#undef DTYPE
        "Undefined"
    };
    return titles[d <= LA_UNDEFINED ? d : LA_UNDEFINED];
}

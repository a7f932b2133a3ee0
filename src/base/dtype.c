/* The table of element types, and their names. */
#include "base/dtype.h"

#include <string.h>

const la_dtype_info la_dtype_table[LA_NDTYPES + 1] = {
#define DTYPE(ID, name, ctype, kind, tag, title) \
    {name, sizeof(ctype), kind},
#include "base/dtype.def"
#undef DTYPE
    {"undefined", 0, 'x'}
};

/* Every row begins with a separator; the first one is skipped below. */
static const char known[] =
#define DTYPE(ID, name, ctype, kind, tag, title) ", " name
#include "base/dtype.def"
#undef DTYPE
    ;
const char *const la_known_dtypes = known + 2;

static const struct { const char *name; la_dtype dtype; } aliases[] = {
    {"float", LA_FLOAT32}, {"double", LA_FLOAT64}, {"half", LA_FLOAT16},
    {"long", LA_INT64}, {"int", LA_INT32}, {"short", LA_INT16},
    {"char", LA_INT8}, {"byte", LA_UINT8}, {"chalf", LA_COMPLEX32},
    {"cfloat", LA_COMPLEX64}, {"cdouble", LA_COMPLEX128}
};

static bool dtype_same(const char *word, const char *name, size_t n)
{
    return strlen(word) == n && memcmp(word, name, n) == 0;
}

la_dtype la_dtype_parse(const char *name, size_t n)
{
    for (int d = 0; d < LA_NDTYPES; d++)
        if (dtype_same(la_dtype_table[d].name, name, n)) return (la_dtype)d;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (dtype_same(aliases[i].name, name, n)) return aliases[i].dtype;
    return LA_UNDEFINED;
}

la_dtype la_dtype_to_real(la_dtype d)
{
    switch (d) {
    case LA_COMPLEX32: return LA_FLOAT16;
    case LA_COMPLEX64: return LA_FLOAT32;
    case LA_COMPLEX128: return LA_FLOAT64;
    default: return d;
    }
}

la_dtype la_dtype_to_complex(la_dtype d)
{
    switch (d) {
    case LA_FLOAT16: return LA_COMPLEX32;
    case LA_BFLOAT16: case LA_FLOAT32: return LA_COMPLEX64;
    case LA_FLOAT64: return LA_COMPLEX128;
    default: return la_is_complex(d) ? d : LA_UNDEFINED;
    }
}

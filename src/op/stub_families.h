/* One line per element-wise family and column; see op/families.h. The
** settings are la_family_<X> in op/pointwise.c and op/pointwise_rules.c. */
#define ROW_UNARY(n) ROW_STUB(n, UNARY)
#define NEED_UNARY(n) NEED_STUB(n, UNARY)
#define FLAGS_UNARY 0
#define ROW_UNARY_FLOAT(n) ROW_STUB(n, UNARY_FLOAT)
#define NEED_UNARY_FLOAT(n) NEED_STUB(n, UNARY_FLOAT)
#define FLAGS_UNARY_FLOAT 0
#define ROW_UNARY_BOOL(n) ROW_STUB(n, UNARY_BOOL)
#define NEED_UNARY_BOOL(n) NEED_STUB(n, UNARY_BOOL)
#define FLAGS_UNARY_BOOL 0
#define ROW_BINARY(n) ROW_STUB(n, BINARY)
#define NEED_BINARY(n) NEED_STUB(n, BINARY)
#define FLAGS_BINARY 0
#define ROW_BINARY_FLOAT(n) ROW_STUB(n, BINARY_FLOAT)
#define NEED_BINARY_FLOAT(n) NEED_STUB(n, BINARY_FLOAT)
#define FLAGS_BINARY_FLOAT 0
#define ROW_COMPARE(n) ROW_STUB(n, COMPARE)
#define NEED_COMPARE(n) NEED_STUB(n, COMPARE)
#define FLAGS_COMPARE 0
#define ROW_TERNARY(n) ROW_STUB(n, TERNARY)
#define NEED_TERNARY(n) NEED_STUB(n, TERNARY)
#define FLAGS_TERNARY 0
#define ROW_ADD(n) ROW_STUB(n, ADD)
#define NEED_ADD(n) NEED_STUB(n, ADD)
#define FLAGS_ADD 0
#define ROW_SUB(n) ROW_STUB(n, SUB)
#define NEED_SUB(n) NEED_STUB(n, SUB)
#define FLAGS_SUB 0
#define ROW_NEG(n) ROW_STUB(n, NEG)
#define NEED_NEG(n) NEED_STUB(n, NEG)
#define FLAGS_NEG 0
#define ROW_ABS(n) ROW_STUB(n, ABS)
#define NEED_ABS(n) NEED_STUB(n, ABS)
#define FLAGS_ABS 0
#define ROW_ROUNDING(n) ROW_STUB(n, ROUNDING)
#define NEED_ROUNDING(n) NEED_STUB(n, ROUNDING)
#define FLAGS_ROUNDING 0
#define ROW_ROUND(n) ROW_STUB(n, ROUND)
#define NEED_ROUND(n) NEED_STUB(n, ROUND)
#define FLAGS_ROUND 0
#define ROW_CONJ(n) ROW_STUB(n, CONJ)
#define NEED_CONJ(n) NEED_STUB(n, CONJ)
#define FLAGS_CONJ 0
#define ROW_RELU(n) ROW_STUB(n, RELU)
#define NEED_RELU(n) NEED_STUB(n, RELU)
#define FLAGS_RELU 0
#define ROW_CLASSIFY(n) ROW_STUB(n, CLASSIFY)
#define NEED_CLASSIFY(n) NEED_STUB(n, CLASSIFY)
#define FLAGS_CLASSIFY 0
#define ROW_NAN_TO_NUM(n) ROW_STUB(n, NAN_TO_NUM)
#define NEED_NAN_TO_NUM(n) NEED_STUB(n, NAN_TO_NUM)
#define FLAGS_NAN_TO_NUM 0
#define ROW_DIV(n) ROW_STUB(n, DIV)
#define NEED_DIV(n) NEED_STUB(n, DIV)
#define FLAGS_DIV 0
#define ROW_INT_DIVIDE(n) ROW_STUB(n, INT_DIVIDE)
#define NEED_INT_DIVIDE(n) NEED_STUB(n, INT_DIVIDE)
#define FLAGS_INT_DIVIDE 0
#define ROW_POW(n) ROW_STUB(n, POW)
#define NEED_POW(n) NEED_STUB(n, POW)
#define FLAGS_POW 0
#define ROW_CLAMP(n) ROW_STUB(n, CLAMP)
#define NEED_CLAMP(n) NEED_STUB(n, CLAMP)
#define FLAGS_CLAMP 0
#define ROW_WHERE(n) ROW_STUB(n, WHERE)
#define NEED_WHERE(n) NEED_STUB(n, WHERE)
#define FLAGS_WHERE 0
#define ROW_LERP(n) ROW_STUB(n, LERP)
#define NEED_LERP(n) NEED_STUB(n, LERP)
#define FLAGS_LERP 0
#define ROW_ADDCMUL(n) ROW_STUB(n, ADDCMUL)
#define NEED_ADDCMUL(n) NEED_STUB(n, ADDCMUL)
#define FLAGS_ADDCMUL 0
#define ROW_ADDCDIV(n) ROW_STUB(n, ADDCDIV)
#define NEED_ADDCDIV(n) NEED_STUB(n, ADDCDIV)
#define FLAGS_ADDCDIV 0
#define ROW_ISCLOSE(n) ROW_STUB(n, ISCLOSE)
#define NEED_ISCLOSE(n) NEED_STUB(n, ISCLOSE)
#define FLAGS_ISCLOSE 0
#define ROW_HEAVISIDE(n) ROW_STUB(n, HEAVISIDE)
#define NEED_HEAVISIDE(n) NEED_STUB(n, HEAVISIDE)
#define FLAGS_HEAVISIDE 0
#define ROW_SQUARE(n) ROW_STUB(n, SQUARE)
#define NEED_SQUARE(n) NEED_STUB(n, SQUARE)
#define FLAGS_SQUARE 0

/* Rows that share another row's kernel. */
#define ROW_CLAMP_MIN(n) ROW_STUB(maximum, BINARY)
#define NEED_CLAMP_MIN(n) NEED_STUB(maximum, BINARY)
#define FLAGS_CLAMP_MIN 0
#define ROW_CLAMP_MAX(n) ROW_STUB(minimum, BINARY)
#define NEED_CLAMP_MAX(n) NEED_STUB(minimum, BINARY)
#define FLAGS_CLAMP_MAX 0
#define ROW_MASKED_FILL(n) ROW_STUB(where, MASKED_FILL)
#define NEED_MASKED_FILL(n) NEED_STUB(where, MASKED_FILL)
#define FLAGS_MASKED_FILL 0

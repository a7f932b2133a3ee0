/* One line per element-wise family and column; see op/families.h. The
** settings are la_family_<X> in op/pointwise.c. */
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

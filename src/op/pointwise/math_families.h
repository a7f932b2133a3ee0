/* Families of mathematical functions and activations, as stub_families.h; the
** settings are in op/pointwise/math.c. */
#define ROW_ANGLE(n) ROW_STUB(n, ANGLE)
#define NEED_ANGLE(n) NEED_STUB(n, ANGLE)
#define FLAGS_ANGLE 0
#define ROW_LOGIT(n) ROW_STUB(n, LOGIT)
#define NEED_LOGIT(n) NEED_STUB(n, LOGIT)
#define FLAGS_LOGIT 0
#define ROW_POLYGAMMA(n) ROW_STUB(n, POLYGAMMA)
#define NEED_POLYGAMMA(n) NEED_STUB(n, POLYGAMMA)
#define FLAGS_POLYGAMMA 0
#define ROW_MVLGAMMA(n) ROW_STUB(n, MVLGAMMA)
#define NEED_MVLGAMMA(n) NEED_STUB(n, MVLGAMMA)
#define FLAGS_MVLGAMMA 0
#define ROW_GELU(n) ROW_STUB(n, GELU)
#define NEED_GELU(n) NEED_STUB(n, GELU)
#define FLAGS_GELU 0
#define ROW_CELU(n) ROW_STUB(n, CELU)
#define NEED_CELU(n) NEED_STUB(n, CELU)
#define FLAGS_CELU 0
#define ROW_SOFTSHRINK(n) ROW_STUB(n, SOFTSHRINK)
#define NEED_SOFTSHRINK(n) NEED_STUB(n, SOFTSHRINK)
#define FLAGS_SOFTSHRINK 0

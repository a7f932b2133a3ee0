// lunarray.h in C++, first, alone, under every warning; compiled and not linked
// (spec/host/header_spec.lua).
#include <lunarray.h>

la_tensor *header_calls(struct lua_State *L, la_op *op, la_tensor *t);

la_tensor *header_calls(struct lua_State *L, la_op *op, la_tensor *t)
{
    const la_tensor *constant = t;
    const int64_t sizes[2] = {2, 3};
    const unsigned char small = 1;
    const unsigned short wide = 2;
    const size_t size = 3;
    la_release(la_call(L, "rand"));
    la_release(la_call(nullptr, "none", constant, small, wide, size, 4, 5L,
                       6LL, 7u, 8UL, 9ULL, 'c', true, "word", nullptr, 1.5f,
                       la_any_ints(sizes, 2)));
    la_release(la_op_call(L, op, LA_ARGS(), nullptr));
    return la_op_call(L, op, LA_ARGS(t, 1.5, "word"), nullptr);
}

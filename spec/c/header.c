/* lunarray.h as a host includes it: first, alone, under every warning. The
** specs compile this without linking (spec/host/header_spec.lua). */
#include <lunarray.h>

la_tensor *header_calls(struct lua_State *L, la_op *op, la_tensor *t);

la_tensor *header_calls(struct lua_State *L, la_op *op, la_tensor *t)
{
    const la_tensor *constant = t;
    int64_t sizes[2] = {2, 3};
    la_tensor *list[4] = {NULL};
    la_release(la_call(L, "rand"));
    la_release(la_call(NULL, "add", constant, (uint8_t)1));
    la_release(la_call(NULL, "none", (int8_t)1, (uint16_t)2, (int16_t)3,
                       (uint32_t)4, (int32_t)5, (uint64_t)6, (int64_t)7,
                       (size_t)8, 9ull, 'c', true, "word", NULL, 1.5f, 2.5,
                       la_any_ints(sizes, 2)));
    la_release(la_op_call(L, op, LA_ARGS(), NULL));
    la_release(la_op_call(L, op, LA_ARGS((float)1), list));
    la_release(la_op_call(L, op, LA_ARGS(la_call(L, "neg", t), (t)), NULL));
    return la_op_call(L, op, LA_ARGS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                                     14, 15, 16), NULL);
}

// lunarray.hpp as a host includes it; compiled with and without exceptions, not
// linked (spec/host/header_spec.lua).
#include <lunarray.hpp>

#include <iostream>

struct particle { float position[3], mass; };

la::tensor header_uses(lua_State *L);

la::tensor header_uses(lua_State *L)
{
    static particle all[4];
    la::tensor a = {1.f, 2.f, 3.f}, b = la::tensor::zeros<float>({3});
    la::tensor c = la::tensor::wrap(all[0].position, {3});
    la::op add("add");
    la::tensor d = -(a * 2 + 1) / b - 0.5;
    d += a;
    d *= 2;
    d = add(d, c, la::named("alpha", la_any_int(2)));
    d(la::range{1, 2}).set(a(la::range{2, 3}));
    la::tensor e = d(la::new_axis{}, la::rest{})(1, la::all{})(la::at{-1});
    for (float &x : a.as<float>()) x += e.item<float>();
    la::tensor mask = (a == b) != (1 < a);
    mask = a(mask);
    la::frame scope(L);
    la::token limits(L);
    limits.deadline(std::chrono::milliseconds(5));
    la::record record(all, 4, sizeof all[0], "pos:f32x3 mass:f32");
    record["pos"].set(la::call("rand", 4, 3));
    std::cout << record["mass"] << a.size(1) << a.dtype();
    a.requires_grad();
    la::call("sum", a).backward();
    la::push(L, a.grad());
    return la::check(L, -1);
}

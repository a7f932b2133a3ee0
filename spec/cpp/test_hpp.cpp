// lunarray.hpp at work; prints "ok". Built with and without exceptions
// (spec/header_spec.lua).
#include <lunarray.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>

static void check(bool good, int line)
{
    if (good) return;
    std::printf("line %d: %s\n", line, la_error_text());
    std::exit(1);
}
#define CHECK(condition) check(static_cast<bool>(condition), __LINE__)

static void values()
{
    la::tensor a = {1.f, 2.f, 3.f}, b = a, moved = std::move(b);
    CHECK(!b && moved.get() == a.get() && a.numel() == 3 && a.size(-1) == 3);
    CHECK(a.dtype() == "float32" && (a + 2.5).dtype() == "float32");
    CHECK((2 - a)(3).item<double>() == -1);
    CHECK((a * a)(la::range{2, 3}).as<float>()[1] == 9);
    a += 1;
    CHECK(moved(1).item<int>() == 2);
    CHECK((a == moved).dtype() == "bool" && (a < 3)(1).item<bool>());
    float mine[4] = {1, 2, 3, 4};
    la::tensor w = la::tensor::wrap(mine, {2, 2});
    w(la::at{1}).set(la::tensor(7.0));
    CHECK(mine[0] == 7 && mine[1] == 7 && mine[2] == 3);
    CHECK(w(la::all{}, 2).numel() == 2 && w(la::new_axis{}).ndim() == 3);
    la::op add("add");
    CHECK(add(a, a, la::named("alpha", la_any_int(2)))(1).item<float>() == 6);
    std::ostringstream out;
    out << a;
    CHECK(out.str().find('2') != std::string::npos);
    la::tensor x = {1.0, 2.0};
    x.requires_grad();
    CHECK(!x.grad());
    la::call("sum", x * x).backward();
    CHECK(x.grad()(2).item<double>() == 4);
}

static void failures()
{
    la::tensor a = {1.f, 2.f, 3.f}, b = {1.f, 2.f};
#ifdef LUNARRAY_NO_EXCEPTIONS
    CHECK(!(a + b) && la::last_error().code() == LA_ESHAPE);
#else
    int code = 0;
    try {
        a + b;
    } catch (const la::error &e) {
        code = e.code();
    }
    CHECK(code == LA_ESHAPE);
    try {
        a.as<double>();
    } catch (const la::error &e) {
        code = e.code();
    }
    CHECK(code == LA_EDTYPE);
#endif
}

int main()
{
    values();
    failures();
    std::puts("ok");
}

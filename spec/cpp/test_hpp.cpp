// lunarray.hpp at work, every class and function of it; prints "ok". Built with
// and without exceptions (spec/host/header_spec.lua).
#include <lunarray.hpp>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

extern "C" {
#include <lauxlib.h>
#include <lualib.h>
}

static void check(bool good, int line)
{
    if (good) return;
    std::printf("line %d: %s\n", line, la_error_text());
    std::exit(1);
}
#define CHECK(condition) check(static_cast<bool>(condition), __LINE__)

// The code with which 'f' fails.
template <class F> static int code_of(F f)
{
#ifdef LUNARRAY_NO_EXCEPTIONS
    CHECK(la::call("rand"));            // the record is of this failure
    f();
    return la::last_error().code();
#else
    try {
        f();
    } catch (const la::error &e) {
        CHECK(e.what()[0] != '\0' && e.code() == la::last_error().code());
        return e.code();
    }
    return 0;
#endif
}

static void types()
{
    static_assert(la::dtype_name<float>()[5] == '3', "float32");
    CHECK(std::string(la::dtype_name<const double>()) == "float64");
    CHECK(std::string(la::dtype_name<bool>()) == "bool");
    CHECK(std::string(la::dtype_name<int8_t>()) == "int8");
    CHECK(std::string(la::dtype_name<uint16_t>()) == "uint16");
    CHECK(std::string(la::dtype_name<int>()) == "int32");
    CHECK(std::string(la::dtype_name<long long>()) == "int64");
    CHECK(std::string(la::dtype_name<std::complex<double>>()) == "complex128");
    int list[3] = {1, 2, 3}, sum = 0;
    la::span<int> s(list, 3);
    for (int &v : s) sum += v++;
    CHECK(sum == 6 && s[0] == 2 && s.size() == 3 && s.data() == list);
    CHECK(std::string(la::error(LA_EIO, nullptr).what()).empty());
    la::error e(LA_EIO, "text");
    CHECK(e.code() == LA_EIO && std::string(e.what()) == "text");
}

static void owning()
{
    la::tensor none, a = {1.f, 2.f, 3.f}, b = a, moved = std::move(b);
    CHECK(!none && !b && moved.get() == a.get());
    CHECK(none.ndim() == 0 && none.numel() == 0 && none.dtype().empty());
    la_tensor *raw = la_tensor_data(a.get()) ? a.release() : nullptr;
    CHECK(!a);
    la::tensor back = la::tensor::adopt(raw);
    la::tensor other = la::tensor::share(raw);
    CHECK(back.get() == other.get());
    back = none;
    CHECK(!back && other(2).item<int>() == 2);
    other = moved;
    moved = std::move(other);
    CHECK(!other && moved.numel() == 3);
    const la::tensor scalar = 2.5;
    CHECK(scalar.ndim() == 0 && scalar.dtype() == "float32");
    CHECK(scalar.item<double>() == 2.5);
    la::tensor t = {true, false}, u = {std::complex<float>(1, 2)};
    CHECK(t.dtype() == "bool" && u.item<std::complex<float>>().imag() == 2);
    la::tensor z = la::tensor::zeros<int16_t>({2, 0, 3});
    CHECK(z.ndim() == 3 && z.size(1) == 2 && z.size(-1) == 3);
    CHECK(z.as<int16_t>().size() == 0 && z.dtype() == "int16");
}

static la::tensor given(const la::tensor &t) { return {t}; }
static la::tensor empty() { return {}; }

// Braces around a tensor are that tensor; lists are new ones.
static void braces()
{
    la::tensor a = {1.f, 2.f}, b{a}, c{std::move(b)}, sum{a + c};
    CHECK(c.get() == a.get() && !b && sum(2).item<int>() == 4);
    CHECK(given(a).get() == a.get() && !empty());
    std::vector<la::tensor> list{a, c};
    list.insert(list.begin(), la::tensor{9});
    CHECK(list[0].dtype() == "int32" && list[2].get() == a.get());
    a = {3.f, 4.f, 5.f};
    CHECK(a.numel() == 3 && c.numel() == 2);
    a = 5;
    CHECK(a.ndim() == 0 && a.item<int>() == 5);
    a = {};
    CHECK(!a);
    static_assert(std::is_assignable_v<la::tensor &, la::tensor>, "=");
    static_assert(!std::is_assignable_v<la::tensor, la::tensor>, "x(1) = y");
}

static void indexing()
{
    float mine[6] = {1, 2, 3, 4, 5, 6};
    la::tensor w = la::tensor::wrap(mine, {2, 3});
    w(la::at{1}).set(la::tensor(7.0));
    CHECK(mine[0] == 7 && mine[2] == 7 && mine[3] == 4);
    CHECK(w(2, -1).item<int>() == 6 && w(la::all{}, 2).numel() == 2);
    CHECK(w(la::new_axis{}).ndim() == 3 && w(la::rest{}, 1)(2).item<int>() == 4);
    la::tensor every = w(2, la::range{1, 3, 2});
    CHECK(every.numel() == 2 && every(2).item<int>() == 6);
    CHECK(w(2, la::range{-2, -1}).as<float>()[0] == 5);
    CHECK(w(la::range{1, -1}).numel() == 6);
    la::tensor mask = w > 6, list = {int64_t(2), int64_t(1)};
    CHECK(w(mask).numel() == 3 && w(list)(1, 1).item<int>() == 4);
    for (float &v : w(2).as<float>()) v = 0;
    CHECK(mine[4] == 0);
    const double fixed[2] = {1, 2};
    la::tensor constant = la::tensor::wrap(fixed, {2});
    CHECK(constant.dtype() == "float64" && constant(2).item<int>() == 2);
    CHECK(code_of([&] { constant += 1; }) == LA_ESTATE && fixed[0] == 1);
    enum { SECOND = 2 };
    CHECK(w(SECOND, std::size_t(1)).item<int>() == 0);
    la::tensor whole = la::tensor::zeros<int64_t>({2});
    whole(1).set(int64_t(9007199254740993));
    whole(2).set(16777217);
    CHECK(whole.as<int64_t>()[0] == 9007199254740993);
    CHECK(whole(2).item<int>() == 16777217);
}

static void arithmetic()
{
    la::tensor a = {1.f, 2.f, 3.f}, b = {4.f, 5.f, 6.f}, same = a;
    CHECK((a + b)(1).item<int>() == 5 && (a - b)(1).item<int>() == -3);
    CHECK((a * b)(3).item<int>() == 18 && (b / a)(2).item<double>() == 2.5);
    CHECK((-a)(1).item<int>() == -1 && (2 - a)(3).item<int>() == -1);
    CHECK((6 / a)(3).item<int>() == 2 && (a * 2.0).dtype() == "float32");
    a += 1;
    a -= b;
    a *= 2;
    a /= b / 2;
    CHECK(same(1).item<double>() == -2.0);
    CHECK((a == same).dtype() == "bool" && (a != same)(1).item<bool>() == false);
    CHECK((a < 0)(1).item<bool>() && (a <= b)(1).item<bool>());
    CHECK((b > 4)(2).item<bool>() && (4 >= b)(1).item<bool>());
    CHECK((1 == b)(1).item<bool>() == false);
    std::ostringstream out;
    out << b << la::tensor() << la::tensor::zeros<float>({0});
    CHECK(out.str() == "tensor([4., 5., 6.])tensor()tensor([])");
    la::op add("add");
    CHECK(add(b, b, la::named("alpha", la_any_int(2)))(1).item<int>() == 12);
    CHECK(la::call("sum", b).item<int>() == 15);
    CHECK(la::call("to", b, std::string("int8")).dtype() == "int8");
    CHECK(la::call("zeros", 2, 3, la::named("dtype", la_any_text("int32")))
              .dtype() == "int32");
    CHECK(la::call("rand").ndim() == 0);
    CHECK((b + 1.5L)(1).item<double>() == 5.5);
    CHECK(la::call("mul", b, 0.5L).dtype() == "float32");
}

static void gradients()
{
    la::tensor x = {1.0, 2.0};
    CHECK(!x.requires_grad().grad());
    la::call("sum", x * x).backward();
    CHECK(x.grad()(2).item<double>() == 4);
}

static void failures()
{
    la::tensor a = {1.f, 2.f, 3.f}, b = {1.f, 2.f}, none;
    CHECK(code_of([&] { a + b; }) == LA_ESHAPE);
    CHECK(code_of([&] { a.as<double>(); }) == LA_EDTYPE);
    CHECK(code_of([&] { a(la::range{1, 3, 2}).as<float>(); }) == LA_EARG);
    CHECK(code_of([&] { none.as<float>(); }) == LA_ESTATE);
    CHECK(code_of([&] { a(9); }) == LA_EINDEX);
    CHECK(code_of([&] { a.size(2); }) == LA_EINDEX);
    CHECK(code_of([&] { a.item<float>(); }) == LA_EARG);
    CHECK(code_of([&] { none(1); }) == LA_EARG);
    CHECK(code_of([&] { none + a; }) == LA_EARG);
    CHECK(code_of([&] { none.set(a); }) == LA_EARG);
    CHECK(code_of([&] { none.requires_grad(); }) == LA_EARG);
    CHECK(code_of([&] { none.backward(); }) == LA_EARG);
    CHECK(code_of([&] { a.backward(); }) == LA_EGRAD);
    CHECK(code_of([&] { a += b; }) == LA_ESHAPE && a(1).item<int>() == 1);
    CHECK(code_of([&] { la::call("no such thing", a); }) == LA_EARG);
    CHECK(code_of([&] { la::op missing("nothing"); }) == LA_EARG);
    CHECK(std::string(la_error_text()).rfind("op: ", 0) == 0);
    la::tensor c = {std::complex<float>(1, 2)};
    la::tensor lazy = la::call("conj", c);
    CHECK(code_of([&] { lazy.as<std::complex<float>>(); }) == LA_ESTATE);
    CHECK(lazy.item<std::complex<float>>().imag() == -2);
    CHECK(la::call("imag", lazy).item<float>() == -2);
    CHECK(code_of([&] { la::tensor::zeros<float>({-1}); }) == LA_ESHAPE);
    CHECK(code_of([&] { la::call("exp", a); }) == 0);
}

static long held;
static void *take(void *, std::size_t bytes, std::size_t alignment)
{
    held++;
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment
                                             * alignment);
}
static void give(void *, void *block, std::size_t)
{
    held--;
    std::free(block);
}

static void runtimes()
{
    la_config config = {};
    config.size = sizeof config;
    config.alloc = take;
    config.release = give;
    config.memory = 1 << 20;
    {
        la::runtime own(config);
        {
            la::use here(own);
            la::tensor a = {1.f, 2.f};
            CHECK(la_runtime_of(a.get()) == own.get() && held > 0);
            CHECK(code_of([&] { la::tensor::zeros<float>({1 << 20}); })
                  == LA_ENOMEM);
            la::tensor b = std::move(a);
        }
        la::tensor c = {1.f};
        CHECK(la_runtime_of(c.get()) != own.get());
    }
    CHECK(held == 0);
    config.size = 0;
    CHECK(code_of([&] { la::runtime wrong(config); }) == LA_EARG);
}

static int no_value(lua_State *L)
{
    la::tensor t = la::check(L, 1);
    la::push(L, t * 2);
    return 1;
}

static void scripts()
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    CHECK(code_of([&] { la::push(L, la::tensor(1.0)); }) == LA_ESTATE);
    CHECK(code_of([&] { la::frame early(L); }) == LA_ESTATE);
    la::openlibs(L);
    lua_register(L, "twice", no_value);
    la::push(L, la::tensor{1.f, 2.f});
    lua_setglobal(L, "t");
    CHECK(luaL_dostring(L, "assert(twice(t)[2]:item() == 4)") == 0);
    {
        la::frame scope(L);
        CHECK(luaL_dostring(L, "gone = t + 1") == 0);
    }
    CHECK(luaL_dostring(L, "return gone + 1") != 0);
    lua_settop(L, 0);
    la::token token(L), copy = token;
    copy = token;
    CHECK(token.code() == 0);
    token.deadline(std::chrono::hours(1));
    CHECK(luaL_dostring(L, "return t + 1") == 0);
    std::thread([&] { copy.cancel(); }).join();
    CHECK(luaL_dostring(L, "return t + 1") != 0);
    CHECK(token.code() == LA_ECANCEL && la_error_code() == LA_ECANCEL);
    lua_close(L);
    CHECK(copy.code() == LA_ECANCEL);
}

static void states()
{
    std::string said;
    la_limits limits = {};
    limits.size = sizeof limits;
    limits.fuel = 500;
    la::state trusted, mod(limits);
    for (la::state *s : {&trusted, &mod}) {
        CHECK(*s && s->get());
        said.clear();
        s->print([&](std::string_view line) { said += line; });
        CHECK(s->run("print('a', 1) n = 1", "mods/a.lua") && said == "a\t1");
        CHECK(s->try_run("error('no')", "mods/a.lua") == LA_ELUA);
        CHECK(std::string(la::last_error().what()).find("mods/a.lua:1: no")
              != std::string::npos);
        CHECK(code_of([&] { s->run("n ="); }) == LA_ELUA);
        CHECK(s->run("assert(n == 1)"));
    }
    la::token token = mod.token();
    CHECK(token.fuel_left() <= 500 && token.memory() > 0);
    CHECK(mod.try_run("while true do end") == LA_EFUEL);
    CHECK(mod.try_run("return lunarray.ones(2)") == LA_EFUEL);
    CHECK(token.code() == LA_EFUEL);
    token.clear();
    token.fuel(1000);
    CHECK(mod.run("x = 1") && token.fuel_left() <= 1000);
    CHECK(trusted.run("y = lunarray.ones(2)"));
    limits.size = 0;
    CHECK(code_of([&] { la::state bad(limits); }) == LA_EARG);
}

struct body { float pos[3]; float mass; };

static void memory()
{
    body list[2] = {{{1, 2, 3}, 4}, {{5, 6, 7}, 8}}, next[3] = {};
    la::record r(list, 2, sizeof(body), "pos:f32x3 mass:f32");
    la::tensor mass = r["mass"];
    r["pos"] += 1;
    CHECK(list[1].pos[2] == 8 && mass(2).item<int>() == 8 && r.get());
    r.rebind(next, 3);
    CHECK(r["mass"].numel() == 3);
    CHECK(code_of([&] { mass + 1; }) == LA_ESTATE);
    CHECK(code_of([&] { r["speed"]; }) != 0);
    CHECK(code_of([&] { la::record bad(list, 2, 8, "pos:f32x3"); }) == LA_EARG);
    la::tensor a = {1.f, 2.f}, b = {3.f};
    la::seed(nullptr, 3);
    const la_generator_state rng = la::get_generator(nullptr);
    la::set_generator(nullptr, rng);
    CHECK(la::get_generator(nullptr).seed == 3 && rng.offset == 0);
    la::snapshot s{a, b};
    CHECK(s && r && la::op("add"));
    a += 1;
    b *= 0;
    s.restore();
    CHECK(a(2).item<int>() == 2 && b.item<int>() == 3);
    a *= 5;
    s.restore();
    CHECK(a(1).item<int>() == 1);
    CHECK(code_of([&] { la::snapshot bad{la::tensor()}; }) == LA_EARG);
    la::state lua;
    la::snapshot all({a}, {&r}, {lua.get(), nullptr});
    next[2].mass = 3;
    a *= 2;
    la_generator_state before = la::get_generator(lua.get());
    CHECK(lua.run("lunarray.rand(3)"));
    all.restore();
    CHECK(next[2].mass == 0 && a(1).item<int>() == 1);
    CHECK(la::get_generator(lua.get()).offset == before.offset);
}

static void programs()
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    la::openlibs(L);
    CHECK(!luaL_dostring(L, "local la = require 'lunarray'; w = la.ones(3)\n"
        "f = la.compile(function(x) return x * w, x:sum() end)\n"
        "f(la.ones(3)) return f"));
    la::program p(L, -1), q = p.clone(), none;
    lua_close(L);
    la::tensor x = {1.f, 2.f, 3.f};
    auto out = q({x});
    CHECK(p && !none && out.size() == 2 && out[1].item<int>() == 6);
    p.weight("weight.1") *= 2;
    CHECK(q({x})[0](3).item<int>() == 6 && la_program_inputs(p.get()) == 1);
    CHECK(code_of([&] { p({}); }) == LA_EARG);
    CHECK(code_of([&] { p.weight("w"); }) == LA_EARG);
    CHECK(code_of([&] { la::program bad("none", 4); }) == LA_EIO);
    p = std::move(q);
}

int main()
{
    types();
    owning();
    braces();
    indexing();
    arithmetic();
    gradients();
    failures();
    runtimes();
    scripts();
    states();
    memory();
    programs();
    std::puts("ok");
}

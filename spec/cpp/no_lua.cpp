// lunarray.hpp in a host without Lua (spec/host/header_spec.lua): names of Lua's
// are the host's own.
#define LA_NO_LUA
struct lua_State;
#define lua_tonumber host_tonumber
#include <lunarray.hpp>

double no_lua_uses();

double no_lua_uses()
{
    la::tensor x = {1.f, 2.f, 3.f};
    x.requires_grad();
    la_set_grad_enabled(true);
    la::call("sum", x * x).backward();
    la::token limit(nullptr);
    limit.deadline(std::chrono::milliseconds(5));
    return x.grad()(la::at{1}).item<double>() + limit.code();
}

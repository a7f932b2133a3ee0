/*
** A game in C++ that plays over a network and does not wait for it: each frame
** runs with the input that it has, a snapshot of the world is kept, and when an
** input comes late the world goes back to that frame and the frames since are
** run again. The world is two tensors that a script moves; lunarray.hpp holds
** what the host owns.
**
**     make examples && build/examples/host_rollback
*/
#include <lunarray.hpp>

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

extern "C" {
#include <lauxlib.h>
#include <lualib.h>
}

static const char script[] = R"(
  local la = require "lunarray"
  function step(world, push, dt)
    local pos, vel = world.pos, world.vel
    local pull = -pos / (pos * pos):sum(2, true):sqrt():clamp{min = 0.1}
    vel:add_(pull * dt)
    vel[1]:add_(push * dt)              -- the other player's ship
    pos:add_(vel * dt)
  end)";

class game {
public:
    game() : L_(luaL_newstate())
    {
        luaL_openlibs(L_);
        la::openlibs(L_);
        if (luaL_dostring(L_, script)) fail();
        lua_newtable(L_);
        set("pos", pos_);
        set("vel", vel_);
        lua_setglobal(L_, "world");
    }
    game(const game &) = delete;
    game &operator=(const game &) = delete;
    ~game() { lua_close(L_); }

    /* Frame k with this push; what the script makes ends with the frame, and a
    ** script that hangs is stopped. */
    void step(const la::tensor &push)
    {
        la::frame scope(L_);
        la::token(L_).deadline(std::chrono::milliseconds(500));
        lua_getglobal(L_, "step");
        lua_getglobal(L_, "world");
        la::push(L_, push);
        lua_pushnumber(L_, 1.0 / 60);
        if (lua_pcall(L_, 3, 0, 0)) fail();
    }
    std::unique_ptr<la::snapshot> save() const
    {
        return std::unique_ptr<la::snapshot>(
            new la::snapshot{pos_, vel_});
    }
    uint64_t hash() const
    {
        uint64_t h = 0;
        if (la_hash(pos_.get(), &h)) throw la::last_error();
        return h;
    }
    const la::tensor &pos() const { return pos_; }

private:
    void set(const char *name, const la::tensor &t)
    {
        la::push(L_, t);
        lua_setfield(L_, -2, name);
    }
    [[noreturn]] void fail()
    {
        throw la::error(LA_ELUA, lua_tostring(L_, -1));
    }
    lua_State *L_;
    la::tensor pos_ = la::call("randn", 64, 2) * 5.0;
    la::tensor vel_ = la::tensor::zeros<float>({64, 2});
};

static const int frames = 120, late = 8;

/* What the other player does in a frame, and what is known of it then. */
static la::tensor input(int frame)
{
    return {static_cast<float>(frame % 7 - 3), frame % 40 < 20 ? 1.f : -1.f};
}

static uint64_t play(bool network)
{
    la::call("manual_seed", 1);         /* the same world each time */
    game g;
    std::vector<std::unique_ptr<la::snapshot>> past;
    int back = 0;
    for (int k = 0; k < frames; k++) {
        past.push_back(g.save());
        bool known = !network || k % late == 0;
        g.step(known ? input(k) : la::tensor{0.f, 0.f});
        if (!network || k % late != late - 1) continue;
        int first = k - late + 1;       /* the inputs of before are here now */
        past[static_cast<std::size_t>(first)]->restore();
        for (int j = first; j <= k; j++) g.step(input(j));
        back++;
    }
    std::printf("%s: ship at (%.3f, %.3f), %d times back\n",
                network ? "network" : "alone",
                g.pos()(1, 1).item<double>(), g.pos()(1, 2).item<double>(),
                back);
    return g.hash();
}

int main()
{
    try {
        bool same = play(false) == play(true);
        std::puts(same ? "the same world, bit by bit" : "worlds differ");
        return same ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

/*
** A small engine: its own job system and allocator, 20,000 particles in its own
** structs, three mods that nobody has read, a snapshot in every frame, a
** rollback now and then, mods that are read again while the game runs. It says
** at the end what the frames cost.
**
**     make examples && build/examples/host_engine 5000
**     build/examples/host_engine states      (what 64 sandboxes take)
*/
#include <lunarray.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

extern "C" {
#include <lauxlib.h>
}

namespace {

/* ---- what the engine has already: jobs and memory ---- */

/* One worker beside the thread that calls. Ranges are taken by whoever is free.
** As in engines whose tasks are handles: begin hands one out, or runs it at
** once where the worker is busy, and end works along and returns when all is
** done. */
class pool {
public:
    pool() : worker_([this] { serve(); }) {}
    ~pool()
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            ending_ = true;
        }
        wake_.notify_one();
        worker_.join();
    }
    static void *begin(void *host, int64_t n, int64_t grain, la_job fn,
                       void *context)
    {
        pool *self = static_cast<pool *>(host);
        if (self->share(n, grain, fn, context)) return self;
        fn(0, n, context);
        return nullptr;
    }
    static void end(void *, void *task)
    {
        static_cast<pool *>(task)->finish();
    }

private:
    bool share(int64_t n, int64_t grain, la_job fn, void *context)
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            if (taken_) return false;
            taken_ = true;
            fn_ = fn;
            context_ = context;
            n_ = n;
            grain_ = std::max(grain, n / 8);
            next_ = 0;
            busy_ = true;
        }
        wake_.notify_one();
        return true;
    }
    void finish()
    {
        take();
        std::unique_lock<std::mutex> hold(lock_);
        done_.wait(hold, [this] { return !busy_; });
        taken_ = false;
    }
    void take()
    {
        for (int64_t at; (at = next_.fetch_add(grain_)) < n_;)
            fn_(at, std::min(at + grain_, n_), context_);
    }
    void serve()
    {
        std::unique_lock<std::mutex> hold(lock_);
        for (;;) {
            wake_.wait(hold, [this] { return busy_ || ending_; });
            if (ending_) return;
            hold.unlock();
            take();
            hold.lock();
            busy_ = false;
            done_.notify_one();
        }
    }

    std::mutex lock_;
    std::condition_variable wake_, done_;
    la_job fn_ = nullptr;
    void *context_ = nullptr;
    int64_t n_ = 0, grain_ = 1;
    std::atomic<int64_t> next_{0};
    bool busy_ = false, taken_ = false, ending_ = false;
    std::thread worker_;        /* last: it uses all of the above */
};

struct memory {
    std::atomic<int64_t> blocks{0}, calls{0};

    static void *get(void *self, std::size_t bytes, std::size_t alignment)
    {
        auto *m = static_cast<memory *>(self);
        m->blocks++;
        m->calls++;
        std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
        return std::aligned_alloc(alignment, whole);
    }
    static void put(void *self, void *block, std::size_t)
    {
        static_cast<memory *>(self)->blocks--;
        std::free(block);
    }
};

/* ---- the world and its mods ---- */

struct particle {
    float pos[3], mass, vel[3];
    std::uint32_t kind;
};
static_assert(sizeof(particle) == 32, "as the layout below says");
const char layout[] = "pos:f32x3 mass:f32 vel:f32x3 kind:u32";

struct source {
    const char *name, *text;
};

const source sources[] = {
    {"gravity", R"(
        function frame(n, world)
          world.vel:add_(lunarray.tensor{0, 0, -9.8} * (1 / 60))
          world.pos:add_(world.vel, {alpha = 1 / 60})
          local under = world.pos[{{}, 3}]:lt(0):unsqueeze(2)
          world.vel:masked_fill_(under, 0)
        end)"},
    {"crowd", R"(
        local cost = lunarray.ones(48, 48)
        cost[{{10, 38}, 24}] = math.huge
        local steps, since
        function frame(n, world)
          local tenth = n // 10     -- a replay asks for older ones again
          if tenth ~= since then
            steps = lunarray.game.flow_field(cost, {1 + tenth % 48, 40})
            lunarray.keep(steps)
            since = tenth
          end
          local cell = world.pos[{{1, 256}, {1, 2}}]:clamp(0, 47):floor()
            :to "int64" + 1
          local push = steps[{cell[{{}, 1}], cell[{{}, 2}]}]:to "float32"
          world.vel[{{1, 256}, {1, 2}}]:add_(push, {alpha = 0.05})
        end)"},
    {"bomber", "function frame() while true do pcall(error) end end"}};

class mod {
public:
    mod(const source &s, la_runtime *rt) : source_(s)
    {
        limits_.size = sizeof limits_;
        limits_.memory = 32 << 20;
        limits_.runtime = rt;
        read();
    }
    /* The script in a new sandbox. */
    void read()
    {
        state_ = std::make_unique<la::state>(limits_);
        la_set_collector(state_->get(), LA_COLLECT_FRAME, 64 << 10);
        state_->run(source_.text, source_.name);
    }
    /* Its frame, with a budget. A mod that exceeds it, or fails, is off. */
    void step(int n, const la::record &world)
    {
        lua_State *L = state_->get();
        if (off_) return;
        la::token token = state_->token();
        token.fuel(5000);
        la::frame scope(L);
        lua_getglobal(L, "frame");
        lua_pushinteger(L, n);
        if (la_push_record(L, world.get())) throw la::last_error();
        if (lua_pcall(L, 2, 0, 0) == 0) return;
        std::printf("frame %d: %s is off: %s\n", n, source_.name,
                    la_error_of(L, -1));
        lua_settop(L, 0);
        off_ = true;
    }
    bool off() const { return off_; }

private:
    source source_;
    la_limits limits_ = {};
    std::unique_ptr<la::state> state_;
    bool off_ = false;
};

class world {
public:
    explicit world(la_runtime *rt)
        : particles_(20000),
          record_(particles_.data(), static_cast<int64_t>(particles_.size()),
                  sizeof(particle), layout)
    {
        for (std::size_t i = 0; i < particles_.size(); i++) {
            particle &p = particles_[i];
            for (int d = 0; d < 3; d++)
                p.pos[d] = static_cast<float>((i * 7919 + d * 104729) % 48);
            p.mass = 1;
        }
        for (const source &s : sources)
            mods_.push_back(std::make_unique<mod>(s, rt));
    }
    void step(int n)
    {
        std::size_t slot = static_cast<std::size_t>(n) % past_.size();
        past_[slot] = std::make_unique<la::snapshot>(
            std::initializer_list<la::tensor>{},
            std::initializer_list<const la::record *>{&record_});
        for (auto &m : mods_) m->step(n, record_);
    }
    /* Back to the beginning of frame n, and all frames since once more. */
    void replay(int n, int now)
    {
        std::size_t slot = static_cast<std::size_t>(n) % past_.size();
        past_[slot]->restore();
        for (; n <= now; n++)
            for (auto &m : mods_) m->step(n, record_);
    }
    void reload() { for (auto &m : mods_) if (!m->off()) m->read(); }
    std::uint64_t hash() const
    {
        std::uint64_t h = 0;
        if (la_hash(record_["pos"].get(), &h)) throw la::last_error();
        return h;
    }
    int running() const
    {
        return static_cast<int>(std::count_if(mods_.begin(), mods_.end(),
                                [](auto &m) { return !m->off(); }));
    }

private:
    std::vector<particle> particles_;
    la::record record_;
    std::vector<std::unique_ptr<mod>> mods_;
    std::array<std::unique_ptr<la::snapshot>, 4> past_;
};

/* Processor time of this thread, milliseconds. */
double now()
{
    std::timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e3 * static_cast<double>(t.tv_sec)
        + 1e-6 * static_cast<double>(t.tv_nsec);
}

int play(int frames, la_runtime *rt, const memory &m)
{
    world w(rt);
    std::vector<double> took;
    int64_t half = 0;
    int unequal = 0;
    for (int n = 1; n <= frames; n++) {
        if (n == frames / 2 + 1) half = m.calls;
        double begun = now();
        if (n % 1000 == 0) w.reload();
        w.step(n);
        if (n % 64 == 0) {          /* an input came late */
            std::uint64_t before = w.hash();
            w.replay(n - 3, n);
            unequal += w.hash() != before;
        }
        took.push_back(now() - begun);
    }
    std::sort(took.begin(), took.end());
    auto at = [&](double share) {
        return took[static_cast<std::size_t>(share * (frames - 1))];
    };
    std::printf("%d frames, %d of 3 mods run; milliseconds p50 %.3f, p99 %.3f, "
                "max %.3f\nallocations in a frame of the second half: %.3f; "
                "replays that differ: %d\n", frames, w.running(), at(0.5),
                at(0.99), took.back(),
                static_cast<double>(m.calls - half) / (frames - frames / 2),
                unequal);
    return unequal;
}

int open_states(la_runtime *rt)
{
    la_limits limits = {};
    std::vector<std::unique_ptr<la::state>> all;
    std::size_t bytes = 0;
    limits.size = sizeof limits;
    limits.runtime = rt;
    double begun = now();
    for (int k = 0; k < 64; k++)
        all.push_back(std::make_unique<la::state>(limits));
    double took = now() - begun;
    for (auto &s : all) bytes += s->token().memory();
    std::printf("64 sandboxes: %.1f ms, %.0f KB each\n", took,
                static_cast<double>(bytes) / 64 / 1024);
    return 0;
}

}

int main(int argc, char **argv)
{
    try {
        memory m;
        int result;
        {
            pool jobs;
            la_config c = {};
            c.size = sizeof c;
            c.alloc = memory::get;
            c.release = memory::put;
            c.alloc_context = &m;
            c.jobs.size = sizeof c.jobs;
            c.jobs.host = &jobs;
            c.jobs.workers = 2;
            c.jobs.enqueue = pool::begin;
            c.jobs.finish = pool::end;
            la::runtime rt(c);
            la::use here(rt);
            bool states = argc > 1 && !std::strcmp(argv[1], "states");
            int frames = argc > 1 ? std::atoi(argv[1]) : 200;
            result = states ? open_states(rt.get())
                            : play(std::max(frames, 2), rt.get(), m);
        }
        std::printf("blocks that are left: %lld\n",
                    static_cast<long long>(m.blocks));
        return result || m.blocks;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

/*
** lunarray.hpp: lunarray.h for C++17, header only.
**
** Failures throw la::error. With LUNARRAY_NO_EXCEPTIONS (of itself where the
** compiler has none) they give an empty tensor or nothing, and la::last_error()
** tells; an object that could not be made converts to false. Copies of a tensor
** share it; one that was moved from is empty. Dims and indices count from 1. Numbers stay
** numbers beside a tensor: float32 + 2.0 is float32. As in C, objects belong to
** one thread at a time; calls use the calling thread's own settings.
**
**     la::tensor a = {1.f, 2.f, 3.f};
**     la::tensor b = (a * 2 + 1)(la::range{2, 3});
**     for (float &x : b.as<float>()) x += 1;
*/
#ifndef LUNARRAY_HPP
#define LUNARRAY_HPP

#include "lunarray.h"

#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__GNUC__) && !defined(__cpp_exceptions) \
    && !defined(LUNARRAY_NO_EXCEPTIONS)
#define LUNARRAY_NO_EXCEPTIONS
#endif

namespace la {

class error : public std::runtime_error {
public:
    error(int code, const char *text)
        : std::runtime_error(text ? text : ""), code_(code) {}
    int code() const noexcept { return code_; }

private:
    int code_;
};

namespace detail {

/* The code of a failure of this header's own, which the library's record, where
** its text is, knows as LA_EARG. */
struct note {
    int code = 0;
    std::string text;
};
inline note &own_note()
{
    static thread_local note n;
    return n;
}

}

/* Of the last failure on this thread; code 0 when there is none. */
inline error last_error()
{
    const detail::note &own = detail::own_note();
    bool ours = la_error_code() == LA_EARG && own.text == la_error_text();
    return error(ours ? own.code : la_error_code(), la_error_text());
}

namespace detail {

inline void fail()
{
#ifndef LUNARRAY_NO_EXCEPTIONS
    throw last_error();
#endif
}

/* A failure that this header finds. */
inline void wrong(int code, const std::string &text)
{
    own_note().code = code;
    own_note().text = text;
    la_fail(text.c_str());
    fail();
}

inline bool ok(int status)
{
    if (status) fail();
    return status == 0;
}

template <class T> constexpr const char *integer_name()
{
    return sizeof(T) == 1 ? (std::is_signed_v<T> ? "int8" : "uint8")
        : sizeof(T) == 2 ? (std::is_signed_v<T> ? "int16" : "uint16")
        : sizeof(T) == 4 ? (std::is_signed_v<T> ? "int32" : "uint32")
        : (std::is_signed_v<T> ? "int64" : "uint64");
}

}

namespace detail {
template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<std::complex<T>> : std::true_type {};
/* What lists and memory consist of; a list of tensors is none, so that
** tensor b{a} is a. */
template <class T>
using element = std::enable_if_t<std::is_arithmetic_v<std::remove_cv_t<T>>
                                 || is_complex<std::remove_cv_t<T>>::value>;
}

/* "float32" for float, ... */
template <class T> constexpr const char *dtype_name()
{
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, bool>) return "bool";
    else if constexpr (std::is_same_v<U, float>) return "float32";
    else if constexpr (std::is_same_v<U, double>) return "float64";
    else if constexpr (std::is_same_v<U, std::complex<float>>)
        return "complex64";
    else if constexpr (std::is_same_v<U, std::complex<double>>)
        return "complex128";
    else {
        static_assert(std::is_integral_v<U>, "no dtype has this type");
        return detail::integer_name<U>();
    }
}

/* Memory that belongs to somebody else. */
template <class T> class span {
public:
    span(T *p, std::size_t n) : p_(p), n_(n) {}
    T *data() const { return p_; }
    std::size_t size() const { return n_; }
    T *begin() const { return p_; }
    T *end() const { return p_ + n_; }
    T &operator[](std::size_t i) const { return p_[i]; }

private:
    T *p_;
    std::size_t n_;
};

/* Indices of tensor::operator(): ends belong to a range, negative numbers count
** from the end. */
struct at { int64_t index; };
struct range { int64_t first, last, step = 1; };
struct all {};
struct rest {};
struct new_axis {};

class tensor;

namespace detail {

inline la_range index_of(at i) { return la_at(i.index); }
inline la_range index_of(range r) { return la_span(r.first, r.last, r.step); }
inline la_range index_of(all) { return la_whole(); }
inline la_range index_of(rest) { return la_rest(); }
inline la_range index_of(new_axis) { return la_new_axis(); }
/* What la_range and la_any borrow must outlive them, so nothing is converted to
** a tensor or a string here: that would end before the call. */
template <class T>
constexpr bool is_tensor = std::is_base_of_v<tensor, std::decay_t<T>>;
template <class I> inline la_range index_of(const I &i)
{
    if constexpr (is_tensor<I>) return la_by(i.get());
    else {
        static_assert(std::is_integral_v<I> || std::is_enum_v<I>,
                      "an index is an integer, at, range, all, rest, new_axis "
                      "or a tensor");
        return la_at(static_cast<int64_t>(i));
    }
}
template <class V> inline la_any any_of(const V &v)
{
    if constexpr (is_tensor<V>) return la_any_tensor(v.get());
    else if constexpr (std::is_base_of_v<std::string, V>)
        return la_any_text(v.c_str());
    else return la_arg(v);
}

template <class N>
using number = std::enable_if_t<std::is_arithmetic_v<N>, tensor>;

}

class tensor {
public:
    tensor() noexcept = default;
    tensor(double value)
    {
        float v = static_cast<float>(value);
        make(dtype_name<float>(), 0, nullptr, &v, sizeof v);
    }
    template <class T, class = detail::element<T>>
    tensor(std::initializer_list<T> values)
    {
        int64_t n = static_cast<int64_t>(values.size());
        make(dtype_name<T>(), 1, &n, values.begin(), values.size() * sizeof(T));
    }
    tensor(const tensor &o) noexcept : t_(la_retain(o.t_)) {}
    tensor(tensor &&o) noexcept : t_(o.release()) {}
    /* Not of a view that has no name, x(1) = y: set(y) writes. */
    tensor &operator=(tensor o) & noexcept
    {
        std::swap(t_, o.t_);
        return *this;
    }
    ~tensor() { la_release(t_); }

    /* Takes the reference over; takes one of its own. */
    static tensor adopt(la_tensor *t) noexcept
    {
        tensor r;
        r.t_ = t;
        return r;
    }
    static tensor share(la_tensor *t) noexcept { return adopt(la_retain(t)); }

    /* Memory of the caller's, which outlives the tensor; const is read-only.
    ** Zeros of its own. */
    template <class T>
    static tensor wrap(T *data, std::initializer_list<int64_t> sizes)
    {
        la_buffer b = {};
        b.size = sizeof b;
        b.data = const_cast<std::remove_cv_t<T> *>(data);
        b.dtype = dtype_name<T>();
        b.ndim = static_cast<int>(sizes.size());
        if constexpr (std::is_const_v<T>) b.flags = LA_READ_ONLY;
        b.sizes = sizes.begin();
        return made(la_wrap_ex(&b));
    }
    template <class T> static tensor zeros(std::initializer_list<int64_t> sizes)
    {
        return made(la_new(dtype_name<T>(), static_cast<int>(sizes.size()),
                           sizes.begin()));
    }
    /* The result of a function of lunarray.h: NULL is a failure. */
    static tensor made(la_tensor *t)
    {
        if (!t) detail::fail();
        return adopt(t);
    }

    la_tensor *get() const noexcept { return t_; }
    la_tensor *release() noexcept { return std::exchange(t_, nullptr); }
    explicit operator bool() const noexcept { return t_ != nullptr; }
    int ndim() const { return la_tensor_ndim(t_); }
    int64_t numel() const { return la_tensor_numel(t_); }
    int64_t size(int dim) const
    {
        int n = ndim(), k = dim < 0 ? n + dim : dim - 1;
        if (k >= 0 && k < n) return la_tensor_sizes(t_)[k];
        detail::wrong(LA_EINDEX, "size: no such dim");
        return 0;
    }
    std::string dtype() const
    {
        const char *name = la_tensor_dtype(t_);
        return name ? name : "";
    }

    /* The elements in memory: contiguous and of that dtype, else an error; so
    ** are those of a device and of x:conj(), which are no T in memory. */
    template <class T> span<T> as() const
    {
        if (t_ && dtype() != dtype_name<T>())
            detail::wrong(LA_EDTYPE, "as: the tensor has another dtype");
        else if (t_ && !la_tensor_contiguous(t_))
            detail::wrong(LA_EARG, "as: the tensor is not contiguous");
        else if (t_ && !la_tensor_plain(t_))
            detail::wrong(LA_ESTATE, "as: the tensor is on a device, or its "
                                     "lazy bits give it other values");
        else if (t_ && (la_tensor_data(t_) || !numel()))
            return span<T>(static_cast<T *>(la_tensor_data(t_)),
                           static_cast<std::size_t>(numel()));
        else detail::wrong(LA_ESTATE, "as: the tensor has no data");
        return span<T>(nullptr, 0);
    }
    /* The one element, converted. */
    template <class T> T item() const
    {
        T value = T();
        if (numel() != 1) {
            detail::wrong(LA_EARG, "item: a tensor of one element expected");
            return value;
        }
        tensor plain = made(la_call(nullptr, "detach", t_));
        auto then = [&plain](const char *op, auto... more) {
            if (plain) plain = made(la_call(nullptr, op, plain.get(), more...));
        };
        then("to", "cpu");
        then("to", dtype_name<T>());
        if (!la_tensor_plain(plain.get())) {
            then("resolve_conj");
            then("resolve_neg");
        }
        if (!plain) return value;
        const void *data = la_tensor_data(plain.get());
        if (data) std::memcpy(&value, data, sizeof value);
        else detail::wrong(LA_ESTATE, "item: the tensor has no data");
        return value;
    }
    template <class... I> tensor operator()(I... index) const
    {
        const la_range list[] = {detail::index_of(index)..., la_whole()};
        return made(la_index(nullptr, t_, static_cast<int>(sizeof...(I)), list));
    }
    /* The values of 'v', broadcast: x(la::at{1}).set(y) writes into x. */
    void set(const tensor &v) const
    {
        made(la_call(nullptr, "copy_", t_, v.get()));
    }
    /* A number by its own value, which float32 need not have. */
    template <class N> std::enable_if_t<std::is_arithmetic_v<N>> set(N v) const
    {
        made(la_call(nullptr, "fill_", t_, v));
    }
    tensor &requires_grad(bool on = true)
    {
        detail::ok(la_set_requires_grad(t_, on));
        return *this;
    }
    void backward() const { detail::ok(la_backward(nullptr, t_, nullptr)); }
    tensor grad() const                 /* empty when there is none */
    {
        la_tensor *g = la_grad_of(t_);
        if (!g && la_error_code()) detail::fail();
        return adopt(g);
    }

private:
    void make(const char *dtype, int ndim, const int64_t *sizes,
              const void *data, std::size_t bytes)
    {
        t_ = made(la_new(dtype, ndim, sizes)).release();
        if (t_ && bytes) std::memcpy(la_tensor_data(t_), data, bytes);
    }

    la_tensor *t_ = nullptr;
};

/* ---- operations ---- */

inline la_any named(const char *key, la_any value)
{
    return la_any_named(key, value);
}

/* Found once; an unknown name fails here. */
class op {
public:
    explicit op(const char *name) : op_(la_op_find(name))
    {
        if (!op_)
            detail::wrong(LA_EARG, std::string("op: there is no operation '")
                                       + (name ? name : "") + "'");
    }
    template <class... A> tensor operator()(A &&...args) const
    {
        const la_any list[] = {detail::any_of(args)..., la_any()};
        return tensor::made(la_op_call(nullptr, op_,
                                       static_cast<int>(sizeof...(A)), list,
                                       nullptr));
    }

    explicit operator bool() const noexcept { return op_ != nullptr; }

private:
    la_op *op_;
};

template <class... A> tensor call(const char *name, A &&...args)
{
    const la_any list[] = {detail::any_of(args)..., la_any()};
    return tensor::made(la_call_list(nullptr, name,
                                     static_cast<int>(sizeof...(A)), list,
                                     nullptr));
}

#define LUNARRAY_BINARY(sign, name) \
    inline tensor operator sign(const tensor &a, const tensor &b) \
    { return call(name, a, b); } \
    template <class N> detail::number<N> operator sign(const tensor &a, N b) \
    { return call(name, a, b); } \
    template <class N> detail::number<N> operator sign(N a, const tensor &b) \
    { return call(name, a, b); }
LUNARRAY_BINARY(+, "add")
LUNARRAY_BINARY(-, "sub")
LUNARRAY_BINARY(*, "mul")
LUNARRAY_BINARY(/, "div")
LUNARRAY_BINARY(==, "eq")
LUNARRAY_BINARY(!=, "ne")
LUNARRAY_BINARY(<, "lt")
LUNARRAY_BINARY(<=, "le")
LUNARRAY_BINARY(>, "gt")
LUNARRAY_BINARY(>=, "ge")
#undef LUNARRAY_BINARY
inline tensor operator-(const tensor &a) { return call("neg", a); }

/* In place, as a:add_(b): all that share the tensor see it. Views, too, and what
** has no name: x(1) += 2. */
#define LUNARRAY_ASSIGN(sign, name) \
    inline tensor &operator sign(tensor &a, const tensor &b) \
    { call(name, a, b); return a; } \
    inline tensor operator sign(tensor &&a, const tensor &b) \
    { call(name, a, b); return std::move(a); } \
    template <class N, class = detail::number<N>> \
    tensor &operator sign(tensor &a, N b) { call(name, a, b); return a; } \
    template <class N, class = detail::number<N>> \
    tensor operator sign(tensor &&a, N b) \
    { call(name, a, b); return std::move(a); }
LUNARRAY_ASSIGN(+=, "add_")
LUNARRAY_ASSIGN(-=, "sub_")
LUNARRAY_ASSIGN(*=, "mul_")
LUNARRAY_ASSIGN(/=, "div_")
#undef LUNARRAY_ASSIGN

inline std::ostream &operator<<(std::ostream &out, const tensor &t)
{
    int64_t n = t ? la_tensor_text(t.get(), nullptr, 0) : 0;
    if (!t) return out << "tensor()";
    if (n < 0) detail::fail();
    if (n <= 0) return out;
    std::vector<char> text(static_cast<std::size_t>(n) + 1);
    la_tensor_text(t.get(), text.data(), text.size());
    return out << text.data();
}

/* ---- runtimes, scopes, tokens ---- */

/* With its own allocator, threads, cap: see la_config. It ends with the object
** when no state and no tensor of it lives any more, else with the process. */
class runtime {
public:
    explicit runtime(const la_config &config) : r_(la_runtime_new(&config))
    {
        if (!r_) detail::fail();
    }
    runtime(const runtime &) = delete;
    runtime &operator=(const runtime &) = delete;
    ~runtime() { if (r_) la_runtime_destroy(r_); }
    la_runtime *get() const { return r_; }
    explicit operator bool() const noexcept { return r_ != nullptr; }

private:
    la_runtime *r_;
};

/* What this thread makes belongs to the runtime until the block ends. */
class use {
public:
    explicit use(runtime &r) : before_(la_use(r.get())) {}
    use(const use &) = delete;
    use &operator=(const use &) = delete;
    ~use() { la_use(before_); }

private:
    la_runtime *before_;
};

#ifndef LA_NO_LUA
/* Lua tensors made in the block are freed at its end. */
class frame {
public:
    explicit frame(lua_State *L) : L_(L)
    {
        if (!detail::ok(la_frame_begin(L))) L_ = nullptr;
    }
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;
    ~frame() { if (L_) la_frame_end(L_); }
    explicit operator bool() const noexcept { return L_ != nullptr; }

private:
    lua_State *L_;
};
#endif

class token {
public:
    explicit token(lua_State *L) : k_(la_token_of(L))
    {
        if (!k_) detail::fail();
    }
    token(const token &o) : k_(o.k_ ? la_token_retain(o.k_) : nullptr) {}
    token &operator=(token o)
    {
        std::swap(k_, o.k_);
        return *this;
    }
    ~token() { if (k_) la_token_release(k_); }
    void cancel() { if (k_) la_cancel(k_); }
    void deadline(std::chrono::nanoseconds t)
    {
        if (k_) la_set_deadline(k_, static_cast<int64_t>(t.count()));
    }
    /* Units of work from now on; INT64_MAX: no limit. */
    void fuel(std::int64_t units) { if (k_) la_set_fuel(k_, units); }
    std::int64_t fuel_left() const { return k_ ? la_fuel_left(k_) : INT64_MAX; }
    /* Bytes charged to the state now. */
    std::size_t memory() const { return k_ ? la_token_memory(k_) : 0; }
    /* Ends cancel, deadline and fuel, which else stay. */
    void clear() { if (k_) la_token_clear(k_); }
    int code() const { return k_ ? la_token_code(k_) : 0; }
    explicit operator bool() const noexcept { return k_ != nullptr; }

private:
    la_token *k_;
};

/* ---- structs of the host, snapshots, Lua ---- */

class record {
public:
    record(void *data, int64_t count, std::size_t bytes, const char *layout)
        : r_(la_wrap_struct(data, count, bytes, layout, 0, nullptr, nullptr))
    {
        if (!r_) detail::fail();
    }
    record(const record &) = delete;
    record &operator=(const record &) = delete;
    ~record() { la_record_release(r_); }
    tensor operator[](const char *field) const
    {
        return tensor::made(la_record_field(r_, field));
    }
    void rebind(void *data, int64_t count)
    {
        detail::ok(la_record_rebind(r_, data, count));
    }
    la_record *get() const { return r_; }
    explicit operator bool() const noexcept { return r_ != nullptr; }

private:
    la_record *r_;
};

/* The generator of a Lua state (NULL: of the thread), kept and restored. */
inline la_generator_state get_generator(lua_State *L)
{
    la_generator_state s = {};
    detail::ok(la_get_generator(L, &s));
    return s;
}
inline void set_generator(lua_State *L, const la_generator_state &s)
{
    detail::ok(la_set_generator(L, &s));
}
inline void seed(lua_State *L, std::uint64_t n) { detail::ok(la_seed_generator(L, n)); }

/* The data of tensors and records at this moment, by copy on write, and the
** generators of states (nullptr: the thread's). */
class snapshot {
public:
    explicit snapshot(std::initializer_list<tensor> list)
        : snapshot(list, {}, {}) {}
    snapshot(std::initializer_list<tensor> list,
             std::initializer_list<const record *> records,
             std::initializer_list<lua_State *> generators = {})
    {
        std::vector<la_tensor *> raw;
        std::vector<la_record *> structs;
        la_snapshot_def def = {};
        for (const tensor &t : list) raw.push_back(t.get());
        for (const record *r : records)
            structs.push_back(r ? r->get() : nullptr);
        def.size = sizeof def;
        def.tensors = static_cast<int>(raw.size());
        def.tensor_list = raw.data();
        def.records = static_cast<int>(structs.size());
        def.record_list = structs.data();
        def.generators = static_cast<int>(generators.size());
        def.generator_list = generators.begin();
        s_ = la_snapshot_take_ex(&def);
        if (!s_) detail::fail();
    }
    snapshot(const snapshot &) = delete;
    snapshot &operator=(const snapshot &) = delete;
    ~snapshot() { la_snapshot_release(s_); }
    void restore() { if (s_) detail::ok(la_snapshot_restore(s_)); }
    explicit operator bool() const noexcept { return s_ != nullptr; }

private:
    la_snapshot *s_ = nullptr;
};

/* A recorded computation; copies share it (la_program). */
class program {
public:
    program() noexcept = default;
    static program adopt(la_program *p) noexcept
    {
        program made;
        made.p_ = p;
        return made;
    }
    program(const void *bytes, std::size_t n)
        : p_(la_program_load(nullptr, bytes, n))
    {
        if (!p_) detail::fail();
    }
#ifndef LA_NO_LUA
    program(lua_State *L, int index) : p_(la_program_of(L, index))
    {
        if (!p_) detail::fail();
    }
#endif
    program(const program &o) : p_(o.p_) { la_program_retain(p_); }
    program(program &&o) noexcept : p_(o.p_) { o.p_ = nullptr; }
    program &operator=(program o) noexcept
    {
        std::swap(p_, o.p_);
        return *this;
    }
    ~program() { la_program_release(p_); }
    program clone() const
    {
        la_program *p = la_program_clone(p_);
        if (!p) detail::fail();
        return adopt(p);
    }
    tensor weight(const char *name) const
    {
        return tensor::made(la_program_weight(p_, name));
    }
    /* The results, in the program's order. */
    std::vector<tensor> operator()(const std::vector<tensor> &in) const
    {
        std::vector<la_tensor *> raw(in.size() + 1), out(count() + 1);
        for (std::size_t i = 0; i < in.size(); i++) raw[i] = in[i].get();
        std::vector<tensor> results;
        if (!fits(in) || !detail::ok(la_program_run(p_, raw.data(), out.data())))
            return results;
        for (std::size_t i = 0; i < count(); i++)
            results.push_back(tensor::adopt(out[i]));
        return results;
    }
    la_program *get() const noexcept { return p_; }
    explicit operator bool() const noexcept { return p_ != nullptr; }

private:
    std::size_t count() const
    {
        return static_cast<std::size_t>(la_program_outputs(p_));
    }
    bool fits(const std::vector<tensor> &in) const
    {
        if (static_cast<int>(in.size()) >= la_program_inputs(p_)) return true;
        return detail::ok(la_fail("program: an input for each name expected"));
    }
    la_program *p_ = nullptr;
};

#ifndef LA_NO_LUA
/* la::error must be caught before it leaves a lua_CFunction: a Lua that was
** built as C has frames which no exception may cross. */
inline void push(lua_State *L, const tensor &t)
{
    detail::ok(la_push(L, t.get()));
}
/* May raise a Lua error: in a lua_CFunction only. Where an engine has a macro of
** that name, call it as (la::check)(L, arg). */
inline tensor (check)(lua_State *L, int arg)
{
    return tensor::share(la_check(L, arg));
}
inline void openlibs(lua_State *L) { detail::ok(la_openlibs(L)); }

/* A Lua state of its own, trusted or a sandbox, which ends with the object. */
class state {
public:
    state() : L_(la_new_state(nullptr)) { if (!L_) detail::fail(); }
    explicit state(runtime &r) : L_(la_new_state(r.get()))
    {
        if (!L_) detail::fail();
    }
    explicit state(const la_limits &sandbox) : L_(la_new_sandbox(&sandbox))
    {
        if (!L_) detail::fail();
    }
    state(const state &) = delete;
    state &operator=(const state &) = delete;
    ~state()
    {
        la_close_state(L_);
        delete print_;
    }

    /* Runs a script protected; 'name' stands in positions. Fails with its
    ** error: code LA_ELUA where it is the script's own. */
    bool run(const std::string &script, const char *name = nullptr)
    {
        return detail::ok(la_run_script(L_, script.data(), script.size(),
                                        name));
    }
    /* run that gives the code instead, 0 or that of la::last_error(). */
    int try_run(const std::string &script, const char *name = nullptr)
    {
        return la_run_script(L_, script.data(), script.size(), name);
    }
    /* Scripts get a print that calls f with each line. It must not throw. */
    template <class F> void print(F f)
    {
        printer *next = new printer_of<F>(std::move(f));
        if (!detail::ok(la_set_print(L_, line, next))) return;
        delete print_;
        print_ = next;
    }
    la::token token() const { return la::token(L_); }
    lua_State *get() const { return L_; }
    explicit operator bool() const noexcept { return L_ != nullptr; }

private:
    struct printer {
        virtual void line(std::string_view text) = 0;
        virtual ~printer() = default;
    };
    template <class F> struct printer_of final : printer {
        explicit printer_of(F f) : f_(std::move(f)) {}
        void line(std::string_view text) override { f_(text); }
        F f_;
    };
    static void line(void *to, const char *text, std::size_t n)
    {
        static_cast<printer *>(to)->line(std::string_view(text, n));
    }
    lua_State *L_;
    printer *print_ = nullptr;
};
#endif

}

#endif

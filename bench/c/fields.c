/*
** What the same operation costs on fields of a host's structs, {N, 3} float32,
** and on contiguous tensors of as many elements; and, as a measure of what the
** memory allows, a loop in C over the same structs.
**
**     make build/bench/fields
**     taskset -c 1 build/bench/fields [rounds [form]]
**
** Nanoseconds per element of processor time, one thread: the least of 'rounds'
** rounds, one after the other in each. The last column is field over
** contiguous. Structs of 16 bytes have no other field: there the second operand
** is the field itself.
*/
#include <lua.h>
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The operands of a form, as fields or contiguous. */
typedef struct operands {
    la_tensor *pos, *vel, *mass;     /* {N, 3}, {N, 3}, {N, 1} */
} operands;

static la_op *add_, *mul_, *copy_, *clamp_, *addcmul_;

static la_tensor *add_number(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, add_, LA_ARGS(p->pos, 1e-9), NULL);
}
static la_tensor *mul_number(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, mul_, LA_ARGS(p->pos, 0.999), NULL);
}
static la_tensor *add_dense(const operands *p, la_tensor *other)
{
    return la_op_call(NULL, add_, LA_ARGS(p->pos, other), NULL);
}
static la_tensor *add_field(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, add_, LA_ARGS(p->pos, p->vel), NULL);
}
static la_tensor *mul_column(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, mul_, LA_ARGS(p->pos, p->mass), NULL);
}
static la_tensor *copy_in(const operands *p, la_tensor *other)
{
    return la_op_call(NULL, copy_, LA_ARGS(p->pos, other), NULL);
}
static la_tensor *copy_out(const operands *p, la_tensor *other)
{
    return la_op_call(NULL, copy_, LA_ARGS(other, p->pos), NULL);
}
static la_tensor *copy_field(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, copy_, LA_ARGS(p->pos, p->vel), NULL);
}
static la_tensor *clamp(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, clamp_, LA_ARGS(p->pos, -1.0, 1.0), NULL);
}
static la_tensor *addcmul(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, addcmul_, LA_ARGS(p->pos, p->vel, p->mass), NULL);
}
static la_tensor *column_number(const operands *p, la_tensor *other)
{
    (void)other;
    return la_op_call(NULL, add_, LA_ARGS(p->mass, 1e-9), NULL);
}

/* The loops in C: 'p' and 'v' are rows of three floats, 'm' single ones, of
** structs of 's' floats, which compilers know where they are usual; 'd' is
** contiguous. */
#define C_LOOP(name, line)                                                   \
    static inline __attribute__((always_inline))                             \
    void name##_of(float *p, const float *v, const float *m, float *d,       \
                   int64_t s, int64_t n)                                     \
    {                                                                        \
        for (int64_t i = 0; i < n; i++, p += s, v += s, m += s, d += 3)      \
            for (int k = 0; k < 3; k++) line;                                \
    }                                                                        \
    static __attribute__((noinline, optimize("O3")))                         \
    void name(float *p, const float *v, const float *m, float *d, int64_t s, \
              int64_t n)                                                     \
    {                                                                        \
        switch (s) {                                                         \
        case 4: name##_of(p, v, m, d, 4, n); break;                          \
        case 7: name##_of(p, v, m, d, 7, n); break;                          \
        case 8: name##_of(p, v, m, d, 8, n); break;                          \
        default: name##_of(p, v, m, d, 10, n);                               \
        }                                                                    \
    }
C_LOOP(c_add_number, p[k] += 1e-9f)
C_LOOP(c_mul_number, p[k] *= 0.999f)
C_LOOP(c_add_dense, p[k] += d[k])
C_LOOP(c_add_field, p[k] += v[k])
C_LOOP(c_mul_column, p[k] *= *m)
C_LOOP(c_copy_in, p[k] = d[k])
C_LOOP(c_copy_out, d[k] = p[k])
C_LOOP(c_copy_field, p[k] = v[k])
C_LOOP(c_clamp, p[k] = p[k] < -1 ? -1 : p[k] > 1 ? 1 : p[k])
C_LOOP(c_addcmul, p[k] += v[k] * *m)
C_LOOP(c_column, if (k == 0) *p += 1e-9f)
#undef C_LOOP

static const struct form {
    const char *name;
    la_tensor *(*run)(const operands *p, la_tensor *other);
    void (*loop)(float *p, const float *v, const float *m, float *d, int64_t s,
                 int64_t n);
    int size;
} forms[] = {
    {"add_(number)", add_number, c_add_number, 3},
    {"mul_(number)", mul_number, c_mul_number, 3},
    {"add_(contiguous)", add_dense, c_add_dense, 3},
    {"add_(field)", add_field, c_add_field, 3},
    {"mul_(column)", mul_column, c_mul_column, 3},
    {"copy_(contiguous)", copy_in, c_copy_in, 3},
    {"contiguous:copy_", copy_out, c_copy_out, 3},
    {"copy_(field)", copy_field, c_copy_field, 3},
    {"clamp_", clamp, c_clamp, 3},
    {"addcmul_", addcmul, c_addcmul, 3},
    {"column add_", column_number, c_column, 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, la_error_text());
    exit(1);
}

static la_tensor *wrap(float *p, int64_t n, int64_t w, int64_t step)
{
    la_buffer b = {.size = sizeof b, .data = p, .dtype = "float32", .ndim = 2,
                   .sizes = (int64_t[]){n, w},
                   .byte_strides = (int64_t[]){step * 4, 4}};
    la_tensor *t = la_wrap_ex(&b);
    if (!t) die("wrap");
    return t;
}

static double time_op(const struct form *f, const operands *p, la_tensor *other,
                      int calls)
{
    double t = now();
    for (int i = 0; i < calls; i++) {
        la_tensor *r = f->run(p, other);
        if (!r) die(f->name);
        la_release(r);
    }
    return now() - t;
}

/* One call per round each of contiguous, field, C: the least times in best. */
static void measure_all(const struct form *f, const operands *plain,
                       const operands *field, la_tensor *other, float *memory,
                       int64_t floats, int64_t n, int rounds, double *best)
{
    const int calls = (int)(300000 / n) + 1;
    const int at_vel = floats > 6 ? 3 : 0, at_mass = floats > 6 ? 6 : 3;
    for (int k = 0; k < 3; k++) best[k] = 1e18;
    for (int i = 0; i < rounds; i++) {
        double t[3];
        t[0] = time_op(f, plain, other, calls);
        t[1] = time_op(f, field, other, calls);
        t[2] = now();
        for (int j = 0; j < calls; j++) {
            f->loop(memory, memory + at_vel, memory + at_mass,
                    la_tensor_data(other), floats, n);
            __asm__ volatile("" ::: "memory");
        }
        t[2] = now() - t[2];
        for (int k = 0; k < 3; k++) if (t[k] < best[k]) best[k] = t[k];
    }
    for (int k = 0; k < 3; k++) best[k] /= (double)calls * (double)n * f->size;
}

static void measure(const struct form *f, int64_t n, int64_t floats, int rounds)
{
    float *memory = calloc((size_t)(n * floats + 16), sizeof *memory);
    float *dense = calloc((size_t)(n * 10), sizeof *dense);
    int at_vel = floats > 6 ? 3 : 0, at_mass = floats > 6 ? 6 : 3;
    double best[3];
    if (!memory || !dense) die("calloc");
    operands field = {wrap(memory, n, 3, floats),
                      wrap(memory + at_vel, n, 3, floats),
                      wrap(memory + at_mass, n, 1, floats)};
    operands plain = {wrap(dense, n, 3, 3), wrap(dense + 3 * n, n, 3, 3),
                      wrap(dense + 6 * n, n, 1, 1)};
    la_tensor *other = wrap(dense + 7 * n, n, 3, 3);
    measure_all(f, &plain, &field, other, memory, floats, n, rounds, best);
    printf("%-18s %2d bytes %7d  %6.3f %6.3f %6.3f   %5.2f\n", f->name,
           (int)floats * 4, (int)n, best[0], best[1], best[2],
           best[1] / best[0]);
    la_tensor *all[] = {field.pos, field.vel, field.mass, plain.pos, plain.vel,
                        plain.mass, other};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) la_release(all[k]);
    free(memory);
    free(dense);
}

int main(int argc, char **argv)
{
    static const int64_t counts[] = {1000, 10000, 100000};
    static const int64_t structs[] = {4, 7, 8, 10};
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const char *only = argc > 2 ? argv[2] : NULL;
    add_ = la_op_find("add_");
    mul_ = la_op_find("mul_");
    copy_ = la_op_find("copy_");
    clamp_ = la_op_find("clamp_");
    addcmul_ = la_op_find("addcmul_");
    if (la_set_thread_count(NULL, 1)) die("threads");
    puts("form                struct       N  contig.  field      C   ratio");
    for (int k = 0; k < FORMS; k++)
        for (int s = 0; s < 4; s++)
            for (int c = 0; c < 3; c++)
                if (!only || !strcmp(only, forms[k].name))
                    measure(&forms[k], counts[c], structs[s], rounds);
    return 0;
}

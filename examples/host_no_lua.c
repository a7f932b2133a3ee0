/*
** A host without Lua: a small network learns the sign of a product, in C alone.
** The library is liblunarray-core, which has no name of Lua's.
**
**     make examples && build/examples/host_no_lua [FILE]
**
** With a FILE (".safetensors", ".npz") the weights are saved and read again.
*/
#ifndef LA_NO_LUA
#define LA_NO_LUA
#endif
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>

#define HIDDEN 16
#define POINTS 512
#define STEPS 1000

enum { W1, B1, W2, B2, WEIGHTS };
static const char *const names[WEIGHTS] = {"w1", "b1", "w2", "b2"};

/* All errors end the program: a host would show the text and go on. */
static la_tensor *must(la_tensor *t)
{
    if (t) return t;
    fprintf(stderr, "%s\n", la_error_text());
    exit(1);
}

static void check(int status)
{
    if (status) must(NULL);
}

/* What a call gave replaces the operand, which is released. */
static la_tensor *then(la_tensor *before, la_tensor *after)
{
    la_release(before);
    return must(after);
}

static la_tensor *weight(int64_t rows, int64_t columns, double size)
{
    int64_t sizes[2] = {rows, columns};
    la_tensor *t = must(la_call(NULL, "randn", la_any_ints(sizes, 2)));
    la_release(must(la_call(NULL, "mul_", t, size)));
    check(la_set_requires_grad(t, true));
    return t;
}

/* x {points, 2} to one number per point. */
static la_tensor *forward(la_tensor **w, la_tensor *x)
{
    la_tensor *h = must(la_call(NULL, "addmm", w[B1], x, w[W1]));
    h = then(h, la_call(NULL, "tanh", h));
    return then(h, la_call(NULL, "addmm", w[B2], h, w[W2]));
}

/* One step of gradient descent, outside of what is recorded. */
static void descend(la_tensor **w, double rate)
{
    bool before = la_set_grad_enabled(false);
    for (int k = 0; k < WEIGHTS; k++) {
        la_tensor *g = must(la_grad_of(w[k]));
        la_release(must(la_call(NULL, "add_", w[k], g,
                                la_any_named("alpha", la_any_double(-rate)))));
        la_release(g);
        la_zero_grad(w[k]);
    }
    la_set_grad_enabled(before);
}

static double number(la_tensor *t)
{
    const float *p = la_tensor_data(t);
    double v = p ? (double)*p : 0;
    la_release(t);
    return v;
}

/* The share of points on the right side. */
static double right(la_tensor **w, la_tensor *x, la_tensor *y)
{
    la_tensor *t = forward(w, x);
    t = then(t, la_call(NULL, "mul", t, y));
    t = then(t, la_call(NULL, "gt", t, 0));
    t = then(t, la_call(NULL, "to", t, "float32"));
    return number(then(t, la_call(NULL, "mean", t)));
}

static double learn(la_tensor **w, la_tensor *x, la_tensor *y)
{
    double loss = 0;
    for (int step = 0; step < STEPS; step++) {
        la_tensor *l = forward(w, x);
        l = then(l, la_call(NULL, "mse_loss", l, y));
        check(la_backward(NULL, l, NULL));
        descend(w, 0.1);
        loss = number(l);
    }
    return loss;
}

/* Saves the weights and puts in their place what was read again. */
static void round_trip(la_tensor **w, const char *path)
{
    la_named list[WEIGHTS];
    for (int k = 0; k < WEIGHTS; k++) {
        list[k].name = names[k];
        list[k].tensor = w[k];
    }
    check(la_save(path, WEIGHTS, list));
    for (int k = 0; k < WEIGHTS; k++)
        w[k] = then(w[k], la_load(path, names[k]));
    printf("saved and read again\n");
}

int main(int count, char **words)
{
    check(la_seed_generator(NULL, 1));
    int64_t sizes[2] = {POINTS, 2};
    la_tensor *x = must(la_call(NULL, "randn", la_any_ints(sizes, 2)));
    la_tensor *y = must(la_call(NULL, "prod", x, 2,
                                la_any_named("keepdim", la_any_bool(true))));
    y = then(y, la_call(NULL, "sign", y));
    la_tensor *w[WEIGHTS] = {weight(2, HIDDEN, 1), weight(1, HIDDEN, 1),
                             weight(HIDDEN, 1, 0.3), weight(1, 1, 0.1)};
    printf("before: %.2f right\n", right(w, x, y));
    printf("loss %.3f after %d steps\n", learn(w, x, y), STEPS);
    if (count > 1) round_trip(w, words[1]);
    printf("after: %.2f right\n", right(w, x, y));
    for (int k = 0; k < WEIGHTS; k++) la_release(w[k]);
    la_release(x);
    la_release(y);
    return la_shutdown() ? 1 : 0;
}

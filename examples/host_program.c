/*
** A frame loop without Lua: a program that a script has saved runs in slices
** of each frame's budget, 60 frames a second.
**
**     lua -e 'local la, nn = require "lunarray", require "lunarray.nn"
**       net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
**       f = la.compile(function(x) return net(x) end)
**       f(la.zeros(128, 64)) la.save(f, "net.laprog")'
**     make examples && build/examples/host_program net.laprog [FRAMES]
**
** Inputs are filled with zeros here; a game would write what it sees to them.
** The library is liblunarray-core, which has no name of Lua's.
*/
#ifndef LA_NO_LUA
#define LA_NO_LUA
#endif
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L         /* the clock */
#endif
#include <lunarray.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAME 16666667                  /* nanoseconds */
#define BUDGET 2000000
enum { MOST = 16 };

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void wait_until(int64_t ns)
{
    int64_t left = ns - now();
    struct timespec t = {left / 1000000000, left % 1000000000};
    if (left > 0) nanosleep(&t, NULL);
}

/* All errors end the program: a host would show the text and go on. */
static void check(int status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", la_error_text());
    exit(1);
}

static la_program *load(const char *path)
{
    FILE *file = fopen(path, "rb");
    long n = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
    void *bytes = n > 0 ? malloc((size_t)n) : NULL;
    if (bytes) rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)n, file) != (size_t)n) {
        fprintf(stderr, "%s can't be read\n", path);
        exit(1);
    }
    fclose(file);
    la_program *p = la_program_load(NULL, bytes, (size_t)n);
    free(bytes);
    if (!p) check(la_error_code());
    return p;
}

int main(int argc, char **argv)
{
    la_tensor *in[MOST] = {NULL}, *out[MOST] = {NULL};
    int frames = argc > 2 ? atoi(argv[2]) : 60, finished = 0;
    int64_t worst = 0, begin = now();
    if (argc < 2) return 1;
    la_program *p = load(argv[1]);
    int n = la_program_inputs(p);
    if (n > MOST || la_program_outputs(p) > MOST) return 1;
    for (int i = 0; i < n; i++) {
        int64_t sizes[8];
        const char *dtype;
        int ndim = la_program_form(p, LA_PROGRAM_INPUT, i, &dtype, 8, sizes);
        in[i] = ndim < 0 ? NULL : la_new(dtype, ndim, sizes);
        if (!in[i]) check(la_error_code());
    }
    check(la_program_run(p, in, out));          /* makes the outputs */
    check(la_program_begin(p, in, out));
    for (int i = 0; i < frames; i++) {
        int64_t before = now();
        int code = la_program_step(p, BUDGET);
        int64_t took = now() - before;
        if (took > worst) worst = took;
        if (code != LA_MORE) {
            check(code);
            finished++;
            check(la_program_begin(p, in, out));
        }
        wait_until(begin + (int64_t)(i + 1) * FRAME);
    }
    printf("%d frames, %d results, at most %.3f ms of %.3f in a frame\n",
           frames, finished, (double)worst * 1e-6, BUDGET * 1e-6);
    for (int i = 0; i < MOST; i++) {
        la_release(in[i]);
        la_release(out[i]);
    }
    la_program_release(p);
    return 0;
}

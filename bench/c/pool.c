/*
** What a parallel region costs, and what its threads cost when there is
** nothing to do. From the root of the sources, after 'make':
**
**   gcc -O2 -Isrc bench/c/pool.c build/liblunarray.a -o /tmp/pool -lsleef -lz \
**       -lm -lpthread -ldl && /tmp/pool [threads]
**
** A region here ends when each thread has come to it, and nothing else.
**
** a line there  one cache line to another thread and back: no meeting of two
**               threads can be quicker
** entry         from the call to the caller's own first chunk, workers spin
** meeting       the whole region then; asleep: when workers sleep
** asleep after  from the region's end until every worker waits in the kernel
** idle second   processor time of all workers in a second without work, once
**               they sleep, and how often they were put on a processor
*/
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/runtime/thread_pool.h"

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static atomic_int arrived;
static int threads = 2;
static int64_t entered;

static void meet(int64_t begin, int64_t end, void *context)
{
    if (la_thread_index() == 0 && !entered) entered = now();
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < threads) { }
}

static void wait_for(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    nanosleep(&t, NULL);
}

typedef struct sum {
    int threads, running;
    long long time, switches;   /* nanoseconds on a processor; times put on */
} sum;

/* All threads but this one, as the kernel tells. */
static sum ask(void)
{
    char path[300], line[512];
    sum s = {0};
    struct dirent *e;
    DIR *d = opendir("/proc/self/task");
    while (d && (e = readdir(d))) {
        if (atoi(e->d_name) <= 0 || atoi(e->d_name) == getpid()) continue;
        long long time = 0, wait = 0, times = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%lld %lld %lld", &time, &wait, &times) == 3) {
            s.time += time;
            s.switches += times;
        }
        if (f) fclose(f);
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        f = fopen(path, "r");
        if (f && fgets(line, sizeof line, f) && strrchr(line, ')'))
            s.running += strrchr(line, ')')[2] != 'S';
        if (f) fclose(f);
        s.threads++;
    }
    if (d) closedir(d);
    return s;
}

/* The region's time; 'entry' is how long the caller took to its first chunk. */
static int64_t region(int64_t *entry)
{
    atomic_store(&arrived, 0);
    entered = 0;
    int64_t t = now();
    la_parallel_for(threads, 1, meet, NULL);
    int64_t whole = now() - t;
    *entry = entered - t;
    return whole;
}

static _Alignas(64) atomic_int there;
static _Alignas(64) atomic_int back;
enum { PASSES = 100000 };

static void *answer(void *unused)
{
    for (int i = 1; i <= PASSES; i++) {
        while (atomic_load(&there) < i) { }
        atomic_store(&back, i);
    }
    return NULL;
}

static void show_line(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, answer, NULL)) return;
    int64_t t = 0;
    for (int i = 1; i <= PASSES; i++) {
        if (i == PASSES / 2) t = now();
        atomic_store(&there, i);
        while (atomic_load(&back) < i) { }
    }
    printf("%-13s %.2f us\n", "a line there", 2e-3 * (now() - t) / PASSES);
    pthread_join(thread, NULL);
}

static int order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void show(const char *name, int64_t *list, int n)
{
    qsort(list, (size_t)n, sizeof *list, order);
    printf("%-13s least %8.2f us, median %8.2f us\n", name, 1e-3 * list[0],
           1e-3 * list[n / 2]);
}

int main(int argc, char **argv)
{
    enum { WARM = 20000, SLEEPY = 200 };
    static int64_t entry[WARM], whole[WARM];
    int64_t ignored;
    if (argc > 1) threads = atoi(argv[1]);
    la_set_num_threads(threads);
    show_line();
    for (int i = 0; i < 1000; i++) region(&ignored);
    for (int i = 0; i < WARM; i++) whole[i] = region(&entry[i]);
    show("entry", entry, WARM);
    show("meeting", whole, WARM);
    for (int i = 0; i < SLEEPY; i++) {
        region(&ignored);
        int64_t t = now();
        while (ask().running) { }
        whole[i] = now() - t;
    }
    show("asleep after", whole, SLEEPY);
    for (int i = 0; i < SLEEPY; i++) {
        wait_for(1000000);
        whole[i] = region(&ignored);
    }
    show("asleep", whole, SLEEPY);
    while (ask().running) { }
    sum before = ask();
    wait_for(1000000000);
    sum after = ask();
    printf("%-13s %.3f us of %d workers, put on a processor %lld times\n",
           "idle second", 1e-3 * (after.time - before.time), after.threads,
           after.switches - before.switches);
    return 0;
}

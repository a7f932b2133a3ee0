/*
** Scratch of kernels: buffers that are too large for the stack of a host, whose
** fibers may have 64 KiB. Each thread has one block for them in a runtime, made
** when it first needs one, and they lie in it as they would on a stack. To take
** one costs a nanosecond or two and never fails: a thread that gets no block
** uses one of the process, and waits while another thread does.
**
**   LA_SCRATCH(float, sums, 4096);             float *sums
**   LA_SCRATCH_ROWS(float, wide, 4, 480);      float (*wide)[480]
**
** They hold until the end of the C block, and begin at cache lines. Meanwhile
** the thread stays in the kernel: no parallel loop and no operation may run, no
** function of the host's but the hook of an interrupt. Their sizes are
** constants, and what is held at a time is less than LA_SCRATCH_BYTES.
*/
#ifndef LA_BASE_SCRATCH_H
#define LA_BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

enum { LA_SCRATCH_BYTES = 192 << 10 };

char *la_scratch_take(size_t bytes);
void la_scratch_give(char *at);     /* the last one that was taken */
static inline void la_scratch_end(char **held) { la_scratch_give(*held); }

#define LA_SCRATCH_HELD(name, bytes) \
    char *name##_held __attribute__((cleanup(la_scratch_end))) \
        = la_scratch_take(bytes)
#define LA_SCRATCH(type, name, n) \
    LA_SCRATCH_HELD(name, sizeof(type) * (size_t)(n)); \
    type *restrict const name = (void *)name##_held
#define LA_SCRATCH_ROWS(type, name, rows, n) \
    LA_SCRATCH_HELD(name, sizeof(type) * (size_t)(rows) * (size_t)(n)); \
    type (*restrict const name)[n] = (void *)name##_held

/* ---- for runtimes ---- */

/* A function of the host's may run other operations on this thread, and other
** fibers that wait in the middle of one: what kernels hold is put aside. */
typedef struct la_scratch_aside { char *at, *block; } la_scratch_aside;
la_scratch_aside la_scratch_begin_aside(void);
void la_scratch_end_aside(const la_scratch_aside *held);
/* The process's block is free again in the child of a fork. */
void la_scratch_forked(void);
/* A new block is nobody's bytes, one that goes back is anyone's again, where
** somebody watches them. */
void la_scratch_watch(char *block, bool ours);

#endif

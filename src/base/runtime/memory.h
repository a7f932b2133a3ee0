/*
** The one allocator. All bytes of the library come from here, so that they are
** counted, capped, reused and can be made to fail on purpose. All functions act
** on the runtime where the thread is (base/runtime/context.h): what frees a
** block must be in the one that made it, as la_tensor_release sees to for
** tensors.
**
** Blocks are 64-byte aligned. Small blocks (<= 1 KiB) come from a free list of
** the calling thread; larger ones from size-bucketed cache lists, so that a
** loop that makes and drops results of one size never page-faults; from 4 MiB
** up the blocks are mapped with huge pages asked for. Cached free blocks count
** against the cap, are given back before any failure is reported, and are not
** kept at all in sanitizer builds. 'bytes' of la_mem_free must be what was
** asked for. All functions are safe on any thread.
**
** Blocks of la_mem_alloc are charged to the token of the current settings
** (base/runtime/token.h), whose cap refuses them, too, until they are freed by
** whatever thread. What la_mem_take gives is charged to nobody: for storages,
** which note themselves who pays, and for what outlives every state.
*/
#ifndef LA_BASE_RUNTIME_MEMORY_H
#define LA_BASE_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/size.h"
#include "base/status.h"

typedef struct la_runtime la_runtime;

/* NULL when it failed: the error record then says asked, used and cap. */
void *la_mem_alloc(size_t bytes) __attribute__((malloc, warn_unused_result));
void *la_mem_zalloc(size_t bytes) __attribute__((malloc, warn_unused_result));
void la_mem_free(void *block, size_t bytes);
/* The block, which stays, is charged to nobody from here on. */
void la_mem_disown(void *block, size_t bytes);
/* Charged to nobody. *zero is set when the block came from the system just now
** and is known to hold zeros. */
void *la_mem_take(size_t bytes) __attribute__((malloc, warn_unused_result));
void *la_mem_take_tell(size_t bytes, bool *zero)
    __attribute__((warn_unused_result));
void la_mem_give(void *block, size_t bytes);
/* Count, and cap, bytes of a tensor that lie in nobody's memory here but on a
** device. False with the error record set: above the cap. */
bool la_mem_charge(size_t bytes);
void la_mem_discharge(size_t bytes);

typedef struct la_mem_info {
    size_t used;    /* bytes in live blocks */
    size_t cached;  /* bytes in free blocks kept for reuse */
    size_t peak;    /* largest 'used' so far */
    size_t cap;     /* 0: none */
    uint64_t allocations;  /* calls that returned a block, since the start */
} la_mem_info;
la_mem_info la_mem_stat(void);
la_mem_info la_mem_stat_of(la_runtime *rt);
void la_mem_set_cap(size_t bytes);
/* Give cached free blocks back to the system, after 'release' (one function, of
** whoever keeps blocks in use that could be made again) has freed its own. */
void la_mem_trim(void);
void la_mem_on_trim(void (*release)(void));

/* Replace malloc/free beneath the cache (before the first allocation). */
typedef void *(*la_alloc_fn)(void *context, size_t bytes, size_t alignment);
typedef void (*la_free_fn)(void *context, void *block, size_t bytes);
la_status la_mem_set_allocator(la_alloc_fn, la_free_fn, void *context);

/* Rehearsal of failures: allocation number 'n' from now (1 = the next) fails,
** and every later one too when 'forever'. 0 switches it off. */
void la_mem_fail_at(uint64_t n, bool forever);

/* ---- for runtimes ---- */

/* Blocks that are no tensor's: not counted and not capped. 64-byte aligned,
** zeroed; NULL without an error record. */
void *la_raw_alloc(la_runtime *rt, size_t bytes);
void la_raw_free(la_runtime *rt, void *block, size_t bytes);

struct la_local;
struct la_memory_part;
/* The block of base/scratch.h is made, or not; it goes when the thread does. */
bool la_local_scratch(struct la_local *t);
void la_local_free_scratch(struct la_local *t);
/* A thread's things come into the runtime's sums, and leave them, their memory
** too. */
void la_local_join(struct la_local *t);
void la_local_leave(struct la_local *t);
/* The locals of 'rt' leave their
** threads and every block goes back; nobody else is in it any more. */
void la_memory_begin(struct la_memory_part *m);
void la_memory_end(la_runtime *rt);
/* Without any block an allocator may be set again. */
void la_memory_restart(la_runtime *rt);
/* Bytes in live blocks. */
size_t la_memory_used(la_runtime *rt);
/* Free blocks and what operations keep; 'rt' is the one this thread is in.
** Returns the bytes of free blocks that went. */
size_t la_memory_trim(void);

#endif

/*
** Beneath the allocator: blocks of the system, and the cache of free blocks
** above 1 KiB. For memory.c alone, which holds the lock of the runtime around
** the calls with a cache.
*/
#ifndef LA_BASE_RUNTIME_MEMORY_CACHE_H
#define LA_BASE_RUNTIME_MEMORY_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* Sanitizers must see every block come and go. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LA_CACHE_ON 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) \
    || __has_feature(memory_sanitizer)
#define LA_CACHE_ON 0
#else
#define LA_CACHE_ON 1
#endif
#else
#define LA_CACHE_ON 1
#endif

enum { LA_CACHE_LISTS = 4 * 52 };

typedef struct la_kept_block {
    struct la_kept_block *next, *prev;      /* of one size */
    struct la_kept_block *newer, *older;    /* of all */
    size_t size;
} la_kept_block;

/* The free blocks of a runtime. */
typedef struct la_cache {
    la_kept_block *lists[LA_CACHE_LISTS];
    la_kept_block *oldest, *newest;
    la_kept_block *leaving;              /* by 'next': to the system, soon */
    size_t kept;
} la_cache;

/* Read LUNARRAY_CACHE (MiB to keep); false when nothing shall be kept. */
bool la_cache_start(void);

/* The size of the block that holds 'bytes' (> 1 KiB); 0: too many. */
size_t la_cache_size(size_t bytes);
/* A free block of exactly 'size', or NULL. */
void *la_cache_take(la_cache *c, size_t size);
/* Keep a free block; the oldest ones go when more than the bound is kept,
** which is 256 MiB or what is in use, whichever is larger. */
void la_cache_put(la_cache *c, void *block, size_t size, size_t used);
/* Give back the oldest blocks until 'bytes' went. */
void la_cache_release(la_cache *c, size_t bytes);

/* With the lock held a block (of at least 64 bytes) that goes to the system is
** noted; whoever gives up the lock takes the list before and frees it after. */
void la_cache_leave(la_cache *c, void *block, size_t size);

/* The system: 'zero' is set when the block is known to hold zeros. */
void *la_sys_alloc(size_t size, bool *zero);
void la_sys_free(void *block, size_t size);

#endif

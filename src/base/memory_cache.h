/*
** Beneath the allocator: blocks of the system, and the cache of free blocks
** above 1 KiB. For memory.c alone, which holds its lock around every call but
** la_sys_alloc, la_sys_free and la_sys_free_list: those may call the host.
*/
#ifndef LA_BASE_MEMORY_CACHE_H
#define LA_BASE_MEMORY_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory.h"

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

/* Read LUNARRAY_CACHE (MiB to keep); false when nothing shall be kept. */
bool la_cache_start(void);

/* The size of the block that holds 'bytes' (> 1 KiB); 0: too many. */
size_t la_cache_size(size_t bytes);
/* A free block of exactly 'size', or NULL. */
void *la_cache_take(size_t size);
/* Keep a free block; the oldest ones go when more than the bound is kept,
** which is 256 MiB or what is in use, whichever is larger. */
void la_cache_put(void *block, size_t size, size_t used);
/* Give back the oldest blocks until 'bytes' went. */
void la_cache_release(size_t bytes);
size_t la_cache_bytes(void);

/* The system, or the host's allocator, whose functions may come back for or
** with memory of ours: never called with the lock held. 'zero' is set when the
** block is known to hold zeros. */
void *la_sys_alloc(size_t size, bool *zero);
void la_sys_free(void *block, size_t size);
/* With the lock held a block (of at least 64 bytes) is noted instead; whoever
** gives up the lock takes the list before and frees it after. */
void la_sys_free_later(void *block, size_t size);
void *la_sys_leaving(void);
void la_sys_free_list(void *list);
void la_sys_set(la_alloc_fn, la_free_fn, void *context);

#endif

/*
** Free blocks kept for reuse.
**
** Sizes are rounded up to four steps per power of two, so a list per size is
** short and a block wastes a fifth at most. A free block carries its links in
** itself: one list per size for finding, and one over all, oldest first, for
** giving back. From 4 MiB up blocks are mapped, aligned to huge pages and
** asked to be made of them: a first touch costs a fault per 2 MiB instead of
** one per 4 KiB.
*/
#include "base/memory_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/trace.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define MAP_FROM ((size_t)4 << 20)
#define LARGEST ((size_t)1 << 50)
enum { NLISTS = 4 * 52 };

typedef struct kept_block {
    struct kept_block *next, *prev;      /* of one size */
    struct kept_block *newer, *older;    /* of all */
    size_t size;
} kept_block;

static kept_block *lists[NLISTS];
static kept_block *oldest, *newest;
static kept_block *leaving;              /* by 'next': to the system, soon */
static size_t kept, bound = (size_t)256 << 20;
static la_alloc_fn host_alloc;
static la_free_fn host_free;
static void *host_context;

bool la_cache_start(void)
{
    const char *word = getenv("LUNARRAY_CACHE");
    char *end;
    if (!word || !*word) return true;
    unsigned long mib = strtoul(word, &end, 10);
    if (!*end && mib < 1ul << 30) bound = (size_t)mib << 20;
    return bound != 0;
}

/* ---- the system ---- */

void la_sys_set(la_alloc_fn alloc, la_free_fn release, void *context)
{
    host_alloc = alloc;
    host_free = release;
    host_context = context;
}

static void *map_block(size_t size)
{
    size_t reserved = size + HUGE_PAGE;
    char *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t head = -(uintptr_t)p & (HUGE_PAGE - 1);
    size_t tail = reserved - head - size;
    if (head) munmap(p, head);
    if (tail) munmap(p + head + size, tail);
    madvise(p + head, size, MADV_HUGEPAGE);
    return p + head;
}

void *la_sys_alloc(size_t size, bool *zero)
{
    if (la_trace_on) la_trace("alloc  %zu bytes from the system", size);
    if (host_alloc) return host_alloc(host_context, size, 64);
    if (size < MAP_FROM || !LA_CACHE_ON) return aligned_alloc(64, size);
    *zero = true;
    return map_block(size);
}

void la_sys_free(void *block, size_t size)
{
    if (host_free) host_free(host_context, block, size);
    else if (size < MAP_FROM || !LA_CACHE_ON) free(block);
    else munmap(block, size);
}

void la_sys_free_later(void *block, size_t size)
{
    kept_block *b = block;
    b->size = size;
    b->next = leaving;
    leaving = b;
}

void *la_sys_leaving(void)
{
    kept_block *list = leaving;
    leaving = NULL;
    return list;
}

void la_sys_free_list(void *list)
{
    for (kept_block *b = list; b; ) {
        kept_block *next = b->next;
        la_sys_free(b, b->size);
        b = next;
    }
}

/* ---- the lists ---- */

size_t la_cache_size(size_t bytes)
{
    if (bytes > LARGEST) return 0;
    int step = 61 - __builtin_clzll(bytes - 1);  /* a quarter of the power */
    size_t mask = ((size_t)1 << step) - 1;
    if (bytes > MAP_FROM && mask < HUGE_PAGE - 1) mask = HUGE_PAGE - 1;
    return (bytes + mask) & ~mask;
}

static kept_block **list_of(size_t size)
{
    int power = 63 - __builtin_clzll(size);
    return &lists[4 * (power - 10) + (int)(size >> (power - 2) & 3)];
}

static void unlink_block(kept_block *b)
{
    if (b->prev) b->prev->next = b->next;
    else *list_of(b->size) = b->next;
    if (b->next) b->next->prev = b->prev;
    if (b->older) b->older->newer = b->newer;
    else oldest = b->newer;
    if (b->newer) b->newer->older = b->older;
    else newest = b->older;
    kept -= b->size;
}

void *la_cache_take(size_t size)
{
    kept_block *b = *list_of(size);
    if (b) unlink_block(b);
    return b;
}

static void link_block(kept_block *b, size_t size)
{
    kept_block **list = list_of(size);
    *b = (kept_block){.next = *list, .older = newest, .size = size};
    if (*list) (*list)->prev = b;
    *list = b;
    if (newest) newest->newer = b;
    else oldest = b;
    newest = b;
    kept += size;
}

void la_cache_put(void *block, size_t size, size_t used)
{
    size_t most = bound && used > bound ? used : bound;
    if (!LA_CACHE_ON || size > most) {
        la_sys_free_later(block, size);
        return;
    }
    link_block(block, size);
    if (kept > most) la_cache_release(kept - most);
}

void la_cache_release(size_t bytes)
{
    for (size_t done = 0; oldest && done < bytes; ) {
        kept_block *b = oldest;
        size_t size = b->size;
        unlink_block(b);
        la_sys_free_later(b, size);
        done += size;
    }
}

size_t la_cache_bytes(void)
{
    return kept;
}

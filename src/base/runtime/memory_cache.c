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
#include "base/runtime/memory_cache.h"
#include "base/os/os.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define MAP_FROM ((size_t)4 << 20)
#define LARGEST (SIZE_MAX >> (SIZE_MAX > UINT32_MAX ? 14 : 2))

static size_t bound = (size_t)256 << 20;     /* for each runtime */

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

void *la_sys_alloc(size_t size, bool *zero)
{
    if (size < MAP_FROM || !LA_CACHE_ON) return la_os_alloc(size);
    *zero = true;
    return la_os_map(size, HUGE_PAGE);
}

void la_sys_free(void *block, size_t size)
{
    if (size < MAP_FROM || !LA_CACHE_ON) la_os_free(block);
    else la_os_unmap(block, size);
}

void la_cache_leave(la_cache *c, void *block, size_t size)
{
    la_kept_block *b = block;
    b->size = size;
    b->next = c->leaving;
    c->leaving = b;
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

static la_kept_block **list_of(la_cache *c, size_t size)
{
    int power = 63 - __builtin_clzll(size);
    return &c->lists[4 * (power - 10) + (int)(size >> (power - 2) & 3)];
}

static void unlink_block(la_cache *c, la_kept_block *b)
{
    if (b->prev) b->prev->next = b->next;
    else *list_of(c, b->size) = b->next;
    if (b->next) b->next->prev = b->prev;
    if (b->older) b->older->newer = b->newer;
    else c->oldest = b->newer;
    if (b->newer) b->newer->older = b->older;
    else c->newest = b->older;
    c->kept -= b->size;
}

void *la_cache_take(la_cache *c, size_t size)
{
    la_kept_block *b = *list_of(c, size);
    if (b) unlink_block(c, b);
    return b;
}

static void link_block(la_cache *c, la_kept_block *b, size_t size)
{
    la_kept_block **list = list_of(c, size);
    *b = (la_kept_block){.next = *list, .older = c->newest, .size = size};
    if (*list) (*list)->prev = b;
    *list = b;
    if (c->newest) c->newest->newer = b;
    else c->oldest = b;
    c->newest = b;
    c->kept += size;
}

void la_cache_put(la_cache *c, void *block, size_t size, size_t used)
{
    size_t most = bound && used > bound ? used : bound;
    if (!LA_CACHE_ON || size > most) {
        la_cache_leave(c, block, size);
        return;
    }
    link_block(c, block, size);
    if (c->kept > most) la_cache_release(c, c->kept - most);
}

void la_cache_release(la_cache *c, size_t bytes)
{
    for (size_t done = 0; c->oldest && done < bytes; ) {
        la_kept_block *b = c->oldest;
        size_t size = b->size;
        unlink_block(c, b);
        la_cache_leave(c, b, size);
        done += size;
    }
}

/*
** What lies around the bytes of a block: red zones and the footer.
**
** The debug build surrounds each block with red zones, which hold the number
** of bytes asked for and a pattern and are checked when the block is freed;
** what is allocated is filled with NaN, what is freed with another pattern.
** Behind that is the footer of blocks that somebody pays for. For memory.c
** alone.
*/
#ifndef LA_BASE_MEMORY_ZONES_H
#define LA_BASE_MEMORY_ZONES_H

#include <string.h>

#include "base/assert.h"
#include "base/runtime/memory_cache.h"
#include "base/runtime/token.h"

#define ROUND_8(n) (((n) + 7) & ~(size_t)7)

/* Sanitizers have red zones of their own, whose end ours would hide. */
#if defined(LA_DEBUG) && LA_CACHE_ON
#define ZONE ((size_t)64)
#else
#define ZONE ((size_t)0)
#endif
enum { ZONE_BYTE = 0xfd, ALLOCATED_BYTE = 0xff, FREED_BYTE = 0xdd };

/* No zone in front of large blocks: the mapped ones begin at a page. */
static inline size_t zone_before(size_t bytes)
{
    return bytes < 1 << 20 ? ZONE : 0;
}

/* The bytes of a block with its zones, and with the footer where somebody pays.
** What no system has stays as it is. */
static inline size_t with_zones(size_t bytes, bool paid)
{
    if (bytes > SIZE_MAX / 4) return bytes;
    size_t whole = zone_before(bytes) + bytes + ZONE;
    return paid ? ROUND_8(whole) + sizeof(la_token *) : whole;
}

/* Payer of a block that is paid for, or NULL. */
static inline la_token **footer(void *inner, size_t bytes)
{
    return (la_token **)((char *)inner + ROUND_8(bytes + ZONE));
}

static void write_zone(char *zone, size_t bytes)
{
    memset(zone, ZONE_BYTE, ZONE);
    memcpy(zone, &bytes, sizeof bytes);
}

/* The zone still says that the block has 'bytes', and nothing else. */
static bool zone_is_whole(const char *zone, size_t bytes)
{
    if (memcmp(zone, &bytes, sizeof bytes)) return false;
    for (int i = sizeof bytes; i < (int)ZONE; i++)
        if ((unsigned char)zone[i] != ZONE_BYTE) return false;
    return true;
}

/* Address that the caller gets of a new block with zones, or NULL. */
static inline void *enter_zones(void *block, size_t bytes)
{
    if (!ZONE || !block) return block;
    char *inner = (char *)block + zone_before(bytes);
    if (zone_before(bytes)) write_zone(block, bytes);
    write_zone(inner + bytes, bytes);
    return inner;
}

/* The whole block again. A broken zone is a write outside of the block, or
** another number of bytes than was asked for. */
static inline void *leave_zones(void *inner, size_t bytes)
{
    if (!ZONE) return inner;
    char *block = (char *)inner - zone_before(bytes);
    la_assert(zone_is_whole((char *)inner + bytes, bytes));
    la_assert(!zone_before(bytes) || zone_is_whole(block, bytes));
    memset(block, FREED_BYTE, with_zones(bytes, false));
    return block;
}

/* AddressSanitizer finds what reaches behind the bytes asked for. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define BEHIND(bytes) (with_zones(bytes, true) - (bytes))
#define HIDE(b, bytes) \
    ASAN_POISON_MEMORY_REGION((char *)(b) + (bytes), BEHIND(bytes))
#define SHOW(b, bytes) \
    ASAN_UNPOISON_MEMORY_REGION((char *)(b) + (bytes), BEHIND(bytes))
#else
#define HIDE(b, bytes) (void)0
#define SHOW(b, bytes) (void)0
#endif

#endif

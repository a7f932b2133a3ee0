/*
** WebAssembly by emscripten, without threads: one processor, no libraries to
** load, memory that only grows. Files are emscripten's own (in memory, unless
** the page mounts others).
*/
#include "base/os/os.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int la_os_processors(void) { return 1; }
size_t la_os_cache_bytes(int level) { return 0; }
bool la_os_grants_tiles(void) { return false; }

/* getentropy gives at most 256 bytes at a time. */
bool la_os_random(void *out, size_t n)
{
    unsigned char *at = out;
    for (size_t part; n; at += part, n -= part) {
        part = n < 256 ? n : 256;
        if (getentropy(at, part)) return false;
    }
    return true;
}

/* There are no pages: the allocator's blocks, with the alignment. */
void *la_os_map(size_t size, size_t huge)
{
    void *block = aligned_alloc(huge, (size + huge - 1) & -huge);
    if (block) memset(block, 0, size);
    return block;
}
void la_os_unmap(void *block, size_t size) { free(block); }

void *la_os_library(const char *name) { return NULL; }
void *la_os_symbol(void *library, const char *name) { return NULL; }

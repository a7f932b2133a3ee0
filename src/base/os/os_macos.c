/* macOS: what is not as on Linux. Compiled nowhere yet but there. */
#include "base/os/os.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <unistd.h>

int la_os_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < 4096 ? (int)n : 1;
}

size_t la_os_cache_bytes(int level)
{
    static const char *const names[4] = {"", "hw.l1dcachesize",
                                         "hw.l2cachesize", "hw.l3cachesize"};
    int64_t size = 0;
    size_t n = sizeof size;
    if (sysctlbyname(names[level], &size, &n, NULL, 0) || size < 0) return 0;
    return (size_t)size;
}

bool la_os_grants_tiles(void) { return false; }

bool la_os_random(void *out, size_t n)
{
    arc4random_buf(out, n);
    return true;
}

/* There are no huge pages to ask for: only the alignment is kept. */
void *la_os_map(size_t size, size_t huge)
{
    size_t reserved = size + huge;
    char *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANON, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t head = -(uintptr_t)p & (huge - 1);
    size_t tail = reserved - head - size;
    if (head) munmap(p, head);
    if (tail) munmap(p + head + size, tail);
    return p + head;
}

void *la_os_library(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

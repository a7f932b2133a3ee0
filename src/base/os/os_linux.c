/* Linux: processors by control groups, huge pages, what sysfs tells. */
#define _GNU_SOURCE
#include "base/os/os.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- processors: the affinity mask, then the control group's quota ---- */

static int from_affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 && n < 4096 ? (int)n : 1;
}

static int rounded_up(long quota, long period)
{
    if (quota <= 0 || period <= 0) return 0;
    long n = (quota + period - 1) / period;
    return n < 4096 ? (int)n : 4096;
}

/* Version 2: "max 100000" or "150000 100000". */
static int from_cgroup2(const char *folder)
{
    char path[600];
    long quota = 0, period = 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", folder);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%ld %ld", &quota, &period) != 2) quota = 0;
    fclose(f);
    return rounded_up(quota, period);
}

static long read_long(const char *path)
{
    long value = 0;
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    if (fscanf(f, "%ld", &value) != 1) value = 0;
    fclose(f);
    return value;
}

static int from_cgroup1(void)
{
    return rounded_up(read_long("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
                      read_long("/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
}

/* The process's own group, when the line "0::/path" tells it. */
static int from_own_cgroup2(void)
{
    char line[512];
    int n = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");
    if (!f) return 0;
    while (!n && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0) n = from_cgroup2(line + 3);
    }
    fclose(f);
    return n;
}

static int smaller(int a, int b)
{
    return b > 0 && b < a ? b : a;
}

int la_os_processors(void)
{
    int n = from_affinity();
    n = smaller(n, from_own_cgroup2());
    n = smaller(n, from_cgroup2(""));
    n = smaller(n, from_cgroup1());
    return n > 0 ? n : 1;
}

/* ---- caches ---- */

/* Size in bytes from sysfs, 0 when it can't be read. */
static size_t cache_from_sysfs(int level)
{
    for (int i = 0; i < 8; i++) {
        char path[96], type[16] = "";
        unsigned kib = 0;
        int at = 0;
        const char *base = "/sys/devices/system/cpu/cpu0/cache/index";
        snprintf(path, sizeof path, "%s%d/level", base, i);
        FILE *f = fopen(path, "r");
        if (!f) return 0;
        if (fscanf(f, "%d", &at) != 1) at = 0;
        fclose(f);
        snprintf(path, sizeof path, "%s%d/type", base, i);
        if (at == level && (f = fopen(path, "r"))) {
            if (fscanf(f, "%15s", type) != 1) type[0] = '\0';
            fclose(f);
        }
        if (at != level || strcmp(type, "Instruction") == 0) continue;
        snprintf(path, sizeof path, "%s%d/size", base, i);
        if (!(f = fopen(path, "r"))) return 0;
        if (fscanf(f, "%uK", &kib) != 1) kib = 0;
        fclose(f);
        return (size_t)kib << 10;
    }
    return 0;
}

static size_t cache_from_libc(int level)
{
    long size = 0;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int names[4] = {0, _SC_LEVEL1_DCACHE_SIZE,
                                 _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    size = sysconf(names[level]);
#endif
    return size > 0 ? (size_t)size : 0;
}

size_t la_os_cache_bytes(int level)
{
    size_t size = cache_from_sysfs(level);
    return size ? size : cache_from_libc(level);
}

/* ---- the rest ---- */

/* All threads and children may use them then. */
bool la_os_grants_tiles(void)
{
#ifdef __x86_64__
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XTILEDATA) == 0;
#else
    return false;
#endif
}

/* Early after boot there may be none. */
bool la_os_random(void *out, size_t n)
{
    return getrandom(out, n, GRND_NONBLOCK) == (ssize_t)n;
}

/* Memory mapped before and behind the aligned block goes back. */
void *la_os_map(size_t size, size_t huge)
{
    size_t reserved = size + huge;
    char *p = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    size_t head = -(uintptr_t)p & (huge - 1);
    size_t tail = reserved - head - size;
    if (head) munmap(p, head);
    if (tail) munmap(p + head + size, tail);
    madvise(p + head, size, MADV_HUGEPAGE);
    return p + head;
}

/* A program that is linked statically has no loader: glibc's dlopen then brings
** a second libc, in which libraries with threads crash. */
void *la_os_library(const char *name)
{
    return getauxval(AT_BASE) ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
}

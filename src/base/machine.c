/* How many threads make sense: affinity mask, then the cgroup's CPU quota. */
#define _GNU_SOURCE
#include "base/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int from_affinity(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
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

int la_machine_threads(void)
{
    int n = from_affinity();
    n = smaller(n, from_own_cgroup2());
    n = smaller(n, from_cgroup2(""));
    n = smaller(n, from_cgroup1());
    return n > 0 ? n : 1;
}

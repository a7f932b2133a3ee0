/* The library of LAPACK, opened once and never closed. */
#include "op/linalg/lapack_library.h"
#include "base/once.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/runtime/context.h"
#include "base/runtime/parts.h"
#include "base/os/os.h"

/* State of the process, as a library can be opened once for all: written by
** open_library, read after la_run_once. What a host does to its environment
** later changes nothing. It stays open, because OpenBLAS has
** threads of its own that must not lose their code. */
static la_once once = LA_ONCE;
static atomic_flag taken = ATOMIC_FLAG_INIT;
static void *library;
static bool chosen;         /* by LUNARRAY_LAPACK, found or not */
static const char *found_as = "none";
static bool narrow;          /* its integers have 32 bits */
static bool locks = true;

/* Data and functions are converted by memcpy, as ISO C has no cast. */
static la_lapack_fn symbol(const char *name)
{
    la_lapack_fn fn = NULL;
    void *at = library ? la_os_symbol(library, name) : NULL;
    memcpy(&fn, &at, sizeof at);
    return fn;
}

/* The version is written to integers that begin as -1: 32 bits leave the upper
** half as it is. */
static bool has_narrow_integers(void)
{
    typedef void version_fn(int64_t *, int64_t *, int64_t *);
    int64_t v[3] = {-1, -1, -1};
    la_lapack_fn fn = symbol("ilaver_");
    if (!fn) return true;
    ((version_fn *)fn)(&v[0], &v[1], &v[2]);
    return v[0] < 0 || v[0] > 0xffff;
}

/* One thread per call of OpenBLAS: the threads of lunarray are the ones that
** share out a batch, and results do not depend on their number. A sequential
** OpenBLAS has no locks of its own, so calls are made one by one
** (la_lapack_try); the fork hook frees the flag in a child whose parent held
** it. */
static void open_library(void)
{
    const char *name = getenv("LUNARRAY_LAPACK");
    chosen = name && *name;
    if (chosen) library = la_os_library(name);
    if (!library) return;
    found_as = "LUNARRAY_LAPACK";
    narrow = has_narrow_integers();
    la_lapack_fn set = symbol("openblas_set_num_threads");
    if (set) ((void (*)(int))set)(1);
    la_lapack_fn parallel = symbol("openblas_get_parallel");
    locks = !parallel || ((int (*)(void))parallel)() != 0;
    if (!locks) la_os_at_fork(NULL, NULL, la_lapack_leave);
}

/* Symbols are looked up at each call: dlsym takes less than a microsecond,
** next to a factorization, and no table has to be kept. */
la_status la_lapack_find(const char *stem, char letter, la_lapack_fn *out)
{
    char name[32];
    la_run_once(&once, open_library);
    snprintf(name, sizeof name, "%c%s_", letter, stem);
    *out = symbol(name);
    if (*out) return LA_OK;
    static atomic_flag logged = ATOMIC_FLAG_INIT;
    if (!library && !atomic_flag_test_and_set(&logged))
        la_log(la_runtime_here(), LA_LOG_WARNING, "LUNARRAY_LAPACK: no such "
               "library was found");
    return la_error(LA_EKEY, "the library that LUNARRAY_LAPACK names %s: "
                    "unset it, then LAPACK is not needed", library
                    ? "has not all of LAPACK's routines" : "was not found");
}

bool la_lapack_chosen(void)
{
    if (la_ctx()->lockstep) return false;
    la_run_once(&once, open_library);
    return chosen;
}

const char *la_lapack_name(void)
{
    la_run_once(&once, open_library);
    return found_as;
}

bool la_lapack_has_locks(void)
{
    la_run_once(&once, open_library);
    return locks;
}

bool la_lapack_try(void)
{
    return locks || !atomic_flag_test_and_set(&taken);
}

void la_lapack_leave(void)
{
    if (!locks) atomic_flag_clear(&taken);
}

int64_t la_lapack_read(const la_lapack_int *array, int64_t i)
{
    if (!narrow) return array[i];
    int32_t value;
    memcpy(&value, (const char *)array + i * (int64_t)sizeof value,
           sizeof value);
    return value;
}

/*
** What differs between operating systems, apart from threads, which are POSIX's
** everywhere (winpthreads on Windows): os_linux.c, os_macos.c, os_wasm.c and
** os_windows.c, of which the build takes one; os_posix.c and os_unix.c for what
** some of them share.
*/
#ifndef LA_BASE_OS_OS_H
#define LA_BASE_OS_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The conventions of printf that formats follow: C99's, also where the system's
** own are others (the build asks for the C library's). */
#ifdef __MINGW32__
#define LA_PRINTF gnu_printf
#else
#define LA_PRINTF printf
#endif

/* "hidden": not a name for other libraries. */
#ifdef _WIN32
#define LA_HIDDEN
#else
#define LA_HIDDEN __attribute__((visibility("hidden")))
#endif

/* ---- the machine ---- */

/* Processors that this process may use, by its affinity and the quota of its
** control group; at least 1. */
int la_os_processors(void);
/* Bytes of the data cache of level 1 to 3; 0 when the system does not tell. */
size_t la_os_cache_bytes(int level);
/* May threads use AMX's tiles? Where the system must be asked, it is. */
bool la_os_grants_tiles(void);
/* Fill with random bytes of the system's, without waiting for them. */
bool la_os_random(void *out, size_t n);

/* ---- memory ---- */

/* Zeroed pages for a large block, aligned to 'huge' (a power of two) and made
** of pages of that size where the system has them; NULL. */
void *la_os_map(size_t size, size_t huge);
void la_os_unmap(void *block, size_t size);
/* aligned_alloc of 64 bytes. */
void *la_os_alloc(size_t size);
void la_os_free(void *block);
/* Pages of free blocks that the system's allocator keeps go back, where it can
** be asked to. */
void la_os_trim(void);

/* ---- threads ---- */

/* A thread that is made between the two gets no signals: these stay with the
** host's threads. */
typedef struct la_os_signals { uint64_t words[16]; } la_os_signals;
void la_os_block_signals(la_os_signals *old);
void la_os_restore_signals(const la_os_signals *old);
/* pthread_atfork; nothing where there is no fork. */
void la_os_at_fork(void (*before)(void), void (*parent)(void),
                   void (*child)(void));

/* ---- libraries ---- */

/* Load a shared library; NULL when it is not found. Never unloaded. */
void *la_os_library(const char *name);
/* The address of a function in it, or NULL. */
void *la_os_symbol(void *library, const char *name);

/* ---- files ---- */

typedef struct la_os_info {
    int64_t size;
    bool regular, folder;
    unsigned mode;
} la_os_info;

typedef enum la_os_way {
    LA_OS_READ,         /* a fifo without a writer does not wait */
    LA_OS_NO_LINK,      /* LA_OS_READ that fails for a symbolic link */
    LA_OS_NEW,          /* EEXIST where it is there; for writing */
    LA_OS_WRITE         /* what is there, a device */
} la_os_way;

/* Paths are UTF-8 on Windows and bytes elsewhere. Failures give -1 and errno,
** as their namesakes of POSIX do; la_os_read_at and la_os_write begin again
** when a signal interrupts them. */
enum { LA_OS_PATH = 4096 };
int la_os_open(const char *path, la_os_way way);
int la_os_close(int fd);
int la_os_info_of(int fd, la_os_info *out);
int la_os_info_at(const char *path, la_os_info *out);
int64_t la_os_read_at(int fd, void *out, size_t n, int64_t at);
int64_t la_os_write(int fd, const void *from, size_t n);
void la_os_set_mode(int fd, unsigned mode);
/* Atomic, and replaces the file of that name. */
int la_os_rename(const char *from, const char *to);
int la_os_remove(const char *path);
/* The path behind symbolic links, in 'out' of LA_OS_PATH bytes, or 'path'. */
const char *la_os_real_path(const char *path, char *out);
/* A number of this process, for names of temporary files. */
long la_os_process(void);
/* The reason of an errno. */
void la_os_reason(int code, char *out, size_t n);
/* The n bytes of a file, read-only and shared; NULL. Ends with la_os_unmap. */
void *la_os_map_file(int fd, size_t n);
void la_os_unmap_file(void *data, size_t n);

#endif

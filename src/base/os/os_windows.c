/*
** Windows (mingw-w64; threads are winpthreads). Paths are UTF-8 and go to the
** system as UTF-16.
*/
#define WIN32_LEAN_AND_MEAN
#include "base/os/os.h"
#include "base/os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include <ntsecapi.h>       /* RtlGenRandom; after windows.h */

/* ---- the machine ---- */

int la_os_processors(void)
{
    DWORD_PTR own, all;
    int n = 0;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all)) return 1;
    for (; own; own &= own - 1) n++;
    return n > 0 ? n : 1;
}

size_t la_os_cache_bytes(int level)
{
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION list[256];
    DWORD bytes = sizeof list;
    if (!GetLogicalProcessorInformation(list, &bytes)) return 0;
    for (size_t i = 0; i < bytes / sizeof *list; i++)
        if (list[i].Relationship == RelationCache
            && list[i].Cache.Level == level
            && list[i].Cache.Type != CacheInstruction)
            return list[i].Cache.Size;
    return 0;
}

bool la_os_grants_tiles(void) { return false; }

bool la_os_random(void *out, size_t n)
{
    return n <= ULONG_MAX && RtlGenRandom(out, (ULONG)n);
}

/* ---- memory ---- */

/* Pages are aligned to 64 KiB; more cannot be asked for before Windows 10, and
** large pages need a privilege. */
void *la_os_map(size_t size, size_t huge)
{
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
void la_os_unmap(void *block, size_t size)
{
    VirtualFree(block, 0, MEM_RELEASE);
}
void *la_os_alloc(size_t size) { return _aligned_malloc(size, 64); }
void la_os_free(void *block) { _aligned_free(block); }
void la_os_trim(void) { _heapmin(); }

/* ---- threads: no signals, no fork ---- */

void la_os_block_signals(la_os_signals *old) { memset(old, 0, sizeof *old); }
void la_os_restore_signals(const la_os_signals *old) {}
void la_os_at_fork(void (*before)(void), void (*parent)(void),
                   void (*child)(void)) {}

/* ---- paths ---- */

/* UTF-16 of a path, or an empty one and errno. */
static const wchar_t *windows_wide(const char *path, wchar_t *out)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, out,
                            LA_OS_PATH)) return out;
    errno = EINVAL;
    return NULL;
}

/* Error of the system's own functions. */
static int failed(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND: case ERROR_PATH_NOT_FOUND:
        errno = ENOENT;
        break;
    case ERROR_ACCESS_DENIED: case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    case ERROR_DISK_FULL:
        errno = ENOSPC;
        break;
    default:
        errno = EIO;
    }
    return -1;
}

/* ---- libraries ---- */

void *la_os_library(const char *name)
{
    wchar_t path[LA_OS_PATH];
    return windows_wide(name, path) ? (void *)LoadLibraryW(path) : NULL;
}

/* Data and functions are converted by memcpy, as ISO C has no cast. */
void *la_os_symbol(void *library, const char *name)
{
    void *at;
    FARPROC fn = GetProcAddress(library, name);
    memcpy(&at, &fn, sizeof at);
    return at;
}

/* ---- files ---- */

static bool windows_is_link(const wchar_t *name)
{
    DWORD attributes = GetFileAttributesW(name);
    if (attributes == INVALID_FILE_ATTRIBUTES
        || !(attributes & FILE_ATTRIBUTE_REPARSE_POINT)) return false;
    errno = EINVAL;
    return true;
}

int la_os_open(const char *path, la_os_way way)
{
    static const int flags[] = {
        [LA_OS_READ] = _O_RDONLY,
        [LA_OS_NO_LINK] = _O_RDONLY,
        [LA_OS_NEW] = _O_WRONLY | _O_CREAT | _O_EXCL,
        [LA_OS_WRITE] = _O_WRONLY
    };
    wchar_t name[LA_OS_PATH];
    if (!windows_wide(path, name)) return -1;
    if (way == LA_OS_NO_LINK && windows_is_link(name)) return -1;
    return _wopen(name, flags[way] | _O_BINARY | _O_NOINHERIT,
                  _S_IREAD | _S_IWRITE);
}

int la_os_close(int fd) { return _close(fd); }

static int windows_info(int status, const struct _stat64 *st, la_os_info *out)
{
    if (status) return -1;
    *out = (la_os_info){st->st_size, (st->st_mode & _S_IFMT) == _S_IFREG,
                        (st->st_mode & _S_IFMT) == _S_IFDIR,
                        st->st_mode & (_S_IREAD | _S_IWRITE)};
    return 0;
}

int la_os_info_of(int fd, la_os_info *out)
{
    struct _stat64 st;
    return windows_info(_fstat64(fd, &st), &st, out);
}

int la_os_info_at(const char *path, la_os_info *out)
{
    struct _stat64 st;
    wchar_t name[LA_OS_PATH];
    if (!windows_wide(path, name)) return -1;
    return windows_info(_wstat64(name, &st), &st, out);
}

/* Reads at a position of its own, so that threads may share the file. */
int64_t la_os_read_at(int fd, void *out, size_t n, int64_t at)
{
    OVERLAPPED where = {.Offset = (DWORD)at, .OffsetHigh = (DWORD)(at >> 32)};
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    DWORD got, want = n < (1u << 30) ? (DWORD)n : 1u << 30;
    if (ReadFile(file, out, want, &got, &where)) return got;
    return GetLastError() == ERROR_HANDLE_EOF ? 0 : failed();
}

int64_t la_os_write(int fd, const void *from, size_t n)
{
    return _write(fd, from, n < (1u << 30) ? (unsigned)n : 1u << 30);
}

/* A new file gets its rights from its folder. */
void la_os_set_mode(int fd, unsigned mode) {}

int la_os_rename(const char *from, const char *to)
{
    wchar_t old[LA_OS_PATH], new[LA_OS_PATH];
    if (!windows_wide(from, old) || !windows_wide(to, new)) return -1;
    return MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING) ? 0 : failed();
}

int la_os_remove(const char *path)
{
    wchar_t name[LA_OS_PATH];
    return windows_wide(path, name) ? _wunlink(name) : -1;
}

/* Symbolic links are rare and are replaced as they stand. */
const char *la_os_real_path(const char *path, char *out) { return path; }

long la_os_process(void) { return (long)_getpid(); }

void la_os_reason(int code, char *out, size_t n)
{
    if (strerror_s(out, n, code)) snprintf(out, n, "error %d", code);
}

/* The mapping object may go as soon as there is a view of it. */
void *la_os_map_file(int fd, size_t n)
{
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    HANDLE object = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!object) return NULL;
    void *data = MapViewOfFile(object, FILE_MAP_READ, 0, 0, n);
    CloseHandle(object);
    return data;
}

void la_os_unmap_file(void *data, size_t n) { UnmapViewOfFile(data); }

bool la_os_find_window(la_os_window *out)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    HANDLE handle = GetStdHandle(STD_OUTPUT_HANDLE);
    if (!GetConsoleScreenBufferInfo(handle, &info)) return false;
    out->columns = info.srWindow.Right - info.srWindow.Left + 1;
    out->rows = info.srWindow.Bottom - info.srWindow.Top + 1;
    out->width = out->height = 0;
    return true;
}

int la_os_ask_terminal(const char *query, size_t n, char *reply, size_t cap,
                       int milliseconds)
{
    return -1;
}

/* Code that systems after POSIX share: Linux, macOS, WebAssembly by
** emscripten. */
#define _GNU_SOURCE
#include "base/os/os.h"
#include "base/os/terminal.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

/* ---- memory ---- */

void *la_os_alloc(size_t size) { return aligned_alloc(64, size); }
void la_os_free(void *block) { free(block); }

void la_os_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* ---- threads ---- */

_Static_assert(sizeof(sigset_t) <= sizeof(la_os_signals), "a signal set fits");

void la_os_block_signals(la_os_signals *old)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    memcpy(old, &before, sizeof before);
}

void la_os_restore_signals(const la_os_signals *old)
{
    sigset_t before;
    memcpy(&before, old, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void la_os_at_fork(void (*before)(void), void (*parent)(void),
                   void (*child)(void))
{
    pthread_atfork(before, parent, child);
}

/* ---- files ---- */

int la_os_open(const char *path, la_os_way way)
{
    static const int flags[] = {
        [LA_OS_READ] = O_RDONLY | O_NONBLOCK,
        [LA_OS_NO_LINK] = O_RDONLY | O_NONBLOCK | O_NOFOLLOW,
        [LA_OS_NEW] = O_WRONLY | O_CREAT | O_EXCL,
        [LA_OS_WRITE] = O_WRONLY | O_NONBLOCK
    };
    return open(path, flags[way] | O_CLOEXEC, 0666);
}

int la_os_close(int fd) { return close(fd); }

static int posix_info(int status, const struct stat *st, la_os_info *out)
{
    if (status) return -1;
    *out = (la_os_info){st->st_size, S_ISREG(st->st_mode),
                        S_ISDIR(st->st_mode), st->st_mode & 07777};
    return 0;
}

int la_os_info_of(int fd, la_os_info *out)
{
    struct stat st;
    return posix_info(fstat(fd, &st), &st, out);
}

int la_os_info_at(const char *path, la_os_info *out)
{
    struct stat st;
    return posix_info(stat(path, &st), &st, out);
}

int64_t la_os_read_at(int fd, void *out, size_t n, int64_t at)
{
    ssize_t got;
    while ((got = pread(fd, out, n, (off_t)at)) < 0 && errno == EINTR) {}
    return got;
}

int64_t la_os_write(int fd, const void *from, size_t n)
{
    ssize_t done;
    while ((done = write(fd, from, n)) < 0 && errno == EINTR) {}
    return done;
}

void la_os_set_mode(int fd, unsigned mode) { (void)!fchmod(fd, mode); }

int la_os_rename(const char *from, const char *to) { return rename(from, to); }
int la_os_remove(const char *path) { return unlink(path); }

const char *la_os_real_path(const char *path, char *out)
{
    char *real = realpath(path, NULL);
    if (!real || strlen(real) >= LA_OS_PATH) {
        free(real);
        return path;
    }
    strcpy(out, real);
    free(real);
    return out;
}

long la_os_process(void) { return (long)getpid(); }

/* GNU's strerror_r and POSIX's differ in what they return. */
static void take_reason(const char *said, char *out, size_t n)
{
    if (said && said != out) snprintf(out, n, "%s", said);
}
static void note_status(int status, int code, char *out, size_t n)
{
    if (status) snprintf(out, n, "error %d", code);
}

void la_os_reason(int code, char *out, size_t n)
{
    *out = '\0';
#ifdef __GLIBC__
    take_reason(strerror_r(code, out, n), out, n);
    (void)note_status;
#else
    note_status(strerror_r(code, out, n), code, out, n);
    (void)take_reason;
#endif
}

/* Pages come from the page cache, and a process that writes the file is seen,
** as NumPy's mmap_mode='r' shows it. */
void *la_os_map_file(int fd, size_t n)
{
    void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

void la_os_unmap_file(void *data, size_t n) { munmap(data, n); }

/* ---- the terminal ---- */

static int number_in(const char *name, int otherwise)
{
    const char *text = getenv(name);
    long n = text ? strtol(text, NULL, 10) : 0;
    return n > 0 && n <= 10000 ? (int)n : otherwise;
}

bool la_os_find_window(la_os_window *out)
{
    struct winsize w = {0};
    if (!isatty(STDOUT_FILENO)) return false;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w)) memset(&w, 0, sizeof w);
    out->columns = w.ws_col ? w.ws_col : number_in("COLUMNS", 80);
    out->rows = w.ws_row ? w.ws_row : number_in("LINES", 24);
    out->width = w.ws_xpixel;
    out->height = w.ws_ypixel;
    return true;
}

/* Bytes of the answer as they come, each wait as long as the first may be. */
static int read_answer(int fd, char *reply, size_t cap, int milliseconds)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    size_t n = 0;
    while (n < cap && poll(&wait, 1, milliseconds) > 0) {
        if (read(fd, reply + n, 1) != 1) break;
        if (reply[n++] == 'c') break;
    }
    return (int)n;
}

/* Neither echo nor lines while it answers; a job in the background would be
** stopped for that, so it does not ask. */
int la_os_ask_terminal(const char *query, size_t n, char *reply, size_t cap,
                       int milliseconds)
{
    struct termios before, raw;
    int length = -1, fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return -1;
    if (tcgetpgrp(fd) == getpgrp() && !tcgetattr(fd, &before)) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        if (!tcsetattr(fd, TCSANOW, &raw)) {
            if (write(fd, query, n) == (ssize_t)n)
                length = read_answer(fd, reply, cap, milliseconds);
            tcsetattr(fd, TCSANOW, &before);
        }
    }
    close(fd);
    return length;
}

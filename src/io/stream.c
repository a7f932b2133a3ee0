/* Files, read whole or in part, and written under a temporary name. */
#include "io/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/pool.h"

enum { PIECE = 4 << 20, SHOWN = 256 };  /* bytes between looks at Ctrl-C */

/* ---- messages ---- */

static la_status fail_with(const char *doing, const char *path, int code)
{
    char reason[128] = "unknown reason", shown[SHOWN * 4];
    if (strerror_r(code, reason, sizeof reason))
        snprintf(reason, sizeof reason, "error %d", code);
    return la_error(LA_EIO, "cannot %s '%s': %s", doing,
                    la_quote(path, strlen(path), shown, sizeof shown), reason);
}

static la_status truncated(int64_t size)
{
    return la_error(LA_EIO, "truncated at byte %lld", (long long)size);
}

/* ---- sources ---- */

static la_status check_kind(const char *path, const struct stat *st)
{
    char shown[SHOWN * 4];
    if (S_ISREG(st->st_mode)) return LA_OK;
    if (S_ISDIR(st->st_mode)) return fail_with("read", path, EISDIR);
    return la_error(LA_EIO, "cannot read '%s': it is not a regular file",
                    la_quote(path, strlen(path), shown, sizeof shown));
}

/* O_NONBLOCK: opening a fifo without a writer must not wait. */
la_status la_reader_open(const char *path, la_reader *out)
{
    struct stat st;
    *out = (la_reader){.fd = -1, .path = path};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail_with("open", path, errno);
    la_status status = fstat(fd, &st) ? fail_with("read", path, errno)
                                      : check_kind(path, &st);
    if (status) {
        close(fd);
        return status;
    }
    out->fd = fd;
    out->size = st.st_size;
    return LA_OK;
}

void la_reader_of_memory(const void *bytes, size_t n, la_reader *out)
{
    static const char nothing[1];
    *out = (la_reader){.memory = n ? bytes : nothing, .fd = -1,
                       .size = (int64_t)n};
}

la_status la_reader_of_source(const la_source *source, la_reader *out)
{
    *out = (la_reader){.fd = -1, .host = source};
    if (!source->read || source->length < 0)
        return la_error(LA_EARG, "a source needs a length and a function that "
                        "reads");
    out->size = source->length;
    return LA_OK;
}

/* What a callback of the host's said by la_fail, else a text of ours. */
static la_status host_failed(const char *doing, int64_t at)
{
    if (la_error_status()) return la_error_status();
    return la_error(LA_EIO, "the host failed to %s at byte %lld", doing,
                    (long long)at);
}

/* Callbacks run with the thread's own settings and without a record; what they
** make current by running a script is undone. */
static int64_t ask_host(const la_source *s, int64_t at, void *out, size_t n)
{
    LA_ENTRY(NULL);
    return s->read(s->context, at, out, (int64_t)n);
}

static int give_host(const la_sink *s, const void *from, size_t n)
{
    LA_ENTRY(NULL);
    return s->write(s->context, from, n);
}

/* A callback may give less than it was asked for, not nothing and not more. */
static la_status read_host(const la_reader *s, int64_t at, char *out, size_t n)
{
    while (n) {
        int64_t got = ask_host(s->host, at, out, n);
        if (got < 0) return host_failed("read", at);
        if (got == 0) return truncated(at);
        if (got > (int64_t)n)
            return la_error(LA_EIO, "the host read %lld bytes, %lld were asked "
                            "for", (long long)got, (long long)n);
        out += got;
        at += got;
        n -= (size_t)got;
    }
    return LA_OK;
}

void la_reader_close(la_reader *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

/* One piece; short reads and interrupted ones are taken up again. */
static la_status read_piece(const la_reader *s, int64_t at, char *out, size_t n)
{
    while (n) {
        ssize_t got = pread(s->fd, out, n, at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_with("read", s->path, errno);
        if (got == 0) return truncated(at);  /* it shrank meanwhile */
        out += got;
        at += got;
        n -= (size_t)got;
    }
    return LA_OK;
}

/* In pieces, so that Ctrl-C ends a long read; the range is checked against the
** size at opening, which is what the headers were checked with. */
la_status la_reader_read(const la_reader *s, int64_t at, void *out, size_t n)
{
    char *to = out;
    if (at < 0 || at > s->size || n > (uint64_t)(s->size - at))
        return truncated(s->size);
    while (n) {
        size_t piece = n < PIECE ? n : PIECE;
        LA_TRY(la_poll());
        if (s->memory) memcpy(to, s->memory + at, piece);
        else if (s->host) LA_TRY(read_host(s, at, to, piece));
        else LA_TRY(read_piece(s, at, to, piece));
        to += piece;
        at += (int64_t)piece;
        n -= piece;
    }
    return LA_OK;
}

/* The stream of a part of a source: a read beyond its end is an error, never a
** short count. */
static la_status read_range(la_stream *stream, void *out, size_t n)
{
    la_range_stream *r = (la_range_stream *)stream;
    if (n > (uint64_t)stream->left) return truncated(r->at + stream->left);
    LA_TRY(la_reader_read(r->source, r->at, out, n));
    r->at += (int64_t)n;
    stream->left -= (int64_t)n;
    return LA_OK;
}

void la_range_stream_init(la_range_stream *r, const la_reader *source,
                          int64_t begin, int64_t end)
{
    *r = (la_range_stream){.stream = {.read = read_range, .left = end - begin},
                           .source = source, .at = begin};
}

/* ---- sinks ---- */

static char *copy_text(const char *text, const char *more, size_t *bytes)
{
    *bytes = strlen(text) + strlen(more) + 1;
    char *copy = la_mem_alloc(*bytes);
    if (copy) snprintf(copy, *bytes, "%s%s", text, more);
    return copy;
}

/* The file behind symbolic links is what gets replaced, not the link. */
static char *real_target(const char *path, size_t *bytes)
{
    char real[PATH_MAX];
    return copy_text(realpath(path, real) ? real : path, "", bytes);
}

/* A new file in the folder of the target, as rename cannot move one to another
** file system, with the mode of the target if that exists. */
static la_status open_temporary(la_writer *s, const struct stat *old)
{
    static _Atomic unsigned counter;
    for (int tries = 0; tries < 100; tries++) {
        char suffix[48];
        snprintf(suffix, sizeof suffix, ".%ld-%u.tmp", (long)getpid(),
                 counter++);
        la_mem_free(s->temporary, s->temporary_bytes);
        s->temporary = copy_text(s->path, suffix, &s->temporary_bytes);
        if (!s->temporary) return LA_ENOMEM;
        s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     0666);
        if (s->fd >= 0) {
            if (old) (void)!fchmod(s->fd, old->st_mode & 07777);
            return LA_OK;
        }
        if (errno != EEXIST) break;
    }
    la_status status = fail_with("create", s->path, errno);
    la_mem_free(s->temporary, s->temporary_bytes);
    s->temporary = NULL;
    return status;
}

la_status la_writer_open(const char *path, la_writer *out)
{
    struct stat st;
    *out = (la_writer){.fd = -1};
    out->path = real_target(path, &out->path_bytes);
    if (!out->path) return LA_ENOMEM;
    bool exists = stat(out->path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return fail_with("write", path, EISDIR);
    if (!exists || S_ISREG(st.st_mode))
        return open_temporary(out, exists ? &st : NULL);
    out->direct = true;
    out->fd = open(out->path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    return out->fd < 0 ? fail_with("open", path, errno) : LA_OK;
}

la_status la_writer_to_sink(const la_sink *sink, la_writer *out)
{
    *out = (la_writer){.fd = -1, .host = sink};
    return sink->write ? LA_OK : la_error(LA_EARG, "a sink needs a function "
                                          "that writes");
}

static la_status write_host(la_writer *s, const char *from, size_t n)
{
    if (give_host(s->host, from, n))
        return host_failed("write", s->at);
    s->at += (int64_t)n;
    return LA_OK;
}

/* write may take less than it was given (a full disk, a signal): the rest is
** tried again until an error says why. */
static la_status write_piece(la_writer *s, const char *from, size_t n)
{
    while (n) {
        ssize_t done = write(s->fd, from, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_with("write", s->path, errno);
        from += done;
        n -= (size_t)done;
        s->at += done;
    }
    return LA_OK;
}

la_status la_writer_write(la_writer *s, const void *bytes, size_t n)
{
    const char *from = bytes;
    while (n) {
        size_t piece = n < PIECE ? n : PIECE;
        LA_TRY(la_poll());
        LA_TRY(s->host ? write_host(s, from, piece)
                       : write_piece(s, from, piece));
        from += piece;
        n -= piece;
    }
    return LA_OK;
}

/* Some file systems report a failed write only at close: its status decides
** whether the old file is replaced. */
la_status la_writer_commit(la_writer *s)
{
    int closed = close(s->fd);
    s->fd = -1;
    if (closed) return fail_with("write", s->path, errno);
    if (s->direct) return LA_OK;
    if (rename(s->temporary, s->path))
        return fail_with("rename to", s->path, errno);
    la_mem_free(s->temporary, s->temporary_bytes);
    s->temporary = NULL;
    return LA_OK;
}

void la_writer_close(la_writer *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    if (s->temporary) {
        unlink(s->temporary);
        la_mem_free(s->temporary, s->temporary_bytes);
        s->temporary = NULL;
    }
    la_mem_free(s->path, s->path_bytes);
    s->path = NULL;
}

/* Files, read whole or in part, and written under a temporary name. */
#include "io/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtime/host_call.h"
#include "base/runtime/interrupt.h"
#include "base/runtime/memory.h"
#include "base/os/os.h"
#include "base/runtime/thread_pool.h"
#include "lunarray.h"

enum { PIECE = 4 << 20, SHOWN = 256 };  /* bytes between looks at Ctrl-C */

/* ---- messages ---- */

static la_status fail_with(const char *doing, const char *path, int code)
{
    char reason[128], shown[SHOWN * 4];
    la_os_reason(code, reason, sizeof reason);
    return la_error(LA_EIO, "cannot %s '%s': %s", doing,
                    la_quote(path, strlen(path), shown, sizeof shown), reason);
}

static la_status truncated(int64_t size)
{
    return la_error(LA_EIO, "truncated at byte %lld", (long long)size);
}

/* ---- sources ---- */

static la_status check_kind(const char *path, const la_os_info *info)
{
    char shown[SHOWN * 4];
    if (info->regular) return LA_OK;
    if (info->folder) return fail_with("read", path, EISDIR);
    return la_error(LA_EIO, "cannot read '%s': it is not a regular file",
                    la_quote(path, strlen(path), shown, sizeof shown));
}

static la_status open_reader(const char *path, la_os_way way, la_reader *out)
{
    la_os_info info;
    *out = (la_reader){.fd = -1, .path = path};
    int fd = la_os_open(path, way);
    if (fd < 0) return fail_with("open", path, errno);
    la_status status = la_os_info_of(fd, &info)
        ? fail_with("read", path, errno) : check_kind(path, &info);
    if (status) {
        la_os_close(fd);
        return status;
    }
    out->fd = fd;
    out->size = info.size;
    return LA_OK;
}

la_status la_reader_open(const char *path, la_reader *out)
{
    return open_reader(path, LA_OS_READ, out);
}

la_status la_reader_open_plain(const char *path, la_reader *out)
{
    return open_reader(path, LA_OS_NO_LINK, out);
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

void la_source_close(const la_source *source)
{
    la_host_call call;
    if (!source->close) return;
    la_host_begin(&call);
    source->close(source->context);
    la_host_end(&call);
}

/* Error that a callback of the host's set by la_fail, else a text of ours. */
static la_status host_failed(const char *doing, int64_t at)
{
    if (la_error_status()) return la_error_status();
    return la_error(LA_EIO, "the host failed to %s at byte %lld", doing,
                    (long long)at);
}

/* Callbacks run with the thread's own settings and without a record; what they
** make current by running a script is undone. */
static int64_t stream_ask_host(const la_source *s, int64_t at, void *out,
                               size_t n)
{
    la_host_call call;
    la_host_begin(&call);
    int64_t got = s->read(s->context, at, out, (int64_t)n);
    la_host_end_with(&call, got <= 0);
    return got;
}

static int stream_give_host(const la_sink *s, const void *from, size_t n)
{
    la_host_call call;
    la_host_begin(&call);
    return la_host_end_with(&call, s->write(s->context, from, n));
}

/* A callback may give less than it was asked for, not nothing and not more. */
static la_status read_host(const la_reader *s, int64_t at, char *out, size_t n)
{
    while (n) {
        int64_t got = stream_ask_host(s->host, at, out, n);
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
    if (s->fd >= 0) la_os_close(s->fd);
    s->fd = -1;
}

/* One piece; short reads are taken up again. */
static la_status stream_read_piece(const la_reader *s, int64_t at, char *out,
                                   size_t n)
{
    while (n) {
        int64_t got = la_os_read_at(s->fd, out, n, at);
        if (got < 0) return fail_with("read", s->path, errno);
        if (got == 0) return truncated(at);  /* it shrank meanwhile */
        out += got;
        at += got;
        n -= (size_t)got;
    }
    return LA_OK;
}

/* Reads in pieces, so that Ctrl-C ends a long read; the range is checked
** against the size at opening, which is what the headers were checked with. */
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
        else LA_TRY(stream_read_piece(s, at, to, piece));
        to += piece;
        at += (int64_t)piece;
        n -= piece;
    }
    return LA_OK;
}

/* The stream of a part of a source: a read beyond its end is an error, never a
** short count. */
static la_status stream_read_range(la_stream *stream, void *out, size_t n)
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
    *r = (la_range_stream){.stream = {.read = stream_read_range,
                                      .left = end - begin},
                           .source = source, .at = begin};
}

/* ---- sinks ---- */

static char *stream_copy_text(const char *text, const char *more, size_t *bytes)
{
    *bytes = strlen(text) + strlen(more) + 1;
    char *copy = la_mem_alloc(*bytes);
    if (copy) snprintf(copy, *bytes, "%s%s", text, more);
    return copy;
}

/* The file behind symbolic links is what gets replaced, not the link. */
static char *real_target(const char *path, size_t *bytes)
{
    char real[LA_OS_PATH];
    return stream_copy_text(la_os_real_path(path, real), "", bytes);
}

/* A new file in the folder of the target, as rename cannot move one to another
** file system, with the mode of the target if that exists. */
static la_status open_temporary(la_writer *s, const la_os_info *old)
{
    static _Atomic unsigned counter;
    for (int tries = 0; tries < 100; tries++) {
        char suffix[48];
        snprintf(suffix, sizeof suffix, ".%ld-%u.tmp", la_os_process(),
                 counter++);
        la_mem_free(s->temporary, s->temporary_bytes);
        s->temporary = stream_copy_text(s->path, suffix, &s->temporary_bytes);
        if (!s->temporary) return LA_ENOMEM;
        s->fd = la_os_open(s->temporary, LA_OS_NEW);
        if (s->fd >= 0) {
            if (old) la_os_set_mode(s->fd, old->mode);
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
    la_os_info info;
    *out = (la_writer){.fd = -1};
    out->path = real_target(path, &out->path_bytes);
    if (!out->path) return LA_ENOMEM;
    bool exists = la_os_info_at(out->path, &info) == 0;
    if (exists && info.folder)
        return fail_with("write", path, EISDIR);
    if (!exists || info.regular)
        return open_temporary(out, exists ? &info : NULL);
    out->direct = true;
    out->fd = la_os_open(out->path, LA_OS_WRITE);
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
    if (stream_give_host(s->host, from, n))
        return host_failed("write", s->at);
    s->at += (int64_t)n;
    return LA_OK;
}

/* A system may take less than it was given (a full disk): the rest is tried
** again until an error says why. */
static la_status stream_write_piece(la_writer *s, const char *from, size_t n)
{
    while (n) {
        int64_t done = la_os_write(s->fd, from, n);
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
                       : stream_write_piece(s, from, piece));
        from += piece;
        n -= piece;
    }
    return LA_OK;
}

/* Some file systems report a failed write only at close: its status decides
** whether the old file is replaced. */
la_status la_writer_commit(la_writer *s)
{
    int closed = la_os_close(s->fd);
    s->fd = -1;
    if (closed) return fail_with("write", s->path, errno);
    if (s->direct) return LA_OK;
    if (la_os_rename(s->temporary, s->path))
        return fail_with("rename to", s->path, errno);
    la_mem_free(s->temporary, s->temporary_bytes);
    s->temporary = NULL;
    return LA_OK;
}

void la_writer_close(la_writer *s)
{
    if (s->fd >= 0) la_os_close(s->fd);
    s->fd = -1;
    if (s->temporary) {
        la_os_remove(s->temporary);
        la_mem_free(s->temporary, s->temporary_bytes);
        s->temporary = NULL;
    }
    la_mem_free(s->path, s->path_bytes);
    s->path = NULL;
}

la_status la_check_limit(int64_t bytes, int64_t limit)
{
    if (limit == 0 || bytes <= limit) return LA_OK;
    return la_error(LA_EIO, "it holds %lld bytes, more than the limit of %lld: "
                    "{limit = bytes} sets another", (long long)bytes,
                    (long long)limit);
}

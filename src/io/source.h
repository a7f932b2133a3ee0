/*
** Where bytes come from and go to. A source has a known size and is read at
** any offset; a stream is read once, from front to back. Errors name the byte
** where the input ended, or give the system's reason.
*/
#ifndef LA_IO_SOURCE_H
#define LA_IO_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct la_source {
    const char *memory;     /* or NULL: the file */
    int fd;
    int64_t size;
    const char *path;       /* for messages; borrowed; NULL for memory */
} la_source;

/* Open a regular file; anything else (directory, fifo, device) is LA_EIO. The
** path is borrowed for as long as the source is open. */
la_status la_source_open(const char *path, la_source *out);
/* Bytes in memory, borrowed; nothing to close. */
void la_source_of_memory(const void *bytes, size_t n, la_source *out);
void la_source_close(la_source *);
#define LA_SOURCE __attribute__((cleanup(la_source_close))) la_source

/* All of the 'n' bytes at 'at'; "truncated at byte k" when there are fewer. */
la_status la_source_read(const la_source *, int64_t at, void *out, size_t n);

typedef struct la_stream la_stream;
struct la_stream {
    /* All of the next 'n' bytes, or LA_EIO ("truncated ..."): never fewer. */
    la_status (*read)(la_stream *, void *out, size_t n);
    int64_t left;           /* bytes that are still to come */
};

/* The bytes begin..end-1 of a source, which is borrowed. */
typedef struct la_range_stream {
    la_stream stream;
    const la_source *source;
    int64_t at;
} la_range_stream;
void la_range_stream_init(la_range_stream *, const la_source *, int64_t begin,
                          int64_t end);

/* A file that is being written. It gets its name when all is written, so that
** an old file of that name stays whole until then. Devices are written to
** directly. */
typedef struct la_sink {
    int fd;
    bool direct;
    int64_t at;             /* bytes written */
    char *temporary, *path; /* of la_mem_alloc */
    size_t temporary_bytes, path_bytes;
} la_sink;
/* Create the temporary file in the folder of 'path'. LA_EIO with the reason of
** the system; afterwards la_sink_close is due, committed or not. */
la_status la_sink_open(const char *path, la_sink *out);
/* Append all of the bytes. LA_EIO, or LA_EINTR after a piece (Ctrl-C). */
la_status la_sink_write(la_sink *, const void *bytes, size_t n);
/* Close the file and rename it to its target, replacing an old one. */
la_status la_sink_commit(la_sink *);
/* Without a commit before: the temporary file goes. */
void la_sink_close(la_sink *);
#define LA_SINK __attribute__((cleanup(la_sink_close))) la_sink

#endif

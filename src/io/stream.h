/*
** Where bytes come from and go to. A source has a known size and is read at
** any offset; a stream is read once, from front to back. Errors name the byte
** where the input ended, or give the system's reason.
*/
#ifndef LA_IO_STREAM_H
#define LA_IO_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "lunarray.h"

typedef struct la_reader {
    const char *memory;     /* or NULL: the file */
    const la_source *host;  /* or the host's callback; borrowed */
    int fd;
    int64_t size;
    const char *path;       /* for messages; borrowed; NULL for memory */
} la_reader;

/* Open a regular file; anything else (directory, fifo, device) is LA_EIO. The
** path is borrowed for as long as the source is open. */
la_status la_reader_open(const char *path, la_reader *out);
/* la_reader_open that fails for a symbolic link. */
la_status la_reader_open_plain(const char *path, la_reader *out);
/* Bytes in memory, borrowed; nothing to close. */
void la_reader_of_memory(const void *bytes, size_t n, la_reader *out);
/* A host's source, of a fixed length; closed by whoever was given it. LA_EARG
** without a callback or a length. */
la_status la_reader_of_source(const la_source *source, la_reader *out);
/* The source's 'close', where it has one; keeps the record of a failure from
** what the host does. */
void la_source_close(const la_source *source);
void la_reader_close(la_reader *);
#define LA_READER __attribute__((cleanup(la_reader_close))) la_reader

/* All of the 'n' bytes at 'at'; "truncated at byte k" when there are fewer. */
la_status la_reader_read(const la_reader *, int64_t at, void *out, size_t n);

typedef struct la_stream la_stream;
struct la_stream {
    /* All of the next 'n' bytes, or LA_EIO ("truncated ..."): never fewer. */
    la_status (*read)(la_stream *, void *out, size_t n);
    int64_t left;           /* bytes that are still to come */
};

/* The bytes begin..end-1 of a source, which is borrowed. */
typedef struct la_range_stream {
    la_stream stream;
    const la_reader *source;
    int64_t at;
} la_range_stream;
void la_range_stream_init(la_range_stream *, const la_reader *, int64_t begin,
                          int64_t end);

/* A file that is being written. It gets its name when all is written, so that
** an old file of that name stays whole until then. Devices are written to
** directly. */
typedef struct la_writer {
    const la_sink *host;    /* gets the bytes instead; borrowed */
    int fd;
    bool direct;
    int64_t at;             /* bytes written */
    char *temporary, *path; /* of la_mem_alloc */
    size_t temporary_bytes, path_bytes;
} la_writer;
/* Create the temporary file in the folder of 'path'. LA_EIO with the reason of
** the system; afterwards la_writer_close is due, committed or not. */
la_status la_writer_open(const char *path, la_writer *out);
/* To a host's callback; there is nothing to commit. LA_EARG without one. */
la_status la_writer_to_sink(const la_sink *sink, la_writer *out);
/* Append all of the bytes. LA_EIO, or LA_EINTR after a piece (Ctrl-C). */
la_status la_writer_write(la_writer *, const void *bytes, size_t n);
/* Close the file and rename it to its target, replacing an old one. */
la_status la_writer_commit(la_writer *);
/* Without a commit before: the temporary file goes. */
void la_writer_close(la_writer *);
#define LA_WRITER __attribute__((cleanup(la_writer_close))) la_writer

/* LA_EIO where a file holds more bytes than 'limit', if that is not 0. */
la_status la_check_limit(int64_t bytes, int64_t limit);

#endif

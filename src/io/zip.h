/* Inside of src/io: the parts of a zip file that .npz needs. */
#ifndef LA_IO_ZIP_H
#define LA_IO_ZIP_H

#include "io/stream.h"

/* Numbers of one or more bytes, the lowest first. */
static inline uint64_t la_little(const void *bytes, int n)
{
    const unsigned char *b = bytes;
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--) v = v << 8 | b[i];
    return v;
}
static inline void la_put_little(void *bytes, uint64_t v, int n)
{
    unsigned char *b = bytes;
    for (int i = 0; i < n; i++, v >>= 8) b[i] = (unsigned char)v;
}

enum { LA_ZIP_STORED = 0, LA_ZIP_DEFLATED = 8 };

/* A member, as the central directory tells it, checked against the file. */
typedef struct la_zip_member {
    const char *name;       /* into la_zip.directory */
    size_t n;
    int method;
    uint32_t crc;
    int64_t packed, size;   /* bytes in the file, bytes when unpacked */
    int64_t header, begin;  /* offsets of the local header and the data */
} la_zip_member;

typedef struct la_zip {
    const la_reader *source;
    char *directory;        /* owned */
    size_t directory_bytes;
    int64_t directory_at;
    la_zip_member *list;    /* owned; in the order of their offsets */
    int64_t n;
} la_zip;

/* Read the directory and check every member: no two overlap, none is
** encrypted or of another method, no size is beyond what can be in there. */
la_status la_zip_open(la_zip *, const la_reader *);
/* Release the directory; names of members end with it. May run twice. */
void la_zip_close(la_zip *);
#define LA_ZIP __attribute__((cleanup(la_zip_close))) la_zip

/* The unpacked bytes of a member; la_zip_finish checks that all were read and
** that their sum is right. */
typedef struct la_zip_stream {
    la_stream stream;
    const la_zip_member *member;
    la_range_stream packed;
    uint32_t crc;
    void *inflate;          /* zlib's state, or NULL for a stored member */
} la_zip_stream;
/* Begin to read a member of 'zip', which is borrowed. LA_ENOMEM. */
la_status la_zip_start(la_zip_stream *, const la_zip *,
                       const la_zip_member *);
/* LA_EIO where bytes are left or the checksum is wrong: until then what was
** read is not to be trusted. */
la_status la_zip_finish(la_zip_stream *);
/* Free zlib's state; needed after la_zip_start, also when that failed. */
void la_zip_stream_close(la_zip_stream *);

/* Sum of bytes, going on from 'crc' (0 at first). */
uint32_t la_zip_crc(uint32_t crc, const void *bytes, size_t n);
/* la_zip_crc of many bytes: *crc goes on over them; LA_EINTR. */
la_status la_zip_crc_polled(uint32_t *crc, const void *bytes, size_t n);

/* zlib's memory, of our allocator. */
void *la_zip_alloc(void *unused, unsigned items, unsigned size);
void la_zip_free(void *unused, void *address);

/* The n bytes of a gzip member of 'packed_size' bytes in memory, both below
** 4 GiB. LA_EIO when they are not as many. */
la_status la_gunzip(void *out, size_t n, const void *packed,
                    size_t packed_size);

#endif

/* Files from memory: every allocation fails once, every byte is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/runtime/memory.h"
#include "io/archive.h"
#include "io/npy.h"

/* A file's bytes, and the reader of its format. */
typedef la_status (*read_fn)(const la_reader *, la_archive *);
typedef struct sample {
    const char *name;
    read_fn read;
    char *bytes;
    size_t n;
} sample;

static la_status read_npy(const la_reader *s, la_archive *out)
{
    la_range_stream in;
    la_tensor *t = NULL;
    la_range_stream_init(&in, s, 0, s->size);
    LA_TRY(la_npy_read(&in.stream, &t));
    return la_archive_add(out, "x", 1, t);
}

static sample samples[] = {
    {"npy", read_npy, NULL, 0}, {"npz", la_npz_read, NULL, 0},
    {"safetensors", la_safetensors_read, NULL, 0}
};
enum { NSAMPLES = 3 };

static la_status write_piece(void *to, const void *bytes, size_t n)
{
    return la_writer_write(to, bytes, n);
}

static la_status make_tensors(la_archive *a)
{
    static const int64_t sizes[] = {3, 4, 2};
    static const la_dtype dtypes[] = {LA_FLOAT32, LA_BOOL, LA_COMPLEX64};
    for (int i = 0; i < 3; i++) {
        la_tensor *t = NULL;
        char name[16];
        LA_TRY(la_tensor_empty(i, sizes, dtypes[i], &t));
        memset(la_data(t), 1, (size_t)t->numel * la_itemsize(t));
        snprintf(name, sizeof name, "t%d", i);
        LA_TRY(la_archive_add(a, name, 2, t));
    }
    return LA_OK;
}

static la_status write_sample(int format, const char *path)
{
    LA_ARCHIVE a = {0};
    LA_WRITER out = {.fd = -1};
    LA_TRY(make_tensors(&a));
    LA_TRY(la_writer_open(path, &out));
    if (format == 0)
        LA_TRY(la_npy_write(a.list[2].tensor, write_piece, &out));
    else if (format == 1)
        LA_TRY(la_npz_write(&a, &out));
    else
        LA_TRY(la_safetensors_write(&a, &out));
    return la_writer_commit(&out);
}

static int make_samples(void **state)
{
    char path[] = "/tmp/lunarray_test_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return -1;
    close(fd);
    for (int i = 0; i < NSAMPLES; i++) {
        la_reader s;
        if (write_sample(i, path) || la_reader_open(path, &s)) return -1;
        samples[i].n = (size_t)s.size;
        samples[i].bytes = malloc(samples[i].n);
        if (la_reader_read(&s, 0, samples[i].bytes, samples[i].n)) return -1;
        la_reader_close(&s);
    }
    return unlink(path);
}

static int free_samples(void **state)
{
    for (int i = 0; i < NSAMPLES; i++) free(samples[i].bytes);
    return 0;
}

static la_status try_read(read_fn read, const char *bytes, size_t n)
{
    LA_ARCHIVE a = {0};
    la_reader s;
    la_reader_of_memory(bytes, n, &s);
    return read(&s, &a);
}

static void every_allocation_may_fail(void **state)
{
    for (int i = 0; i < NSAMPLES; i++) {
        size_t used = la_mem_stat().used;
        for (int forever = 0; forever < 2; forever++) {
            la_status status = LA_ENOMEM;
            for (int n = 1; status; n++) {
                la_mem_fail_at((uint64_t)n, forever);
                status = try_read(samples[i].read, samples[i].bytes,
                                  samples[i].n);
                la_mem_fail_at(0, false);
                assert_true(status == LA_OK || status == LA_ENOMEM);
                assert_int_equal(la_mem_stat().used, used);
                assert_in_range(n, 1, 100);
            }
        }
    }
}

static void every_length_is_refused(void **state)
{
    for (int i = 0; i < NSAMPLES; i++) {
        size_t used = la_mem_stat().used;
        for (size_t n = 0; n < samples[i].n; n++) {
            char *copy = malloc(n ? n : 1);  /* so that a sanitizer sees */
            memcpy(copy, samples[i].bytes, n);
            assert_int_equal(try_read(samples[i].read, copy, n), LA_EIO);
            free(copy);
        }
        assert_int_equal(la_mem_stat().used, used);
    }
}

static void every_byte_may_change(void **state)
{
    static const unsigned char values[] = {0, 1, 9, 32, 34, 39, 48, 57, 91, 123,
                                           127, 128, 255};
    for (int i = 0; i < NSAMPLES; i++) {
        size_t used = la_mem_stat().used;
        char *copy = malloc(samples[i].n);
        for (size_t k = 0; k < samples[i].n; k++)
            for (size_t v = 0; v < sizeof values; v++) {
                memcpy(copy, samples[i].bytes, samples[i].n);
                copy[k] = (char)values[v];
                la_status status = try_read(samples[i].read, copy,
                                            samples[i].n);
                assert_true(status == LA_OK || status == LA_EIO
                            || status == LA_ESHAPE || status == LA_ENOMEM);
            }
        free(copy);
        assert_int_equal(la_mem_stat().used, used);
    }
}

/* Pairs of changes find what single ones cannot. */
static void many_bytes_may_change(void **state)
{
    uint32_t x = 12345;
    for (int i = 0; i < NSAMPLES; i++) {
        size_t used = la_mem_stat().used, n = samples[i].n;
        char *copy = malloc(n);
        for (int round = 0; round < 30000; round++) {
            memcpy(copy, samples[i].bytes, n);
            for (int k = 0; k < 3; k++) {
                x = x * 1664525 + 1013904223;
                copy[(x >> 8) % n] = (char)(x >> 3);
            }
            try_read(samples[i].read, copy, n);
        }
        free(copy);
        assert_int_equal(la_mem_stat().used, used);
    }
}

static void writing_may_fail_at_every_allocation(void **state)
{
    char path[] = "/tmp/lunarray_test_XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < NSAMPLES; i++) {
        size_t used = la_mem_stat().used;
        la_status status = LA_ENOMEM;
        for (int n = 1; status; n++) {
            la_mem_fail_at((uint64_t)n, false);
            status = write_sample(i, path);
            la_mem_fail_at(0, false);
            assert_true(status == LA_OK || status == LA_ENOMEM);
            assert_int_equal(la_mem_stat().used, used);
        }
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_length_is_refused),
        cmocka_unit_test(every_byte_may_change),
        cmocka_unit_test(many_bytes_may_change),
        cmocka_unit_test(writing_may_fail_at_every_allocation)
    };
    return cmocka_run_group_tests(tests, make_samples, free_samples);
}

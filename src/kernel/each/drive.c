/*
** From a loop over two dims with any strides to cores over contiguous runs.
**
** drive() gives a core whole rows where strides allow, and packs operands in
** blocks through scratch where they do not: a transposed one in blocks of one
** cache line by as many rows as fit TILE_BYTES, the others in PACK_BYTES. So
** there is one body per operation and dtype, and an element's bits cannot
** depend on strides, position or counts.
**
**   drive        a single run: the core itself
**     run_rows     rows that are runs: the core once per row
**       run_streaming   the same for a large output, past the caches
**     run_blocks   everything else, block by block
**       run_block       pack what has to be packed, run, unpack the output
**   find_rows    short rows of structs, which some operations run themselves
**   run          the core on one run; repeated operands in copies, 16-bit
**                floats by run_half, in blocks that are widened to float
**
** Outputs that the caller has marked as large (la_params.stream) are written
** with streaming stores, fenced before drive() returns: by the core itself, or,
** when it can't, from a block in the first-level cache.
*/
#include "kernel/each/drive.h"

#include "base/scratch.h"
#include "kernel/index/index_loops.h"
#include "kernel/move/copy.h"

enum {
    PACK_BYTES = 4096,
    TILE_BYTES = 16384,
    TILE_LINE = 64,      /* bytes of a transposed row that are read at a time */
    SHORT_ROW = 64,      /* elements: shorter rows are packed together */
    HALF_BLOCK = 480     /* floats: 2 KB per operand. Operands are not multiples
                         ** of 4 KB apart; the core's arithmetic overlaps with
                         ** the misses of the next block's loads */
};

/* --- repeated operands --- */

/* A vector of copies of the element at 'p'. */
static inline i32v drive_repeated(const char *p, int size)
{
    char one[VEC_BYTES];
    uint16_t two;
    uint32_t four;
    uint64_t x;
    switch (size) {
    case 1: x = (uint8_t)*p * 0x0101010101010101u; break;
    case 2: memcpy(&two, p, 2); x = two * 0x0001000100010001u; break;
    case 4: memcpy(&four, p, 4); x = four * 0x0000000100000001u; break;
    case 8: memcpy(&x, p, 8); break;
    default:
        for (int i = 0; i < VEC_BYTES; i += 16) memcpy(one + i, p, 16);
        return i32_load(one);
    }
    return (i32v)i64_set1((int64_t)x);
}

/* n copies of the element at 'p', by whole vectors, at least two. */
static inline void repeat_element(char *to, const char *p, int64_t n, int size)
{
    i32v v = drive_repeated(p, size);
    i32_store(to, v);
    i32_store(to + VEC_BYTES, v);
#pragma GCC unroll 1
    for (int64_t at = 2 * VEC_BYTES; at < n * size; at += VEC_BYTES)
        i32_store(to + at, v);
}

static __attribute__((noinline))
void run_repeated(const core_info *c, char *const *data, unsigned repeat,
                  int64_t n, const la_params *params)
{
    char hold[MAX_INPUTS][REPEAT_BYTES] __attribute__((aligned(VEC_BYTES)));
    char *at[MAX_INPUTS + 1];
    int64_t copies = n < c->block ? n : c->block;
    at[0] = data[0];
    for (int k = 1; k <= c->ninputs; k++) {
        at[k] = data[k];
        if (!(repeat >> k & 1)) continue;
        at[k] = hold[k - 1];
        repeat_element(hold[k - 1], data[k], copies, c->size[k]);
    }
    c->run(at, repeat, n, params);
}

/* --- 16-bit floats through a core of floats --- */

#define LANE f16
#include "kernel/each/half_block.inc"
#define LANE bf16
#include "kernel/each/half_block.inc"

/* The core of float, or of complex64, on n elements that are stored as halves:
** widened, computed, narrowed block by block. So the result is rounded twice at
** most: by the operation and by the store. A core of vectors gets whole ones:
** its loads would have to wait for partial stores. A result that is no float
** keeps the order of elements, so they are widened in order for it. */
static __attribute__((noinline))
void run_half(const core_info *c, char *const *data, unsigned repeat, int64_t n,
              const la_params *params)
{
    float wide[MAX_INPUTS + 1][HALF_BLOCK] __attribute__((aligned(VEC_BYTES)));
    char *work[MAX_INPUTS + 1];
    const bool brain = c->storage == HALF_bf16;
    const int complex = c->size[1] == 4;
    const int64_t most = HALF_BLOCK >> complex;
    const int64_t beyond = c->vectors ? (F32_LANES >> complex) - 1 : 0;
    for (int64_t i = 0; i < n; i += most) {
        int64_t m = n - i < most ? n - i : most;
        for (int k = 1; k <= c->ninputs; k++) {
            bool one = repeat >> k & 1;
            int64_t count = (one ? 1 : m) << complex;
            const char *from = data[k] + (one ? 0 : i * c->size[k]);
            work[k] = (char *)wide[k];
            if (brain && c->wide_result) bf16_to_floats(wide[k], from, count);
            else if (brain) bf16_widen_block(wide[k], from, count);
            else f16_widen_block(wide[k], from, count);
            if (one) repeat_element(work[k], work[k], m < c->block ? m
                                    : c->block, 4 << complex);
        }
        char *out = data[0] + i * c->size[0];
        work[0] = c->wide_result ? out : (char *)wide[0];
        c->run(work, repeat & ~STREAM, (m + beyond) & ~beyond, params);
        if (c->wide_result) continue;
        int64_t count = m * c->size[0] / 2;
        if (brain) bf16_narrow_block(out, wide[0], count);
        else f16_narrow_block(out, wide[0], count);
    }
}

/* --- truth values, and complex numbers by their parts --- */

/* A core of bytes on the truth values of n elements, block by block. */
static __attribute__((noinline))
void run_truths(const core_info *c, char *const *data, unsigned repeat,
                int64_t n, const la_params *params)
{
    char bytes[2][REPEAT_BYTES] __attribute__((aligned(VEC_BYTES)));
    char *work[MAX_INPUTS + 1];
    la_truth truth = LA_OWN_TABLE(truths)[c->storage - TRUTH_OF];
    for (int64_t i = 0; i < n; i += REPEAT_BYTES) {
        int64_t m = n - i < REPEAT_BYTES ? n - i : REPEAT_BYTES;
        for (int k = 1; k <= c->ninputs; k++) {
            bool one = repeat >> k & 1;
            work[k] = bytes[k - 1];
            truth((uint8_t *)work[k], data[k] + (one ? 0 : i * c->size[k]),
                  c->size[k], one ? 1 : m);
            if (one) repeat_element(work[k], work[k], m, 1);
        }
        work[0] = data[0] + i;
        c->run(work, repeat & ~STREAM, m, params);
    }
}

/* out[i] = pair[2 * i] op pair[2 * i + 1], of n pairs of bytes. */
CORE_SPEED
static void combine_pairs(uint8_t *out, const uint8_t *pair, int64_t n,
                          bool both)
{
    const uint16_t *restrict in = (const uint16_t *)pair;
    uint8_t *restrict to = out;
    if (both) for (int64_t i = 0; i < n; i++) to[i] = (in[i] & in[i] >> 8) & 1;
    else for (int64_t i = 0; i < n; i++) to[i] = (in[i] | in[i] >> 8) & 1;
}

/* A core with bool results on the parts of n complex numbers. */
static __attribute__((noinline))
void run_parts(const core_info *c, char *const *data, unsigned repeat,
               int64_t n, const la_params *params)
{
    enum { BLOCK = 256 };
    char hold[2][BLOCK / 2 * 16] __attribute__((aligned(VEC_BYTES)));
    uint8_t bytes[2 * BLOCK] __attribute__((aligned(VEC_BYTES)));
    char *work[MAX_INPUTS + 1];
    int64_t most = repeat & ~STREAM ? BLOCK / 2 : BLOCK;
    for (int k = 1; k <= c->ninputs; k++)
        if (repeat >> k & 1)
            repeat_element(hold[k - 1], data[k], n < most ? n : most,
                           c->size[k]);
    work[0] = (char *)bytes;
    for (int64_t i = 0; i < n; i += most) {
        int64_t m = n - i < most ? n - i : most;
        for (int k = 1; k <= c->ninputs; k++)
            work[k] = repeat >> k & 1 ? hold[k - 1] : data[k] + i * c->size[k];
        c->run(work, 0, 2 * m, params);
        combine_pairs((uint8_t *)data[0] + i, bytes, m,
                      c->storage == PARTS_AND);
    }
}

/* The core on one run. */
static inline void drive_run(const core_info *c, char *const *data,
                             unsigned repeat, int64_t n,
    const la_params *params)
{
    if (c->storage == AS_IT_IS && !(repeat & ~STREAM))
        c->run(data, repeat, n, params);
    else if (c->storage == AS_IT_IS) run_repeated(c, data, repeat, n, params);
    else if (c->storage <= HALF_bf16) run_half(c, data, repeat, n, params);
    else if (c->storage < TRUTH_OF) run_parts(c, data, repeat, n, params);
    else run_truths(c, data, repeat, n, params);
}

/* --- moving blocks between strides --- */

extern const la_size_loops LA_OWN_TABLE(copy);

/* to[j*t1 + i*t0] = from[j*f1 + i*f0] for i < m[0], j < m[1]. */
static void move_block(int size, char *to, const int64_t *t, const char *from,
                       const int64_t *f, const int64_t *m)
{
    char *data[2] = {to, (char *)from};
    int64_t strides[4] = {t[0], f[0], t[1], f[1]};
    LA_OWN_TABLE(copy)[la_size_slot((size_t)size)](data, strides, m[0], m[1],
                                                NULL);
}

/* --- rows as they are --- */

/* n bytes past the caches; 'to' is aligned to VEC_BYTES. */
static void stream_bytes(char *to, const char *from, int64_t n)
{
    for (; n >= VEC_BYTES; n -= VEC_BYTES, to += VEC_BYTES, from += VEC_BYTES)
        vec_stream(to, i32_load(from));
    memcpy(to, from, (size_t)n);
}

/* All operands by n elements, but those that repeat. */
static void drive_advance(const core_info *c, char **data, unsigned repeat,
                          int64_t n)
{
    for (int k = 0; k <= c->ninputs; k++)
        if (!(repeat >> k & 1)) data[k] += n * c->size[k];
}

/* A row whose output goes past the caches: plainly up to the first aligned
** vector, then by the core's own streaming stores, or through a block. */
static void run_streaming(const core_info *c, char *const *row,
                          unsigned repeat, int64_t n, const la_params *params)
{
    char *data[MAX_INPUTS + 1] = {row[0], row[1], row[2], row[3]};
    char block[PACK_BYTES] __attribute__((aligned(VEC_BYTES)));
    int64_t head = (-(uintptr_t)row[0] & (VEC_BYTES - 1)) / c->size[0];
    if (head > n) head = n;
    drive_run(c, data, repeat, head, params);
    drive_advance(c, data, repeat, head);
    n -= head;
    if (c->vectors && c->storage == AS_IT_IS) {
        drive_run(c, data, repeat | STREAM, n, params);
        return;
    }
    for (int64_t each = PACK_BYTES / c->size[0]; n > 0; n -= each) {
        char *out = data[0];
        int64_t m = n < each ? n : each;
        data[0] = block;
        drive_run(c, data, repeat, m, params);
        stream_bytes(out, block, m * c->size[0]);
        data[0] = out;
        drive_advance(c, data, repeat, m);
    }
}

/* Is a row of n outputs worth streaming? Only long rows: each has a plain head
** and tail. */
static bool streams(const core_info *c, const char *out, int64_t n,
                    const la_params *params)
{
    return params && params->stream && n * c->size[0] > 16 * PACK_BYTES
        && (uintptr_t)out % c->size[0] == 0;
}

/* n1 rows, each a run in all operands that do not repeat. */
static __attribute__((noinline))
void run_rows(const core_info *c, char **data, const int64_t *outer,
              unsigned repeat, int64_t n0, int64_t n1,
              const la_params *params)
{
    char *row[MAX_INPUTS + 1] = {data[0], data[1]};
    bool stream = streams(c, data[0], n0, params);
    for (int k = 2; k <= c->ninputs; k++) row[k] = data[k];
    for (int64_t j = 0; j < n1; j++) {
        if (stream) run_streaming(c, row, repeat, n0, params);
        else drive_run(c, row, repeat, n0, params);
        for (int k = 0; k <= c->ninputs; k++) row[k] += outer[k];
    }
    if (stream) vec_fence();
}

/* --- blocks packed through scratch --- */

/* Elements of an operand in a block: rows of m[0] of them. */
typedef struct block_operand {
    char *at;
    int64_t step;        /* bytes from row to row */
} block_operand;

/* Rows that are runs of memory stay where they are, unless they are short: then
** they are put together, so that the core runs over the block at once. */
static bool stays(int64_t inner, int64_t outer, int size, const int64_t *m)
{
    if (m[0] > 1 && inner != size) return false;
    return m[0] >= SHORT_ROW || m[1] == 1 || outer == m[0] * size;
}

/* Is the operand one element per row, or one for the block, so that the core
** can repeat it? */
static bool repeats(int64_t inner, int64_t outer, const int64_t *m)
{
    return inner == 0 && (m[0] >= SHORT_ROW || m[1] == 1 || outer == 0);
}

/* The core over m[1] rows of m[0] elements, all at once where every operand's
** rows follow each other. */
static void run_operands(const core_info *c, block_operand *p, unsigned repeat,
                         const int64_t *m, const la_params *params)
{
    bool together = true;
    char *data[MAX_INPUTS + 1];
    for (int k = 0; k <= c->ninputs; k++)
        if (p[k].step != (repeat >> k & 1 ? 0 : m[0] * c->size[k]))
            together = false;
    int64_t n = together ? m[0] * m[1] : m[0];
    for (int64_t j = 0; j < (together ? 1 : m[1]); j++) {
        for (int k = 0; k <= c->ninputs; k++) data[k] = p[k].at + j * p[k].step;
        drive_run(c, data, repeat, n, params);
    }
}

/* One block: m[0] x m[1] elements from 'at' on. 'pack' is scratch for each
** operand. */
static void run_block(const core_info *c, char *const *at,
                      const int64_t *inner, const int64_t *outer,
                      const int64_t *m, char (*pack)[TILE_BYTES],
                      const la_params *params)
{
    block_operand p[MAX_INPUTS + 1];
    unsigned repeat = 0;
    for (int k = 0; k <= c->ninputs; k++) {
        int size = c->size[k];
        int64_t from[2] = {inner[k], outer[k]};
        int64_t to[2] = {size, m[0] * size};
        p[k] = (block_operand){at[k], outer[k]};
        if (stays(inner[k], outer[k], size, m)) continue;
        if (k > 0 && repeats(inner[k], outer[k], m)) {
            repeat |= 1u << k;
            continue;
        }
        p[k] = (block_operand){pack[k], to[1]};
        if (k > 0) move_block(size, pack[k], to, at[k], from, m);
    }
    run_operands(c, p, repeat, m, params);
    if (p[0].at != at[0]) {
        int64_t from[2] = {c->size[0], m[0] * c->size[0]};
        int64_t to[2] = {inner[0], outer[0]};
        move_block(c->size[0], at[0], to, pack[0], from, m);
    }
}

/* Does an operand run along the outer dim while the others do not? Then as many
** rows as fill its lines of the cache go together; else 0. */
static int64_t tile_rows(const core_info *c, const int64_t *inner,
                         const int64_t *outer)
{
    int64_t rows = 0;
    for (int k = 0; k <= c->ninputs; k++)
        if (outer[k] == c->size[k] && inner[k] > 4 * c->size[k]
            && TILE_LINE / c->size[k] > rows)
            rows = TILE_LINE / c->size[k];
    return rows;
}

/* The sides of a block in elements, such that the widest operand fits its
** scratch. */
static void block_sides(const core_info *c, const int64_t *inner,
                        const int64_t *outer, const int64_t *n, int64_t *side)
{
    int widest = 1;
    for (int k = 0; k <= c->ninputs; k++)
        if (c->size[k] > widest) widest = c->size[k];
    int64_t rows = n[1] > 1 && n[0] > 1 ? tile_rows(c, inner, outer) : 0;
    int64_t capacity = (rows ? TILE_BYTES : PACK_BYTES) / widest;
    if (rows > n[1]) rows = n[1];
    side[0] = rows ? capacity / rows : capacity;
    if (side[0] > n[0]) side[0] = n[0];
    side[1] = rows ? rows : capacity / side[0];
}

/* Any strides: blocks of the n[0] x n[1] elements. The scratch stays in the L1
** cache. */
static __attribute__((noinline))
void run_blocks(const core_info *c, char **data, const int64_t *inner,
                const int64_t *outer, const int64_t *n,
                const la_params *params)
{
    LA_SCRATCH_ROWS(char, pack, MAX_INPUTS + 1, TILE_BYTES);
    int64_t side[2], m[2];
    block_sides(c, inner, outer, n, side);
    for (int64_t j = 0; j < n[1]; j += side[1])
        for (int64_t i = 0; i < n[0]; i += side[0]) {
            char *at[MAX_INPUTS + 1];
            for (int k = 0; k <= c->ninputs; k++)
                at[k] = data[k] + i * inner[k] + j * outer[k];
            m[0] = n[0] - i < side[0] ? n[0] - i : side[0];
            m[1] = n[1] - j < side[1] ? n[1] - j : side[1];
            run_block(c, at, inner, outer, m, pack, params);
        }
}

/* --- short rows --- */

/* n copies of an input of one element, where rows find it. */
static char *repeat_in_row(char *hold, const char *p, int n, int size)
{
    for (int i = 0; i < n; i++) memcpy(hold + i * size, p, (size_t)size);
    return hold;
}

/* How the second of two inputs is read, whose element and row are 'inner' and
** 'outer' bytes apart. */
static row_way find_way(int64_t inner, int64_t outer, bool single)
{
    if (single) return inner == 0 ? ROW_NUMBER : ROW_PLAIN;
    return inner != 0 ? ROW_PLAIN : outer == 0 ? ROW_NUMBER : ROW_COLUMN;
}

/* A single strided run is rows of one element; so is one with a strided input.
** (A contiguous output is filled by whole vectors from packed blocks.) Rows of
** two to four elements must be runs, or a number; one number for all, but for
** the second input. */
static bool find_short_rows(char **data, const int64_t *strides, int64_t n0,
                            int64_t n1, int ninputs, int size, short_rows *r)
{
    const int64_t *outer = strides + ninputs + 1;
    bool single = n1 == 1;
    if (single ? strides[0] == size || n0 < 8
               : n0 < 2 || n0 > 4 || n1 < 4 || strides[0] != size) return false;
    r->width = single ? 1 : (int)n0;
    r->n = single ? n0 : n1;
    r->second = ninputs == 2 ? find_way(strides[2], outer[2], single)
                             : ROW_PLAIN;
    for (int k = 0; k <= ninputs; k++) {
        r->data[k] = data[k];
        r->step[k] = single ? strides[k] : outer[k];
        if (single || strides[k] == size) continue;
        if (k == 2 && r->second != ROW_PLAIN) continue;
        if (strides[k] != 0 || outer[k] != 0) return false;
        r->data[k] = repeat_in_row(r->hold[k - 1], data[k], r->width, size);
    }
    return true;
}

const la_find_rows LA_KERNEL(find_rows) = find_short_rows;

/* --- the entrance --- */

/* A single run, what small tensors are, goes straight to the core. */
void LA_OWN_TABLE(drive)(char **data, const int64_t *strides, int64_t n0,
                         int64_t n1, const void *params, const core_info *c)
{
    const int64_t *outer = strides + c->ninputs + 1;
    int64_t n[2] = {n0, n1};
    unsigned repeat = 0;
    if (n0 <= 0 || n1 <= 0) return;
    bool runs = n0 == 1 || strides[0] == c->size[0];
    for (int k = 1; k <= c->ninputs && n0 > 1; k++) {
        if (strides[k] == 0) repeat |= 1u << k;
        else if (strides[k] != c->size[k]) runs = false;
    }
    if (runs && n1 == 1 && !streams(c, data[0], n0, params))
        drive_run(c, data, repeat, n0, params);
    else if (runs && (n1 == 1 || n0 >= SHORT_ROW))
        run_rows(c, data, outer, repeat, n0, n1, params);
    else
        run_blocks(c, data, strides, outer, n, params);
}

void LA_OWN_TABLE(drive_swapped)(char **data, const int64_t *strides,
                                 int64_t n0, int64_t n1, const void *params,
                                 const core_info *c)
{
    char *swapped[3] = {data[0], data[2], data[1]};
    int64_t both[6] = {strides[0], strides[2], strides[1],
                       strides[3], strides[5], strides[4]};
    LA_OWN_TABLE(drive)(swapped, both, n0, n1, params, c);
}

/*
** The numbers of GGUF's blocks of 256 whose bytes are indices into a grid: 8
** numbers, or 4, stand in a table. Operation by operation what the reference of
** the format computes.
*/
#include "modules/gguf/kernel/blocks.h"

#include "modules/gguf/kernel/block_bytes.h"
#include "modules/gguf/kernel/grids.h"

/* Numbers of a point of 8, 2 bits each, or of 4, 4 bits each. */
static const float two_bits[4] = {0x08, 0x19, 0x2b, 0};
static const float three_bits[8] = {0x04, 0x0c, 0x14, 0x1c, 0x24, 0x2c, 0x34,
                                    0x3e};
static const float odd[8] = {1, 3, 5, 7, 9, 11, 13, 15};

/* Signs of 8 numbers, a bit each: 7 of them are told, and the number of
** negative ones is even. */
static unsigned even_signs(unsigned seven)
{
    unsigned parity = seven ^ seven >> 4;
    parity ^= parity >> 2;
    return seven | ((parity ^ parity >> 1) & 1) << 7;
}

/* d * value * sign for 8 numbers of one point. */
static void grid_eight(float d, unsigned point, unsigned signs, float *y)
{
    for (int j = 0; j < 8; j++) {
        float v = d * two_bits[point >> 2 * j & 3];
        y[j] = signs >> j & 1 ? -v : v;
    }
}

/* d * value * sign for two points of 4. */
static void grid_four(float d, const float *values, unsigned first,
                      unsigned second, unsigned signs, float *y)
{
    for (int j = 0; j < 8; j++) {
        unsigned point = j < 4 ? first : second;
        float v = d * values[point >> 4 * (j % 4) & 7];
        y[j] = signs >> j & 1 ? -v : v;
    }
}

/* Parts of 32: four points, then a word of four times 7 signs and a scale. */
static void unpack_IQ2_XXS(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 66)
        for (int part = 0; part < 8; part++) {
            const uint8_t *q = b + 2 + 8 * part;
            uint32_t more = block_u32(q + 4);
            float d = block_half(b) * (0.5f + (float)(more >> 28)) * 0.25f;
            for (int k = 0; k < 4; k++, y += 8)
                grid_eight(d, la_grid_iq2xxs[q[k]],
                           even_signs(more >> 7 * k & 127), y);
        }
}

/* Words of an index and 7 signs; scales of 4 bits for 16 numbers. */
static void unpack_IQ2_XS(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 74)
        for (int k = 0; k < 32; k++, y += 8) {
            unsigned q = block_u16(b + 2 + 2 * k);
            unsigned s = b[66 + k / 4] >> k / 2 % 2 * 4 & 15;
            float d = block_half(b) * (0.5f + (float)s) * 0.25f;
            grid_eight(d, la_grid_iq2xs[q & 511], even_signs(q >> 9), y);
        }
}

/* Indices of 10 bits in two parts, signs of all numbers. */
static void unpack_IQ2_S(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 82)
        for (int k = 0; k < 32; k++, y += 8) {
            unsigned high = b[66 + k / 4] >> k % 4 * 2 & 3;
            unsigned s = b[74 + k / 4] >> k / 2 % 2 * 4 & 15;
            float d = block_half(b) * (0.5f + (float)s) * 0.25f;
            grid_eight(d, la_grid_iq2s[b[2 + k] | high << 8], b[34 + k], y);
        }
}

/* Two points of 4 for 8 numbers, else as IQ2_XXS. */
static void unpack_IQ3_XXS(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 98)
        for (int k = 0; k < 32; k++, y += 8) {
            const uint8_t *q = b + 2 + 2 * k;
            uint32_t more = block_u32(b + 66 + k / 4 * 4);
            float d = block_half(b) * (0.5f + (float)(more >> 28)) * 0.5f;
            grid_four(d, three_bits, la_grid_iq3xxs[q[0]],
                      la_grid_iq3xxs[q[1]],
                      even_signs(more >> k % 4 * 7 & 127), y);
        }
}

static void unpack_IQ3_S(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 110)
        for (int k = 0; k < 32; k++, y += 8) {
            const uint8_t *q = b + 2 + 2 * k;
            unsigned high = b[66 + k / 4] >> k % 4 * 2 & 3;
            unsigned s = b[106 + k / 8] >> k / 4 % 2 * 4 & 15;
            float d = block_half(b) * (float)(1 + 2 * s);
            grid_four(d, odd, la_grid_iq3s[q[0] | (high & 1) << 8],
                      la_grid_iq3s[q[1] | (high >> 1) << 8], b[74 + k], y);
        }
}

/* Points of -1, 0 and 1, moved by an eighth. */
static void grid_one(float d, unsigned point, float delta, float *y)
{
    for (int j = 0; j < 8; j++)
        y[j] = d * ((float)((int)(point >> 2 * j & 3) - 1) + delta);
}

/* Parts of 32 with a word: high bits of indices, a scale, the shift's sign. */
static void unpack_IQ1_S(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 50)
        for (int k = 0; k < 32; k++, y += 8) {
            unsigned more = block_u16(b + 34 + k / 4 * 2);
            unsigned high = more >> k % 4 * 3 & 7;
            float d = block_half(b) * (float)(2 * (more >> 12 & 7) + 1);
            grid_one(d, la_grid_iq1s[b[2 + k] | high << 8],
                     more & 0x8000 ? -0.125f : 0.125f, y);
        }
}

/* The scale of the block is in the highest bits of four words of scales. */
static float scattered_half(const uint8_t *s)
{
    unsigned bits = 0;
    for (int k = 0; k < 4; k++) bits |= block_u16(s + 2 * k) >> 12 << 4 * k;
    uint8_t bytes[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
    return block_half(bytes);
}

static void unpack_IQ1_M(const uint8_t *b, int64_t n, float *y)
{
    for (; n > 0; n--, b += 56) {
        const uint8_t *scales = b + 48;
        float all = scattered_half(scales);
        for (int k = 0; k < 32; k++, y += 8) {
            unsigned more = b[32 + k / 2] >> k % 2 * 4;
            unsigned s = block_u16(scales + k / 8 * 2) >> k / 2 % 4 * 3 & 7;
            grid_one(all * (float)(2 * s + 1),
                     la_grid_iq1s[b[k] | (more & 7) << 8],
                     more & 8 ? -0.125f : 0.125f, y);
        }
    }
}

#define ENTRY(type) [LA_BLOCK_##type] = unpack_##type
const la_grid_kernels LA_KERNEL(grid_blocks) = {
    {ENTRY(IQ2_XXS), ENTRY(IQ2_XS), ENTRY(IQ2_S), ENTRY(IQ3_XXS), ENTRY(IQ3_S),
     ENTRY(IQ1_S), ENTRY(IQ1_M)}};

/* The tables of unicode_data.h as arrays. */
#include "modules/tokenizer/unicode_tables.h"

#include "base/once.h"
#include "modules/tokenizer/unicode_data.h"

static uint32_t categories[UNICODE_CATEGORIES], classes[UNICODE_CLASSES];
static la_small_letters lower[UNICODE_LOWER];
static uint32_t canonical[UNICODE_CANONICAL], first[UNICODE_CANONICAL];
static uint32_t second[UNICODE_CANONICAL], composing[UNICODE_COMPOSITIONS];
static uint16_t compositions[UNICODE_COMPOSITIONS];
static uint32_t compatible[UNICODE_COMPATIBLE], parts[UNICODE_PARTS];
static uint16_t starts[UNICODE_COMPATIBLE + 1];

/* The next number: five bits to a letter, the lowest first, and one that says
** whether another letter follows. */
static uint32_t next_number(const char **at)
{
    uint32_t v = 0, digit = 32;
    for (int shift = 0; digit >= 32; shift += 5) {
        digit = (uint32_t)('~' - *(*at)++);
        v |= (digit & 31) << shift;
    }
    return v;
}

/* One with a sign: 0, -1, 1, -2, ... */
static uint32_t next_difference(const char **at)
{
    uint32_t v = next_number(at);
    return v >> 1 ^ (0 - (v & 1));
}

static void unpack_categories(const char *at)
{
    uint32_t code = 0;
    for (int k = 0; k < UNICODE_CATEGORIES; k++) {
        code += next_number(&at);
        categories[k] = code << 8 | next_number(&at);
    }
}

static void unpack_lower(const char *at)
{
    uint32_t end = 0;
    for (int k = 0; k < UNICODE_LOWER; k++) {
        uint32_t from = end + next_number(&at), n = next_number(&at);
        uint32_t step = (n & 1) + 1;
        end = from + (n >> 1) * step;
        lower[k] = (la_small_letters){from, end, step,
                                      (int32_t)next_difference(&at)};
    }
}

static void unpack_classes(const char *at)
{
    uint32_t code = 0, class = 0;
    for (int k = 0; k < UNICODE_CLASSES; k++) {
        uint32_t n = next_number(&at);
        code += n >> 1;
        if (n & 1) class = next_number(&at);
        classes[k] = code << 8 | class;
    }
}

/* Puts an index among the n sorted ones so far; parts of ever higher codes are
** nearly in order. */
static void insert_composition(int n, int index)
{
    for (; n > 0; n--) {
        int before = compositions[n - 1];
        if (first[before] < first[index]
            || (first[before] == first[index]
                && second[before] < second[index])) break;
        compositions[n] = (uint16_t)before;
    }
    compositions[n] = (uint16_t)index;
}

static void unpack_canonical(const char *at)
{
    uint32_t code = 0, part = 0;
    int joined = 0;
    for (int k = 0; k < UNICODE_CANONICAL; k++) {
        uint32_t n = next_number(&at);
        canonical[k] = code += n >> 2;
        first[k] = part += next_difference(&at);
        second[k] = n & 2 ? next_number(&at) : 0;
        if (n & 1) insert_composition(joined++, k);
    }
    for (int k = 0; k < joined; k++) composing[k] = first[compositions[k]];
}

static void unpack_compatible(const char *at)
{
    uint32_t code = 0, part = 0, n = 0;
    for (int k = 0; k < UNICODE_COMPATIBLE; k++) {
        uint32_t v = next_number(&at);
        compatible[k] = code += v >> 1;
        starts[k] = (uint16_t)n;
        for (v = v & 1 ? next_number(&at) : 1; v > 0; v--)
            parts[n++] = part += next_difference(&at);
    }
    starts[UNICODE_COMPATIBLE] = (uint16_t)n;
}

static void unpack(void)
{
    unpack_categories(unicode_categories);
    unpack_lower(unicode_lower);
    unpack_classes(unicode_classes);
    unpack_canonical(unicode_canonical);
    unpack_compatible(unicode_compatible);
}

const la_unicode_tables *la_unicode_tables_here(void)
{
    static la_once once = LA_ONCE;
    static const la_unicode_tables all = {UNICODE_CATEGORIES, UNICODE_LOWER,
        UNICODE_CLASSES, UNICODE_CANONICAL, UNICODE_COMPOSITIONS,
        UNICODE_COMPATIBLE, categories, lower, classes, canonical, first,
        second, composing, compositions, compatible, parts, starts};
    la_run_once(&once, unpack);
    return &all;
}

/*
** Reductions of elements that become others first: 16-bit floats as float, an
** element as its modulus or its square. They are brought, a block that stays in
** the nearest cache at a time, to accumulators without gaps, which an existing
** reduction combines as if they had been its input: the same order of additions
** and so the same bits as a body of their own would have, at the price of one
** store and one load per element.
*/
#ifndef LA_KERNEL_REDUCE_MAP_H
#define LA_KERNEL_REDUCE_MAP_H

#include "kernel/reduce/load.h"

typedef struct la_reduce_map {
    int64_t size;         /* bytes of an element in memory, */
    int64_t acc_size;     /* and of what it becomes */
    /* n elements without gaps; NULL where they are accumulators already */
    void (*load)(void *to, const char *from, int64_t n);
    /* n accumulators; 'to' may be 'from'; NULL: they stay as they are */
    void (*apply)(void *to, const void *from, int64_t n,
                  const la_reduce_args *args);
} la_reduce_map;

/* The reductions that maps are put before, of float32 and float64. */
typedef struct la_float_kind la_float_kind;
typedef const la_float_kind *la_reduce_bases[LA_NDTYPES];
extern const la_reduce_bases LA_OWN_TABLE(reduce_base_sum);
extern const la_reduce_bases LA_OWN_TABLE(reduce_base_max);
extern const la_reduce_bases LA_OWN_TABLE(reduce_base_min);

#define REDUCE_DTYPE_f32 LA_FLOAT32
#define REDUCE_DTYPE_f64 LA_FLOAT64

static inline void reduce_gather_by_size(void *to, const char *from,
                                         int64_t step, int64_t n, int64_t size)
{
    switch (size) {
    case 1: reduce_gather(to, from, step, n, 1); break;
    case 2: reduce_gather(to, from, step, n, 2); break;
    case 4: reduce_gather(to, from, step, n, 4); break;
    case 8: reduce_gather(to, from, step, n, 8); break;
    default: reduce_gather(to, from, step, n, 16);
    }
}

/* n elements 'step' bytes apart as accumulators at 'to'. */
static __attribute__((noinline, unused)) void reduce_map(
    const la_reduce_map *map, const char *from, int64_t step, int64_t n,
    void *to, const la_reduce_args *args)
{
    char near[4096] __attribute__((aligned(64)));
    bool dense = step == map->size;
    int64_t some = dense ? n : (int64_t)sizeof(near) / map->size;
    for (int64_t i = 0; i < n; i += some) {
        int64_t m = n - i < some ? n - i : some;
        const char *p = from + i * step;
        char *q = (char *)to + i * map->acc_size;
        if (!dense) {
            reduce_gather_by_size(near, p, step, m, map->size);
            p = near;
        }
        if (map->load) {
            map->load(q, p, m);
            p = q;
        }
        if (map->apply) map->apply(q, p, m, args);
    }
}

static inline void reduce_load_halves(void *to, const char *from,
                                      int64_t n)
{
    f16_to_floats(to, from, n);
}
static inline void reduce_load_bhalves(void *to, const char *from,
                                       int64_t n)
{
    bf16_to_floats(to, from, n);
}

/* The rows of 'c' one after another, without gaps between them at 'to'. */
static inline void reduce_map_tile(const la_reduce_map *map,
                                   const la_reduce_cols *c, void *to,
                                   const la_reduce_args *args)
{
    if (c->row_step == c->cols * c->step) {
        reduce_map(map, c->in, c->step, c->rows * c->cols, to, args);
        return;
    }
    for (int64_t r = 0; r < c->rows; r++)
        reduce_map(map, c->in + r * c->row_step, c->step, c->cols,
                   (char *)to + r * c->cols * map->acc_size, args);
}

#endif

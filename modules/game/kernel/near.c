/* Points near one, a bit each; the contract is near.h. */
#include "modules/game/kernel/near.h"

#include "kernel/sort/sorting.h"

static void find_near(const la_game_near *q)
{
    f64v x = f64_set1(q->point[0]), y = f64_set1(q->point[1]);
    f64v z = f64_set1(q->point[2]), most = f64_set1(q->square);
    for (int64_t i = 0; i < q->n; i += LA_NEAR_LIST) {
        uint64_t word = 0;
        for (int64_t k = 0; k < LA_NEAR_LIST; k += F64_LANES) {
            f64v a = f64_load(q->x + i + k) - x, b = f64_load(q->y + i + k) - y;
            f64v c = f64_load(q->z + i + k) - z;
            i64v in = a * a + b * b + c * c <= most;
            word |= (uint64_t)u64_bits(in) << k;
        }
        q->bits[i / LA_NEAR_LIST] = word;
    }
}

const la_near_kernels LA_KERNEL(game_near) = {find_near};

/* 'store' of all floating sums, products, extremes and norms: the modes of
** la_reduce_mode up to LA_STORE_ROOT, for each dtype of a result. */
#ifndef LA_KERNEL_REDUCE_STORE_H
#define LA_KERNEL_REDUCE_STORE_H

#include "kernel/reduce/reduce_loops.h"

typedef void (*la_reduce_store)(const char *acc, char *out, int64_t n,
                                const la_reduce_args *args);
typedef la_reduce_store la_reduce_stores[LA_NDTYPES];
extern const la_reduce_stores LA_OWN_TABLE(reduce_store);

/* Entries of tables need functions of their own object. */
static inline void store_f16(const char *acc, char *out, int64_t n,
                             const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_store)[LA_FLOAT16](acc, out, n, args);
}
static inline void store_bf16(const char *acc, char *out, int64_t n,
                              const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_store)[LA_BFLOAT16](acc, out, n, args);
}
static inline void store_f32(const char *acc, char *out, int64_t n,
                             const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_store)[LA_FLOAT32](acc, out, n, args);
}
static inline void store_f64(const char *acc, char *out, int64_t n,
                             const la_reduce_args *args)
{
    LA_OWN_TABLE(reduce_store)[LA_FLOAT64](acc, out, n, args);
}

#endif

/*
** The contract of kernels.
**
** A kernel gets pointers, byte strides, counts and constants. It never sees a
** tensor, allocates, fails or calls up. Each source in this folder is compiled
** once for each CPU capability that targets.mk gives it, with LA_CAP set to the
** capability's name (those in the folder of an ISA extension for it alone); an
** object exports only tables, by LA_KERNEL.
**
** Element-wise kernels are loops over two dims: data[k] is operand k (outputs
** first), strides[k] its byte step along the inner dim (count n0) and
** strides[noperands + k] along the outer dim (count n1). They must give the
** same bits for an element whatever the strides, its position and the counts.
** Their 'params' is NULL or a la_params.
*/
#ifndef LA_KERNEL_KERNEL_H
#define LA_KERNEL_KERNEL_H

#include "base/os/cpu.h"
#include "base/dtype.h"
#include "base/scalar.h"

#define LA_MAX_PARAMS 6
/* The numbers of a call, in the order of its schema (alpha, min, max, ...). */
typedef struct la_params {
    la_scalar v[LA_MAX_PARAMS];
    bool stream;   /* the output is larger than the caches: write past them */
} la_params;

typedef void (*la_loop)(char **data, const int64_t *strides, int64_t n0,
                        int64_t n1, const void *params);

/* One loop per dtype of the computation; NULL where there is none. */
typedef la_loop la_loops[LA_NDTYPES];

#define LA_CAT_(a, b, c, d) a##b##c##d
#define LA_CAT(a, b, c, d) LA_CAT_(a, b, c, d)
/* Kernel sources say const type LA_KERNEL(name) = {...}; for table 'name' of
** this capability. The copy also serves those of LA_CAP_ALSO (a list like
** LA_CAPS, by the Makefile), by aliases; a forgotten kernel is a link error. */
#define LA_OWN_TABLE(name) LA_CAT(la_, LA_CAP, _, name)
/* A function of another object of this capability, which is called without a
** look at the table of what other libraries may replace. */
#ifdef __ELF__
#define LA_INSIDE __attribute__((visibility("hidden")))
#else
#define LA_INSIDE
#endif
#ifndef LA_CAP_ALSO
#define LA_KERNEL(name) LA_OWN_TABLE(name)
#else
#define LA_TEXT_(a) #a
#define LA_TEXT(a) LA_TEXT_(a)
#define LA_ALIAS(cap, name) extern __attribute__((alias(LA_TEXT( \
    LA_OWN_TABLE(name))))) __typeof__(LA_OWN_TABLE(name)) la_##cap##_##name;
#define LA_KERNEL(name) LA_OWN_TABLE(name); LA_CAP_ALSO(LA_ALIAS, name) \
    __typeof__(LA_OWN_TABLE(name)) LA_OWN_TABLE(name)
#endif

/* Above the kernels: a stub is the tables of one kernel, one per capability.
** The choice is made by la_cpu_cap() at each use. */
#define LA_TABLE_SYMBOL(cap, name) , la_##cap##_##name
#define LA_STUB_DECLARE(type, name) \
    extern const type la_default_##name LA_CAPS_ABOVE(LA_TABLE_SYMBOL, name)
#define LA_TABLE(cap, name) [LA_CAP_##cap] = &la_##cap##_##name,
/* An initializer: pointers to the tables of stub 'name', by capability. */
#define LA_STUB_TABLES(name) {LA_CAPS(LA_TABLE, name)}
#define LA_STUB_AT(name, cap) __extension__ ({ \
    static const __typeof__(la_default_##name) *const tables_[LA_NCAPS] = \
        LA_STUB_TABLES(name); \
    tables_[cap]; })
#define LA_STUB(name) LA_STUB_AT(name, la_cpu_cap())

#endif

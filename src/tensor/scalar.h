/*
** A number outside any tensor: what a Lua number, boolean or la.complex gives.
** The kind is its category for type promotion, never a width.
*/
#ifndef LA_TENSOR_SCALAR_H
#define LA_TENSOR_SCALAR_H

#include "base/dtype.h"
#include "base/status.h"

/* la_scalar itself is base/scalar.h: kernels take it too. */
#include "base/scalar.h"

/* Write 's' as one element of 'dtype' at 'out'. LA_EDTYPE when the value does
** not fit (300 into uint8, 1.5 into int32, a complex into a real). */
la_status la_scalar_store(const la_scalar *s, la_dtype dtype, void *out);

/* la_scalar_store that converts like a cast: wraps integers, truncates
** fractions, drops the imaginary part. Never fails. */
void la_scalar_cast(const la_scalar *s, la_dtype dtype, void *out);

/* Read one element of 'dtype'. */
la_scalar la_scalar_load(la_dtype dtype, const void *in);

/* The dtype a wrapped number of this kind has by itself: bool, int64, the
** default dtype, or its complex partner. */
la_dtype la_scalar_dtype(const la_scalar *s);

#endif

/* Calls by arguments of C (api_call.c), for the functions that give results. */
#ifndef LA_API_API_CALL_H
#define LA_API_API_CALL_H

#include "op/op.h"

struct la_any;              /* lunarray.h */

/* The first overload that the arguments fit, in the order of rows; 'results'
** has LA_MAX_RESULTS entries, which the caller owns after LA_OK. LA_EARG names
** the argument of the overload that most arguments fit. */
la_status la_api_call(const la_callable *what, int n,
                      const struct la_any *args, la_value *results);

#endif

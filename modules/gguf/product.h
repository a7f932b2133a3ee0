/* The types of blocks by name and number. */
#ifndef LA_GGUF_PRODUCT_H
#define LA_GGUF_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/status.h"

typedef struct la_gguf_type {
    const char *name;
    int number;
    int64_t size, bytes;      /* numbers and bytes of a block */
    la_dtype dtype;           /* LA_UNDEFINED: quantized */
} la_gguf_type;

/* Ends with a NULL name. */
extern const la_gguf_type la_gguf_types[];
/* NULL for a type that there is none of. */
const la_gguf_type *la_gguf_type_of(int64_t number);

#endif

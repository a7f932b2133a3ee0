/*
** Python's pickles, protocols 0 to 5, as data. The opcodes build a tree of
** nodes; what Python would call is looked up in a table of names (globals.def),
** and nothing is ever run. Lists and dicts may hold themselves: whoever walks
** the tree limits its depth.
*/
#ifndef LA_PICKLE_PICKLE_H
#define LA_PICKLE_PICKLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "io/narrow.h"
#include "base/status.h"
#include "io/bytes.h"
#include "io/stream.h"

typedef enum la_pickle_kind {
    LA_PICKLE_NONE, LA_PICKLE_BOOL, LA_PICKLE_INT, LA_PICKLE_FLOAT,
    LA_PICKLE_LONG,         /* wider than 64 bits: the bytes, lowest first */
    LA_PICKLE_TEXT,         /* str, bytes: any bytes */
    LA_PICKLE_TUPLE, LA_PICKLE_LIST, LA_PICKLE_SET,
    LA_PICKLE_DICT,         /* items: key, value, key, value ... */
    LA_PICKLE_GLOBAL,       /* a name, "module.name" */
    LA_PICKLE_OBJECT,       /* of a class: 'of' is its name; items: the
                            ** arguments, a list, the state, key, value ... */
    LA_PICKLE_STORAGE,      /* 'of' is the persistent id, a tuple */
    LA_PICKLE_TENSOR,       /* 'of' is the tuple of arguments, 'what' tells of
                            ** which function */
    LA_PICKLE_ITEM_TYPE     /* a dtype of NumPy's: text */
} la_pickle_kind;

/* Meanings of names. */
typedef enum la_global_what {
    LA_GLOBAL_OTHER,        /* not known: lenient pickles only */
    LA_GLOBAL_DICT, LA_GLOBAL_SET, LA_GLOBAL_ENCODE, LA_GLOBAL_BYTEARRAY,
    LA_GLOBAL_COMPLEX, LA_GLOBAL_SIZE, LA_GLOBAL_DEVICE, LA_GLOBAL_LAYOUT,
    LA_GLOBAL_DTYPE, LA_GLOBAL_STORAGE, LA_GLOBAL_TENSOR, LA_GLOBAL_PARAMETER,
    LA_GLOBAL_REBUILD, LA_GLOBAL_REBUILD_V2, LA_GLOBAL_REBUILD_V3,
    LA_GLOBAL_REBUILD_PARAMETER, LA_GLOBAL_REBUILD_TYPE, LA_GLOBAL_FROM_CPU,
    LA_GLOBAL_REFUSED,      /* tensors of a kind that there is none of here */
    LA_GLOBAL_SCALAR, LA_GLOBAL_ITEM_TYPE, LA_GLOBAL_PASS, LA_GLOBAL_MODULE
} la_global_what;

typedef struct la_pickle_node {
    uint8_t kind;
    uint8_t what;           /* of GLOBAL, TENSOR */
    bool own;               /* the text lies in 'texts', not in the stream */
    bool flag;              /* TENSOR: needs a gradient; ITEM_TYPE: the bytes
                            ** are the other way round */
    uint32_t of;            /* a node, see the kinds; GLOBAL: a dtype */
    uint32_t n, capacity;   /* of items; n also bytes of a text */
    union {
        int64_t i;          /* BOOL, INT; of a text: where it begins */
        double f;
        uint32_t *items;    /* owned, of la_mem_alloc */
    };
    int64_t at;             /* of the opcode that made it, for errors */
} la_pickle_node;

typedef struct la_pickle {
    const la_reader *in;
    int64_t base, size;     /* the stream's bytes in 'in' */
    const char *data;       /* the first 'have' bytes of the stream */
    char *window;           /* ... where they are read: owned */
    size_t have, window_bytes;
    int64_t at;             /* behind the last opcode */
    int64_t opcode_at;
    bool lenient;           /* unknown names are objects */
    bool script;            /* names that begin with __torch__ are modules */
    la_bytes texts;         /* strings that had to be decoded */
    la_pickle_node *nodes;
    uint32_t *stack, *marks, *memo;
    size_t n, nodes_capacity, depth, stack_capacity, nmarks, marks_capacity;
    size_t memo_capacity;
    uint32_t result;
    const char *name;       /* of the stream, in errors */
} la_pickle;

/* A stream of bytes 'base' to 'base + size' of 'in', both borrowed. */
void la_pickle_init(la_pickle *, const la_reader *in, int64_t base,
                    int64_t size, const char *name);
/* Runs the next pickle of the stream up to its STOP; the node that is left is
** 'result'. Nodes of earlier pickles stay. LA_EIO names the opcode. */
la_status la_pickle_load(la_pickle *);
void la_pickle_free(la_pickle *);

/* A node that is there. */
static inline la_pickle_node *la_pickle_at(const la_pickle *p, uint32_t node)
{
    return &p->nodes[node];
}
/* The bytes of a node that has a text (TEXT, LONG, GLOBAL, ITEM_TYPE). */
static inline const char *la_pickle_text(const la_pickle *p,
                                         const la_pickle_node *node)
{
    return (node->own ? (const char *)p->texts.data : p->data) + node->i;
}
/* Is it a text, and this one? */
bool la_pickle_is(const la_pickle *, uint32_t node, const char *text);
/* Item k of a TUPLE or LIST as a node of 'kind'; NULL where there is none. */
la_pickle_node *la_pickle_item(const la_pickle *, uint32_t node, uint32_t k,
                               la_pickle_kind kind);
/* A LONG as the nearest double. */
double la_pickle_long(const la_pickle *, const la_pickle_node *);

/* PyTorch's "float8_e4m3fn" and others of 8 bits; NULL. */
const la_narrow *la_pickle_float8(const char *word, size_t n);

/* ---- between pickle.c, nodes.c, reduce.c and text.c ---- */

/* LA_EIO: "data.pkl, byte 12: <text>". */
la_status la_pickle_fail(const la_pickle *, const char *format, ...)
    __attribute__((format(LA_PRINTF, 2, 3), cold));
/* Makes an array (a pointer to it) of items of 'size' bytes hold 'n' items, new
** ones zero. */
la_status la_pickle_grow(void *array, size_t *capacity, size_t n, size_t size);
/* A new node of the kind; its index in *out. */
la_status la_pickle_new(la_pickle *, la_pickle_kind, uint32_t *out);
/* One more item. */
la_status la_pickle_put(la_pickle *, uint32_t node, uint32_t item);
/* A node with a text that is copied. */
la_status la_pickle_new_text(la_pickle *, la_pickle_kind, const void *text,
                             size_t n, uint32_t *out);
/* GLOBAL of the name "module.name"; LA_EIO for one that is not known. */
la_status la_pickle_global(la_pickle *, const char *name, size_t n,
                           uint32_t *out);
/* callable(*arguments), class.__new__(class, *arguments), object.__setstate__:
** as data. */
la_status la_pickle_reduce(la_pickle *, uint32_t callable, uint32_t arguments,
                           uint32_t *out);
la_status la_pickle_new_object(la_pickle *, uint32_t class_node,
                               uint32_t arguments, uint32_t *out);
la_status la_pickle_build(la_pickle *, uint32_t object, uint32_t state);
la_status la_pickle_persistent(la_pickle *, uint32_t id, uint32_t *out);
/* The number that a line of protocol 0 holds, without its end. */
la_status la_pickle_read_int(la_pickle *, const char *line, size_t n,
                             bool is_long, uint32_t *out);
la_status la_pickle_read_float(la_pickle *, const char *line, size_t n,
                               uint32_t *out);
/* A string in quotes with escapes; raw-unicode-escape. */
la_status la_pickle_read_string(la_pickle *, const char *line, size_t n,
                                uint32_t *out);
la_status la_pickle_read_unicode(la_pickle *, const char *line, size_t n,
                                 uint32_t *out);
/* INT, or LONG where 64 bits do not do, of n bytes of two's complement, the
** lowest first; they lie at 'at' of the stream, or of 'texts' with 'own'. */
la_status la_pickle_new_long(la_pickle *, int64_t at, size_t n, bool own,
                             uint32_t *out);

#endif

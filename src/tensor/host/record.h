/*
** Records: 'count' structs of the host as one tensor per field.
**
** Fields that share bytes of a struct share a storage, so that a write to one
** counts for the other; the others have one each. All of them, and the record,
** hold the host's memory; who lets go last calls 'release'.
*/
#ifndef LA_TENSOR_HOST_RECORD_H
#define LA_TENSOR_HOST_RECORD_H

#include "tensor/host/host.h"

#define LA_RECORD_FIELDS 1024

typedef struct la_struct_field {
    const char *name;       /* ended by NUL; the record's */
    la_dtype dtype;
    int ndim;               /* 0 to 2 dims behind that of the structs */
    int64_t sizes[2];
    int64_t offset, nbytes; /* in a struct */
    int group;              /* the first field that shares bytes with it */
    la_storage *storage;    /* of the first of a group; NULL: not asked yet */
} la_struct_field;

struct la_host_block;
typedef struct la_record {
    _Atomic int32_t refs;
    uint32_t moves;         /* how often the memory was moved */
    bool read_only, withdrawn;
    uint8_t owner;           /* the runtime that it belongs to */
    int nfields;
    int64_t count, bytes;
    struct la_host_block *block;
    size_t block_bytes;     /* of this record */
    la_struct_field *fields;    /* in the order of the layout */
} la_record;

typedef struct la_record_memory {
    void *data;
    int64_t count;
    size_t bytes;
    bool read_only;
    la_release_fn release;
    void *context;
} la_record_memory;

/* LA_EARG names the position in 'layout'; 'release' as in la_host_wrap. */
la_status la_record_new(const la_record_memory *m, const char *layout,
                        la_record **out);
static inline la_record *la_record_retain(la_record *r)
{
    la_take_ref(&r->refs);
    return r;
}
void la_record_drop(la_record *r);      /* NULL is allowed */

/* NULL when there is no field of that name. */
const la_struct_field *la_record_find(const la_record *r, const char *name);
/* Can the field be seen as it lies? Its offset is a multiple of its size. */
bool la_record_has_view(const la_record *r, const la_struct_field *f);
/* A tensor on the field; LA_EARG where it has no view, LA_ESTATE when the
** memory was withdrawn. */
la_status la_record_view(la_record *r, const la_struct_field *f,
                         la_tensor **out);
/* Is 't' laid out as that tensor, on the memory that the record has now? */
bool la_record_is_view(const la_record *r, const la_struct_field *f,
                       const la_tensor *t);
/* The field's bytes: {count, nbytes} of uint8, wherever it lies. */
la_status la_record_bytes(la_record *r, const la_struct_field *f,
                          la_tensor **out);
/* The tensors of all fields are withdrawn. LA_EARG changes nothing. */
la_status la_record_move(la_record *r, void *data, int64_t count);

#endif

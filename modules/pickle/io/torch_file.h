/*
** PyTorch's files: a pickle, and the storages that it names. Zip files hold
** <name>/data.pkl and <name>/data/<key>; older ones ("legacy") five pickles and
** the storages behind them; TorchScript files are zip files with the modules of
** a program, whose parameters and buffers can be read.
*/
#ifndef LA_PICKLE_TORCH_FILE_H
#define LA_PICKLE_TORCH_FILE_H

#include "io/archive.h"
#include "io/map.h"
#include "io/zip.h"
#include "io/narrow.h"
#include "modules/pickle/io/pickle.h"
#include "tensor/tensor.h"

typedef struct la_torch_storage {
    const char *key;        /* in the pickle's texts */
    uint32_t key_n;
    la_dtype dtype;         /* of its elements; LA_UINT8 for one of bytes */
    bool bytes;             /* UntypedStorage: tensors have other dtypes */
    int64_t numel;
    const la_zip_member *member;    /* or NULL: at 'at' of the file */
    int64_t at;
    la_tensor *tensor;      /* all elements, once it was read; owned */
    la_tensor *other;       /* ... of a storage of bytes as another dtype,
                            ** floats of 8 bits as float32; owned */
    la_dtype other_dtype;
    const la_narrow *other_narrow;
} la_torch_storage;

typedef struct la_torch_file {
    const la_reader *in;
    la_mapping *mapping;    /* borrowed; NULL: storages are read */
    la_zip zip;
    const la_zip_member **members;      /* sorted by name; owned */
    char *data;             /* data.pkl; owned */
    size_t data_bytes;
    la_reader data_reader;
    la_pickle pickle;
    const char *prefix;     /* "<name>/", in the directory */
    size_t prefix_n;
    bool zipped, swapped;   /* the bytes of items are the other way round */
    bool script;            /* TorchScript */
    la_torch_storage *list; /* sorted by key; owned */
    int64_t n, capacity;
    int64_t code_bytes;     /* of programs, read so far */
    uint32_t root;          /* the node of what was saved */
} la_torch_file;

/* Does it look like one: a zip file with a data.pkl, or a pickle? */
la_status la_torch_fits(const la_reader *in, bool *yes);
/* Reads all but the storages, of which it checks where they lie. 'in' and 'm'
** (or NULL) are borrowed. 'limit' as of la.load, 0: none. LA_EIO; in any case
** la_torch_close is due. */
la_status la_torch_open(la_torch_file *, const la_reader *in, la_mapping *m,
                        bool lenient, int64_t limit);
void la_torch_close(la_torch_file *);
/* A new tensor of a node TENSOR or STORAGE, owned by the caller. It shares the
** memory of its storage with all others of the file. */
la_status la_torch_tensor(la_torch_file *, const la_pickle_node *node,
                          la_tensor **out);
/* The member "<name>/<folder><name>"; NULL where there is none. */
const la_zip_member *la_torch_member(const la_torch_file *, const char *folder,
                                     const char *name, size_t n);
/* All bytes of a member; 'out' has capacity for m->size. */
la_status la_torch_unpack(const la_torch_file *, const la_zip_member *m,
                          void *out);
/* The names of parameters and buffers of a class of a TorchScript file, as keys
** of 'out'; *found: does the file say? */
la_status la_torch_script_names(la_torch_file *, const char *class_name,
                                size_t n, la_notes *out, bool *found);

#endif

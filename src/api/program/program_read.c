/*
** Reading programs: the file's tensors, operations and programs. Nothing is
** run, and nothing is allocated that the file has no bytes for.
*/
#include "api/program/reader.h"

#include <string.h>

#include "api/files.h"
#include "base/runtime/memory.h"
#include "grad/grad.h"
#include "op/call.h"
#include "tensor/names.h"

enum { GAPS = 1024 };           /* bytes of a tensor with gaps, per byte */

/* A view serves where a captured tensor is asked for: which of the two it was
** depended only on what else the program captured. */
la_tensor *la_program_entry_of(la_program_reader *r, int64_t i, int kind)
{
    if (r->t.status) return NULL;
    const la_program_entry *e = i < 0 || i >= r->entries.n ? NULL
        : LA_PROG_AT(r->entries, la_program_entry, i);
    if (e && (e->kind == kind
              || (kind == LA_TEXT_WEIGHT && e->kind == LA_TEXT_VIEW)))
        return e->tensor;
    la_jtext_fail(&r->t, "a tensor that is not there");
    return NULL;
}

/* ---- tensors ---- */

/* The file's tensor of the name, which nobody else takes; owned. */
static la_tensor *read_take(la_program_reader *r, const char *name)
{
    char shown[256];
    size_t n = strlen(name);
    int64_t low = 0, high = r->archive->n;
    /* Entries of an archive are sorted by name. */
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        la_entry *e = &r->archive->list[mid];
        size_t both = e->n < n ? e->n : n;
        int order = both ? memcmp(e->name, name, both) : 0;
        if (!order) order = (e->n > n) - (e->n < n);
        if (!order) {
            la_tensor *t = e->tensor;
            /* It is taken out, so a file cannot name one tensor for two
            ** entries, which would share memory that no step knows of. */
            e->tensor = NULL;
            if (t) return t;
            break;
        }
        if (order < 0) low = mid + 1;
        else high = mid;
    }
    if (!r->t.status)
        r->t.status = la_error(LA_EIO, "the program is damaged: the file has "
                               "no tensor '%s' for it", la_quote(name, n, shown,
                               sizeof shown));
    return NULL;
}

/* Bytes as elements of the form's dtype: dtypes that the format of the file has
** no word for were written as bytes. */
static la_status read_cast(la_tensor **t, const la_tensor *form)
{
    la_tensor *as = NULL;
    int64_t bytes = form->numel * (int64_t)la_itemsize(form);
    if ((*t)->dtype == form->dtype || (*t)->dtype != LA_UINT8
        || (*t)->ndim != 1 || (*t)->numel != bytes) return LA_OK;
    if (!la_is_contiguous(form))
        return la_error(LA_EIO, "the program is damaged: bytes with gaps");
    LA_TRY(la_tensor_view_as(*t, (la_dtype)form->dtype, form->ndim,
                             la_sizes(form), la_strides(form), 0, &as));
    la_tensor_drop(&as->base);
    la_tensor_release(*t);
    *t = as;
    return LA_OK;
}

/* The values in memory as the form lies. */
static la_status read_lay_out(la_tensor **t, const la_tensor *form)
{
    const la_tensor *f = form;
    if (memcmp(la_strides(*t), la_strides(f), 8 * (size_t)f->ndim) == 0)
        return LA_OK;
    /* Strides are the file's: a few bytes of it must not ask for all memory. */
    if (la_extent_check(f->ndim, la_sizes(f), la_strides(f), 0,
                        (int64_t)la_itemsize(f),
                        f->numel * (int64_t)la_itemsize(f) * GAPS))
        return la_error(LA_EIO, "the program is damaged: a tensor with more "
                        "gaps than elements");
    LA_LET(to, la_tensor_empty_on(LA_CPU, f->ndim, la_sizes(f), la_strides(f),
                                  (la_dtype)f->dtype, &to));
    if (to->storage->data)
        memset(to->storage->data, 0, (size_t)to->storage->nbytes);
    LA_TRY(la_run_(copy_, to, *t));
    la_tensor_release(*t);
    return la_tensor_hand(&to, t);
}

/* The file's tensor in the form; owned. */
static la_tensor *read_stored(la_program_reader *r, const char *name,
                              const la_tensor *form)
{
    la_tensor *t = read_take(r, name);
    if (!t) return NULL;
    la_program_take_status(r, read_cast(&t, form));
    if (!r->t.status && (t->dtype != form->dtype || t->ndim != form->ndim
                         || memcmp(la_sizes(t), la_sizes(form),
                                   8 * (size_t)t->ndim) != 0))
        la_jtext_fail(&r->t, "a tensor of other sizes or dtype than its steps "
                     "expect");
    if (!r->t.status && form->flags & (LA_F_CONJ | LA_F_NEG | LA_F_WRAPPED))
        la_jtext_fail(&r->t, "a stored tensor with bits");
    if (!r->t.status) la_program_take_status(r, read_lay_out(&t, form));
    return t;
}

/* A captured tensor that shared memory with another one does so again. */
static la_tensor *read_view(la_program_reader *r, int64_t of, int64_t bytes,
                            const la_tensor *f, bool requires_grad)
{
    la_tensor *base = la_program_entry_of(r, of, LA_TEXT_WEIGHT), *t = NULL;
    int64_t item = (int64_t)la_itemsize(f), at;
    if (!base) return NULL;
    if (__builtin_add_overflow(base->offset * (int64_t)la_itemsize(base),
                               bytes, &at) || at < 0 || at % item) {
        la_jtext_fail(&r->t, "a view outside of its tensor");
        return NULL;
    }
    la_program_take_status(r, la_tensor_view_as(base, (la_dtype)f->dtype,
        f->ndim, la_sizes(f), la_strides(f), at / item, &t));
    if (!t) return NULL;
    t->flags |= f->flags & (LA_F_CONJ | LA_F_NEG);
    /* Without its base the view is a leaf, whose flag can differ from that of
    ** the root, as it did when it was captured. */
    if (requires_grad != (la_grad_flag(t) != 0)) la_tensor_drop(&t->base);
    return t;
}

/* Bytes, whatever dtype other tools see. */
static la_tensor *read_constant(la_program_reader *r, const char *name)
{
    la_tensor *t = read_take(r, name), *own = NULL;
    if (!t) return NULL;
    int64_t n = t->numel * (int64_t)la_itemsize(t), one = 1;
    la_program_take_status(r, la_tensor_view_as(t, LA_UINT8, 1, &n, &one, 0,
                                                &own));
    if (own) la_tensor_drop(&own->base);
    la_tensor_release(t);
    return own;
}

static la_tensor *read_number(la_program_reader *r, const char *name)
{
    la_tensor *t = read_take(r, name);
    if (t && (t->dtype != LA_FLOAT64 || t->ndim != 0))
        la_jtext_fail(&r->t, "a number that is no float64 of no dim");
    return t;
}

/* Gradients and flags come last, when the values are there. */
static void read_finish(la_program_reader *r, la_tensor *t, int kind,
                        int64_t of, const la_tensor *form, bool requires_grad)
{
    if (r->t.status) return;
    if (form->names) la_tensor_set_names(t, la_names_retain(form->names));
    if (kind == LA_TEXT_GRADIENT) {
        la_tensor *leaf = la_program_entry_of(r, of, LA_TEXT_WEIGHT);
        if (leaf) la_program_take_status(r, la_set_grad(leaf, t));
    } else if (requires_grad && !la_grad_flag(t)) {
        la_program_take_status(r, la_require_grad(t, true));
    }
}

/* An entry of the list of tensors. Views name entries before them, so that no
** circle is possible. */
static void read_entry(la_program_reader *r)
{
    size_t n;
    la_tensor *t = NULL;
    la_jtext_enter(&r->t, '[');
    const char *name = la_jtext_read_string(&r->t, &n);
    int kind = (int)la_jtext_read_range(&r->t, 0, LA_TEXT_NUMBER);
    int64_t of = la_jtext_read_range(&r->t, -1, INT32_MAX);
    int64_t bytes = la_jtext_read_integer(&r->t);
    bool requires_grad = la_jtext_read_range(&r->t, 0, 1);
    la_tensor *form = la_jtext_read_form(&r->t);
    la_jtext_leave(&r->t, ']');
    if (!r->t.status)
        t = kind == LA_TEXT_VIEW ? read_view(r, of, bytes, form, requires_grad)
            : kind == LA_TEXT_CONSTANT ? read_constant(r, name)
            : kind == LA_TEXT_NUMBER ? read_number(r, name)
            : read_stored(r, name, form);
    read_finish(r, t, kind, of, form, requires_grad);
    la_tensor_release(form);
    la_program_entry *to = r->t.status ? NULL
        : la_prog_add(&r->entries, sizeof *to);
    if (to) *to = (la_program_entry){t, kind};
    else {
        la_tensor_release(t);
        la_program_take_status(r, LA_ENOMEM);
    }
}

/* ---- operations ---- */

/* Rows of this build, of the schema that the program was made with. */
static void read_op(la_program_reader *r)
{
    char shown[2][256];
    size_t n, m;
    const char *name = la_jtext_read_string(&r->t, &n);
    const char *schema = la_jtext_read_string(&r->t, &m);
    if (r->t.status) return;
    const la_op *op = NULL;
    /* Rows of hosts are left out: their functions are not in a file, and
    ** another process may have others of that name. */
    for (int i = 0; i < la_op_builtin() && !op; i++)
        if (strcmp(la_op_at(i)->name, name) == 0) op = la_op_at(i);
    if (!op || strcmp(op->signature, schema) != 0) {
        r->t.status = la_error(LA_EIO, !op
            ? "the program calls '%s', an operation that is not in this build"
            : "the program calls '%s', which has other arguments here: %s",
            la_quote(name, n, shown[0], sizeof shown[0]),
            la_quote(schema, m, shown[1], sizeof shown[1]));
        return;
    }
    const la_op **to = la_prog_add(&r->ops, sizeof *to);
    if (to) *to = op;
    else la_program_take_status(r, LA_ENOMEM);
}

/* The format is read before all else, so that a file of another one is refused
** by that and not by its first difference. */
static void read_head(la_program_reader *r)
{
    char shown[64];
    size_t n;
    la_jtext_enter(&r->t, '{');
    la_jtext_want(&r->t, "lunarray");
    const char *version = la_jtext_read_string(&r->t, &n);
    la_jtext_want(&r->t, "format");
    int64_t format = la_jtext_read_range(&r->t, 0, INT32_MAX);
    if (!r->t.status && format != LA_PROGRAM_FORMAT)
        r->t.status = la_error(LA_EIO, "the program is of format %d, which "
                               "lunarray %s wrote: %d is known here",
                               (int)format, la_quote(version, n, shown,
                               sizeof shown), LA_PROGRAM_FORMAT);
    la_jtext_want(&r->t, "operations");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) read_op(r);
    la_jtext_want(&r->t, "tensors");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) read_entry(r);
}

/* ---- a program ---- */

/* No two of a kind have one name. */
static void read_rename(la_program_reader *r, la_program *g, int what,
                        int64_t i, const char *name, size_t n)
{
    la_program_take_status(r, la_program_rename(g, what, i, name, n));
    if (!r->t.status && g->names[what].list[i].n != n)
        la_jtext_fail(&r->t, "a name that is there twice");
}

/* Names for what the program has; further ones, of a damaged file, are passed
** over. */
static void read_names(la_program_reader *r, la_program *g, int what,
                       const char *key)
{
    int64_t i = 0;
    la_jtext_want(&r->t, key);
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        size_t n, before = r->t.used;
        const char *name = la_jtext_read_string(&r->t, &n);
        if (!r->t.status && i < g->names[what].n)
            read_rename(r, g, what, i, name, n);
        r->t.used = before;
        i++;
    }
}

/* The names of weights stand before the numbers that are some of them. */
static void read_numbers(la_program_reader *r, la_program *g,
                         const la_notes *weights)
{
    la_jtext_want(&r->t, "numbers");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        int kind = (int)la_jtext_read_range(&r->t, 0, LA_PROGRAM_COUNT);
        int64_t at = la_jtext_read_range(&r->t, 0, INT32_MAX);
        la_tensor *t = la_program_entry_of(r, at, LA_TEXT_NUMBER);
        const char *name = g->weights.n < weights->n
            ? weights->list[g->weights.n].key : "number";
        if (t) la_program_take_status(r, la_program_add_number(g, kind, t,
                                                               name));
    }
}

static void read_call(la_program_reader *r, la_program *g)
{
    size_t n, before = r->t.used;
    la_jtext_want(&r->t, "call");
    const char *text = la_jtext_read_string(&r->t, &n);
    if (!r->t.status) la_bytes_put(&g->call, text, n);
    la_program_take_status(r, g->call.status);
    r->t.used = before;
}

/* Sources of steps are numbers of the program. Steps were read before those. */
static void read_check_numbers(la_program_reader *r, const la_program *g)
{
    for (int32_t i = 0; i < g->p->steps.n && !r->t.status; i++) {
        const la_prog_step *s = la_prog_step_at(g->p, i);
        for (int k = 0; k < s->nsources; k++)
            if (s->sources[k].source >= g->numbers.n)
                la_jtext_fail(&r->t, "a number that is not there");
    }
}

/* Weights are renamed after all names are known, because numbers are found by
** the name that the file has for their weight. */
static void read_weight_names(la_program_reader *r, la_notes *out)
{
    la_jtext_want(&r->t, "weight names");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        size_t n, before = r->t.used;
        const char *name = la_jtext_read_string(&r->t, &n);
        if (!r->t.status)
            la_program_take_status(r, la_notes_add(out, name, n, "", 0));
        r->t.used = before;
    }
}

/* The parts around the recording; la_program_finish plans it as the last
** step. */
static void read_parts(la_program_reader *r, la_program *g)
{
    LA_NOTES weights = {0};
    read_names(r, g, 0, "input names");
    read_names(r, g, 1, "output names");
    read_weight_names(r, &weights);
    for (int64_t i = 0; i < weights.n && i < g->names[2].n && !r->t.status; i++)
        read_rename(r, g, 2, i, weights.list[i].key, weights.list[i].n);
    read_numbers(r, g, &weights);
    read_call(r, g);
    if (!r->t.status) read_check_numbers(r, g);
    la_jtext_leave(&r->t, '}');
    if (!r->t.status) la_program_take_status(r, la_program_finish(g));
}

static void read_program(la_program_reader *r, la_prog_list *out)
{
    la_program *g = NULL;
    la_jtext_enter(&r->t, '{');
    la_prog *p = la_program_read_recording(r);
    if (!p) return;
    la_program_take_status(r, la_program_check(p));
    /* The verifier of the passes relies on these checks, and la_program_make
    ** takes the recording over even when it fails. */
    if (r->t.status) la_prog_free(p);
    else la_program_take_status(r, la_program_make(p, &g));
    if (g) read_parts(r, g);
    la_program **to = r->t.status ? NULL : la_prog_add(out, sizeof *to);
    if (to) *to = g;
    else {
        la_program_drop(g);
        la_program_take_status(r, LA_ENOMEM);
    }
}

/* The whole text. Its order is fixed: a reader that knows what comes next needs
** no tree of the JSON in memory. */
static la_status read_all(la_program_reader *r, la_prog_list *out)
{
    read_head(r);
    la_jtext_want(&r->t, "programs");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) read_program(r, out);
    la_jtext_leave(&r->t, '}');
    if (!r->t.status && !out->n) la_jtext_fail(&r->t, "it has no program");
    return r->t.status;
}

/* ---- the file ---- */

static const la_note *read_note(const la_archive *a)
{
    for (int64_t i = 0; i < a->metadata.n; i++)
        if (strcmp(a->metadata.list[i].key, LA_PROGRAM_KEY) == 0)
            return &a->metadata.list[i];
    return NULL;
}

/* Owns what the reader gathers, and frees it whatever happens; programs that
** were read before a fault go too. */
static la_status read_note_text(la_archive *a, const la_note *note,
                                la_prog_list *out)
{
    /* No text is longer unescaped than it is in JSON; the rest is for the NULs
    ** of short ones. */
    size_t capacity = 2 * note->text_n + 64;
    la_program_reader r = {.archive = a, .t = {
        .json = {note->text, note->text + note->text_n},
        .text = la_mem_alloc(capacity), .capacity = capacity}};
    if (!r.t.text) return LA_ENOMEM;
    la_status status = read_all(&r, out);
    for (int32_t i = 0; i < r.entries.n; i++)
        la_tensor_release(LA_PROG_AT(r.entries, la_program_entry, i)->tensor);
    la_prog_drop_list(&r.entries, sizeof(la_program_entry));
    la_prog_drop_list(&r.ops, sizeof(const la_op *));
    la_prog_drop_list(&r.ints, sizeof(int64_t));
    la_mem_free(r.t.text, capacity);
    if (status) la_program_drop_list(out);
    return status;
}

/* Programs are a note in the metadata of a .safetensors file, whose tensors are
** the weights: any tool for such files can look at them. */
la_status la_program_read(const la_reader *from, int64_t limit,
                          la_prog_list *out)
{
    LA_ARCHIVE a = {.limit = limit};
    la_file_format format;
    LA_TRY(la_file_format_inside(from, &format));
    if (format != LA_FILE_SAFETENSORS)
        return la_error(LA_EIO, "the bytes are no program (a .laprog is a "
                        ".safetensors file)");
    LA_TRY(la_file_read(from, format, &a));
    const la_note *note = read_note(&a);
    if (!note)
        return la_error(LA_EIO, "the file has tensors and no program");
    return read_note_text(&a, note, out);
}

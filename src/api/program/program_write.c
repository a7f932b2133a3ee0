/*
** Programs as files: .safetensors, whose tensors are the captured ones, their
** gradients where a recording began with some, numbers, and constants. The
** text "lunarray.program" of the metadata has the recordings.
*/
#include "api/program/api_program.h"
#include "api/program/program_text.h"

#include <stdio.h>
#include <string.h>

#include "api/files.h"
#include "base/runtime/memory.h"
#include "grad/grad.h"
#include "lunarray.h"
#include "op/call.h"
#include "op/op.h"

/* A tensor of the file. */
typedef struct write_entry {
    la_tensor *tensor;          /* owned */
    int kind;
    int32_t of;                 /* of a view or a gradient */
    int64_t bytes;              /* of a view: from there */
    bool requires_grad;
} write_entry;

typedef struct program_writer {
    la_jtext_writer text;
    la_bytes bytes;
    la_archive archive;
    la_notes names;             /* by entry */
    la_prog_list entries, ops;  /* write_entry; const la_op * */
} program_writer;

static const write_entry *write_entry_at(const program_writer *w, int32_t i)
{
    return LA_PROG_AT(w->entries, write_entry, i);
}

/* Entries are few (captured tensors and constants), and this runs once for each
** when a file is written: a search is enough. */
static int32_t write_find(const program_writer *w, const la_tensor *t)
{
    for (int32_t i = 0; i < w->entries.n; i++)
        if (write_entry_at(w, i)->tensor == t) return i;
    return LA_PROG_NONE;
}

/* ---- names in the file ---- */

static bool write_has_name(const program_writer *w, const char *key)
{
    for (int64_t i = 0; i < w->names.n; i++)
        if (strcmp(w->names.list[i].key, key) == 0) return true;
    return false;
}

/* The name that users gave, with a number behind where it is taken: keys of the
** file are unique, and a reader finds entries by their index. */
static la_status write_name(program_writer *w, const char *name,
                            const char *behind)
{
    size_t bytes = strlen(name) + strlen(behind) + 24;
    char *text = la_mem_alloc(bytes);
    if (!text) return LA_ENOMEM;
    snprintf(text, bytes, "%s%s", name, behind);
    for (int k = 2; write_has_name(w, text); k++)
        snprintf(text, bytes, "%s%s.%d", name, behind, k);
    la_status status = la_notes_add(&w->names, text, strlen(text), "", 0);
    la_mem_free(text, bytes);
    return status;
}

static const char *write_name_at(const program_writer *w, int64_t i)
{
    return w->names.list[i].key;
}

/* ---- values ---- */

/* Dtypes that the format has no word for go as bytes. */
static la_status write_bytes_of(la_tensor *t, la_tensor **out)
{
    int64_t n = t->numel * (int64_t)la_itemsize(t), one = 1;
    LA_LET(plain, la_run(resolve_conj, &plain, t));
    LA_LET(flat, la_run(contiguous, &flat, plain));
    return la_tensor_view_as(flat, LA_UINT8, 1, &n, &one,
                             flat->offset * (int64_t)la_itemsize(flat), out);
}

static la_status write_values(program_writer *w, const char *name,
                              la_tensor *t)
{
    size_t n = strlen(name);
    if (t->dtype != LA_COMPLEX32 && t->dtype != LA_COMPLEX128)
        return la_file_add(&w->archive, name, n, t);
    LA_LET(bytes, write_bytes_of(t, &bytes));
    return la_file_add(&w->archive, name, n, bytes);
}

/* One more entry of the file; its values go there unless it is a view. */
static la_status write_add(program_writer *w, write_entry e, const char *name,
                           const char *behind)
{
    write_entry *to = la_prog_add(&w->entries, sizeof *to);
    if (!to) return LA_ENOMEM;
    la_tensor_retain(e.tensor);
    *to = e;
    LA_TRY(write_name(w, name, behind));
    if (e.kind == LA_TEXT_VIEW) return LA_OK;
    return write_values(w, write_name_at(w, w->names.n - 1), e.tensor);
}

/* ---- what a program has ---- */

/* Offsets are compared in bytes, since a view may have another dtype than its
** root. */
static int64_t write_start(const la_tensor *t)
{
    return t->offset * (int64_t)la_itemsize(t);
}

/* Do elements behind each other fill what the tensor spans? Then its views are
** views of what the file has. */
static bool write_is_filled(const la_prog *p, int32_t object)
{
    const la_prog_object *o = la_prog_object_at(p, object);
    const la_tensor *t = o->tensor;
    if (o->slot < 0 || t->flags & LA_F_DENSE) return true;
    const la_prog_slot *s = la_prog_slot_at(p, o->slot);
    for (int32_t v = s->views; v >= 0; v = la_prog_view_at(p, v)->next)
        if (!la_prog_view_at(p, v)->whole) return false;
    return true;
}

/* A captured tensor, which is the root of its memory, or a view of that. */
static la_status write_object(program_writer *w, const la_program *g,
                              int32_t i, const char *name)
{
    const la_prog *p = g->p->recorded;
    const la_prog_object *o = la_prog_object_at(p, i);
    write_entry e = {o->tensor, LA_TEXT_WEIGHT, LA_PROG_NONE, 0,
                     o->requires_grad};
    /* One tensor that was captured twice is one entry. */
    if (write_find(w, o->tensor) >= 0) return LA_OK;
    if (la_internal_overlap(o->tensor) == LA_OVERLAP_YES)
        return la_error(LA_ESUPPORT, "'%s' has elements that share memory: "
                        "keep it contiguous", name);
    int32_t root = o->slot < 0 ? i : la_prog_slot_at(p, o->slot)->index;
    /* A view is written as an offset into the root's bytes, so that both share
    ** memory again after they are read. */
    if (root != i) {
        la_tensor *base = la_prog_object_at(p, root)->tensor;
        e.kind = LA_TEXT_VIEW;
        e.of = write_find(w, base);
        e.bytes = write_start(o->tensor) - write_start(base);
    } else if (o->tensor->flags & (LA_F_CONJ | LA_F_NEG)) {
        return la_error(LA_ESUPPORT, "'%s' has a conjugate or negative bit: "
                        "keep it resolved", name);
    } else if (!write_is_filled(p, i)) {
        return la_error(LA_ESUPPORT, "'%s' lies in memory with gaps, and the "
                        "program uses views of it: keep it contiguous", name);
    }
    return write_add(w, e, name, "");
}

/* Roots come before their views. */
static la_status write_objects(program_writer *w, const la_program *g,
                               bool roots)
{
    const la_prog *p = g->p->recorded;
    int64_t at = 0;
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        if (o->argument >= 0) continue;
        const char *name = la_program_key(g, 2, at++);
        bool root = o->slot < 0 || la_prog_slot_at(p, o->slot)->index == i;
        if (root == roots) LA_TRY(write_object(w, g, i, name));
    }
    return LA_OK;
}

/* A recording that adds to a gradient which was there needs the same to be
** there when it runs again. */
static la_status write_gradients(program_writer *w, const la_prog *p)
{
    for (int32_t i = 0; i < p->objects.n; i++) {
        const la_prog_object *o = la_prog_object_at(p, i);
        if (o->argument >= 0 || !o->grad_asked || !o->had_grad) continue;
        la_tensor *grad = la_leaf_grad(o->tensor);
        if (!grad)
            return la_error(LA_ESTATE, "a gradient is gone that the program "
                            "adds to");
        int32_t of = write_find(w, o->tensor);
        write_entry e = {grad, LA_TEXT_GRADIENT, of, 0, false};
        if (write_find(w, grad) < 0)
            LA_TRY(write_add(w, e, write_name_at(w, of), ".grad"));
    }
    return LA_OK;
}

/* The view of a constant that other tools can read, or the bytes. */
static la_status write_constant(program_writer *w, const la_prog *p,
                                const la_prog_slot *s)
{
    write_entry *to = la_prog_add(&w->entries, sizeof *to);
    if (!to) return LA_ENOMEM;
    *to = (write_entry){la_tensor_retain(s->own), LA_TEXT_CONSTANT,
                        LA_PROG_NONE, 0, false};
    LA_TRY(write_name(w, "constant", ""));
    const char *name = write_name_at(w, w->names.n - 1);
    for (int32_t v = s->views; v >= 0; v = la_prog_view_at(p, v)->next) {
        const la_tensor *f = la_prog_view_at(p, v)->form;
        if (la_prog_view_at(p, v)->bytes || !la_is_contiguous(f)
            || f->numel * (int64_t)la_itemsize(f) != s->own->numel) continue;
        LA_LET(t, la_tensor_view_as(s->own, (la_dtype)f->dtype, f->ndim,
                                    la_sizes(f), la_strides(f), 0, &t));
        return write_values(w, name, t);
    }
    return write_values(w, name, s->own);
}

/* Constants, also those of loops: these are one deep. */
static la_status write_constants(program_writer *w, const la_prog *p)
{
    for (int32_t i = 0; i < p->slots.n; i++) {
        const la_prog_slot *s = la_prog_slot_at(p, i);
        if (s->kind == LA_SLOT_CONST && write_find(w, s->own) < 0)
            LA_TRY(write_constant(w, p, s));
    }
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_loop *loop = la_prog_step_at(p, i)->loop;
        if (!loop) continue;
        LA_TRY(write_constants(w, loop->test));
        LA_TRY(write_constants(w, loop->body));
    }
    return LA_OK;
}

/* Entries are collected before any text is written, because the recordings
** refer to them by number. */
static la_status write_collect(program_writer *w, const la_program *g)
{
    const la_prog *p = g->p->recorded;
    LA_TRY(write_objects(w, g, true));
    LA_TRY(write_objects(w, g, false));
    LA_TRY(write_gradients(w, p));
    LA_TRY(write_constants(w, p));
    for (int32_t i = 0; i < g->numbers.n; i++) {
        int32_t k = LA_PROG_AT(g->numbers, la_program_number, i)->weight;
        write_entry e = {la_program_weight_at(g, k), LA_TEXT_NUMBER,
                         LA_PROG_NONE, 0, false};
        if (write_find(w, e.tensor) < 0)
            LA_TRY(write_add(w, e, la_program_key(g, 2, k), ""));
    }
    return LA_OK;
}

/* ---- operations ---- */

/* The number of an operation in the file's list, where its name and schema
** stand once; a reader refuses the file there if the schema is another one. */
static la_status write_op_index(program_writer *w, const la_op *op,
                                int32_t *out)
{
    for (*out = 0; *out < w->ops.n; ++*out)
        if (*LA_PROG_AT(w->ops, const la_op *, *out) == op) return LA_OK;
    const la_op **to = la_prog_add(&w->ops, sizeof *to);
    if (!to) return LA_ENOMEM;
    *to = op;
    return LA_OK;
}

/* All operations first: the list stands in front of the recordings that use
** it. */
static la_status write_collect_ops(program_writer *w, const la_prog *p)
{
    int32_t at;
    for (int32_t i = 0; i < p->steps.n; i++) {
        const la_prog_step *s = la_prog_step_at(p, i);
        if (s->kind == LA_STEP_CALL || s->kind == LA_STEP_LOOK)
            LA_TRY(write_op_index(w, s->op, &at));
        if (!s->loop) continue;
        LA_TRY(write_collect_ops(w, s->loop->test));
        LA_TRY(write_collect_ops(w, s->loop->body));
    }
    return LA_OK;
}

/* ---- the text of a program ---- */

static void write_values_list(la_jtext_writer *t, const la_value *v)
{
    la_jtext_open(t, '[');
    for (int64_t i = 0; i < v->ints.n; i++)
        la_jtext_integer(t, v->ints.list[i]);
    la_jtext_close(t, ']');
}

/* Values that mean something in this process alone. */
static la_status write_refuse(const la_prog_step *s, const char *what)
{
    return la_error(LA_ESUPPORT, "a step of '%s' has %s, which no file can "
                    "hold", s->op->name, what);
}

static void write_scalar(la_jtext_writer *t, const la_scalar *s)
{
    la_jtext_integer(t, s->kind);
    la_jtext_integer(t, s->kind <= LA_KINT ? s->i : 0);
    la_jtext_double(t, s->re);
    la_jtext_double(t, s->im);
}

/* [tag, given, what the value is] */
static la_status write_value(la_jtext_writer *t, const la_prog_step *s, int k)
{
    const la_value *v = &s->args[k];
    la_jtext_open(t, '[');
    la_jtext_integer(t, v->tag);
    la_jtext_integer(t, v->given);
    switch (v->tag) {
    case LA_VNONE: break;
    case LA_VTENSOR: la_jtext_integer(t, s->views[k]); break;
    case LA_VTENSORS: la_jtext_integer(t, v->tensors.n); break;
    case LA_VSCALAR: write_scalar(t, &v->scalar); break;
    case LA_VINT: la_jtext_integer(t, v->i); break;
    case LA_VFLOAT: la_jtext_double(t, v->d); break;
    case LA_VBOOL: la_jtext_integer(t, v->b); break;
    case LA_VINTS: case LA_VFLOATS: write_values_list(t, v); break;
    case LA_VDTYPE: la_jtext_word(t, la_dtype_name(v->dtype)); break;
    case LA_VFORMAT: la_jtext_integer(t, v->format); break;
    case LA_VSTR:
        if (!la_json_is_utf8(v->str.text, v->str.n))
            return write_refuse(s, "a text of other bytes than UTF-8");
        la_jtext_string(t, v->str.text, v->str.n);
        break;
    case LA_VDEVICE:
        if (v->device != LA_CPU) return write_refuse(s, "a device");
        la_jtext_integer(t, v->device);
        break;
    case LA_VNAMES:
        la_jtext_open(t, '[');
        for (int64_t i = 0; i < v->names.n; i++)
            la_jtext_word(t, v->names.list[i]);
        la_jtext_close(t, ']');
        break;
    default: return write_refuse(s, "a generator of its own");
    }
    la_jtext_close(t, ']');
    return LA_OK;
}

/* Always LA_MAX_RESULTS numbers, so that a reader needs no count of its own. */
static void write_four(la_jtext_writer *t, const char *key, const int32_t *list)
{
    la_jtext_key(t, key);
    la_jtext_open(t, '[');
    for (int k = 0; k < LA_MAX_RESULTS; k++) la_jtext_integer(t, list[k]);
    la_jtext_close(t, ']');
}

static void write_listed(la_jtext_writer *t, const la_prog_step *s)
{
    la_jtext_key(t, "listed");
    la_jtext_open(t, '[');
    la_jtext_integer(t, s->nlisted ? s->list_results : 0);
    la_jtext_integer(t, s->nlisted);
    la_jtext_close(t, ']');
}

static la_status write_call(program_writer *w, const la_prog_step *s)
{
    la_jtext_writer *t = &w->text;
    int32_t op;
    LA_TRY(write_op_index(w, s->op, &op));
    la_jtext_integer(t, op);
    la_jtext_key(t, "form");
    la_jtext_integer(t, s->form);
    la_jtext_key(t, "flags");
    la_jtext_integer(t, (s->alias ? LA_TEXT_ALIAS : 0)
                    | (s->pure ? LA_TEXT_PURE : 0));
    la_jtext_key(t, "args");
    la_jtext_open(t, '[');
    for (int k = 0; k < s->nargs; k++) LA_TRY(write_value(t, s, k));
    la_jtext_close(t, ']');
    la_jtext_key(t, "members");
    la_jtext_integer(t, s->lists);
    write_four(t, "results", s->results);
    write_four(t, "outs", s->outs);
    la_jtext_key(t, "count");
    la_jtext_integer(t, s->nresults);
    write_listed(t, s);
    la_jtext_key(t, "numbers");
    la_jtext_open(t, '[');
    for (int k = 0; k < s->nsources; k++) {
        la_jtext_integer(t, s->sources[k].arg);
        la_jtext_integer(t, s->sources[k].source);
    }
    la_jtext_close(t, ']');
    return LA_OK;
}

/* A question about elements (program/look.c). */
static la_status write_look(program_writer *w, const la_prog_step *s)
{
    la_jtext_writer *t = &w->text;
    int32_t op;
    LA_TRY(write_op_index(w, s->op, &op));
    la_jtext_integer(t, op);
    la_jtext_key(t, "view");
    la_jtext_integer(t, s->view);
    la_jtext_key(t, "question");
    la_jtext_open(t, '[');
    la_jtext_integer(t, s->question.kind);
    la_jtext_integer(t, s->question.arg);
    la_jtext_integer(t, s->question.a);
    la_jtext_integer(t, s->question.b);
    la_jtext_integer(t, s->answer);
    la_jtext_close(t, ']');
    return LA_OK;
}

static la_status write_recording(program_writer *w, const la_prog *p);

/* Its operands, results and programs: test and body, or the two branches of
** la.cond. */
static la_status write_loop(program_writer *w, const la_prog_step *s)
{
    la_jtext_writer *t = &w->text;
    la_jtext_open(t, '[');
    la_jtext_integer(t, s->loop->ncarry);
    la_jtext_integer(t, s->loop->ntest);
    la_jtext_integer(t, s->loop->nbody);
    la_jtext_close(t, ']');
    la_jtext_key(t, "members");
    la_jtext_integer(t, s->lists);
    write_listed(t, s);
    la_jtext_key(t, "test");
    la_jtext_open(t, '{');
    LA_TRY(write_recording(w, s->loop->test));
    la_jtext_close(t, '}');
    la_jtext_key(t, "body");
    la_jtext_open(t, '{');
    LA_TRY(write_recording(w, s->loop->body));
    la_jtext_close(t, '}');
    return LA_OK;
}

static la_status write_step(program_writer *w, const la_prog_step *s)
{
    static const char *const kinds[] = {"call", "grad", "require", "look",
                                        "loop", "cond"};
    bool chooses = s->kind == LA_STEP_LOOP && s->loop->chooses;
    la_jtext_writer *t = &w->text;
    la_jtext_open(t, '{');
    la_jtext_key(t, "line");
    la_jtext_integer(t, s->line);
    la_jtext_key(t, "source");
    la_jtext_integer(t, s->source);
    la_jtext_key(t, kinds[s->kind + chooses]);
    switch (s->kind) {
    case LA_STEP_CALL: LA_TRY(write_call(w, s)); break;
    case LA_STEP_LOOK: LA_TRY(write_look(w, s)); break;
    case LA_STEP_LOOP: LA_TRY(write_loop(w, s)); break;
    default:
        la_jtext_integer(t, s->object);
        la_jtext_key(t, "view");
        la_jtext_integer(t, s->kind == LA_STEP_GRAD ? s->view : s->on);
    }
    la_jtext_close(t, '}');
    return LA_OK;
}

static int64_t write_object_flags(const la_prog_object *o)
{
    return (o->requires_grad ? LA_TEXT_GRAD : 0)
        | (o->grad_set ? LA_TEXT_SET : 0) | (o->grad_asked ? LA_TEXT_ASKED : 0)
        | (o->had_grad ? LA_TEXT_HAD : 0) | (o->pinned ? LA_TEXT_PINNED : 0)
        | (o->geometry ? LA_TEXT_GEOMETRY : 0);
}

/* A list under its key: 'put' writes entry i of 'from', which has n. */
static void write_each(program_writer *w, const char *key, int32_t n,
                       const void *from,
                       void (*put)(program_writer *, const void *from,
                                   int32_t i))
{
    la_jtext_key(&w->text, key);
    la_jtext_open(&w->text, '[');
    for (int32_t i = 0; i < n; i++) put(w, from, i);
    la_jtext_close(&w->text, ']');
}

static void write_object_text(program_writer *w, const void *p, int32_t i)
{
    la_jtext_writer *t = &w->text;
    const la_prog_object *o = la_prog_object_at(p, i);
    la_jtext_open(t, '[');
    la_jtext_integer(t, o->argument < 0 ? write_find(w, o->tensor)
                    : LA_PROG_NONE);
    la_jtext_integer(t, o->argument);
    la_jtext_integer(t, o->slot);
    la_jtext_integer(t, o->grad_slot);
    la_jtext_integer(t, write_object_flags(o));
    la_jtext_form(t, o->form);
    la_jtext_close(t, ']');
}

static void write_slot_text(program_writer *w, const void *p, int32_t i)
{
    la_jtext_writer *t = &w->text;
    const la_prog_slot *s = la_prog_slot_at(p, i);
    la_jtext_open(t, '[');
    la_jtext_integer(t, s->kind);
    la_jtext_integer(t, s->kind == LA_SLOT_OBJECT ? s->index
                    : s->kind == LA_SLOT_STEP ? s->maker
                    : write_find(w, s->own));
    la_jtext_integer(t, s->grad);
    la_jtext_integer(t, s->nbytes);
    la_jtext_integer(t, s->origin);
    la_jtext_close(t, ']');
}

static void write_view_text(program_writer *w, const void *p, int32_t i)
{
    la_jtext_writer *t = &w->text;
    const la_prog_view *v = la_prog_view_at(p, i);
    la_jtext_open(t, '[');
    la_jtext_integer(t, v->slot);
    la_jtext_integer(t, v->bytes);
    la_jtext_integer(t, (v->grad ? LA_TEXT_GRAD : 0)
                    | (v->whole ? LA_TEXT_WHOLE : 0));
    la_jtext_form(t, v->form);
    la_jtext_close(t, ']');
}

static void write_member_text(program_writer *w, const void *p, int32_t i)
{
    la_jtext_integer(&w->text, la_prog_member(p, i));
}

static void write_source_text(program_writer *w, const void *p, int32_t i)
{
    const char *name = *LA_PROG_AT(((const la_prog *)p)->names, char *, i);
    la_jtext_word(&w->text, la_json_is_utf8(name, strlen(name)) ? name : "?");
}

static void write_output_text(program_writer *w, const void *p, int32_t i)
{
    la_jtext_integer(&w->text, la_prog_output_at(p, i)->view);
    la_jtext_integer(&w->text, la_prog_output_at(p, i)->object);
}

static void write_number_text(program_writer *w, const void *from, int32_t i)
{
    const la_program *g = from;
    const la_program_number *n = LA_PROG_AT(g->numbers, la_program_number, i);
    la_jtext_integer(&w->text, n->kind);
    la_jtext_integer(&w->text,
                     write_find(w, la_program_weight_at(g, n->weight)));
}

static la_status write_names_text(program_writer *w, const la_program *g)
{
    static const char *const keys[] = {"input names", "output names",
                                       "weight names"};
    la_jtext_writer *t = &w->text;
    char shown[256];
    for (int k = 0; k < LA_PROGRAM_NAMES; k++) {
        la_jtext_key(t, keys[k]);
        la_jtext_open(t, '[');
        for (int64_t i = 0; i < g->names[k].n; i++) {
            const la_note *n = &g->names[k].list[i];
            if (!la_json_is_utf8(n->key, n->n) || strlen(n->key) != n->n)
                return la_error(LA_EARG, "'%s' is no name for a file: UTF-8 "
                                "expected", la_quote(n->key, n->n, shown,
                                                     sizeof shown));
            la_jtext_string(t, n->key, n->n);
        }
        la_jtext_close(t, ']');
    }
    write_each(w, "numbers", g->numbers.n, g, write_number_text);
    la_jtext_key(t, "call");
    la_jtext_string(t, g->call.n ? (const char *)g->call.data : "", g->call.n);
    return LA_OK;
}

static la_status write_recording(program_writer *w, const la_prog *p)
{
    la_jtext_writer *t = &w->text;
    la_jtext_key(t, "modes");
    la_jtext_open(t, '[');
    la_jtext_word(t, la_dtype_name(p->default_dtype));
    la_jtext_integer(t, p->no_grad);
    la_jtext_integer(t, p->deterministic);
    la_jtext_integer(t, p->portable);
    la_jtext_integer(t, p->lockstep);
    la_jtext_close(t, ']');
    la_jtext_key(t, "arguments");
    la_jtext_integer(t, p->narguments);
    write_each(w, "objects", p->objects.n, p, write_object_text);
    write_each(w, "slots", p->slots.n, p, write_slot_text);
    write_each(w, "views", p->views.n, p, write_view_text);
    write_each(w, "members", p->members.n, p, write_member_text);
    write_each(w, "sources", p->names.n, p, write_source_text);
    write_each(w, "outputs", p->outputs.n, p, write_output_text);
    la_jtext_key(t, "steps");
    la_jtext_open(t, '[');
    for (int32_t i = 0; i < p->steps.n; i++)
        LA_TRY(write_step(w, la_prog_step_at(p, i)));
    la_jtext_close(t, ']');
    return w->bytes.status;
}

static la_status write_program(program_writer *w, const la_program *g)
{
    la_jtext_open(&w->text, '{');
    LA_TRY(write_recording(w, g->p->recorded));
    LA_TRY(write_names_text(w, g));
    la_jtext_close(&w->text, '}');
    return w->bytes.status;
}

/* ---- the file ---- */

static void write_operation_text(program_writer *w, const void *none, int32_t i)
{
    (void)none;
    const la_op *op = *LA_PROG_AT(w->ops, const la_op *, i);
    la_jtext_word(&w->text, op->name);
    la_jtext_word(&w->text, op->signature);
}

static void write_tensor_text(program_writer *w, const void *none, int32_t i)
{
    (void)none;
    la_jtext_writer *t = &w->text;
    const write_entry *e = write_entry_at(w, i);
    la_jtext_open(t, '[');
    la_jtext_word(t, write_name_at(w, i));
    la_jtext_integer(t, e->kind);
    la_jtext_integer(t, e->of);
    la_jtext_integer(t, e->bytes);
    la_jtext_integer(t, e->requires_grad);
    la_jtext_form(t, e->tensor);
    la_jtext_close(t, ']');
}

static void write_head(program_writer *w)
{
    char version[32];
    la_jtext_writer *t = &w->text;
    snprintf(version, sizeof version, "%d.%d.%d", LA_VERSION / 10000,
             LA_VERSION / 100 % 100, LA_VERSION % 100);
    la_jtext_key(t, "lunarray");
    la_jtext_word(t, version);
    la_jtext_key(t, "format");
    la_jtext_integer(t, LA_PROGRAM_FORMAT);
    write_each(w, "operations", w->ops.n, NULL, write_operation_text);
    write_each(w, "tensors", w->entries.n, NULL, write_tensor_text);
}

static la_status write_all(program_writer *w, int n, la_program *const *list)
{
    w->text.to = &w->bytes;
    for (int i = 0; i < n; i++) {
        LA_TRY(write_collect(w, list[i]));
        LA_TRY(write_collect_ops(w, list[i]->p->recorded));
    }
    la_jtext_open(&w->text, '{');
    write_head(w);
    la_jtext_key(&w->text, "programs");
    la_jtext_open(&w->text, '[');
    for (int i = 0; i < n; i++) LA_TRY(write_program(w, list[i]));
    la_jtext_close(&w->text, ']');
    la_jtext_close(&w->text, '}');
    LA_TRY(w->bytes.status);
    return la_notes_add(&w->archive.metadata, LA_PROGRAM_KEY,
                        sizeof LA_PROGRAM_KEY - 1,
                        (const char *)w->bytes.data, w->bytes.n);
}

/* Everything is made in memory before the first byte is written: a failure
** leaves no half of a file. */
la_status la_program_write(int n, la_program *const *list, la_writer *to)
{
    program_writer w = {.bytes = {0}};
    la_status status = write_all(&w, n, list);
    if (!status) status = la_file_write(&w.archive, LA_FILE_SAFETENSORS, to);
    for (int32_t i = 0; i < w.entries.n; i++)
        la_tensor_release(write_entry_at(&w, i)->tensor);
    la_prog_drop_list(&w.entries, sizeof(write_entry));
    la_prog_drop_list(&w.ops, sizeof(const la_op *));
    la_notes_free(&w.names);
    la_archive_free(&w.archive);
    la_bytes_free(&w.bytes);
    return status;
}

/* Reading the recording of a program: objects, slots, views, steps. Each number
** is checked for its range here, what they say together in
** recording_check.c. */
#include "api/program/reader.h"

#include <string.h>

#include "base/runtime/memory.h"
#include "op/schema.h"
#include "tensor/names.h"

/* Passes compare slots with slots and steps with steps. */
enum { MOST_SLOTS = 1 << 16, MOST_VIEWS = 1 << 20, MOST_OBJECTS = 1 << 14,
       MOST_OUTPUTS = 1 << 12, MOST_OPERANDS = 64 };

/* One more entry of a list; NULL behind a failure. */
static void *recording_add(la_program_reader *r, la_prog_list *list,
                           size_t size, int32_t most)
{
    if (r->t.status) return NULL;
    if (list->n >= most) {
        la_jtext_fail(&r->t, "too many steps, views or tensors");
        return NULL;
    }
    void *to = la_prog_add(list, size);
    if (!to) r->t.status = LA_ENOMEM;
    return to;
}

/* Half the range is left free, so that sums of two numbers of a file cannot
** overflow before they are compared. */
static int32_t recording_number(la_program_reader *r)
{
    return (int32_t)la_jtext_read_range(&r->t, LA_PROG_NONE, INT32_MAX / 2);
}

/* ---- modes, objects, slots, views ---- */

/* The settings under which the calls were recorded. A program runs under them
** again, whatever those of the caller are: dtypes and kernels of its steps
** follow from them. */
static void recording_modes(la_program_reader *r, la_prog *p)
{
    size_t n, before = r->t.used;
    la_jtext_want(&r->t, "modes");
    la_jtext_enter(&r->t, '[');
    const char *word = la_jtext_read_string(&r->t, &n);
    p->default_dtype = r->t.status ? LA_FLOAT32 : la_dtype_parse(word, n);
    if (!r->t.status && (p->default_dtype == LA_UNDEFINED
                         || !la_is_float(p->default_dtype)))
        la_jtext_fail(&r->t, "a default dtype that is none");
    r->t.used = before;
    p->no_grad = la_jtext_read_range(&r->t, 0, 1);
    p->deterministic = la_jtext_read_range(&r->t, 0, 1);
    p->portable = la_jtext_read_range(&r->t, 0, 1);
    p->lockstep = la_jtext_read_range(&r->t, 0, 1);
    la_jtext_leave(&r->t, ']');
    la_jtext_want(&r->t, "arguments");
    p->narguments = (int32_t)la_jtext_read_range(&r->t, 0, MOST_OBJECTS);
}

/* A tensor from outside of the recording. An argument comes with each run; any
** other was captured, and its values are an entry of the file. */
static void recording_object(la_program_reader *r, la_prog *p)
{
    la_prog_object *o = recording_add(r, &p->objects, sizeof *o, MOST_OBJECTS);
    la_jtext_enter(&r->t, '[');
    int64_t at = la_jtext_read_range(&r->t, -1, INT32_MAX);
    int32_t argument = recording_number(r), slot = recording_number(r);
    int32_t grad_slot = recording_number(r);
    int64_t flags = la_jtext_read_range(&r->t, 0, 63);
    la_tensor *form = la_jtext_read_form(&r->t);
    la_jtext_leave(&r->t, ']');
    la_tensor *t = argument < 0 ? la_program_entry_of(r, at, LA_TEXT_WEIGHT)
                                : NULL;
    if (r->t.status) {
        la_tensor_release(form);
        return;
    }
    *o = (la_prog_object){.tensor = t ? la_tensor_retain(t) : NULL,
        .argument = argument, .slot = slot, .grad_slot = grad_slot,
        .requires_grad = flags & LA_TEXT_GRAD, .grad_set = flags & LA_TEXT_SET,
        .grad_asked = flags & LA_TEXT_ASKED, .had_grad = flags & LA_TEXT_HAD,
        .pinned = flags & LA_TEXT_PINNED, .geometry = flags & LA_TEXT_GEOMETRY,
        .version = t ? la_tensor_version(t) : 0, .form = form};
}

/* A slot is a piece of memory: a constant, an object's, or that of the step
** which makes it. Who reads it, and when for the first and last time, is found
** anew by the passes; nothing of that is believed. */
static void recording_slot(la_program_reader *r, la_prog *p)
{
    la_prog_slot *s = recording_add(r, &p->slots, sizeof *s, MOST_SLOTS);
    la_jtext_enter(&r->t, '[');
    int kind = (int)la_jtext_read_range(&r->t, 0, LA_SLOT_STEP);
    int32_t index = recording_number(r);
    bool grad = la_jtext_read_range(&r->t, 0, 1);
    int64_t bytes = la_jtext_read_range(&r->t, 0, LA_MAX_BYTES);
    int64_t origin = la_jtext_read_range(&r->t, 0, LA_MAX_BYTES);
    la_jtext_leave(&r->t, ']');
    la_tensor *own = !r->t.status && kind == LA_SLOT_CONST
        ? la_program_entry_of(r, index, LA_TEXT_CONSTANT) : NULL;
    if (r->t.status) return;
    *s = (la_prog_slot){.kind = (uint8_t)kind, .grad = grad,
        .index = kind == LA_SLOT_OBJECT ? index : LA_PROG_NONE,
        .maker = kind == LA_SLOT_STEP ? index : LA_PROG_NONE,
        .views = LA_PROG_NONE, .first = LA_PROG_NONE, .last = LA_PROG_NONE,
        .nbytes = bytes, .origin = origin,
        .own = own ? la_tensor_retain(own) : NULL};
}

/* The views of a slot are a list, in the order of the recording's. */
static void recording_view(la_program_reader *r, la_prog *p)
{
    la_prog_view *v = recording_add(r, &p->views, sizeof *v, MOST_VIEWS);
    la_jtext_enter(&r->t, '[');
    int32_t slot = (int32_t)la_jtext_read_range(&r->t, 0, MOST_SLOTS);
    int64_t bytes = la_jtext_read_range(&r->t, -LA_MAX_BYTES, LA_MAX_BYTES);
    int64_t flags = la_jtext_read_range(&r->t, 0, 3);
    la_tensor *form = la_jtext_read_form(&r->t);
    la_jtext_leave(&r->t, ']');
    if (!r->t.status && slot >= p->slots.n)
        la_jtext_fail(&r->t, "a view of no memory");
    if (r->t.status) {
        la_tensor_release(form);
        return;
    }
    /* Views go in front of the list of their slot, as in a recording. */
    la_prog_slot *s = la_prog_slot_at(p, slot);
    *v = (la_prog_view){.slot = slot, .last = LA_PROG_NONE,
        .grad = flags & LA_TEXT_GRAD, .step = LA_PROG_NONE,
        .object = LA_PROG_NONE,
        .whole = flags & LA_TEXT_WHOLE, .bytes = bytes, .form = form};
    la_prog_link_view(s, v, p->views.n - 1);
}

/* A view by its number, which stands in the file before all that refers to it;
** -1 for none. */
static int32_t recording_view_number(la_program_reader *r, const la_prog *p)
{
    return (int32_t)la_jtext_read_range(&r->t, -1, (int64_t)p->views.n - 1);
}

/* ---- lists ---- */

/* The name of a chunk of Lua: errors of its steps show it with the line. */
static void recording_text(la_program_reader *r, la_prog *p)
{
    size_t n, before = r->t.used;
    const char *text = la_jtext_read_string(&r->t, &n);
    char **to = recording_add(r, &p->names, sizeof *to, MOST_OBJECTS);
    if (to) *to = la_mem_zalloc(n + 1);
    if (to && *to) memcpy(*to, text, n);
    else la_program_take_status(r, LA_ENOMEM);
    r->t.used = before;
}

static void recording_output(la_program_reader *r, la_prog *p)
{
    la_prog_output *o = recording_add(r, &p->outputs, sizeof *o, MOST_OUTPUTS);
    int32_t view = recording_view_number(r, p);
    int32_t object = (int32_t)la_jtext_read_range(&r->t, -1,
                                                 (int64_t)p->objects.n - 1);
    if (!r->t.status) *o = (la_prog_output){.view = view, .object = object};
}

static void recording_member(la_program_reader *r, la_prog *p)
{
    int32_t *to = recording_add(r, &p->members, sizeof *to, MOST_VIEWS);
    int32_t view = recording_view_number(r, p);
    if (!r->t.status) *to = view;
}

/* Each entry of a list of one kind, by 'one'. */
static void recording_each(la_program_reader *r, la_prog *p, const char *key,
                           void (*one)(la_program_reader *r, la_prog *p))
{
    la_jtext_want(&r->t, key);
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) one(r, p);
}

/* ---- values ---- */

/* The list of the reader holds one value at a time: la_prog_copy_value takes a
** copy before the next one is read. */
static void recording_ints(la_program_reader *r, la_value *v)
{
    r->ints.n = 0;
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        int64_t i = la_jtext_read_integer(&r->t);
        int64_t *to = recording_add(r, &r->ints, sizeof *to, MOST_VIEWS);
        if (to) *to = i;
    }
    v->ints.list = r->ints.items;
    v->ints.n = r->ints.n;
}

/* Interned words, as numbers in the list meanwhile. */
static void recording_names(la_program_reader *r, la_value *v)
{
    r->ints.n = 0;
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        size_t n, before = r->t.used;
        const char *word = la_jtext_read_string(&r->t, &n);
        int64_t *to = recording_add(r, &r->ints, sizeof *to, LA_MAX_DIMS);
        const char *own = to ? la_name_intern(word, n) : NULL;
        if (to && !own) r->t.status = LA_ENOMEM;
        if (to) memcpy((const char **)r->ints.items + r->ints.n - 1, &own,
                       sizeof own);
        r->t.used = before;
    }
    v->names.list = (const char *const *)r->ints.items;
    v->names.n = r->ints.n;
}

/* Integers beyond int64 are marked by a positive real part, as in
** write_scalar. */
static void recording_scalar(la_program_reader *r, la_scalar *s)
{
    la_kind kind = (la_kind)la_jtext_read_range(&r->t, 0, LA_KCOMPLEX);
    int64_t i = la_jtext_read_integer(&r->t);
    double re = la_jtext_read_double(&r->t), im = la_jtext_read_double(&r->t);
    *s = kind == LA_KBOOL ? la_scalar_bool(i != 0)
        : kind == LA_KFLOAT ? la_scalar_float(re)
        : kind == LA_KCOMPLEX ? la_scalar_complex(re, im)
        : i < 0 && re > 0 ? la_scalar_unsigned((uint64_t)i)
        : la_scalar_int(i);
}

/* A text stays in the reader's memory, which outlives the checks;
** la_prog_copy_value gives steps one of their own. */
static void recording_string(la_program_reader *r, la_value *v)
{
    size_t n;
    const char *text = la_jtext_read_string(&r->t, &n);
    if (v->tag == LA_VSTR) {
        v->str.text = text;
        v->str.n = n;
        return;
    }
    v->dtype = r->t.status ? LA_FLOAT32 : la_dtype_parse(text, n);
    if (!r->t.status && v->dtype == LA_UNDEFINED)
        la_jtext_fail(&r->t, "unknown dtype");
}

/* Reads what stands behind the tag; 'view' for a tensor. */
static void recording_payload(la_program_reader *r, const la_prog *p,
                              la_value *v, int32_t *view)
{
    switch (v->tag) {
    case LA_VNONE: break;
    case LA_VTENSOR:
        *view = recording_view_number(r, p);
        if (*view < 0) la_jtext_fail(&r->t, "a tensor that is not there");
        break;
    case LA_VTENSORS:
        v->tensors.n = la_jtext_read_range(&r->t, 0, p->members.n);
        break;
    case LA_VSCALAR: recording_scalar(r, &v->scalar); break;
    case LA_VINT: v->i = la_jtext_read_integer(&r->t); break;
    case LA_VFLOAT: v->d = la_jtext_read_double(&r->t); break;
    case LA_VBOOL: v->b = la_jtext_read_range(&r->t, 0, 1); break;
    case LA_VINTS: case LA_VFLOATS: recording_ints(r, v); break;
    case LA_VDTYPE: case LA_VSTR: recording_string(r, v); break;
    case LA_VFORMAT:
        v->format = (la_memory_format)la_jtext_read_range(&r->t, 0,
            LA_FORMAT_CHANNELS_LAST_3D);
        break;
    case LA_VDEVICE:
        v->device = (la_device)la_jtext_read_range(&r->t, LA_CPU, LA_CPU);
        break;
    case LA_VNAMES: recording_names(r, v); break;
    default: la_jtext_fail(&r->t, "a value of an unknown kind");
    }
}

/* One argument of a call, of a kind that its parameter takes. */
static void recording_value(la_program_reader *r, const la_prog *p,
                            const la_schema *schema, int k, la_prog_step *s)
{
    la_value v = {.tag = LA_VNONE};
    size_t before = r->t.used;
    la_jtext_enter(&r->t, '[');
    v.tag = (la_tag)la_jtext_read_range(&r->t, 0, LA_VFLOATS);
    v.given = la_jtext_read_range(&r->t, 0, 1);
    if (!r->t.status && (k >= schema->nparams
                         || !(schema->tags[k] >> v.tag & 1)))
        la_jtext_fail(&r->t, "an argument that its operation does not take");
    if (!r->t.status) recording_payload(r, p, &v, &s->views[k]);
    la_jtext_leave(&r->t, ']');
    if (!r->t.status)
        la_program_take_status(r, la_prog_copy_value(&s->args[k], &v));
    r->t.used = before;
}

/* ---- steps ---- */

static void recording_four(la_program_reader *r, const la_prog *p,
                           const char *key, int32_t *list)
{
    la_jtext_want(&r->t, key);
    la_jtext_enter(&r->t, '[');
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        list[k] = recording_view_number(r, p);
    la_jtext_leave(&r->t, ']');
}

/* Numbers that a run reads anew: the argument, and where its value comes
** from. */
static void recording_sources(la_program_reader *r, la_prog_step *s)
{
    la_prog_source list[LA_MAX_ARGS];
    int n = 0;
    la_jtext_want(&r->t, "numbers");
    la_jtext_enter(&r->t, '[');
    while (la_jtext_next(&r->t, ']')) {
        int32_t arg = (int32_t)la_jtext_read_range(&r->t, 0, s->nargs - 1);
        int32_t source = (int32_t)la_jtext_read_range(&r->t, 0, MOST_OBJECTS);
        if (n == LA_MAX_ARGS) la_jtext_fail(&r->t, "too many numbers");
        if (r->t.status) return;
        list[n++] = (la_prog_source){arg, source};
    }
    /* The count is kept only with the list: a step is freed by it. */
    if (r->t.status || !n) return;
    s->sources = la_mem_alloc((size_t)n * sizeof *list);
    if (!s->sources) r->t.status = LA_ENOMEM;
    else memcpy(s->sources, list, (size_t)n * sizeof *list);
    s->nsources = s->sources ? (uint8_t)n : 0;
}

/* Arguments come as many as the operation has. */
static void recording_args(la_program_reader *r, la_prog *p,
                           la_prog_step *s)
{
    const la_schema *schema = la_schema_of(s->op);
    size_t n = (size_t)schema->nparams;
    if (la_prog_take_arguments(p, s, (int)n)) {
        la_program_take_status(r, LA_ENOMEM);
        return;
    }
    la_jtext_want(&r->t, "args");
    la_jtext_enter(&r->t, '[');
    for (int k = 0; k < (int)n; k++) recording_value(r, p, schema, k, s);
    la_jtext_leave(&r->t, ']');
}

/* Results that came as a list: where they begin among the members, and how
** many. */
static void recording_listed(la_program_reader *r, const la_prog *p,
                             la_prog_step *s)
{
    la_jtext_want(&r->t, "listed");
    la_jtext_enter(&r->t, '[');
    s->list_results = (int32_t)la_jtext_read_range(&r->t, 0, p->members.n);
    s->nlisted = (int32_t)la_jtext_read_range(&r->t, 0,
                                              p->members.n - s->list_results);
    la_jtext_leave(&r->t, ']');
}

/* The operation is a number into the list at the head of the file, which has
** been looked up once by name and schema. */
static void recording_call(la_program_reader *r, la_prog *p, la_prog_step *s)
{
    int64_t at = la_jtext_read_range(&r->t, 0, (int64_t)r->ops.n - 1);
    if (r->t.status) return;
    s->op = *LA_PROG_AT(r->ops, const la_op *, at);
    la_jtext_want(&r->t, "form");
    s->form = (uint8_t)la_jtext_read_range(&r->t, 0, LA_OUT);
    la_jtext_want(&r->t, "flags");
    int64_t flags = la_jtext_read_range(&r->t, 0, 3);
    s->alias = flags & LA_TEXT_ALIAS;
    s->pure = flags & LA_TEXT_PURE;
    recording_args(r, p, s);
    la_jtext_want(&r->t, "members");
    s->lists = (int32_t)la_jtext_read_range(&r->t, -1, p->members.n);
    recording_four(r, p, "results", s->results);
    recording_four(r, p, "outs", s->outs);
    la_jtext_want(&r->t, "count");
    s->nresults = (uint8_t)la_jtext_read_range(&r->t, 0, LA_MAX_RESULTS);
    recording_listed(r, p, s);
    if (!r->t.status) recording_sources(r, s);
}

/* A question and its answer. Whether it decides is not in the file: a file that
** said no could skip the question. */
static void recording_look(la_program_reader *r, la_prog *p, la_prog_step *s)
{
    int64_t at = la_jtext_read_range(&r->t, 0, (int64_t)r->ops.n - 1);
    if (r->t.status) return;
    s->op = *LA_PROG_AT(r->ops, const la_op *, at);
    la_jtext_want(&r->t, "view");
    s->view = recording_view_number(r, p);
    la_jtext_want(&r->t, "question");
    la_jtext_enter(&r->t, '[');
    s->question.kind = (uint8_t)la_jtext_read_range(&r->t, 0, LA_NLOOKS - 1);
    s->question.arg = (uint8_t)la_jtext_read_range(&r->t, 0, LA_MAX_ARGS);
    s->question.a = la_jtext_read_integer(&r->t);
    s->question.b = la_jtext_read_integer(&r->t);
    s->answer = la_jtext_read_integer(&r->t);
    la_jtext_leave(&r->t, ']');
    s->early = la_look_decides(s->question.kind);
    p->chooses |= s->early;
}

/* A program inside of a program, in the same form. */
static void recording_part(la_program_reader *r, const char *key,
                           la_prog **out)
{
    la_jtext_want(&r->t, key);
    la_jtext_enter(&r->t, '{');
    *out = la_program_read_recording(r);
    la_jtext_leave(&r->t, '}');
}

/* Loops and branches are one deep. */
static void recording_loop(la_program_reader *r, la_prog *p, la_prog_step *s,
                           bool chooses)
{
    if (r->t.depth) {
        la_jtext_fail(&r->t, "a loop inside of a loop");
        return;
    }
    s->op = LA_OP(cond);
    s->loop = la_mem_zalloc(sizeof *s->loop);
    if (!s->loop) {
        la_program_take_status(r, LA_ENOMEM);
        return;
    }
    la_jtext_enter(&r->t, '[');
    s->loop->chooses = chooses;
    s->loop->ncarry = (int32_t)la_jtext_read_range(&r->t, !chooses,
                                                  MOST_OPERANDS / 2);
    s->loop->ntest = (int32_t)la_jtext_read_range(&r->t, 0, MOST_OPERANDS);
    s->loop->nbody = (int32_t)la_jtext_read_range(&r->t, 0, MOST_OPERANDS);
    la_jtext_leave(&r->t, ']');
    la_jtext_want(&r->t, "members");
    s->lists = (int32_t)la_jtext_read_range(&r->t, 0, p->members.n);
    recording_listed(r, p, s);
    r->t.depth++;
    recording_part(r, "test", &s->loop->test);
    recording_part(r, "body", &s->loop->body);
    r->t.depth--;
}

/* "grad": the object gets the view (or none) as its gradient; "require": it
** begins or ends to record. */
static void recording_event(la_program_reader *r, la_prog *p, la_prog_step *s)
{
    s->object = (int32_t)la_jtext_read_range(&r->t, 0,
                                            (int64_t)p->objects.n - 1);
    la_jtext_want(&r->t, "view");
    if (s->kind == LA_STEP_GRAD) s->view = recording_view_number(r, p);
    else s->on = la_jtext_read_range(&r->t, 0, 1);
}

/* One step, whose key is its kind. Everything is LA_PROG_NONE first, so that a
** step that fails half way can be freed and names nothing. */
static void recording_step(la_program_reader *r, la_prog *p)
{
    static const char *const kinds[] = {"call", "grad", "require", "look",
                                        "loop", "cond"};
    size_t n, before = r->t.used;
    int what = LA_STEP_CALL;
    la_prog_step *s = recording_add(r, &p->steps, sizeof *s, MOST_SLOTS);
    la_jtext_enter(&r->t, '{');
    la_jtext_want(&r->t, "line");
    int32_t line = (int32_t)la_jtext_read_range(&r->t, 0, INT32_MAX);
    la_jtext_want(&r->t, "source");
    int32_t source = (int32_t)la_jtext_read_range(&r->t, -1,
                                                 (int64_t)p->names.n - 1);
    const char *kind = la_jtext_read_string(&r->t, &n);
    if (r->t.status) return;
    *s = (la_prog_step){.line = line, .source = source, .view = LA_PROG_NONE,
                        .object = LA_PROG_NONE, .lists = LA_PROG_NONE};
    for (int k = 0; k < LA_MAX_RESULTS; k++)
        s->results[k] = s->outs[k] = LA_PROG_NONE;
    /* The last word has no kind of its own: a choice is a loop of one pass. */
    while (what <= LA_STEP_LOOP && strcmp(kind, kinds[what]) != 0) what++;
    if (strcmp(kind, kinds[what]) != 0)
        la_jtext_fail(&r->t, "a step of an unknown kind");
    bool chooses = what > LA_STEP_LOOP;
    what -= chooses;
    s->kind = (uint8_t)what;
    r->t.used = before;
    la_program_take_status(r, la_json_expect(&r->t.json, ':'));
    r->t.more = false;
    if (r->t.status) return;
    if (what == LA_STEP_CALL) recording_call(r, p, s);
    else if (what == LA_STEP_LOOK) recording_look(r, p, s);
    else if (what == LA_STEP_LOOP) recording_loop(r, p, s, chooses);
    else recording_event(r, p, s);
    s->named = s->op;
    la_jtext_leave(&r->t, '}');
}

/* Parts come in an order in which each refers to those before it, so numbers
** are checked against full lists as they are read. */
la_prog *la_program_read_recording(la_program_reader *r)
{
    la_prog *p = NULL;
    if (r->t.status) return NULL;
    la_program_take_status(r, la_prog_new(&p));
    if (!p) return NULL;
    recording_modes(r, p);
    recording_each(r, p, "objects", recording_object);
    recording_each(r, p, "slots", recording_slot);
    recording_each(r, p, "views", recording_view);
    recording_each(r, p, "members", recording_member);
    recording_each(r, p, "sources", recording_text);
    recording_each(r, p, "outputs", recording_output);
    recording_each(r, p, "steps", recording_step);
    if (!r->t.status) return p;
    la_prog_free(p);
    return NULL;
}

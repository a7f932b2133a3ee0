/*
** Programs over the rows of tensors: the checks of a call of la.game, and
** game_rows(inputs, code), which runs a program or a gradient of it.
**
** The code is: the number of the program, how many options, these, and for
** every gradient that was taken a bit set of the inputs that it is for. The
** inputs of the gradient are those of what it is taken of, and the gradient of
** its output.
*/
#include "modules/game/program.h"

#include "base/runtime/memory.h"
#include "iter/items.h"
#include "modules/game/kernel/transforms.h"
#include "op/composite.h"
#include "modules/game/game.h"
#include "tensor/shape.h"

#define LA_ROWS "modules/game/ops.def"
#include "op/call.h"
#include "op/impls.h"

static const la_recipe_row programs[] = {
#define PROGRAM(name, in, out) {in, out, la_write_##name},
#define STEPS(name, in, out) {in, out, la_write_##name},
#include "modules/game/programs.def"
#undef PROGRAM
#undef STEPS
};

#define MOST_VECTOR 64        /* components of a vector 'v' */

/* Components of a letter; 0: as many as the call's vectors have. */
static int64_t components(char letter)
{
    switch (letter) {
    case 's': return 1;
    case '2': return 2;
    case '3': return 3;
    case 'q': return 4;
    case 'd': return 8;
    case 'r': return 9;
    case 'm': return 16;
    default: return 0;
    }
}

/* ---- the code of a call ---- */

typedef struct code {
    const la_recipe_row *row;
    const int64_t *params, *masks;
    int nparams, levels;      /* gradients that were taken */
    int base, ninputs;        /* inputs of the program, and all */
    int64_t comps[LA_PROGRAM_INPUTS], width;
} code;

static int64_t program_width_of(const code *c)
{
    int64_t width = 0;
    if (c->levels > 0) {
        for (int k = 0; k < c->ninputs - 1; k++)
            if (c->masks[c->levels - 1] >> k & 1) width += c->comps[k];
        return width;
    }
    for (const char *out = c->row->out; *out; out++) {
        int64_t n = components(*out);
        width += n ? n : c->comps[0];
    }
    return width;
}

static la_status read_code(const la_frame *f, code *c)
{
    const la_value *list = &f->args[1], *in = &f->args[0];
    const int64_t *words = list->ints.list;
    int64_t n = list->ints.n;
    if (n < 2 || words[0] < 0 || words[0] >= LA_NPROGRAMS || words[1] < 0
        || words[1] > LA_PROGRAM_PARAMS || words[1] > n - 2)
        return la_error_at(LA_EARG, 2, "no such program");
    *c = (code){.row = &programs[words[0]], .params = words + 2,
                .nparams = (int)words[1], .masks = words + 2 + words[1]};
    c->base = (int)strlen(c->row->in);
    int64_t levels = n - 2 - words[1], all = c->base + levels;
    if (all > LA_PROGRAM_INPUTS || in->tensors.n != all)
        return la_error_at(LA_EARG, 1, "the program has other inputs");
    c->levels = (int)levels;
    c->ninputs = (int)all;
    for (int k = 0; k < all; k++) {
        const la_tensor *t = in->tensors.list[k];
        if (!t || t->ndim < 1)
            return la_error_at(LA_ESHAPE, 1, "inputs of at least 1 dim "
                               "expected");
        c->comps[k] = la_sizes(t)[t->ndim - 1];
        int64_t want = k < c->base ? components(c->row->in[k]) : 0;
        if (want && want != c->comps[k])
            return la_error_at(LA_ESHAPE, 1, "input %d has other components",
                               k + 1);
    }
    c->width = program_width_of(c);
    return LA_OK;
}

/* ---- writing the program of a code ---- */

/* The gradient of the outputs so far, by the inputs of 'mask', side by side;
** input 'given' has the gradient of the outputs. */
static la_status take_gradient(la_recipe *b, int given, int64_t mask)
{
    int64_t wanted = 0, at = 0;
    for (int k = 0; k < given; k++)
        if (mask >> k & 1) wanted += b->comps[k];
    if (b->nouts != b->comps[given])
        return la_error_at(LA_ESHAPE, 1, "the gradient has other components");
    int32_t end = b->nouts;
    size_t bytes = (size_t)(2 * wanted + 2 * end + 1) * sizeof(int);
    int *memory = la_mem_alloc(bytes);
    if (!memory) return LA_ENOMEM;
    int *grads = memory + wanted, *gs = grads + wanted, *outs = gs + end;
    for (int k = 0; k < given; k++)
        for (int64_t i = 0; i < b->comps[k] && (mask >> k & 1); i++)
            memory[at++] = la_in(b, k, i);
    for (int32_t i = 0; i < end; i++) {
        gs[i] = la_in(b, given, i);
        outs[i] = b->outs[i];
    }
    la_recipe_gradient(b, end, outs, gs, (int)wanted, memory, grads);
    b->nouts = 0;
    for (int64_t i = 0; i < wanted; i++)
        la_put(b, grads[i] < 0 ? la_const(b, 0) : grads[i]);
    la_mem_free(memory, bytes);
    return b->status;
}

static la_status write_program(la_recipe *b, const code *c, bool is_double)
{
    LA_TRY(la_recipe_start(b, is_double, c->ninputs, c->comps));
    memcpy(b->params, c->params, (size_t)c->nparams * sizeof(*c->params));
    c->row->write(b);
    if (b->status) return b->status;
    for (int k = 0; k < c->levels; k++)
        LA_TRY(take_gradient(b, c->base + k, c->masks[k]));
    if (b->nouts != c->width)
        return la_error_at(LA_ESHAPE, 1, "the program has other outputs");
    return LA_OK;
}

/* ---- running it ---- */

#define REGISTER_BYTES 65536  /* a part of the second cache */

typedef struct rows {
    la_game_rows_fn *fn;
    la_game_transform_fn *loop;   /* instead of that, or NULL */
    la_game_rows run;           /* of every block: code, constants, width */
    la_rows_input in[LA_PROGRAM_INPUTS];
    la_tensor *const *tensors;     /* of the inputs */
    bool even[LA_PROGRAM_INPUTS];  /* rows at equal steps */
    int64_t sizes[LA_MAX_DIMS];
    int ninputs, ndim;        /* dims of rows */
    int64_t n, unit, item;    /* rows, those of a unit, bytes of an element */
    int64_t side;             /* of the matrices of a loop */
    size_t registers;         /* bytes; offsets are behind them */
} rows;

/* Bytes between elements of input t along dim d of the rows. */
static int64_t stride_at(const rows *r, const la_tensor *t, int d)
{
    d -= r->ndim - (t->ndim - 1);
    return d >= 0 && la_sizes(t)[d] != 1 ? la_strides(t)[d] * r->item : 0;
}

/* Address of input t, and whether one step leads from each row to the next. */
static void program_find_steps(rows *r, int k, const la_tensor *t)
{
    int64_t item = r->item, inner = 1, step = 0;
    bool even = true, any = false;
    r->in[k] = (la_rows_input){.base = la_data(t),
                               .comp = la_strides(t)[t->ndim - 1] * item};
    for (int d = r->ndim - 1; d >= 0; d--) {
        int64_t stride = stride_at(r, t, d);
        if (r->sizes[d] == 1) continue;
        if (!any) step = stride;
        any = true;
        even = even && stride == step * inner;
        inner *= r->sizes[d];
    }
    r->in[k].step = step;
    r->even[k] = even;
}

/* Offsets of 'count' rows from 'first' on. */
static void find_offsets(const rows *r, int k, int64_t first, int64_t count,
                         int64_t *offsets)
{
    int64_t at[LA_MAX_DIMS], strides[LA_MAX_DIMS], sum = 0, rest = first;
    for (int d = r->ndim - 1; d >= 0; d--) {
        strides[d] = stride_at(r, r->tensors[k], d);
        at[d] = rest % r->sizes[d];
        rest /= r->sizes[d];
        sum += at[d] * strides[d];
    }
    for (int64_t i = 0; i < count; i++) {
        offsets[i] = sum;
        for (int d = r->ndim - 1; d >= 0; d--) {
            sum += strides[d];
            if (++at[d] < r->sizes[d]) break;
            sum -= at[d] * strides[d];
            at[d] = 0;
        }
    }
}

static la_status program_run_unit(void *context, int64_t unit, char *scratch)
{
    const rows *r = context;
    la_rows_input in[LA_PROGRAM_INPUTS];
    la_game_rows run = r->run;
    int64_t end = la_min(r->n, (unit + 1) * r->unit);
    run.registers = scratch;
    run.in = in;
    run.set = true;
    for (int64_t i = unit * r->unit; i < end; i += run.block) {
        run.first = i;
        run.rows = la_min(run.block, end - i);
        run.out = r->run.out + i * run.width * r->item;
        for (int k = 0; k < r->ninputs; k++) {
            int64_t *offsets = (int64_t *)(scratch + r->registers)
                + k * run.block;
            in[k] = r->in[k];
            in[k].base += r->even[k] ? i * in[k].step : 0;
            if (r->even[k]) continue;
            find_offsets(r, k, i, run.rows, offsets);
            in[k].offsets = offsets;
        }
        if (r->loop)
            r->loop(&(la_game_transform){in, run.out, run.rows, r->side});
        else
            r->fn(&run);
        run.set = false;
    }
    return LA_OK;
}

/* Rows of a block where one takes so many bytes: long blocks have less to do
** between loops, as long as the registers stay near. */
static int64_t program_block_of(int64_t bytes)
{
    int64_t block = LA_ROWS_BLOCK;
    while (block > 64 && block * bytes > REGISTER_BYTES) block /= 2;
    return block;
}

/* The loop of its own that a program has where its inputs lie so, or NULL. */
static la_game_transform_fn *find_loop(const code *c, const rows *r, bool wide)
{
    const la_transform_kernels *t = LA_STUB(game_transforms);
    bool even = r->even[0] && r->in[0].step == 0;
    if (c->levels > 0 || c->ninputs != 2) return NULL;
    for (int k = 0; k < 2; k++)
        if (r->in[k].comp != r->item) return NULL;
    if (c->row == &programs[LA_PROGRAM_quat_rotate]) return t->rotate[wide];
    if (!even) return NULL;
    if (c->row == &programs[LA_PROGRAM_transform_points])
        return t->points[wide];
    if (c->row == &programs[LA_PROGRAM_transform_vectors])
        return t->vectors[wide];
    return NULL;
}

/* All but the program: where rows are, and how many. */
static void program_lay_out(const la_frame *f, const code *c, rows *r)
{
    const la_tensor *out = la_result(f, 0);
    r->ninputs = c->ninputs;
    r->tensors = f->args[0].tensors.list;
    r->ndim = out->ndim - 1;
    r->n = 1;
    r->item = (int64_t)la_itemsize(out);
    r->run = (la_game_rows){.out = la_data(out), .width = c->width};
    for (int d = 0; d < r->ndim; d++) {
        r->sizes[d] = la_sizes(out)[d];
        r->n *= r->sizes[d];
    }
    for (int k = 0; k < c->ninputs; k++)
        program_find_steps(r, k, f->args[0].tensors.list[k]);
    r->loop = find_loop(c, r, out->dtype == LA_FLOAT64);
    r->side = c->comps[0] == 9 ? 3 : 4;
}

/* Blocks of so many rows, each of which costs n steps. */
static la_status program_run_blocks(rows *r, int64_t block, int64_t n)
{
    r->run.block = block;
    r->unit = block * la_max(1, 262144 / (block * la_max(1, n)));
    la_unit_plan plan = {program_run_unit, la_ceil_div(16384, r->unit * n + 1),
        r->registers + (size_t)(r->ninputs * block) * sizeof(int64_t)};
    return la_iter_units(la_ceil_div(r->n, r->unit), &plan, r);
}

#define LOOP_STEPS 32         /* about as many as a program would have */

static la_status run_finished(rows *r, const la_recipe *b, int32_t nconst)
{
    int64_t block = program_block_of(b->registers * r->item);
    r->fn = b->is_double ? LA_STUB(game_rows)->f64 : LA_STUB(game_rows)->f32;
    r->run.code = b->list;
    r->run.n = b->n;
    r->run.nconst = nconst;
    r->run.consts = b->consts;
    r->registers = (size_t)(b->registers * block * r->item);
    return program_run_blocks(r, block, b->n);
}

la_status la_meta_game_rows(la_frame *f)
{
    code c;
    la_shape lead = {.ndim = 0};
    LA_TRY(read_code(f, &c));
    const la_tensor *first = f->args[0].tensors.list[0];
    for (int k = 0; k < c.ninputs; k++) {
        const la_tensor *t = f->args[0].tensors.list[k];
        la_shape s = la_shape_of(t);
        if (t->dtype != first->dtype)
            return la_error_at(LA_EDTYPE, 1, "inputs of one dtype expected");
        s.ndim--;
        LA_TRY(la_shape_broadcast(&lead, &s, &lead));
    }
    if (lead.ndim == LA_MAX_DIMS)
        return la_error_at(LA_ESHAPE, 1, "too many dims");
    lead.sizes[lead.ndim++] = c.width;
    return la_set_output(f, 0, lead.ndim, lead.sizes, NULL,
                         (la_dtype)first->dtype);
}

/* The inputs that are the same in every row, a bit each. */
static uint64_t program_find_even(const la_frame *f, int n)
{
    uint64_t even = 0;
    for (int k = 0; k < n; k++) {
        const la_tensor *t = f->args[0].tensors.list[k];
        bool any = false;
        for (int d = 0; d < t->ndim - 1; d++)
            any |= la_sizes(t)[d] != 1 && la_strides(t)[d] != 0;
        even |= (uint64_t)!any << k;
    }
    return even;
}

la_status la_impl_game_rows(la_frame *f)
{
    code c;
    rows r;                   /* what is used of it is set later */
    la_recipe b = {.status = LA_OK};
    int32_t nconst = 0;
    LA_TRY(read_code(f, &c));
    if (la_result(f, 0)->numel == 0) return LA_OK;
    program_lay_out(f, &c, &r);
    if (r.loop) {
        r.registers = 0;
        return program_run_blocks(&r, LA_ROWS_BLOCK, LOOP_STEPS);
    }
    la_status status = write_program(&b, &c, la_result(f, 0)->dtype
                                     == LA_FLOAT64);
    if (!status) status = la_recipe_finish(&b, program_find_even(f, c.ninputs),
                                             &nconst);
    if (!status) status = run_finished(&r, &b, nconst);
    la_recipe_free(&b);
    return status;
}

/* ---- the calls of users ---- */

/* Description of a tensor that a letter asks for, for messages. */
static const char *described(char letter)
{
    switch (letter) {
    case 'v': return "a vector (components in the last dim)";
    case 'p': return "points of 2 or 3 components (the last dim)";
    case '2': return "a vector of 2 components (the last dim)";
    case '3': return "a vector of 3 components (the last dim)";
    case 'q': return "a quaternion x y z w (4 components in the last dim)";
    case 'd': return "a dual quaternion (8 components in the last dim)";
    case 'r': return "a matrix 3 x 3 (the last two dims)";
    case 'm': return "a matrix 4 x 4 (the last two dims)";
    default: return "a matrix 3 x 3 or 4 x 4 (the last two dims)";
    }
}

/* Does argument t fit its letter? *n: components of the call's vectors, 0 while
** none was seen. */
static la_status program_check_shape(const la_tensor *t, int arg, char letter,
                                     int64_t *n)
{
    const int64_t *s = la_sizes(t);
    int64_t last = t->ndim > 0 ? s[t->ndim - 1] : 0;
    bool matrix = strchr("rmo", letter) != NULL, ok = t->ndim > 0;
    char text[120];
    if (letter == 's') return LA_OK;
    if (matrix) {
        ok = t->ndim > 1 && s[t->ndim - 2] == last
            && (letter == 'r' ? last == 3 : letter == 'm' ? last == 4
                : last == 3 || last == 4);
    } else if (letter == 'v' || letter == 'p') {
        ok = ok && (letter == 'v' ? last >= 1 && last <= MOST_VECTOR
                                  : last == 2 || last == 3);
        if (ok && *n && *n != last)
            return la_error_at(LA_ESHAPE, arg + 1, "%lld components in the "
                               "last dim expected, as before, got %s",
                               (long long)*n,
                               la_sizes_text(t->ndim, s, text, sizeof text));
        *n = last;
    } else if (letter != '*') {
        ok = ok && last == components(letter);
    }
    if (ok) return LA_OK;
    return la_error_at(LA_ESHAPE, arg + 1, "%s expected, got the shape %s",
                       described(letter),
                       la_sizes_text(t->ndim, s, text, sizeof text));
}

/* Argument t as rows: components in one last dim, of the dtype. */
static la_tensor *program_as_rows(la_chain *w, la_tensor *t, char letter,
                                  la_dtype dtype)
{
    if (t->dtype != dtype) t = R(astype, t, la_v_dtype(dtype));
    if (letter == 's') return R(unsqueeze, t, -1);
    if (strchr("rmo", letter)) return R(flatten, t, -2, -1);
    return t;
}

la_status la_run_rows(la_recipe_id id, int n, la_tensor *const *in,
                      const int64_t *params, int nparams, la_tensor **out)
{
    int64_t words[2 + LA_PROGRAM_PARAMS] = {id, nparams};
    for (int k = 0; k < nparams; k++) words[2 + k] = params[k];
    return la_run(game_rows, out, la_v_tensors((la_tensor **)in, n),
                  la_v_ints(words, 2 + nparams));
}

/* The components of one result, as the letter says. */
static la_tensor *shaped(la_chain *w, la_tensor *t, char letter)
{
    static const int64_t sides[2][2] = {{3, 3}, {4, 4}};
    if (letter == 's') return R(select, t, -1, 0);
    if (letter == 'r' || letter == 'm')
        return R(unflatten, t, -1, la_v_ints(sides[letter == 'm'], 2));
    return t;
}

/* The results of a program out of the tensor of all components. */
static la_status give_results(la_chain *w, la_frame *f, la_tensor *all,
                              const char *out, int64_t n)
{
    int64_t at = 0;
    bool one = out[1] == 0;
    for (int k = 0; out[k] && !w->status; k++) {
        int64_t m = components(out[k]);
        if (!m) m = n;
        la_tensor *t = one ? all : R(narrow, all, -1, at, m);
        if (t) t = shaped(w, t, out[k]);
        if (t && !one) t = R(contiguous, t);
        if (t) la_set_result(f, k, la_tensor_retain(t));
        at += m;
    }
    return w->status;
}

/* Do the dims of rows of argument k broadcast with *lead, those before it? */
static la_status program_join_rows(const la_tensor *t, int k, char letter,
                                   la_shape *lead)
{
    char text[120], before[120];
    la_shape s = la_shape_of(t);
    if (letter != 's') s.ndim -= strchr("rmo", letter) ? 2 : 1;
    if (!la_shape_broadcast(lead, &s, lead)) return LA_OK;
    return la_error_at(LA_ESHAPE, k + 1, "a batch %s must match that of the "
                       "arguments before it, %s",
                       la_sizes_text(s.ndim, s.sizes, text, sizeof text),
                       la_sizes_text(lead->ndim, lead->sizes, before,
                                     sizeof before));
}

la_status la_run_program(la_frame *f, la_recipe_id id, int n,
                         const int64_t *params, int nparams)
{
    LA_CHAIN(w);
    const la_recipe_row *row = &programs[id];
    la_tensor *in[LA_PROGRAM_INPUTS] = {NULL}, *all = NULL;
    int64_t vector = 0;
    la_shape lead = {.ndim = 0};
    int args[LA_PROGRAM_INPUTS] = {0};
    la_dtype dtype;
    for (int k = 0; k < n; k++) args[k] = k;
    LA_TRY(la_game_dtype(f, args, n, &dtype));
    for (int k = 0; k < n; k++)
        LA_TRY(program_check_shape(la_arg(f, k), k, row->in[k], &vector));
    for (int k = 0; k < n; k++)
        LA_TRY(program_join_rows(la_arg(f, k), k, row->in[k], &lead));
    for (int k = 0; k < n && !w->status; k++)
        in[k] = program_as_rows(w, la_arg(f, k), row->in[k], dtype);
    if (w->status) return w->status;
    LA_TRY(la_run_rows(id, n, in, params, nparams, &all));
    la_chain_own(w, all);
    return give_results(w, f, all, row->out, vector);
}

#define PROGRAM(name, in, out)                                               \
    la_status la_impl_game_##name(la_frame *f)                              \
    {                                                                       \
        return la_run_program(f, LA_PROGRAM_##name, sizeof(in) - 1, NULL,   \
                              0);                                           \
    }
#define STEPS(name, in, out)
#include "modules/game/programs.def"

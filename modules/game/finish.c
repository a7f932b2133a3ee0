/*
** Programs over rows: what makes one ready to run. Instructions that no output
** needs are dropped, products join the sum that they go into, components of an
** input that follow each other are read together, what is the same in every row
** is computed once, and registers are given out. See program.h.
*/
#include "modules/game/program.h"

#include "base/runtime/memory.h"

/* Which operands are values. */
static int operands_of(const la_insn *k)
{
    switch ((la_row_op)k->op) {
    case LA_ROW_IN: case LA_ROW_CONST: case LA_ROW_SEED: return 0;
    case LA_ROW_SELECT: case LA_ROW_MUL_ADD: case LA_ROW_MUL_SUB:
    case LA_ROW_SUB_MUL: return 3;
    case LA_ROW_SQRT: case LA_ROW_FLOOR: case LA_ROW_SIN: case LA_ROW_COS:
    case LA_ROW_ABS: case LA_ROW_POWER:
    case LA_ROW_NUMBER: case LA_ROW_UNIFORM: case LA_ROW_SLOPE:
    case LA_ROW_OUT: return 1;
    default: return 2;
    }
}

static int32_t finish_operand(const la_insn *k, int j)
{
    return j == 0 ? k->a : j == 1 ? k->b : k->c;
}

typedef struct shelf {
    int32_t *last;            /* the last that reads a value; -1: nobody */
    int32_t *uses;            /* how often it is read */
    int32_t *reg;             /* its register */
    int32_t *free;            /* registers to be given out again */
    int32_t nfree;
    bool *even;               /* the same in every row */
    bool *kept;               /* even, and read where rows are */
} shelf;

/* 'last' and 'uses' of every value that an output needs. */
static void find_uses(const la_recipe *b, shelf *s)
{
    for (int32_t i = 0; i < b->n; i++) {
        s->last[i] = -1;
        s->uses[i] = 0;
    }
    for (int32_t k = 0; k < b->nouts; k++) {
        s->last[b->outs[k]] = b->n;
        s->uses[b->outs[k]]++;
    }
    for (int32_t i = b->n - 1; i >= 0; i--) {
        if (s->last[i] < 0) continue;
        for (int j = operands_of(&b->list[i]) - 1; j >= 0; j--) {
            int32_t v = finish_operand(&b->list[i], j);
            if (s->last[v] < i) s->last[v] = i;
            s->uses[v]++;
        }
    }
}

/* Is value v a product that nothing but one sum needs? */
static bool is_part(const la_recipe *b, const shelf *s, int32_t v)
{
    return b->list[v].op == LA_ROW_MUL && s->uses[v] == 1
        && s->last[v] < b->n;
}

/* Sums and differences with such a product do both, rounded one by one; they
** read what it read. */
static void join_products(la_recipe *b, shelf *s)
{
    for (int32_t i = 0; i < b->n; i++) {
        la_insn *k = &b->list[i];
        bool sum = k->op == LA_ROW_ADD, difference = k->op == LA_ROW_SUB;
        if (s->last[i] < 0 || (!sum && !difference)) continue;
        bool first = is_part(b, s, k->a);
        if (!first && !is_part(b, s, k->b)) continue;
        int32_t at = first ? k->a : k->b;
        const la_insn *product = &b->list[at];
        s->last[at] = -1;
        s->last[product->a] = la_max(s->last[product->a], i);
        s->last[product->b] = la_max(s->last[product->b], i);
        la_row_op op = sum ? LA_ROW_MUL_ADD
            : first ? LA_ROW_MUL_SUB : LA_ROW_SUB_MUL;
        *k = (la_insn){op, k->d, product->a, product->b, first ? k->b : k->a};
    }
}

static bool is_even(const la_recipe *b, const shelf *s, const la_insn *k,
                    uint64_t even_inputs)
{
    if (k->op == LA_ROW_NUMBER) return false;
    if (k->op == LA_ROW_IN) return even_inputs >> k->a & 1;
    for (int j = operands_of(k) - 1; j >= 0; j--)
        if (!s->even[finish_operand(k, j)]) return false;
    return b->status == LA_OK;
}

static void find_even(const la_recipe *b, shelf *s, uint64_t even_inputs)
{
    for (int32_t i = 0; i < b->n; i++) {
        const la_insn *k = &b->list[i];
        s->even[i] = is_even(b, s, k, even_inputs);
        s->kept[i] = s->last[i] == b->n;
        if (s->even[i] || s->last[i] < 0) continue;
        for (int j = operands_of(k) - 1; j >= 0; j--)
            s->kept[finish_operand(k, j)] = true;
    }
}

/* The instruction with registers for values; what it reads for the last time
** is free from here on, for its result too. */
static la_insn with_registers(la_recipe *b, shelf *s, int32_t i)
{
    la_insn k = b->list[i];
    int32_t v[3] = {0, 0, 0};
    int n = operands_of(&k);
    for (int j = 0; j < n; j++) v[j] = finish_operand(&k, j);
    for (int j = 0; j < n; j++) {
        bool again = s->even[v[j]] && s->kept[v[j]];
        for (int l = 0; l < j; l++) again |= v[l] == v[j];
        if (!again && s->last[v[j]] == i)
            s->free[s->nfree++] = s->reg[v[j]];
    }
    if (n > 0) k.a = s->reg[v[0]];
    if (n > 1) k.b = s->reg[v[1]];
    if (n > 2) k.c = s->reg[v[2]];
    if (k.op != LA_ROW_OUT)
        s->reg[i] = k.d = s->nfree > 0 ? s->free[--s->nfree] : b->registers++;
    return k;
}

#define MOST_GROUP 4

/* Instructions first .. n - 1 of 'list': runs of components of one input are
** groups, the first of each has their number. */
static void find_groups(la_insn *list, int32_t first, int32_t n)
{
    for (int32_t i = first; i < n; i++) {
        int32_t c = 1;
        if (list[i].op != LA_ROW_IN) continue;
        while (c < MOST_GROUP && i + c < n && list[i + c].op == LA_ROW_IN
               && list[i + c].a == list[i].a
               && list[i + c].b == list[i].b + c)
            c++;
        list[i].c = c;
        i += c - 1;
    }
}

/* Gives out values that are the same in every row first, then the rest in
** order, then the outputs. */
static la_status give_out(la_recipe *b, shelf *s, int32_t *nconst)
{
    size_t bytes = (size_t)(b->n + b->nouts + 1) * sizeof(la_insn);
    la_insn *list = la_mem_alloc(bytes);
    int32_t n = 0;
    if (!list) return LA_ENOMEM;
    b->registers = 0;
    for (int32_t i = 0; i < b->n; i++)
        if (s->last[i] >= 0 && s->even[i]) list[n++] = with_registers(b, s, i);
    *nconst = n;
    for (int32_t i = 0; i < b->n; i++)
        if (s->last[i] >= 0 && !s->even[i])
            list[n++] = with_registers(b, s, i);
    find_groups(list, 0, *nconst);
    find_groups(list, *nconst, n);
    for (int32_t k = 0; k < b->nouts; k++)
        list[n++] = (la_insn){LA_ROW_OUT, 0, s->reg[b->outs[k]], k, 0};
    la_mem_free(b->list, (size_t)b->capacity * sizeof(*b->list));
    b->list = list;
    b->capacity = b->n + b->nouts + 1;
    b->n = n;
    return LA_OK;
}

la_status la_recipe_finish(la_recipe *b, uint64_t even_inputs,
                            int32_t *nconst)
{
    if (b->status) return b->status;
    int64_t n = (int64_t)b->n + 1;
    size_t bytes = (size_t)n * (4 * sizeof(int32_t) + 2 * sizeof(bool));
    int32_t *memory = la_mem_alloc(bytes);
    if (!memory) return LA_ENOMEM;
    shelf s = {memory, memory + n, memory + 2 * n, memory + 3 * n, 0, NULL,
               NULL};
    s.even = (bool *)(memory + 4 * n);
    s.kept = s.even + n;
    find_uses(b, &s);
    join_products(b, &s);
    find_even(b, &s, even_inputs);
    la_status status = give_out(b, &s, nconst);
    la_mem_free(memory, bytes);
    return status;
}

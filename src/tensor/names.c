/*
** Names of dims: interned words in counted, immutable lists.
**
** The table of words only grows, so that a pointer is good for ever and
** looking up needs no lock: a chain gets new words at its head by compare and
** swap. What a script can put in is bounded (MAX_WORDS, MAX_LENGTH), and as
** nothing is ever given back the words are not part of the counted memory. A
** state with a cap gets OWN_WORDS, so that it leaves some for others.
*/
#include "tensor/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/runtime/memory.h"
#include "base/runtime/context.h"

enum { NCHAINS = 256, MAX_WORDS = 1 << 16, MAX_LENGTH = 128,
       OWN_WORDS = 1 << 12 };

typedef struct word {
    struct word *next;
    size_t n;
    char text[];
} word;

static word *_Atomic chains[NCHAINS];
static _Atomic int32_t word_count;

static unsigned names_hash(const char *text, size_t n)
{
    unsigned h = 2166136261u;  /* FNV-1a */
    for (size_t k = 0; k < n; k++)
        h = (h ^ (unsigned char)text[k]) * 16777619u;
    return (h ^ h >> 16) % NCHAINS;
}

static word *find_word(word *w, const char *text, size_t n)
{
    while (w && !(w->n == n && memcmp(w->text, text, n) == 0))
        w = w->next;
    return w;
}

/* Words are neither counted nor ever freed, but bounded; NULL with the error
** set. */
static word *word_new(const char *text, size_t n)
{
    la_token *k = la_ctx()->token;
    bool many = la_token_is_capped(k)
        && atomic_fetch_add(&k->words, 1) >= OWN_WORDS;
    if (many || atomic_load(&word_count) >= MAX_WORDS || n > MAX_LENGTH) {
        la_error(LA_ENOMEM, "not enough memory: too many or too long names of "
                 "dimensions");
        return NULL;
    }
    word *w = malloc(sizeof *w + n + 1);
    if (!w) {
        la_error(LA_ENOMEM, "not enough memory for a name");
        return NULL;
    }
    w->n = n;
    memcpy(w->text, text, n);
    w->text[n] = '\0';
    return w;
}

const char *la_name_intern(const char *text, size_t n)
{
    word *_Atomic *chain = &chains[names_hash(text, n)];
    word *head = atomic_load(chain);
    word *found = find_word(head, text, n);
    if (found)
        return found->text;
    word *fresh = word_new(text, n);
    if (!fresh)
        return NULL;
    do {
        /* Somebody else may have added it since. */
        if ((found = find_word(head, text, n)) != NULL) {
            free(fresh);
            return found->text;
        }
        fresh->next = head;
    } while (!atomic_compare_exchange_weak(chain, &head, fresh));
    atomic_fetch_add(&word_count, 1);
    return fresh->text;
}

/* --- lists --- */

static bool is_star(const char *name) { return name[0] == '*' && !name[1]; }

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_identifier(const char *name)
{
    if (!is_letter(name[0]))
        return false;
    for (const char *c = name + 1; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9'))
            return false;
    return true;
}

static la_status check_name(int ndim, const char *const *name, int d)
{
    char shown[256];
    if (is_star(name[d]))
        return LA_OK;
    if (!is_identifier(name[d]))
        return la_error(LA_EARG, "Invalid name: a valid identifier contains "
                        "letters, digits and underscores and starts with a "
                        "letter, got '%s'", la_quote(name[d], strlen(name[d]),
                                                     shown, sizeof shown));
    for (int k = 0; k < d; k++)
        if (name[k] == name[d])
            return la_error(LA_EARG, "Cannot construct a tensor with duplicate "
                            "names: '%s' is dimension %d and %d", name[d],
                            k + 1, d + 1);
    return LA_OK;
}

static size_t list_bytes(int ndim)
{
    return sizeof(la_names) + (size_t)ndim * sizeof(char *);
}

/* One block with the list inside; the words are pointers to the table and
** compare by address. */
static la_status list_new(int ndim, const char *const *name, la_names **out)
{
    la_names *list = la_mem_alloc(list_bytes(ndim));
    if (!list)
        return LA_ENOMEM;
    atomic_init(&list->refs, 1);
    list->ndim = ndim;
    memcpy(list->name, name, (size_t)ndim * sizeof *name);
    *out = list;
    return LA_OK;
}

la_status la_names_new(int ndim, const char *const *interned, la_names **out)
{
    for (int d = 0; d < ndim; d++)
        LA_TRY(check_name(ndim, interned, d));
    return list_new(ndim, interned, out);
}

la_names *la_names_retain(la_names *list)
{
    if (list)
        atomic_fetch_add_explicit(&list->refs, 1, memory_order_relaxed);
    return list;
}

void la_names_release(la_names *list)
{
    if (list && atomic_fetch_sub_explicit(&list->refs, 1,
                                          memory_order_acq_rel) == 1)
        la_mem_free(list, list_bytes(list->ndim));
}

void la_tensor_set_names(la_tensor *t, la_names *names)
{
    la_names *old = t->names;
    t->names = names;
    la_names_release(old);
}

int la_names_find(const la_names *list, const char *interned)
{
    for (int d = 0; list && d < list->ndim; d++)
        if (list->name[d] == interned)
            return d;
    return -1;
}

/* The names of a result whose dims come from dims of one operand: from[k] < 0
** is a dim without a name. */
la_status la_names_pick(const la_names *list, int n, const int *from,
                        la_names **out)
{
    const char *name[LA_MAX_DIMS];
    const char *star;
    *out = NULL;
    if (!list)
        return LA_OK;
    star = la_name_intern("*", 1);
    if (!star)
        return LA_ENOMEM;
    for (int k = 0; k < n; k++)
        name[k] = from[k] >= 0 ? list->name[from[k]] : star;
    return list_new(n, name, out);
}

/* --- unification --- */

/* Name k positions from the end (from 1); "*" where there is none. */
static const char *from_end(const la_names *list, int k)
{
    return list && k <= list->ndim ? list->name[list->ndim - k] : "*";
}

/* Prints for messages: cut off where the buffer ends. */
static void print_list(const la_names *list, int ndim, char *out,
                       size_t capacity)
{
    size_t used = 1;
    out[0] = '[';
    for (int d = 0; d < ndim; d++) {
        const char *name = list ? list->name[d] : "*";
        size_t n = strlen(name);
        if (used + n + 8 > capacity)
            break;
        if (d) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, name, n);
        used += n;
    }
    strcpy(out + used, "]");
}

static la_status mismatch(const la_names *a, int nda, const la_names *b,
                          int ndb, const char *why, const char *x,
                          const char *y)
{
    char left[300], right[300];
    print_list(a, nda, left, sizeof left);
    print_list(b, ndb, right, sizeof right);
    return la_error(LA_EARG, "Error when attempting to broadcast dims %s and "
                    "dims %s: dim '%s' and dim '%s' %s", left, right, x, y,
                    why);
}

/* A name in one list must not stand at another position in the other. */
static bool misplaced(const la_names *list, const char *name, int k)
{
    int d = is_star(name) ? -1 : la_names_find(list, name);
    return d >= 0 && list->ndim - d != k;
}

/* Two names at the same position from the right agree, or one of them is the
** wildcard. PyTorch's rule also refuses a name that is at different positions:
** the user meant to align them. */
static la_status unify_position(const la_names *a, int nda, const la_names *b,
                                int ndb, int k, const char **out)
{
    const char *x = from_end(a, k), *y = from_end(b, k);
    if (x != y && !is_star(x) && !is_star(y))
        return mismatch(a, nda, b, ndb, "are at the same position from the "
                        "right but do not match.", x, y);
    if (misplaced(a, y, k) || misplaced(b, x, k))
        return mismatch(a, nda, b, ndb, "stand at different positions from "
                        "the right: align the tensors first.", x, y);
    *out = is_star(x) ? y : x;
    return LA_OK;
}

/* The names of a broadcast result, from the last dim on, as sizes are
** aligned. */
la_status la_names_unify(const la_names *a, int nda, const la_names *b,
                         int ndb, la_names **out)
{
    const char *name[LA_MAX_DIMS];
    int ndim = nda > ndb ? nda : ndb;
    const char *star;
    *out = NULL;
    if (!a && !b)
        return LA_OK;
    star = la_name_intern("*", 1);
    if (!star)
        return LA_ENOMEM;
    for (int k = 1; k <= ndim; k++) {
        LA_TRY(unify_position(a, nda, b, ndb, k, &name[ndim - k]));
        if (is_star(name[ndim - k]))
            name[ndim - k] = star;
    }
    return list_new(ndim, name, out);
}

int la_dim_by_name(const la_tensor *t, const char *text, size_t n)
{
    const char *name = t->names ? la_name_intern(text, n) : NULL;
    return name ? la_names_find(t->names, name) : -1;
}

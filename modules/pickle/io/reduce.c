/*
** What Python would call, as data: names that are known (globals.def), calls
** of them, objects of classes, persistent ids. Nothing is ever looked up or
** run; a name that is not known is an error, or, in a lenient pickle, the class
** of a plain object.
*/
#include <string.h>

#include "modules/pickle/io/pickle.h"

#include "base/half.h"
#include "base/runtime/memory.h"
#include "io/zip.h"

static const struct {
    const char *name;
    uint8_t what, value;
} known[] = {
#define KNOWN(name, what, value) {name, LA_GLOBAL_##what, value},
#include "modules/pickle/io/globals.def"
#undef KNOWN
};
enum { NKNOWN = sizeof known / sizeof *known };

/* ---- names ---- */

static bool reduce_begins(const char *name, size_t n, const char *with)
{
    size_t m = strlen(with);
    return n >= m && memcmp(name, with, m) == 0;
}

/* The dtype of a word of PyTorch's; LA_UNDEFINED. */
static la_dtype reduce_dtype(const char *word, size_t n)
{
    for (int d = 0; d < LA_NDTYPES; d++) {
        const char *name = la_dtype_name((la_dtype)d);
        if (strlen(name) == n && memcmp(name, word, n) == 0)
            return (la_dtype)d;
    }
    return LA_UNDEFINED;
}

const la_narrow *la_pickle_float8(const char *word, size_t n)
{
    const char begin[] = "float8_";
    size_t m = sizeof begin - 1;
    const la_narrow *f = reduce_begins(word, n, begin)
        ? la_narrow_of(word + m, n - m) : NULL;
    return f && la_narrow_bits(f) == 8 ? f : NULL;
}

/* Words of dtypes that PyTorch has and files may name: "torch.int4". */
static bool reduce_is_dtype(const char *word, size_t n)
{
    static const char *const begin[] = {"uint", "int", "quint", "qint", "bits",
                                        "float4_"};
    if (reduce_dtype(word, n) != LA_UNDEFINED || la_pickle_float8(word, n))
        return true;
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        if (reduce_begins(word, n, begin[i]) && n > strlen(begin[i])
            && word[n - 1] >= '0' && word[n - 1] <= '9')
            return true;
    return reduce_begins(word, n, "per_tensor_")
        || reduce_begins(word, n, "per_channel_");
}

/* Storages and classes of tensors of the kinds of older files:
** "torch.cuda.FloatStorage", "torch.FloatTensor". */
static int reduce_old_name(const char *name, size_t n, la_global_what *what)
{
    char plain[80];
    bool cuda = reduce_begins(name, n, "torch.cuda.");
    if (n > 60 || !reduce_begins(name, n, "torch.")) return -1;
    size_t skip = cuda ? 11 : 6;
    memcpy(plain, "torch.", 6);
    memcpy(plain + 6, name + skip, n - skip);
    size_t m = n - skip + 6;
    bool tensor = m > 12 && memcmp(plain + m - 6, "Tensor", 6) == 0;
    if (tensor) {
        memcpy(plain + m - 6, "Storage", 7);
        m++;
    } else if (!cuda) {
        return -1;
    }
    for (int k = 0; k < NKNOWN; k++)
        if (known[k].what == LA_GLOBAL_STORAGE && strlen(known[k].name) == m
            && memcmp(known[k].name, plain, m) == 0) {
            *what = tensor ? LA_GLOBAL_TENSOR : LA_GLOBAL_STORAGE;
            return k;
        }
    return -1;
}

/* The meaning of a name, and its value. */
static la_global_what reduce_find(const char *name, size_t n, int64_t *value)
{
    la_global_what what = LA_GLOBAL_OTHER;
    *value = LA_UNDEFINED;
    for (int k = 0; k < NKNOWN; k++)
        if (strlen(known[k].name) == n && memcmp(known[k].name, name, n) == 0) {
            *value = known[k].value;
            return (la_global_what)known[k].what;
        }
    if (reduce_begins(name, n, "torch.") && reduce_is_dtype(name + 6, n - 6)) {
        *value = reduce_dtype(name + 6, n - 6);
        return LA_GLOBAL_DTYPE;
    }
    int k = reduce_old_name(name, n, &what);
    if (k >= 0) *value = known[k].value;
    return what;
}

/* Names of TorchScript: classes of modules, and functions that give their first
** argument. */
static la_global_what reduce_script(const char *name, size_t n)
{
    if (reduce_begins(name, n, "__torch__.")) return LA_GLOBAL_MODULE;
    if (reduce_begins(name, n, "torch.jit._pickle.build_")
        || reduce_begins(name, n, "torch.jit._pickle.restore_type_tag"))
        return LA_GLOBAL_PASS;
    return LA_GLOBAL_OTHER;
}

la_status la_pickle_global(la_pickle *p, const char *name, size_t n,
                           uint32_t *out)
{
    char shown[900];
    int64_t value = LA_UNDEFINED;
    la_global_what what = reduce_find(name, n, &value);
    if (what == LA_GLOBAL_OTHER && p->script) what = reduce_script(name, n);
    if (what == LA_GLOBAL_OTHER && !p->lenient)
        return la_pickle_fail(p, "the global '%s' is not known: nothing of a "
                              "file is run; {unknown = \"table\"} gives its "
                              "objects as plain tables",
                              la_quote(name, n, shown, sizeof shown));
    LA_TRY(la_pickle_new_text(p, LA_PICKLE_GLOBAL, name, n, out));
    p->nodes[*out].what = (uint8_t)what;
    p->nodes[*out].of = (uint32_t)value;
    return LA_OK;
}

static la_status reduce_refuse(la_pickle *p, uint32_t global, const char *why)
{
    char shown[900];
    const la_pickle_node *a = la_pickle_at(p, global);
    return la_pickle_fail(p, "%s: %s", la_quote(la_pickle_text(p, a), a->n,
                                                shown, sizeof shown), why);
}

/* ---- texts and numbers ---- */

/* A str whose characters are below 256 as that many bytes. */
static la_status reduce_encode(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    LA_BYTES bytes = {0};
    const la_pickle_node *text = la_pickle_item(p, arguments, 0,
                                                LA_PICKLE_TEXT);
    if (!text) return la_pickle_fail(p, "_codecs.encode: text expected");
    const unsigned char *s = (const unsigned char *)la_pickle_text(p, text);
    for (uint32_t i = 0; i < text->n; i++) {
        unsigned c = s[i];
        if (c >= 0x80) {
            if ((c != 0xc2 && c != 0xc3) || i + 1 == text->n
                || (s[i + 1] & 0xc0) != 0x80)
                return la_pickle_fail(p, "_codecs.encode: not of latin1");
            c = (c & 3) << 6 | (s[++i] & 0x3f);
        }
        la_bytes_put_byte(&bytes, c);
    }
    LA_TRY(bytes.status);
    return la_pickle_new_text(p, LA_PICKLE_TEXT, bytes.data, bytes.n, out);
}

/* torch.device("cuda:0"), ("cuda", 0): a text. */
static la_status reduce_device(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    LA_BYTES text = {0};
    const la_pickle_node *type = la_pickle_item(p, arguments, 0,
                                                LA_PICKLE_TEXT);
    const la_pickle_node *index = la_pickle_item(p, arguments, 1,
                                                 LA_PICKLE_INT);
    if (!type || type->n > 60)
        return la_pickle_fail(p, "torch.device: text expected");
    la_bytes_put(&text, la_pickle_text(p, type), type->n);
    if (index && index->i >= 0 && index->i < 1000) {
        char digits[8];
        int n = 0;
        for (int64_t v = index->i; n == 0 || v; v /= 10)
            digits[n++] = (char)('0' + v % 10);
        la_bytes_put_byte(&text, ':');
        while (n) la_bytes_put_byte(&text, (unsigned char)digits[--n]);
    }
    LA_TRY(text.status);
    return la_pickle_new_text(p, LA_PICKLE_TEXT, text.data, text.n, out);
}

/* numpy.dtype("f8", False, True). */
static la_status reduce_item_type(la_pickle *p, uint32_t arguments,
                                  uint32_t *out)
{
    const la_pickle_node *word = la_pickle_item(p, arguments, 0,
                                                LA_PICKLE_TEXT);
    char copy[8];
    if (!word || word->n < 2 || word->n > 4)
        return la_pickle_fail(p, "numpy.dtype: a type of numbers expected");
    memcpy(copy, la_pickle_text(p, word), word->n);
    return la_pickle_new_text(p, LA_PICKLE_ITEM_TYPE, copy, word->n, out);
}

static la_status reduce_new_float(la_pickle *p, double v, uint32_t *out)
{
    LA_TRY(la_pickle_new(p, LA_PICKLE_FLOAT, out));
    p->nodes[*out].f = v;
    return LA_OK;
}

/* The number in the n bytes, the lowest first. */
static la_status reduce_number(la_pickle *p, char kind, const void *bytes,
                               size_t n, uint32_t *out)
{
    int64_t v = (int64_t)la_little(bytes, (int)n);
    if (kind == 'f') {
        uint32_t bits = (uint32_t)v;
        float narrow;
        double wide;
        memcpy(&narrow, &bits, sizeof narrow);
        memcpy(&wide, &v, sizeof wide);
        return reduce_new_float(p, n == 8 ? wide : n == 4 ? (double)narrow
            : (double)la_f16_to_f32((la_f16){(uint16_t)v}), out);
    }
    if (kind == 'u' && v < 0) return reduce_new_float(p, (double)(uint64_t)v,
                                                      out);
    if (kind == 'i' && n < 8 && (v >> (8 * n - 1)) & 1)
        v -= INT64_C(1) << (8 * n);
    LA_TRY(la_pickle_new(p, kind == 'b' ? LA_PICKLE_BOOL : LA_PICKLE_INT, out));
    p->nodes[*out].i = kind == 'b' ? v != 0 : v;
    return LA_OK;
}

/* numpy.core.multiarray.scalar(dtype, bytes). */
static la_status reduce_scalar(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    const la_pickle_node *type = la_pickle_item(p, arguments, 0,
                                                LA_PICKLE_ITEM_TYPE);
    const la_pickle_node *value = la_pickle_item(p, arguments, 1,
                                                 LA_PICKLE_TEXT);
    unsigned char bytes[16] = {0};
    if (!type || !value)
        return la_pickle_fail(p, "a scalar of NumPy: a dtype and bytes "
                              "expected");
    const char *word = la_pickle_text(p, type);
    char kind = *word;
    unsigned n = (unsigned)(word[1] - '0');
    bool fits = type->n == 2 && strchr("biuf", kind) && kind && n == value->n
        && (n == 8 || n == 4 || n == 2 || (n == 1 && kind != 'f'));
    if (!fits)
        return la_pickle_fail(p, "a scalar of NumPy that is no integer, float "
                              "or boolean");
    const char *from = la_pickle_text(p, value);
    for (unsigned i = 0; i < n; i++)
        bytes[i] = (unsigned char)from[type->flag ? n - 1 - i : i];
    return reduce_number(p, kind, bytes, n, out);
}

/* ---- containers ---- */

/* set([...]), bytearray(b"..."), torch.Size((...)): the argument, whose items
** are those of the result. */
static la_status reduce_items(la_pickle *p, uint32_t arguments,
                              la_pickle_kind kind, uint32_t *out)
{
    LA_TRY(la_pickle_new(p, kind, out));
    const la_pickle_node *all = la_pickle_at(p, arguments);
    if (!all->n) return LA_OK;
    uint32_t from = all->items[0];
    la_pickle_kind of = (la_pickle_kind)la_pickle_at(p, from)->kind;
    if (of != LA_PICKLE_LIST && of != LA_PICKLE_TUPLE && of != LA_PICKLE_SET)
        return la_pickle_fail(p, "a list or tuple expected");
    for (uint32_t i = 0; i < la_pickle_at(p, from)->n; i++)
        LA_TRY(la_pickle_put(p, *out, la_pickle_at(p, from)->items[i]));
    return LA_OK;
}

/* OrderedDict(), OrderedDict([[key, value], ...]), Counter({...}). */
static la_status reduce_dict(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    const la_pickle_node *all = la_pickle_at(p, arguments);
    uint32_t from = all->n ? all->items[0] : 0;
    LA_TRY(la_pickle_new(p, LA_PICKLE_DICT, out));
    if (!la_pickle_at(p, arguments)->n) return LA_OK;
    bool dict = la_pickle_at(p, from)->kind == LA_PICKLE_DICT;
    if (!dict && la_pickle_at(p, from)->kind != LA_PICKLE_LIST
        && la_pickle_at(p, from)->kind != LA_PICKLE_TUPLE)
        return la_pickle_fail(p, "a dict is made of a list of pairs");
    for (uint32_t i = 0; i < la_pickle_at(p, from)->n; i++) {
        uint32_t item = la_pickle_at(p, from)->items[i];
        const la_pickle_node *pair = la_pickle_at(p, item);
        if (dict) {
            LA_TRY(la_pickle_put(p, *out, item));
            continue;
        }
        if ((pair->kind != LA_PICKLE_LIST && pair->kind != LA_PICKLE_TUPLE)
            || pair->n != 2)
            return la_pickle_fail(p, "a dict is made of a list of pairs");
        LA_TRY(la_pickle_put(p, *out, pair->items[0]));
        LA_TRY(la_pickle_put(p, *out, la_pickle_at(p, item)->items[1]));
    }
    return LA_OK;
}

/* An object of a class, with an empty list and no state. */
static la_status reduce_object(la_pickle *p, uint32_t class_node,
                               uint32_t arguments, uint32_t *out)
{
    uint32_t list = 0, none = 0;
    LA_TRY(la_pickle_new(p, LA_PICKLE_LIST, &list));
    LA_TRY(la_pickle_new(p, LA_PICKLE_NONE, &none));
    LA_TRY(la_pickle_new(p, LA_PICKLE_OBJECT, out));
    p->nodes[*out].of = class_node;
    LA_TRY(la_pickle_put(p, *out, arguments));
    LA_TRY(la_pickle_put(p, *out, list));
    return la_pickle_put(p, *out, none);
}

/* ---- tensors ---- */

static la_status reduce_tensor(la_pickle *p, la_global_what what,
                               uint32_t arguments, uint32_t *out)
{
    LA_TRY(la_pickle_new(p, LA_PICKLE_TENSOR, out));
    const la_pickle_node *grad = la_pickle_item(p, arguments, 4,
                                                LA_PICKLE_BOOL);
    p->nodes[*out].what = (uint8_t)what;
    p->nodes[*out].of = arguments;
    p->nodes[*out].flag = grad && grad->i && what != LA_GLOBAL_REBUILD;
    return LA_OK;
}

/* A tensor of the same arguments, a parameter. */
static la_status reduce_parameter(la_pickle *p, uint32_t arguments,
                                  uint32_t *out)
{
    const la_pickle_node *data = la_pickle_item(p, arguments, 0,
                                                LA_PICKLE_TENSOR);
    const la_pickle_node *grad = la_pickle_item(p, arguments, 1,
                                                LA_PICKLE_BOOL);
    if (!data) return la_pickle_fail(p, "a parameter of no tensor");
    la_pickle_node copy = *data;
    copy.flag = grad ? grad->i != 0 : true;
    LA_TRY(la_pickle_new(p, LA_PICKLE_TENSOR, out));
    p->nodes[*out].what = copy.what;
    p->nodes[*out].of = copy.of;
    p->nodes[*out].flag = copy.flag;
    return LA_OK;
}

/* _rebuild_from_type_v2(function, class, arguments, state). */
static la_status reduce_type(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    const la_pickle_node *all = la_pickle_at(p, arguments);
    la_pickle_node *f = la_pickle_item(p, arguments, 0, LA_PICKLE_GLOBAL);
    if (!f || !la_pickle_item(p, arguments, 2, LA_PICKLE_TUPLE)
        || f->what == LA_GLOBAL_REBUILD_TYPE)
        return la_pickle_fail(p, "_rebuild_from_type_v2: a function and its "
                              "arguments expected");
    return la_pickle_reduce(p, all->items[0], all->items[2], out);
}

static la_status reduce_first(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    const la_pickle_node *all = la_pickle_at(p, arguments);
    if (!all->n) return la_pickle_fail(p, "an argument is missing");
    *out = all->items[0];
    return LA_OK;
}

/* bytearray(), bytearray(b"..."), bytearray("...", "latin1"). */
static la_status reduce_bytes(la_pickle *p, uint32_t arguments, uint32_t *out)
{
    uint32_t n = la_pickle_at(p, arguments)->n;
    if (!n) return la_pickle_new_text(p, LA_PICKLE_TEXT, "", 0, out);
    return n == 1 ? reduce_first(p, arguments, out)
                  : reduce_encode(p, arguments, out);
}

/* torch._utils._rebuild_device_tensor_from_cpu_tensor(tensor, ...) */
static la_status reduce_from_cpu(la_pickle *p, uint32_t arguments,
                                 uint32_t *out)
{
    if (!la_pickle_item(p, arguments, 0, LA_PICKLE_TENSOR))
        return la_pickle_fail(p, "a tensor expected");
    return reduce_first(p, arguments, out);
}

la_status la_pickle_reduce(la_pickle *p, uint32_t callable, uint32_t arguments,
                           uint32_t *out)
{
    const la_pickle_node *f = la_pickle_at(p, callable);
    la_global_what what = (la_global_what)f->what;
    if (f->kind != LA_PICKLE_GLOBAL && !p->lenient)
        return la_pickle_fail(p, "a call of what is no global");
    if (f->kind != LA_PICKLE_GLOBAL) what = LA_GLOBAL_OTHER;
    switch (what) {
    case LA_GLOBAL_DICT: return reduce_dict(p, arguments, out);
    case LA_GLOBAL_SET: return reduce_items(p, arguments, LA_PICKLE_SET, out);
    case LA_GLOBAL_SIZE: return reduce_items(p, arguments, LA_PICKLE_TUPLE,
                                             out);
    case LA_GLOBAL_ENCODE: return reduce_encode(p, arguments, out);
    case LA_GLOBAL_DEVICE: return reduce_device(p, arguments, out);
    case LA_GLOBAL_ITEM_TYPE: return reduce_item_type(p, arguments, out);
    case LA_GLOBAL_SCALAR: return reduce_scalar(p, arguments, out);
    case LA_GLOBAL_REBUILD: case LA_GLOBAL_REBUILD_V2:
    case LA_GLOBAL_REBUILD_V3: return reduce_tensor(p, what, arguments, out);
    case LA_GLOBAL_PARAMETER: case LA_GLOBAL_REBUILD_PARAMETER:
        return reduce_parameter(p, arguments, out);
    case LA_GLOBAL_REBUILD_TYPE: return reduce_type(p, arguments, out);
    case LA_GLOBAL_FROM_CPU: return reduce_from_cpu(p, arguments, out);
    case LA_GLOBAL_PASS: case LA_GLOBAL_LAYOUT:
        return reduce_first(p, arguments, out);
    case LA_GLOBAL_BYTEARRAY: return reduce_bytes(p, arguments, out);
    case LA_GLOBAL_TENSOR: case LA_GLOBAL_OTHER: case LA_GLOBAL_MODULE:
    case LA_GLOBAL_COMPLEX: return reduce_object(p, callable, arguments, out);
    case LA_GLOBAL_REFUSED:
        return reduce_refuse(p, callable, "only dense tensors with strides can "
                             "be read");
    default: return reduce_refuse(p, callable, "it cannot be called");
    }
}

la_status la_pickle_new_object(la_pickle *p, uint32_t class_node,
                               uint32_t arguments, uint32_t *out)
{
    return la_pickle_reduce(p, class_node, arguments, out);
}

/* ---- states ---- */

/* A tensor of older files: the state is the arguments of _rebuild_tensor, and
** requires_grad. */
static la_status reduce_build_tensor(la_pickle *p, uint32_t object,
                                     uint32_t state)
{
    if (!la_pickle_item(p, state, 0, LA_PICKLE_STORAGE))
        return la_pickle_fail(p, "the state of a tensor is no storage");
    la_pickle_node *node = la_pickle_at(p, object);
    const la_pickle_node *grad = la_pickle_item(p, state, 4, LA_PICKLE_BOOL);
    la_mem_free(node->items, node->capacity * sizeof(uint32_t));
    *node = (la_pickle_node){.kind = LA_PICKLE_TENSOR, .of = state,
                             .what = LA_GLOBAL_REBUILD, .at = node->at,
                             .flag = grad && grad->i};
    return LA_OK;
}

/* The state of numpy.dtype: (3, "<", ...). */
static la_status reduce_build_type(la_pickle *p, uint32_t object,
                                   uint32_t state)
{
    const la_pickle_node *order = la_pickle_item(p, state, 1, LA_PICKLE_TEXT);
    p->nodes[object].flag = order && order->n == 1
        && *la_pickle_text(p, order) == '>';
    return LA_OK;
}

/* Attributes of dicts (_metadata of a state_dict) and of tensors are left
** out. */
la_status la_pickle_build(la_pickle *p, uint32_t object, uint32_t state)
{
    la_pickle_node *node = la_pickle_at(p, object);
    switch (node->kind) {
    case LA_PICKLE_DICT: case LA_PICKLE_TENSOR: return LA_OK;
    case LA_PICKLE_ITEM_TYPE: return reduce_build_type(p, object, state);
    case LA_PICKLE_OBJECT:
        if (la_pickle_at(p, node->of)->what == LA_GLOBAL_TENSOR)
            return reduce_build_tensor(p, object, state);
        node->items[2] = state;
        return LA_OK;
    default:
        return p->lenient ? LA_OK
            : la_pickle_fail(p, "a state for what has none");
    }
}

/* ("storage", type, key, location, numel[, view]); of files that are older
** than 0.4 also ("module", class, ...), which stands for the class. */
la_status la_pickle_persistent(la_pickle *p, uint32_t id, uint32_t *out)
{
    const la_pickle_node *all = la_pickle_at(p, id);
    if (all->kind != LA_PICKLE_TUPLE || all->n < 2)
        return la_pickle_fail(p, "a persistent id that is no tuple");
    if (la_pickle_is(p, all->items[0], "module") && p->lenient) {
        *out = all->items[1];
        return LA_OK;
    }
    const la_pickle_node *type = la_pickle_item(p, id, 1, LA_PICKLE_GLOBAL);
    if (!la_pickle_is(p, all->items[0], "storage") || all->n < 5 || !type
        || type->what != LA_GLOBAL_STORAGE
        || !la_pickle_item(p, id, 2, LA_PICKLE_TEXT)
        || !la_pickle_item(p, id, 4, LA_PICKLE_INT))
        return la_pickle_fail(p, "a persistent id that is no storage");
    LA_TRY(la_pickle_new(p, LA_PICKLE_STORAGE, out));
    p->nodes[*out].of = id;
    return LA_OK;
}

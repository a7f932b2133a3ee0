/* The parser of schema texts; the grammar is in op/schema.h. */
#include "op/schema.h"

#include "base/ascii.h"
#include "base/decimal.h"
#include "op/frame.h"

typedef struct type_row {
    const char *word;
    la_type type;
    const char *user_name;
    la_tag tag;             /* of a value in a frame */
} type_row;

/* A word stands before those that it begins with. */
static const type_row types[] = {
    {"Tensor[]", LA_TYPE_TENSORS, "list of tensors", LA_VTENSORS},
    {"Tensor", LA_TYPE_TENSOR, "tensor or number", LA_VTENSOR},
    {"Scalar", LA_TYPE_SCALAR, "number", LA_VSCALAR},
    {"int...", LA_TYPE_INTS_VARIADIC, "integers", LA_VINTS},
    {"int[]", LA_TYPE_INTS, "list of integers", LA_VINTS},
    {"int", LA_TYPE_INT, "integer", LA_VINT},
    {"size[]", LA_TYPE_SIZE, "list of sizes", LA_VINTS},
    {"cell[]", LA_TYPE_CELLS, "cell {row, column}", LA_VINTS},
    {"float[]", LA_TYPE_FLOATS, "list of numbers", LA_VFLOATS},
    {"float", LA_TYPE_FLOAT, "number", LA_VFLOAT},
    {"bool", LA_TYPE_BOOL, "boolean", LA_VBOOL},
    {"str", LA_TYPE_STR, "string", LA_VSTR},
    {"dtype", LA_TYPE_DTYPE, "dtype", LA_VDTYPE},
    {"dim...", LA_TYPE_DIMS_VARIADIC, "dimensions", LA_VINTS},
    {"dim[][]", LA_TYPE_DIM_LISTS, "two lists of dimensions", LA_VINTS},
    {"dim[]", LA_TYPE_DIMS, "dimension or list of dimensions", LA_VINTS},
    {"dim", LA_TYPE_DIM, "dimension", LA_VINT},
    {"index[]", LA_TYPE_INDICES, "list of indices", LA_VINTS},
    {"index", LA_TYPE_INDEX, "index", LA_VINT},
    {"memory_format", LA_TYPE_FORMAT, "memory format", LA_VFORMAT},
    {"device", LA_TYPE_DEVICE, "device", LA_VDEVICE},
    {"Generator", LA_TYPE_GENERATOR, "generator", LA_VPOINTER},
    {"names", LA_TYPE_NAMES, "list of names", LA_VNAMES},
};
#define NROWS ((int)(sizeof(types) / sizeof(types[0])))

const char *la_type_name(la_type t)
{
    for (int i = 0; i < NROWS; i++)
        if (types[i].type == t) return types[i].user_name;
    return "value";
}

/* The tags of values that a parameter takes, as bits. */
static uint16_t tags_of(const la_param *p)
{
    uint16_t tags = p->optional ? 1u << LA_VNONE : 0;
    for (int i = 0; i < NROWS; i++)
        if (types[i].type == p->type) tags |= (uint16_t)(1u << types[i].tag);
    return tags;
}

bool la_type_is_ints(la_type t)
{
    return t == LA_TYPE_DIMS || t == LA_TYPE_INDICES || t == LA_TYPE_INTS
        || t == LA_TYPE_SIZE || t == LA_TYPE_INTS_VARIADIC
        || t == LA_TYPE_DIMS_VARIADIC || t == LA_TYPE_CELLS;
}

bool la_type_is_list(la_type t)
{
    return la_type_is_ints(t) || t == LA_TYPE_TENSORS || t == LA_TYPE_NAMES
        || t == LA_TYPE_DIM_LISTS || t == LA_TYPE_FLOATS;
}

const char *la_type_counted(la_type t)
{
    switch (t) {
    case LA_TYPE_DIM: case LA_TYPE_DIMS: case LA_TYPE_DIMS_VARIADIC:
    case LA_TYPE_DIM_LISTS: return "dimension";
    case LA_TYPE_INDEX: case LA_TYPE_INDICES: return "index";
    default: return NULL;
    }
}

int la_schema_find(const la_schema *s, const char *name, size_t n)
{
    for (int k = 0; k < s->nparams; k++)
        if ((size_t)s->params[k].name.n == n
            && memcmp(s->params[k].name.text, name, n) == 0) return k;
    return -1;
}

typedef struct reader {
    const char *at, *start;
} reader;

static void skip(reader *r)
{
    while (la_is_space(*r->at)) r->at++;
}

static bool schema_take(reader *r, const char *word)
{
    skip(r);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

static la_status fault(const reader *r, const char *what)
{
    return la_error(LA_EARG, "schema '%s': %s expected at byte %d", r->start,
                    what, (int)(r->at - r->start) + 1);
}

/* A name: letters, digits and _, no digit in front. */
static bool take_word(reader *r, la_word *out)
{
    skip(r);
    const char *p = r->at;
    if (la_is_digit(*p)) return false;
    while (la_is_alnum(*p) || *p == '_') p++;
    out->text = r->at;
    out->n = (int)(p - r->at);
    r->at = p;
    return out->n > 0;
}

/* "Tensor?[]" is written as such; "dim[]?" has the mark behind. */
static la_status schema_read_type(reader *r, la_param *p)
{
    skip(r);
    if (schema_take(r, "Tensor?[]")) {
        p->type = LA_TYPE_TENSORS;
        p->nullable = true;
        p->optional = schema_take(r, "?");
        return LA_OK;
    }
    if (schema_take(r, "Number[]")) {
        p->type = LA_TYPE_TENSORS;
        p->numbers = true;
        p->optional = schema_take(r, "?");
        return LA_OK;
    }
    if (schema_take(r, "Array")) {
        p->type = LA_TYPE_TENSOR;
        p->no_number = true;
        p->optional = schema_take(r, "?");
        return LA_OK;
    }
    for (int i = 0; i < NROWS; i++)
        if (schema_take(r, types[i].word)) {
            p->type = types[i].type;
            p->optional = *r->at == '?';
            r->at += p->optional;
            return LA_OK;
        }
    return fault(r, "a type");
}

/* A sign and digits, and nothing that makes it a fraction; else the reader
** stays. */
static bool schema_read_integer(reader *r, int64_t *out)
{
    const char *p = r->at;
    bool minus = *p == '-';
    int64_t v = 0;
    p += minus;
    if (!la_is_digit(*p)) return false;
    for (; la_is_digit(*p); p++) {
        int digit = *p - '0';
        if (__builtin_mul_overflow(v, 10, &v)
            || __builtin_add_overflow(v, minus ? -digit : digit, &v))
            return false;
    }
    if (*p == '.' || *p == 'e') return false;
    *out = v;
    r->at = p;
    return true;
}

/* A number with a sign; else the reader stays. */
static bool read_double(reader *r, double *out)
{
    const char *from = r->at + (*r->at == '-');
    la_decimal_text t = la_decimal_read(from, from + strlen(from));
    if (t.end == from) return false;
    *out = *r->at == '-' ? -t.value : t.value;
    r->at = t.end;
    return true;
}

/* "[1, 2]" behind "=": into the parameter itself, so at most four. */
static la_status schema_read_list(reader *r, la_param *p)
{
    int n = 0;
    while (!schema_take(r, "]")) {
        if (n > 0 && !schema_take(r, ",")) return fault(r, "',' or ']'");
        if (n == 4) return fault(r, "at most four numbers");
        skip(r);
        if (!schema_read_integer(r, &p->ints[n++]))
            return fault(r, "a whole number");
    }
    p->fallback.tag = LA_VINTS;
    p->fallback.ints.list = p->ints;
    p->fallback.ints.n = n;
    return LA_OK;
}

static la_status schema_read_text(reader *r, la_param *p)
{
    const char *end = strchr(r->at, '\'');
    if (!end) return fault(r, "a closing quote");
    p->fallback.tag = LA_VSTR;
    p->fallback.str.text = r->at;
    p->fallback.str.n = (size_t)(end - r->at);
    r->at = end + 1;
    return LA_OK;
}

/* A default of the parameter's type: whole numbers stay integers for a
** scalar. */
static la_status schema_read_number(reader *r, la_param *p)
{
    double d = 0;
    int64_t i = 0;
    skip(r);
    bool whole = schema_read_integer(r, &i);
    if (whole) d = (double)i;
    else if (!read_double(r, &d)) return fault(r, "a default value");
    la_value *v = &p->fallback;
    if (p->type == LA_TYPE_SCALAR || p->type == LA_TYPE_TENSOR) {
        v->tag = LA_VSCALAR;
        v->scalar = whole ? la_scalar_int(i) : la_scalar_float(d);
    } else if (p->type == LA_TYPE_FLOAT) {
        v->tag = LA_VFLOAT;
        v->d = d;
    } else if (whole) {
        v->tag = LA_VINT;
        v->i = i;
    } else {
        return fault(r, "a whole number");
    }
    return LA_OK;
}

static la_status read_default(reader *r, la_param *p)
{
    p->required = false;
    if (schema_take(r, "nil")) return LA_OK; /* LA_VNONE is the zero tag */
    if (schema_take(r, "[")) return schema_read_list(r, p);
    if (schema_take(r, "'")) return schema_read_text(r, p);
    bool yes = schema_take(r, "true");
    if (yes || schema_take(r, "false")) {
        bool scalar = p->type == LA_TYPE_SCALAR;
        p->fallback.tag = scalar ? LA_VSCALAR : LA_VBOOL;
        if (scalar) p->fallback.scalar = la_scalar_bool(yes);
        else p->fallback.b = yes;
        return LA_OK;
    }
    return schema_read_number(r, p);
}

static bool is_named_before(const la_schema *s, const la_word *name)
{
    for (int k = 0; k < s->nparams - 1; k++)
        if (s->params[k].name.n == name->n
            && memcmp(s->params[k].name.text, name->text, (size_t)name->n) == 0)
            return true;
    return false;
}

/* A type, a name, and a default that the type takes. */
static la_status read_param(reader *r, la_schema *s, la_param *p)
{
    p->required = true;
    LA_TRY(schema_read_type(r, p));
    if (!take_word(r, &p->name)) return fault(r, "a parameter's name");
    if (is_named_before(s, &p->name)) return fault(r, "another name");
    uint16_t tags = tags_of(p);
    if (schema_take(r, "=")) {
        LA_TRY(read_default(r, p));
        tags |= p->fallback.tag == LA_VNONE ? 1u << LA_VNONE : 0;
        bool wraps = p->type == LA_TYPE_TENSOR
            && p->fallback.tag == LA_VSCALAR;
        if (!wraps && !(tags >> p->fallback.tag & 1))
            return fault(r, "a default of the parameter's type");
    }
    if (p->required) s->nrequired = s->nparams;
    s->tags[s->nparams - 1] = tags;
    if (p->type == LA_TYPE_TENSOR || p->type == LA_TYPE_TENSORS
        || p->type == LA_TYPE_DEVICE) s->nwatched = s->nparams;
    return LA_OK;
}

static la_status read_params(reader *r, la_schema *s)
{
    bool keyword = false;
    while (!schema_take(r, ")")) {
        if ((s->nparams > 0 || keyword) && !schema_take(r, ","))
            return fault(r, "',' or ')'");
        if (schema_take(r, "*")) {
            keyword = true;
            continue;
        }
        if (s->nparams == LA_MAX_ARGS) return fault(r, "fewer parameters");
        la_param *p = &s->params[s->nparams++];
        p->keyword_only = keyword;
        LA_TRY(read_param(r, s, p));
        s->npositional += !keyword;
    }
    return LA_OK;
}

static la_status schema_read_result(reader *r, la_schema *s)
{
    static const struct { const char *word; la_tag tag; } rows[] = {
        {"Tensor[]", LA_VTENSORS}, {"Tensor", LA_VTENSOR}, {"bool", LA_VBOOL},
        {"dtype", LA_VDTYPE},
    };
    if (s->nresults == LA_MAX_RESULTS) return fault(r, "fewer results");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (schema_take(r, rows[i].word)) {
            s->results[s->nresults] = rows[i].tag;
            take_word(r, &s->result_names[s->nresults++]);
            return LA_OK;
        }
    return fault(r, "a result type");
}

/* "-> Tensor" or "-> (Tensor values, Tensor indices)". */
static la_status read_results(reader *r, la_schema *s)
{
    if (!schema_take(r, "->")) return fault(r, "'->'");
    if (!schema_take(r, "(")) return schema_read_result(r, s);
    while (!schema_take(r, ")")) {
        if (s->nresults > 0 && !schema_take(r, ","))
            return fault(r, "',' or ')'");
        LA_TRY(schema_read_result(r, s));
    }
    return LA_OK;
}

static la_status read_schema(const char *text, la_schema *out)
{
    reader r = {text, text};
    if (!take_word(&r, &out->name)) return fault(&r, "a name");
    if (*r.at == '.') {
        r.at++;
        take_word(&r, &out->overload);
    }
    if (*r.at != '(') return fault(&r, "'('");
    r.at++;
    LA_TRY(read_params(&r, out));
    LA_TRY(read_results(&r, out));
    skip(&r);
    return *r.at ? fault(&r, "the end") : LA_OK;
}

/* A required argument without a parameter makes every reader of arguments look
** closer. */
la_status la_schema_parse(const char *text, la_schema *out)
{
    memset(out, 0, sizeof(*out));
    la_status status = read_schema(text, out);
    if (status == LA_OK) return LA_OK;
    memset(out, 0, sizeof(*out));
    out->broken = true;
    out->nrequired = 1;
    return status;
}

la_status la_schema_fault(const char *text)
{
    la_schema again;
    la_status status = la_schema_parse(text, &again);
    return status ? status : la_error(LA_ESTATE, "its schema was not read");
}

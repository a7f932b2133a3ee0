/* The rows of schema.def. */
#include "modules/onnx/io/schema.h"

#include <stddef.h>
#include <string.h>

enum { ONE = 0, MANY = 1 };

const la_onnx_field la_onnx_fields[] = {
#define FIELD(message, number, name, kind, count) \
    {LA_ONNX_##message, number, name, LA_ONNX_##kind, count},
#include "modules/onnx/io/schema.def"
#undef FIELD
    {0}
};

const la_onnx_field *la_onnx_field_of(la_onnx_kind message, uint32_t number)
{
    for (const la_onnx_field *f = la_onnx_fields; f->name; f++)
        if (f->message == message && f->number == number) return f;
    return NULL;
}

la_onnx_kind la_onnx_message(const char *name)
{
    static const struct { const char *name; la_onnx_kind kind; } names[] = {
        {"ModelProto", LA_ONNX_MODEL}, {"GraphProto", LA_ONNX_GRAPH},
        {"TensorProto", LA_ONNX_TENSOR}, {"SequenceProto", LA_ONNX_SEQUENCE},
        {"OptionalProto", LA_ONNX_OPTIONAL}, {"MapProto", LA_ONNX_MAP},
        {"SparseTensorProto", LA_ONNX_SPARSE}, {"TypeProto", LA_ONNX_TYPE},
        {"FunctionProto", LA_ONNX_FUNCTION}, {"NodeProto", LA_ONNX_NODE}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k].name, name) == 0) return names[k].kind;
    return LA_ONNX_INT;
}

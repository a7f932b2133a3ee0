/* Fields of ONNX's messages: the rows of schema.def as a table. */
#ifndef LA_ONNX_SCHEMA_H
#define LA_ONNX_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers and texts, then messages. */
typedef enum la_onnx_kind {
    LA_ONNX_INT, LA_ONNX_FLOAT, LA_ONNX_TEXT,
    LA_ONNX_MODEL, LA_ONNX_OPSET, LA_ONNX_ENTRY, LA_ONNX_GRAPH, LA_ONNX_NODE,
    LA_ONNX_ATTRIBUTE, LA_ONNX_TENSOR, LA_ONNX_SPARSE, LA_ONNX_VALUE,
    LA_ONNX_TYPE, LA_ONNX_TENSOR_TYPE, LA_ONNX_SEQUENCE_TYPE, LA_ONNX_MAP_TYPE,
    LA_ONNX_SHAPE, LA_ONNX_DIM, LA_ONNX_FUNCTION, LA_ONNX_SEQUENCE, LA_ONNX_MAP,
    LA_ONNX_OPTIONAL
} la_onnx_kind;

typedef struct la_onnx_field {
    la_onnx_kind message;
    uint32_t number;
    const char *name;
    la_onnx_kind kind;
    bool many;
} la_onnx_field;

/* The field of that number, NULL where it is none that is read. */
const la_onnx_field *la_onnx_field_of(la_onnx_kind message, uint32_t number);
/* All fields, a message's one after the other in the order of their numbers;
** the end has no name. */
extern const la_onnx_field la_onnx_fields[];
/* The message of that name ("TensorProto"); LA_ONNX_INT for none. */
la_onnx_kind la_onnx_message(const char *name);

#endif

/*
** ONNX's TensorProto: elements as raw bytes, as rows of numbers, or in a file
** of their own. What has no dtype here is unpacked: int4 and int2 to int8,
** uint4 and uint2 to uint8, floats of 8 and 4 bits to float32.
*/
#ifndef LA_ONNX_TENSOR_IO_H
#define LA_ONNX_TENSOR_IO_H

#include "io/map.h"
#include "modules/onnx/io/proto.h"
#include "modules/onnx/io/unpack.h"
#include "tensor/tensor.h"

typedef struct la_onnx_tensor {
    int64_t sizes[LA_MAX_DIMS], numel;
    int ndim;
    int64_t number;             /* of the type */
    const la_onnx_type *type;
    la_proto message;           /* all of it, for the rows of numbers */
    la_proto name, raw, location;
    bool has_raw, external;
    int64_t offset, length;     /* of the external bytes; length -1: the rest */
    int64_t count;              /* numbers or texts in rows */
    uint32_t row;               /* field of those; 0: none */
} la_onnx_tensor;

/* Reads what a message says, and checks the number of elements against what it
** holds, before anything is allocated. LA_EIO. */
la_status la_onnx_tensor_scan(la_proto message, la_onnx_tensor *out);
/* The elements as a tensor: in the mapping where they lie there aligned, else
** of memory of its own. Not for strings and not for external ones. */
la_status la_onnx_tensor_make(const la_onnx_tensor *, la_mapping *,
                              la_tensor **out);
/* A tensor from the bytes of another file, of which the tensor's part is
** taken. */
la_status la_onnx_tensor_from(const la_onnx_tensor *, const void *bytes,
                              size_t n, la_mapping *, la_tensor **out);
/* The name of a file next to the model: relative, without "..". LA_EIO. */
la_status la_onnx_check_location(const char *name, size_t n);
/* The path of such a file in the folder of 'model': no link leads to it or out
** of the folder. 'out' has space for 2 LA_OS_PATH bytes.
** LA_EIO. */
la_status la_onnx_external_path(const char *model, const char *name, char *out);

#endif

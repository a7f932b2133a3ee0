/* la.onnx: the functions in C. Models are lunarray.onnx's, in Lua. */
#include "modules/onnx/lua/onnx.h"

static const la_function functions[] = {
    {"read", la_onnx_read, 2}, {"encode", la_onnx_encode, 2},
    {"trace", la_onnx_trace, LA_MANY}, {"write", la_onnx_write, 2},
    {"_program", la_onnx_program, 1},
    {NULL, NULL, 0}
};

const la_module la_module_onnx = {NULL, functions, NULL};

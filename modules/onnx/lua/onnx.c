/* la.onnx: the functions in C. Models are lunarray.onnx's, in Lua. */
#include "modules/onnx/lua/onnx.h"

static const luaL_Reg functions[] = {
    {"read", la_onnx_read}, {"encode", la_onnx_encode},
    {"trace", la_onnx_trace}, {"write", la_onnx_write},
    {NULL, NULL}
};

const la_module la_module_onnx = {NULL, functions};

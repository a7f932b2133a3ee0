#include "kernel/gemm.h"
const la_gemm_kernels LA_KERNEL(gemm_bf16) = {0};

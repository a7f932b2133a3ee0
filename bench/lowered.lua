-- What lowers the peers to a CPU path, as variables before a command: PyTorch
-- and its libraries, OpenBLAS, NumPy (which knows its features by different
-- names in different versions), XLA.
return {
  avx2 = "ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 "
    .. "ONEDNN_MAX_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell "
    .. "NPY_DISABLE_CPU_FEATURES='X86_V4 AVX512_ICL AVX512_SPR AVX512F "
    .. "AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL' "
    .. "XLA_FLAGS=\"$XLA_FLAGS --xla_cpu_max_isa=AVX2\" ",
  default = "ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 "
    .. "ONEDNN_MAX_CPU_ISA=SSE41 OPENBLAS_CORETYPE=Nehalem "
    .. "NPY_DISABLE_CPU_FEATURES='X86_V3 X86_V4 AVX512_ICL AVX512_SPR AVX2 "
    .. "FMA3' XLA_FLAGS=\"$XLA_FLAGS --xla_cpu_max_isa=SSE4_2\" "
}

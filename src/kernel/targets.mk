# How the kernel sources are compiled.
#
# TARGETS_<folder>/<file> := <capabilities>  those it is compiled for, besides
# the lowest one of the build, which every kernel has; without a line: all. One
# that is left out takes the copy for the next lower one. Left out is what gains
# less than 3 % (both copies alternating, sizes of the first and second cache).

# Each element waits for the one before it: wider registers change nothing.
TARGETS_scan/sum := default avx2
TARGETS_scan/extreme := default avx2
TARGETS_scan/logsumexp := default avx2
# Bytes that are read once, until the answer is known: 0.98 to 1.00 times as long
# without it over 160 cases.
TARGETS_reduce/any := default avx2
# Half as many numbers in a vector: where it is not memory that is waited for,
# wider ones gain a quarter, for 30 KB.
TARGETS_fft/f64 := default avx2

# Calls of scalar functions.
TARGETS_pointwise/special_double := default

# OPT_<folder>/<file> := <flags>  in place of -O2: where the bench shows a loss.
# (clang has no such switches.)
OPT_rows/softmax := $(if $(COMPILER),-O3,-O2 -funswitch-loops)
# Loops of a few vectors that must be unrolled whole, and cores that are to be
# specialised by constant arguments: 1.4 to 2.8 times as long without.
SPECIALISED := $(if $(COMPILER),-O3,-O2 -fipa-cp-clone -fpeel-loops)
OPT_scan/sum := $(SPECIALISED)
OPT_scan/prod := $(SPECIALISED)
# Short loops of constant length are unrolled.
PEELED := $(if $(COMPILER),-O2,-O2 -fpeel-loops)
$(foreach f,index/move move/copy,$(eval OPT_$(f) := $(PEELED)))
OPT_scan/extreme := $(if $(COMPILER),-O3,-O2 -fpeel-loops)
OPT_rows/norm := -O3
# Loops over bytes, which -O2 makes no vectors of.
OPT_matmul/bytes_pairs := -O3
OPT_avx512_vnni/bytes := -O3

# Products of complex numbers one by one: gcc 12 makes fused multiply-adds of a
# pair of them for AVX2, in spite of -ffp-contract=off, and none for AVX512.
OPT_linalg/linalg_complex := -O2 -fno-tree-vectorize

# Kernels whose functions are aligned: a loop of floor_divide falls across two
# lines otherwise, and takes 1.09 times as long.
ALIGNED := pointwise/divide

# FLAGS_kernel/<folder>.<capability> := <flags>  besides the level.
# GCC follows the vector loop of a plain loop by one of half the width: a third
# of the bytes of these folders. Without it tails take some nanoseconds more; up
# to 63 elements with AVX512, which therefore keeps it. (clang has no such
# switch.)
ONE_WIDTH := $(if $(COMPILER),,--param vect-epilogues-nomask=0)
$(foreach f,pointwise index move random fft,$(foreach c,default avx2,$(eval FLAGS_kernel/$(f).$(c) := $(ONE_WIDTH))))


# The library in one file ("make embed") has fewer copies of kernels, unless it
# is made with COPIES=all. These have one for the lowest capability alone: of
# the others, compiled for size, none gains anything.
EMBED_lowest := index/index_reduce scan/extreme scan/logsumexp
# And next to AVX2 these alone have one for AVX512.
EMBED_avx512 := matmul/gemm_f32

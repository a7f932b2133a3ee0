# How the kernel sources are compiled.
#
# TARGETS_<folder>/<file> := <capabilities>  those it is compiled for, besides the
# lowest one of the build, which every kernel has; without a line: all of them.
# A capability left out takes the copy for the next lower one.

# OPT_<folder>/<file> := <flags>  in place of -O2: where the bench shows a loss.
OPT_rows/softmax := -O3
OPT_matmul/gemm_tiny := -O3

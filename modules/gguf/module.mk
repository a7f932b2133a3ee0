# Indices into tables: nothing for vectors.
TARGETS_gguf/grid_blocks := default
# Loops of constant length over the bytes of a block.
OPT_gguf/blocks := -O3
OPT_gguf/byte_dots := -O3

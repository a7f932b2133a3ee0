/*
** Reading and writing through index tensors by size of the element: gather,
** scatter, index_select, take, x[index], masked_select. The contract is
** index.h.
*/
#include <string.h>

#include "kernel/move/copy_short.h"
#include "kernel/index/offset.h"

typedef struct { uint64_t half[2]; } sixteen;

#define TYPE uint8_t
#define NAME 1
#include "kernel/index/move.inc"
#define TYPE uint16_t
#define NAME 2
#include "kernel/index/move.inc"
#define TYPE uint32_t
#define NAME 4
#include "kernel/index/move.inc"
#define TYPE uint64_t
#define NAME 8
#include "kernel/index/move.inc"
#define TYPE sixteen
#define NAME 16
#include "kernel/index/move.inc"

const la_index_moves LA_KERNEL(index_moves) = {
    .get = {get_1, get_2, get_4, get_8, get_16},
    .put = {put_1, put_2, put_4, put_8, put_16},
    .compress = {compress_1, compress_2, compress_4, compress_8, compress_16},
};

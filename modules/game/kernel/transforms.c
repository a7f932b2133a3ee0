/* Transforms of points and vectors; the contract is transforms.h. */
#include "modules/game/kernel/transforms.h"

#include "base/scratch.h"
#include "simd/permute/fields.h"
#include "simd/permute/short_rows.h"

#define T float
#define V f32v
#define R f32r
#define LANES F32_LANES
#define LANE(x) f32_##x
#define ROW(x) f32_##x
#define NAME(x) x##_f32
#include "modules/game/kernel/transforms.inc"
#define T double
#define V f64v
#define R f64r
#define LANES F64_LANES
#define LANE(x) f64_##x
#define ROW(x) f64_##x
#define NAME(x) x##_f64
#include "modules/game/kernel/transforms.inc"

const la_transform_kernels LA_KERNEL(game_transforms) = {
    {points_f32, points_f64}, {vectors_f32, vectors_f64},
    {rotate_f32, rotate_f64}, {skin_f32, skin_f64}};

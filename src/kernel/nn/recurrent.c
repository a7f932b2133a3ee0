/* Steps of recurrent cells and their gradients, for float32 and float64; the
** contract is recurrent.h. */
#include "kernel/nn/recurrent.h"
#include "simd/math/math.h"
#include "simd/vec.h"

#define LANE f32
#define ELEM float
#include "kernel/nn/recurrent.inc"

#define LANE f64
#define ELEM double
#include "kernel/nn/recurrent.inc"

const la_recurrent_kernels LA_KERNEL(recurrent_f32) = {
    {tanh_rows_f32, relu_rows_f32, lstm_rows_f32, gru_rows_f32},
    {tanh_grad_f32, relu_grad_f32, lstm_grad_f32, gru_grad_f32}
};
const la_recurrent_kernels LA_KERNEL(recurrent_f64) = {
    {tanh_rows_f64, relu_rows_f64, lstm_rows_f64, gru_rows_f64},
    {tanh_grad_f64, relu_grad_f64, lstm_grad_f64, gru_grad_f64}
};

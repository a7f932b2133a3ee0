/*
** The terms of derivative formulas, as macros over a formula that is called x:
**
**   G, GR(k)      the gradient of result 0, of result k
**   A(k), RES(k)  a saved argument, a saved result
**   VAL(k)        an argument that is no tensor, by value
**   SIZES(k)      the sizes of argument k
**   C(t)          the conjugate; t itself when it is real
**   R(op, ...)    a call of an operation on tensors and C values
**
** Included last, and only by derivatives.c and the files formulas_*.c: names
** this short are for files in which nothing else is written.
*/
#ifndef LA_GRAD_FORMULAS_FORMULA_TERMS_H
#define LA_GRAD_FORMULAS_FORMULA_TERMS_H

#include "grad/formulas/formula.h"
#include "op/frame.h"

#define R(name, ...) la_chain_call(&x->w, LA_OP(name), LA_ARGS_(__VA_ARGS__))
#define G la_x_grad(x, 0)
#define GR(k) la_x_grad(x, k)
#define A(k) la_x_arg(x, k)
#define WIDE(k) la_x_wide(x, k)
#define RES(k) la_x_result(x, k)
#define VAL(k) la_x_value(x, k)
#define C(t) la_x_conj(x, t)
#define SIZES(k) la_x_sizes(x, k)
#define SAVE(k) (1u << (k))
#define SAVE_R(k) (1u << (16 + (k)))

#endif

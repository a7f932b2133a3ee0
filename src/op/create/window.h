/*
** Windows of a number of points, symmetric to the last bit: shapes that the
** rows of create.def and la.signal's share.
*/
#ifndef LA_OP_CREATE_WINDOW_H
#define LA_OP_CREATE_WINDOW_H

#include "iter/iter.h"
#include "op/frame.h"

/* A symmetric window of 'length' points; a periodic one is one without its
** last. */
typedef struct la_taper {
    const struct la_window_shape *shape;
    int64_t length;
    double p;                 /* the parameter */
    double scale;             /* kaiser: 1 / I0(beta) */
    char *data;
    int64_t stride;           /* bytes */
    int64_t count;            /* points of the result */
    la_loop cast;
} la_taper;

typedef struct la_window_shape {
    double (*value)(const la_taper *w, double i);   /* i in the first half */
    double terms[5];          /* of the sums of cosines */
} la_window_shape;

/* Position of point i, from 0 to 1 at the two ends. A single point never
** asks. */
static inline double la_window_at(const la_taper *w, double i)
{
    return i / (double)(w->length - 1);
}

/* Values of shapes: terms[0] - terms[1] cos(2 pi u) + terms[2] cos(4 pi u) ...;
** a triangle with ends of 0; Kaiser's, whose parameter is beta. */
double la_window_cosines(const la_taper *w, double i);
double la_window_bartlett(const la_taper *w, double i);
double la_window_kaiser(const la_taper *w, double i);

/* Result 0: n points (argument k) of a floating dtype, by the options from
** argument 'options' on. */
la_status la_window_sized(la_frame *f, int k, int options);
/* Fills result 0. A single point is 1, of every window. */
la_status la_window_fill(la_frame *f, const la_window_shape *s, double p,
                         bool periodic);

#endif

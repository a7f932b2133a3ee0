/*
** printf's formats whatever the locale of the process is: the point of a number
** is always a point.
**
** All texts with numbers of floating point in them go this way: errors, log and
** trace lines, tensors, names of keys. A host may set another locale between
** any two calls, or on another thread in the middle of one; uselocale() would
** be right as well, but only POSIX has it. Integers and texts may go through
** snprintf, which asks the locale for neither (the lint looks for formats).
*/
#ifndef LA_BASE_FORMAT_H
#define LA_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/status.h"

/* snprintf's contract. Of the conversions there are d i u x X o c s p e f g and
** %%, all flags but ' and #, and no argument numbers. */
int la_format(char *out, size_t capacity, const char *format, ...)
    __attribute__((format(LA_PRINTF, 3, 4)));
int la_format_list(char *out, size_t capacity, const char *format, va_list list)
    __attribute__((format(LA_PRINTF, 3, 0)));

/* One number in the notation 'e', 'f' or 'g', without a width; its bytes but
** for the NUL. 'plus': a '+' in front of what has no '-'. */
enum { LA_NUMBER_BYTES = 512, LA_NUMBER_PRECISION = 100 };
int la_format_number(char out[LA_NUMBER_BYTES], char notation, int precision,
                     bool plus, double v);

#endif

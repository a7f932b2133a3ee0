/* The terminal that a process writes to, where it has one. */
#ifndef LA_BASE_TERMINAL_H
#define LA_BASE_TERMINAL_H

#include <stdbool.h>

/* The window of standard output, in characters and in pixels (0 when the
** terminal does not tell). */
typedef struct la_os_window {
    int columns, rows, width, height;
} la_os_window;

/* False when standard output is no terminal. COLUMNS and LINES stand for a
** window whose size is not known; without them it is 80 x 24. */
bool la_os_find_window(la_os_window *out);

#endif

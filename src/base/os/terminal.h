/* The terminal that a process writes to, where it has one. */
#ifndef LA_BASE_OS_TERMINAL_H
#define LA_BASE_OS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* The window of standard output, in characters and in pixels (0 when the
** terminal does not tell). */
typedef struct la_os_window {
    int columns, rows, width, height;
} la_os_window;

/* False when standard output is no terminal. COLUMNS and LINES stand for a
** window whose size is not known; without them it is 80 x 24. */
bool la_os_find_window(la_os_window *out);

/* Write a query of n bytes to the terminal that controls the process, and read
** what it answers into 'reply' of 'cap' bytes: up to a 'c', with which device
** attributes end, or until so many milliseconds have passed. The length of the
** reply; -1 where there is no terminal, or it belongs to another job now. */
int la_os_ask_terminal(const char *query, size_t n, char *reply, size_t cap,
                       int milliseconds);

#endif

/* Lists of integers in error texts: "[2, 3, 4]", cut to the buffer's size. */
#ifndef LA_TENSOR_TEXT_TEXT_H
#define LA_TENSOR_TEXT_TEXT_H

#include <stdint.h>

typedef struct la_list_text {
    char text[160];
} la_list_text;

/* The text lives in *buffer, which is returned as a string. */
const char *la_list_print(la_list_text *buffer, int64_t n, const int64_t *list);
#define LA_LIST(n, list) la_list_print(&(la_list_text){{0}}, n, list)

#endif

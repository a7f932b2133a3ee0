/*
** Classes of bytes by ASCII: those of the C library in the locale "C", which is
** what texts of programs and files mean whatever the process has set.
**
** A char may be given as it is: bytes from 128 on are of no class but are no
** control characters either, with or without a sign.
*/
#ifndef LA_BASE_ASCII_H
#define LA_BASE_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Letters and digits. */
static inline bool la_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool la_is_lower(int c) { return c >= 'a' && c <= 'z'; }
static inline bool la_is_upper(int c) { return c >= 'A' && c <= 'Z'; }
static inline bool la_is_alpha(int c) { return la_is_lower(c | 0x20); }
static inline bool la_is_alnum(int c)
{
    return la_is_alpha(c) || la_is_digit(c);
}
/* Characters with ink; those of them that are neither letters nor digits. */
static inline bool la_is_graph(int c) { return c > 0x20 && c < 0x7f; }
static inline bool la_is_punct(int c)
{
    return la_is_graph(c) && !la_is_alnum(c);
}
static inline bool la_is_control(int c)
{
    return (c >= 0 && c < 0x20) || c == 0x7f;
}
/* A blank, a tab, the ends of lines and pages. */
static inline bool la_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}
/* The value of a hexadecimal digit in small or capital letters, -1 for another
** byte. */
static inline int la_hex_digit(int c)
{
    return la_is_digit(c) ? c - '0'
        : la_is_alpha(c) && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}
/* Other bytes stay as they are. */
static inline int la_to_lower(int c) { return la_is_upper(c) ? c | 0x20 : c; }

/* Are the first n bytes the same but for the case of letters? Those of ASCII
** only: another alphabet's case is a matter of the language. */
static inline bool la_same_letters(const char *a, const char *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (la_to_lower(a[k]) != la_to_lower(b[k])) return false;
    return true;
}
/* Are the words equal, in small or capital letters? */
static inline bool la_same_word(const char *a, const char *b)
{
    size_t n = strlen(a);
    return n == strlen(b) && la_same_letters(a, b, n);
}

#endif

/* Texts of users inside of messages: what may harm a terminal is escaped. */
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"

enum { QUOTE_MAX = 200 };

/* Write one byte of user text; how many characters were needed. */
static size_t quote_byte(unsigned char c, char out[5])
{
    if (c >= 0x20 && c < 0x7f) {
        out[0] = (char)c;
        return 1;
    }
    return (size_t)snprintf(out, 5, "\\x%02X", c);
}

/* Terminals and logs obey control bytes: none but the end of a line gets into a
** message, whoever has forgotten to quote a text. */
static bool is_harmful(char c)
{
    return la_is_control(c) && c != '\n';
}

bool la_is_harmless(const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (is_harmful(text[k])) return false;
    return true;
}

size_t la_make_harmless(const char *text, size_t n, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t k = 0; k < n; k++) {
        char piece[5] = {text[k]};
        size_t bytes = is_harmful(text[k])
            ? quote_byte((unsigned char)text[k], piece) : 1;
        if (used + bytes >= capacity) break;
        memcpy(out + used, piece, bytes);
        used += bytes;
    }
    out[used] = '\0';
    return used;
}

const char *la_quote(const char *text, size_t n, char *out, size_t capacity)
{
    size_t used = 0;
    if (!capacity) return out;
    for (size_t i = 0; i < n; i++) {
        char piece[5];
        size_t k = quote_byte((unsigned char)text[i], piece);
        if (i >= QUOTE_MAX || used + k + 4 > capacity) {  /* "..." and NUL */
            size_t dots = capacity - used - 1 < 3 ? capacity - used - 1 : 3;
            memset(out + used, '.', dots);
            used += dots;
            break;
        }
        memcpy(out + used, piece, k);
        used += k;
    }
    out[used] = '\0';
    return out;
}

/*
** The error record: one per thread, made at the thread's first error.
**
** It lives on the heap so that the module's thread-local storage stays a few
** words (a dlopen'ed library has to fit the loader's static reserve). When
** even that allocation fails, a shared record takes the text: an error about
** missing memory must not need memory.
*/
#include "base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_SIZE = 1024, QUOTE_MAX = 200 };

typedef struct error_record {
    la_status code;
    int arg;
    char text[TEXT_SIZE];
} error_record;

static _Thread_local error_record *mine;
static error_record emergency;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void drop_record(void *record)
{
    mine = NULL;
    free(record);
}

static void make_key(void)
{
    pthread_key_create(&key, drop_record);
}

static error_record *record_for_writing(void)
{
    if (mine) return mine;
    pthread_once(&once, make_key);
    mine = calloc(1, sizeof *mine);
    if (!mine) return &emergency;
    pthread_setspecific(key, mine);
    return mine;
}

static const error_record *record_for_reading(void)
{
    return mine ? mine : &emergency;
}

static la_status write_record(la_status code, int arg, const char *format,
                              va_list list)
{
    error_record *r = record_for_writing();
    char text[TEXT_SIZE];  /* the old text may be among the arguments */
    vsnprintf(text, sizeof text, format, list);
    memcpy(r->text, text, sizeof text);
    r->code = code;
    r->arg = arg;
    return code;
}

la_status la_error(la_status code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_record(code, 0, format, list);
    va_end(list);
    return code;
}

la_status la_error_at(la_status code, int arg, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    write_record(code, arg, format, list);
    va_end(list);
    return code;
}

la_status la_blame(la_status code, int arg)
{
    error_record *r = mine ? mine : &emergency;
    if (code != LA_OK && (r->arg == 0 || arg == 0)) r->arg = arg;
    return code;
}

const char *la_error_message(void)
{
    return record_for_reading()->text;
}

la_status la_error_code(void)
{
    return record_for_reading()->code;
}

int la_error_arg(void)
{
    return record_for_reading()->arg;
}

void la_error_clear(void)
{
    error_record *r = mine ? mine : &emergency;
    r->code = LA_OK;
    r->arg = 0;
    r->text[0] = '\0';
}

/* Write one byte of user text; how many characters were needed. */
static size_t quote_byte(unsigned char c, char out[5])
{
    if (c >= 0x20 && c < 0x7f) {
        out[0] = (char)c;
        return 1;
    }
    return (size_t)snprintf(out, 5, "\\x%02X", c);
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

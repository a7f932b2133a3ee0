/*
** The error record: one per thread and runtime that it was in; the last one
** that was written is the thread's.
**
** It lies among the things that a thread has in a runtime, so that the module's
** thread-local storage stays a few words (a dlopen'ed library has to fit the
** loader's static reserve). When there is no memory even for those, a shared
** record takes the text: an error about missing memory must not need memory.
*/
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/format.h"
#include "base/runtime/local.h"
#include "base/runtime/runtime.h"

enum { TEXT_SIZE = LA_ERROR_TEXT };

static const la_error_note none;
static la_error_note emergency;
/* The last failure's; NULL: there was none. */
static _Thread_local la_error_note *current;

static la_error_note *record_for_writing(void)
{
    la_position_check();
    la_local *t = la_local_here();
    return current = t ? &t->error : &emergency;
}

/* The record of the failure so far; one without a text where there is none. */
static la_error_note *record_for_adding(la_status code)
{
    if (current) return current;
    la_error_note *r = record_for_writing();
    *r = (la_error_note){.code = code};
    return r;
}

static const la_error_note *record_for_reading(void)
{
    return current ? current : &none;
}

static la_status write_record(la_status code, int arg, const char *format,
                              va_list list)
{
    la_error_note *r = record_for_writing();
    char text[TEXT_SIZE];  /* the old text may be among the arguments */
    la_format_list(text, sizeof text, format, list);
    la_make_harmless(text, strlen(text), r->text, sizeof r->text);
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
    if (code == LA_OK) return code;
    la_error_note *r = record_for_adding(code);
    if (r->arg == 0 || arg == 0) r->arg = arg;
    return code;
}

la_status la_error_unnamed(const char *name, size_t n, la_status code)
{
    la_error_note *r = record_for_adding(code);
    char *t = r->text;
    size_t skip = 0;
    bool quoted = t[0] == '"';
    if (n == 0 || strncmp(t + quoted, name, n) != 0) return code;
    if (quoted && strncmp(t + 1 + n, "\" ", 2) == 0) skip = n + 3;
    else if (!quoted && strncmp(t + n, "(): ", 4) == 0) skip = n + 4;
    else if (!quoted && strncmp(t + n, "() ", 3) == 0) skip = n + 3;
    if (skip && t[skip]) memmove(t, t + skip, strlen(t + skip) + 1);
    return code;
}

/* Text for a failure that left no words. */
static const char *text_of(la_status code)
{
    switch (code) {
    case LA_ENOMEM: return "not enough memory";
    case LA_EINTR: return "stopped by the host";
    case LA_ECANCEL: return "cancelled by the host";
    case LA_EDEADLINE: return "the deadline has passed";
    case LA_EFUEL: return "out of fuel";
    default: return "failed";
    }
}

la_status la_error_named(const char *name, la_status code)
{
    la_error_note *r = record_for_adding(code);
    size_t n = strlen(name);
    int arg = r->arg;
    if (r->code != code || r->text[0] == '\0') {
        la_error(code, "%s: %s", name, text_of(code));
        return code;
    }
    if (strncmp(r->text, name, n) == 0
        && (r->text[n] == ':' || r->text[n] == '(')) return code;
    if (arg > 0)
        la_error_at(code, arg, "%s: argument %d: %s", name, arg, r->text);
    else
        la_error(code, "%s: %s", name, r->text);
    return code;
}

const char *la_error_message(void)
{
    return record_for_reading()->text;
}

la_status la_error_status(void)
{
    return record_for_reading()->code;
}

int la_error_arg(void)
{
    return record_for_reading()->arg;
}

void la_error_clear(void) { current = NULL; }

/* Checks the record, which outside of any entry may be that of a runtime that
** another thread has ended. */
void la_error_check(void)
{
    if (!current || current == &emergency) return;
    const char *record = (const char *)current;
    if (!la_local_is_mine((const la_local *)(record
                                             - offsetof(la_local, error))))
        current = NULL;
}

void la_error_keep(la_error_note *out)
{
    la_error_check();
    const la_error_note *r = record_for_reading();
    out->code = r->code;
    out->arg = r->arg;
    if (r->code) memcpy(out->text, r->text, sizeof r->text);
}

void la_error_restore(const la_error_note *note)
{
    if (!note->code) {
        la_error_clear();
        return;
    }
    *record_for_writing() = *note;
}

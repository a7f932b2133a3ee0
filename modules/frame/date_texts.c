/*
** Dates as texts: ISO 8601 and formats of strftime's, read and written, in
** English and without the locale.
*/
#include <string.h>

#include "base/ascii.h"
#include "modules/frame/frame.h"

/* Names are part of the file format, not of the user's language: a column that
** is written on one machine is read on every other. */
static const char *const date_months[] = {
    "January", "February", "March", "April", "May", "June", "July", "August",
    "September", "October", "November", "December"};
static const char *const date_days[] = {
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    "Sunday"};

/* ---- reading ---- */

typedef struct date_reading {
    const char *at, *end;
    int64_t year;
    int month, day, yearday;    /* 0: not said */
    int hour, minute, second, nano, offset;
    int half;                   /* of %p: 0 none, 1 AM, 2 PM */
    bool twelve;
} date_reading;

/* Reads from 'least' to 'most' digits. */
/* Six digits at most: v stays far below the limit of an int. */
static bool date_number(date_reading *r, int least, int most, int *out)
{
    int n = 0, v = 0;
    for (; n < most && r->at < r->end && (unsigned)(*r->at - '0') <= 9; n++)
        v = 10 * v + (*r->at++ - '0');
    *out = v;
    return n >= least;
}

static bool date_char(date_reading *r, char c)
{
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

/* Digits behind the point; what is below a nanosecond is cut. */
static bool date_fraction(date_reading *r)
{
    int n = 0, v = 0;
    for (; r->at < r->end && (unsigned)(*r->at - '0') <= 9; n++, r->at++)
        if (n < 9) v = 10 * v + (*r->at - '0');
    if (n == 0) return false;
    for (; n < 9; n++) v *= 10;
    r->nano = v;
    return true;
}

/* Z, +hh, +hhmm, +hh:mm. */
static bool date_zone(date_reading *r)
{
    int hours, minutes = 0;
    if (date_char(r, 'Z') || date_char(r, 'z')) {
        r->offset = 0;
        return true;
    }
    bool west = r->at < r->end && *r->at == '-';
    if (!west && (r->at == r->end || *r->at != '+')) return false;
    r->at++;
    if (!date_number(r, 2, 2, &hours)) return false;
    bool colon = date_char(r, ':');
    if ((colon || (r->at < r->end && (unsigned)(*r->at - '0') <= 9))
        && !date_number(r, 2, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    r->offset = (west ? -1 : 1) * (60 * hours + minutes);
    return true;
}

/* The longest of the words, or its first three letters; its number from 1. */
static int date_word(date_reading *r, const char *const *words, int n,
                     bool whole)
{
    for (int k = 0; k < n; k++) {
        size_t m = whole ? strlen(words[k]) : 3;
        if ((size_t)(r->end - r->at) < m
            || !la_same_letters(r->at, words[k], m)) continue;
        r->at += m;
        return k + 1;
    }
    return 0;
}

/* Years of ISO 8601 have four digits, or a sign and up to six. */
static bool date_year(date_reading *r)
{
    int year;
    bool minus = date_char(r, '-');
    if (!date_number(r, 4, 6, &year)) return false;
    r->year = minus ? -year : year;
    return true;
}

/* Directive of strptime's. */
/* Years of two digits are those from 1969 to 2068, POSIX's rule. Names of days
** are read and not compared with the date, as strptime does. */
static bool date_directive(date_reading *r, char c)
{
    int v;
    switch (c) {
    case 'Y':
        if (!date_number(r, 4, 4, &v)) return false;
        r->year = v;
        return true;
    case 'y':
        if (!date_number(r, 2, 2, &v)) return false;
        r->year = v < 69 ? 2000 + v : 1900 + v;
        return true;
    case 'm': return date_number(r, 1, 2, &r->month) && r->month > 0;
    case 'd': return date_number(r, 1, 2, &r->day) && r->day > 0;
    case 'j': return date_number(r, 1, 3, &r->yearday) && r->yearday > 0;
    case 'H': return date_number(r, 1, 2, &r->hour);
    case 'I':
        r->twelve = true;
        return date_number(r, 1, 2, &r->hour) && r->hour >= 1
            && r->hour <= 12;
    case 'M': return date_number(r, 1, 2, &r->minute);
    case 'S': return date_number(r, 1, 2, &r->second);
    case 'f': return date_fraction(r);
    case 'z': return date_zone(r);
    case 'b': return (r->month = date_word(r, date_months, 12, false)) > 0;
    case 'B': return (r->month = date_word(r, date_months, 12, true)) > 0;
    case 'a': return date_word(r, date_days, 7, false) > 0;
    case 'A': return date_word(r, date_days, 7, true) > 0;
    case 'p':
        if (r->end - r->at < 2 || (r->at[1] | 32) != 'm') return false;
        r->half = (*r->at | 32) == 'a' ? 1 : (*r->at | 32) == 'p' ? 2 : 0;
        r->at += 2;
        return r->half > 0;
    case '%': return date_char(r, '%');
    default: return false;
    }
}

/* A blank of the format stands for any number of them, also none; the whole
** text must be used up, so that nothing behind a date is lost silently. */
static bool date_by_format(date_reading *r, const char *format)
{
    for (; *format; format++) {
        if (*format == '%' && format[1]) {
            if (!date_directive(r, *++format)) return false;
        } else if (*format == ' ') {
            while (r->at < r->end && *r->at == ' ') r->at++;
        } else if (!date_char(r, *format)) {
            return false;
        }
    }
    return r->at == r->end;
}

/* Time of day in ISO's form: hh:mm, seconds and an offset if they are there. */
static bool date_iso_time(date_reading *r)
{
    if (!date_number(r, 2, 2, &r->hour)) return false;
    if (date_char(r, ':')) {
        if (!date_number(r, 2, 2, &r->minute)) return false;
        if (date_char(r, ':')) {
            if (!date_number(r, 2, 2, &r->second)) return false;
            if ((date_char(r, '.') || date_char(r, ','))
                && !date_fraction(r)) return false;
        }
    }
    while (r->at < r->end && *r->at == ' ') r->at++;
    return r->at == r->end || (date_zone(r) && r->at == r->end);
}

/* 2024-02-29, 20240229, 2024-02, with T or blanks before a time. */
static bool date_iso(date_reading *r)
{
    bool packed = r->end - r->at >= 8;
    for (int k = 0; packed && k < 8; k++)
        packed = (unsigned)(r->at[k] - '0') <= 9;
    if (packed) {
        int v;
        if (!date_number(r, 4, 4, &v)) return false;
        r->year = v;
        if (!date_number(r, 2, 2, &r->month) || !date_number(r, 2, 2, &r->day))
            return false;
    } else {
        if (!date_year(r) || !date_char(r, '-')
            || !date_number(r, 1, 2, &r->month)) return false;
        r->day = 1;
        if (r->at == r->end) return true;
        if (!date_char(r, '-') || !date_number(r, 1, 2, &r->day)) return false;
    }
    if (r->at == r->end) return r->month > 0 && r->day > 0;
    if (!date_char(r, 'T') && !date_char(r, 't') && !date_char(r, ' '))
        return false;
    while (r->at < r->end && *r->at == ' ') r->at++;
    return date_iso_time(r);
}

/* Day of what was read; false for days that are none. */
/* A date that exists comes back from the calendar unchanged; the 30th of
** February does not. */
static bool date_day(const date_reading *r, int64_t *out)
{
    int64_t year;
    int month, day;
    if (r->yearday && !r->month) {
        *out = la_table_days(r->year, 1, 1) + r->yearday - 1;
        la_table_civil(*out, &year, &month, &day);
        return year == r->year;
    }
    int m = r->month ? r->month : 1, d = r->day ? r->day : 1;
    if (m < 1 || m > 12 || d < 1) return false;
    *out = la_table_days(r->year, m, d);
    la_table_civil(*out, &year, &month, &day);
    return month == m && day == d;
}

/* 1900 is the year of formats without one, as strptime has it. Twelve o'clock
** AM is hour 0, hence the remainder by 12. */
bool la_table_parse(const char *text, size_t n, const char *format,
                    int offset, la_table_instant *out)
{
    date_reading r = {.at = text, .end = text + n, .year = 1900,
                      .offset = offset};
    while (r.at < r.end && (*r.at == ' ' || *r.at == '\t')) r.at++;
    while (r.end > r.at && (r.end[-1] == ' ' || r.end[-1] == '\t')) r.end--;
    if (r.at == r.end || !(format ? date_by_format(&r, format) : date_iso(&r)))
        return false;
    if (r.twelve && r.half) r.hour = r.hour % 12 + (r.half == 2 ? 12 : 0);
    if (r.hour > 23 || r.minute > 59 || r.second > 59
        || !date_day(&r, &out->day)) return false;
    la_table_instant local = {out->day, 3600 * r.hour + 60 * r.minute
                              + r.second, r.nano};
    return la_table_add(local, LA_TABLE_MINUTE, -r.offset, out);
}

/* ---- writing ---- */

typedef struct date_writing { char *at, *end; bool full; } date_writing;

/* A writer that is full keeps what it has and refuses the rest; the caller
** asks once, at the end. */
static void date_put(date_writing *w, const char *text, size_t n)
{
    if ((size_t)(w->end - w->at) < n) {
        w->full = true;
        return;
    }
    memcpy(w->at, text, n);
    w->at += n;
}

/* v >= 0 with at least so many digits. */
static void date_put_number(date_writing *w, int64_t v, int digits)
{
    char text[24];
    int n = 0;
    do text[sizeof text - (size_t)++n] = (char)('0' + v % 10);
    while ((v /= 10) > 0 || n < digits);
    date_put(w, text + sizeof text - n, (size_t)n);
}

static void date_put_year(date_writing *w, int64_t year)
{
    if (year < 0) date_put(w, "-", 1);
    date_put_number(w, year < 0 ? -year : year, 4);
}

static void date_put_zone(date_writing *w, int offset, bool colon)
{
    int most = offset < 0 ? -offset : offset;
    date_put(w, offset < 0 ? "-" : "+", 1);
    date_put_number(w, most / 60, 2);
    if (colon) date_put(w, ":", 1);
    date_put_number(w, most % 60, 2);
}

/* ISO's form with a space, and the offset where it is not UTC. */
static void date_put_iso(date_writing *w, la_table_instant t,
                         la_table_unit unit, int offset)
{
    int64_t year;
    int month, day, decimals = la_table_decimals(unit);
    la_table_civil(t.day, &year, &month, &day);
    date_put_year(w, year);
    date_put(w, "-", 1);
    date_put_number(w, month, 2);
    date_put(w, "-", 1);
    date_put_number(w, day, 2);
    if (unit == LA_TABLE_DAY) return;
    date_put(w, " ", 1);
    date_put_number(w, t.second / 3600, 2);
    date_put(w, ":", 1);
    date_put_number(w, t.second / 60 % 60, 2);
    date_put(w, ":", 1);
    date_put_number(w, t.second % 60, 2);
    int nano = t.nano;
    for (int k = decimals; k < 9; k++) nano /= 10;
    if (decimals) date_put(w, ".", 1);
    if (decimals) date_put_number(w, nano, decimals);
    if (offset) date_put_zone(w, offset, true);
}

static void date_put_words(date_writing *w, const char *word, bool whole)
{
    date_put(w, word, whole ? strlen(word) : 3);
}

/* Directive of strftime's; false for others. */
static bool date_write(date_writing *w, la_table_instant t, int offset, char c)
{
    int64_t year, weekday = la_table_field_of(t, LA_TABLE_F_WEEKDAY);
    int month, day, hour = t.second / 3600;
    la_table_civil(t.day, &year, &month, &day);
    switch (c) {
    case 'Y': date_put_year(w, year); return true;
    case 'y': date_put_number(w, (year % 100 + 100) % 100, 2); return true;
    case 'm': date_put_number(w, month, 2); return true;
    case 'd': date_put_number(w, day, 2); return true;
    case 'j':
        date_put_number(w, la_table_field_of(t, LA_TABLE_F_YEARDAY), 3);
        return true;
    case 'H': date_put_number(w, hour, 2); return true;
    case 'I': date_put_number(w, (hour + 11) % 12 + 1, 2); return true;
    case 'p': date_put(w, hour < 12 ? "AM" : "PM", 2); return true;
    case 'M': date_put_number(w, t.second / 60 % 60, 2); return true;
    case 'S': date_put_number(w, t.second % 60, 2); return true;
    case 'f': date_put_number(w, t.nano / 1000, 6); return true;
    case 'z': date_put_zone(w, offset, false); return true;
    case 'b': date_put_words(w, date_months[month - 1], false); return true;
    case 'B': date_put_words(w, date_months[month - 1], true); return true;
    case 'a': date_put_words(w, date_days[weekday - 1], false); return true;
    case 'A': date_put_words(w, date_days[weekday - 1], true); return true;
    case '%': date_put(w, "%", 1); return true;
    default: return false;
    }
}

/* Every directive is checked before it is used: a misspelt format is an error
** of the call, never text in a column. */
int la_table_format(la_table_instant t, la_table_unit unit, int offset,
                    const char *format, char *out, int most)
{
    date_writing w = {out, out + most, false};
    if (!format) date_put_iso(&w, t, unit, offset);
    for (; format && *format; format++) {
        if (*format != '%') date_put(&w, format, 1);
        else if (!format[1] || !date_write(&w, t, offset, *++format)) return -1;
    }
    return w.full ? -1 : (int)(w.at - out);
}

/*
** The calendar: days since 1970 of the Gregorian calendar, carried on before
** its beginning, in UTC without leap seconds. (The way between days and dates
** by eras of 400 years is Howard Hinnant's, "chrono-compatible low-level date
** algorithms".)
*/
#include "modules/frame/frame.h"

#include "base/size.h"

const char *const la_table_unit_names[LA_TABLE_UNITS] = {
    "day", "second", "millisecond", "microsecond", "nanosecond", "hour",
    "minute", "week", "month", "quarter", "year"};

/* Days of the 400 years after which the Gregorian calendar repeats, seconds of
** a day. */
enum { DATES_ERA = 146097, DATES_DAY = 86400 };

/* a / b and what is left, rounded down. */
static int64_t dates_div(int64_t a, int64_t b, int64_t *left)
{
    int64_t q = a / b, r = a % b;
    if (r < 0) {
        q--;
        r += b;
    }
    *left = r;
    return q;
}

/* Years begin with March, so that the leap day is the last of a year, and
** lengths of months follow (153 m + 2) / 5. 719468 are the days from
** 0000-03-01 to 1970-01-01. */
int64_t la_table_days(int64_t year, int64_t month, int64_t day)
{
    int64_t in_era;
    year -= month <= 2;
    int64_t era = dates_div(year, 400, &in_era);
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        + day - 1;
    int64_t of_era = in_era * 365 + in_era / 4 - in_era / 100 + of_year;
    return era * DATES_ERA + of_era - 719468;
}

/* Inverse of la_table_days: the terms of y take out the leap days of 4, 100
** and 400 years before the division by 365. */
void la_table_civil(int64_t days, int64_t *year, int *month, int *day)
{
    int64_t n;
    int64_t era = dates_div(days + 719468, DATES_ERA, &n);
    int64_t y = (n - n / 1460 + n / 36524 - n / 146096) / 365;
    int64_t of_year = n - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = y + era * 400 + (*month <= 2);
}

/* ---- stored values ---- */

/* Units to a second; 0 for day. */
static int64_t units_per_second(la_table_unit unit)
{
    switch (unit) {
    case LA_TABLE_SECOND: return 1;
    case LA_TABLE_MILLI: return 1000;
    case LA_TABLE_MICRO: return 1000000;
    case LA_TABLE_NANO: return 1000000000;
    default: return 0;
    }
}

int la_table_decimals(la_table_unit unit)
{
    return unit == LA_TABLE_MILLI ? 3 : unit == LA_TABLE_MICRO ? 6
        : unit == LA_TABLE_NANO ? 9 : 0;
}

/* Day, second and nanosecond instead of one number: every stored unit fits,
** from days of 64 bits to nanoseconds, and fields need no second division. */
la_table_instant la_table_split(int64_t v, la_table_unit unit, int offset)
{
    const int64_t most = INT64_MAX - (1 << 24);
    int64_t per = units_per_second(unit), part = 0, second = 0;
    if (!per) {                 /* the calendar adds some days to them */
        v = v > most ? most : v < -most ? -most : v;
        return (la_table_instant){v, 0, 0};
    }
    int64_t seconds = dates_div(v, per, &part);
    int64_t day = dates_div(seconds, DATES_DAY, &second);
    day += dates_div(second + 60 * offset, DATES_DAY, &second);
    return (la_table_instant){day, (int32_t)second,
                              (int32_t)(part * (1000000000 / per))};
}

/* False rather than a wrapped date. LA_TABLE_DATE_GAP is refused too: an
** instant never becomes a gap. */
bool la_table_join_instant(la_table_instant t, la_table_unit unit, int offset,
                           int64_t *out)
{
    int64_t per = units_per_second(unit), seconds;
    if (!per) {
        *out = t.day;
        return true;
    }
    int64_t parts = t.nano / (1000000000 / per);
    /* Towards zero from below, so that the least values do not overflow. */
    bool below = t.day < 0;
    int64_t day = t.day + below;
    int64_t second = t.second - 60 * offset - (below ? DATES_DAY : 0);
    return !__builtin_mul_overflow(day, DATES_DAY, &seconds)
        && la_add_ok(seconds, second, &seconds)
        && !__builtin_mul_overflow(seconds + (seconds < 0), per, out)
        && la_add_ok(*out, seconds < 0 ? parts - per : parts, out)
        && *out != LA_TABLE_DATE_GAP;
}

/* ---- fields ---- */

static int64_t dates_weekday(int64_t day)
{
    int64_t n;
    dates_div(day + 3, 7, &n);      /* 1970-01-01 was a Thursday */
    return n + 1;
}

/* The week of ISO 8601: that of the year in which its Thursday lies. */
static int64_t dates_week(int64_t day)
{
    int64_t year;
    int month, of_month;
    int64_t thursday = day - dates_weekday(day) + 4;
    la_table_civil(thursday, &year, &month, &of_month);
    return (thursday - la_table_days(year, 1, 1)) / 7 + 1;
}

/* Fields of the clock need no calendar and are answered first, as series of
** instants ask for them most. */
int64_t la_table_field_of(la_table_instant t, la_table_field field)
{
    int64_t year;
    int month, day;
    switch (field) {
    case LA_TABLE_F_HOUR: return t.second / 3600;
    case LA_TABLE_F_MINUTE: return t.second / 60 % 60;
    case LA_TABLE_F_SECOND: return t.second % 60;
    case LA_TABLE_F_WEEKDAY: return dates_weekday(t.day);
    case LA_TABLE_F_WEEK: return dates_week(t.day);
    default: break;
    }
    la_table_civil(t.day, &year, &month, &day);
    switch (field) {
    case LA_TABLE_F_YEAR: return year;
    case LA_TABLE_F_MONTH: return month;
    case LA_TABLE_F_DAY: return day;
    case LA_TABLE_F_YEARDAY: return t.day - la_table_days(year, 1, 1) + 1;
    default: return (month + 2) / 3;
    }
}

/* ---- steps ---- */

static int64_t dates_month_days(int64_t year, int64_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30,
                                  31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Months since year 0. */
static int64_t dates_months(int64_t days, int *day)
{
    int64_t year;
    int month;
    la_table_civil(days, &year, &month, day);
    return 12 * year + month - 1;
}

/* The day of a month, its last one for days that it has not. */
static int64_t dates_of_month(int64_t months, int64_t day)
{
    int64_t month, year = dates_div(months, 12, &month);
    int64_t most = dates_month_days(year, month + 1);
    return la_table_days(year, month + 1, day < most ? day : most);
}

static int dates_in_months(la_table_unit unit)
{
    return unit == LA_TABLE_MONTH ? 1 : unit == LA_TABLE_QUARTER ? 3
        : unit == LA_TABLE_YEAR ? 12 : 0;
}

/* Nanoseconds of a unit of a fixed length below a day, else 0. */
static int64_t dates_nanoseconds(la_table_unit unit)
{
    int64_t per = units_per_second(unit);
    if (per) return 1000000000 / per;
    return unit == LA_TABLE_HOUR ? INT64_C(3600000000000)
        : unit == LA_TABLE_MINUTE ? INT64_C(60000000000) : 0;
}

/* Steps of months count from January 1970. */
static la_table_instant dates_floor_months(la_table_instant t, int64_t step)
{
    int day;
    int64_t left, months = dates_months(t.day, &day) - 12 * 1970;
    dates_div(months, step, &left);
    return (la_table_instant){dates_of_month(months - left + 12 * 1970, 1), 0,
                              0};
}

/* Steps of days and below count from the first instant of 1970, weeks from a
** Monday. */
bool la_table_floor(la_table_instant t, la_table_unit unit, int64_t n,
                    la_table_instant *out)
{
    int64_t left, step, nano = dates_nanoseconds(unit);
    int months = dates_in_months(unit);
    if (n < 1) return false;
    if (months) {
        if (!la_mul_ok(n, months, &step) || step > 12 * 1000000) return false;
        *out = dates_floor_months(t, step);
        return true;
    }
    if (!nano) {
        int64_t from = unit == LA_TABLE_WEEK ? -3 : 0;
        if (!la_mul_ok(n, unit == LA_TABLE_WEEK ? 7 : 1, &step)) return false;
        dates_div(t.day - from, step, &left);
        *out = (la_table_instant){0, 0, 0};
        return la_add_ok(t.day, -left, &out->day);
    }
    if (!la_mul_ok(n, nano, &step)) return false;
    /* Instants reach beyond the nanoseconds of 64 bits. */
    __int128 all = ((__int128)t.day * DATES_DAY + t.second) * 1000000000
        + t.nano;
    __int128 rest = all % step;
    all -= rest < 0 ? rest + step : rest;
    const __int128 whole = (__int128)DATES_DAY * 1000000000;
    __int128 of_day = all % whole;
    if (of_day < 0) of_day += whole;
    out->day = (int64_t)((all - of_day) / whole);
    out->second = (int32_t)(of_day / 1000000000);
    out->nano = (int32_t)(of_day % 1000000000);
    return true;
}

/* The limit of 2^40 days and months keeps the products of the calendar within
** 64 bits. */
bool la_table_add(la_table_instant t, la_table_unit unit, int64_t n,
                  la_table_instant *out)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t nano = dates_nanoseconds(unit);
    int months = dates_in_months(unit), day;
    *out = t;
    if (months) {
        if (n > most || n < -most || t.day > most || t.day < -most)
            return false;
        int64_t of = dates_months(t.day, &day) + n * months;
        out->day = dates_of_month(of, day);
        return true;
    }
    if (!nano) {
        int64_t days;
        return !__builtin_mul_overflow(n, unit == LA_TABLE_WEEK ? 7 : 1, &days)
            && la_add_ok(t.day, days, &out->day);
    }
    const __int128 whole = (__int128)DATES_DAY * 1000000000;
    __int128 of_day = (__int128)t.second * 1000000000 + t.nano
        + (__int128)n * nano;
    __int128 days = of_day / whole, left = of_day % whole;
    if (left < 0) {
        left += whole;
        days--;
    }
    out->second = (int32_t)(left / 1000000000);
    out->nano = (int32_t)(left % 1000000000);
    return la_add_ok(t.day, (int64_t)days, &out->day);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "http/date.h"

#include "kit/pure/number.h"

#include <stdbool.h>

enum { DAY = 86400 };

static const char day_names[] = "SunMonTueWedThuFriSat";
static const char month_names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

#define YEAR_0_BEGINS (-62167219200LL) /* 0000-01-01 00:00:00 */
#define YEAR_10000_BEGINS 253402300800LL

struct date {
    int year, month, day; /* month 0 to 11, day 1 to 31 */
    int hour, minute, second;
};

/*
 * The calendar is counted in eras of 400 years (146097 days) whose years begin in March, so that
 * the leap day is the last of its year. All years here are 0 to 9999.
 */
static int64_t days_from(const struct date *d)
{
    int year = d->month < 2 ? d->year - 1 : d->year;
    int era = (year + 400) / 400 - 1;
    int of_era = year - era * 400;
    int of_year = (153 * ((d->month + 10) % 12) + 2) / 5 + d->day - 1;

    return (int64_t)era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_from_days(struct date *d, int64_t days)
{
    int64_t shifted = days + 719468 + 146097; /* one era more, to stay positive in year 0 */
    int era = (int)(shifted / 146097) - 1;
    int of_era = (int)(shifted % 146097);
    int year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int of_year = of_era - (365 * year + year / 4 - year / 100);
    int month = (5 * of_year + 2) / 153;

    d->day = of_year - (153 * month + 2) / 5 + 1;
    d->month = (month + 2) % 12;
    d->year = era * 400 + year + (d->month < 2);
}

static char *put_text(char *dst, const char *text, size_t len)
{
    memcpy(dst, text, len);
    return dst + len;
}

void mk_date_format(char dst[MK_DATE_LEN], int64_t t)
{
    struct date d;
    int64_t days;
    int rest;

    if (t < YEAR_0_BEGINS)
        t = YEAR_0_BEGINS;
    if (t >= YEAR_10000_BEGINS)
        t = YEAR_10000_BEGINS - 1;
    days = (t - YEAR_0_BEGINS) / DAY; /* since a Saturday */
    rest = (int)((t - YEAR_0_BEGINS) % DAY);
    date_from_days(&d, days + YEAR_0_BEGINS / DAY);

    dst = put_text(dst, day_names + (days + 6) % 7 * 3, 3);
    dst = put_text(dst, ", ", 2);
    dst = number_padded(dst, 2, (unsigned)d.day);
    *dst++ = ' ';
    dst = put_text(dst, month_names + d.month * 3, 3);
    *dst++ = ' ';
    dst = number_padded(dst, 4, (unsigned)d.year);
    *dst++ = ' ';
    dst = number_padded(dst, 2, (unsigned)(rest / 3600));
    *dst++ = ':';
    dst = number_padded(dst, 2, (unsigned)(rest / 60 % 60));
    *dst++ = ':';
    dst = number_padded(dst, 2, (unsigned)(rest % 60));
    put_text(dst, " GMT", 4);
}

static bool take_digits(struct mk_str *s, size_t count, int *n)
{
    *n = 0;
    if (s->len < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        *n = *n * 10 + s->p[i] - '0';
    }
    *s = (struct mk_str){s->p + count, s->len - count};
    return true;
}

/** Take one of the three-letter names. */
static bool take_name(struct mk_str *s, const char *names, int *index)
{
    if (s->len < 3)
        return false;
    for (int i = 0; names[i * 3]; i++) {
        if (memcmp(s->p, names + i * 3, 3) == 0) {
            *index = i;
            *s = (struct mk_str){s->p + 3, s->len - 3};
            return true;
        }
    }
    return false;
}

/** Take a day name of the rfc850 form, in full. */
static bool take_long_day(struct mk_str *s)
{
    static const char rests[7][8] = {"day", "day", "sday", "nesday", "rsday", "day", "urday"};
    size_t len;
    int day;

    if (!take_name(s, day_names, &day))
        return false;
    len = strlen(rests[day]);
    if (s->len < len || memcmp(s->p, rests[day], len) != 0)
        return false;
    *s = (struct mk_str){s->p + len, s->len - len};
    return true;
}

/** Take a day of the asctime form, where a blank may stand for the leading zero. */
static bool take_padded_day(struct mk_str *s, int *day)
{
    if (s->len > 0 && s->p[0] == ' ') {
        *s = (struct mk_str){s->p + 1, s->len - 1};
        return take_digits(s, 1, day);
    }
    return take_digits(s, 2, day);
}

/**
 * Read s by a pattern: w W short and long day name, d e two-digit and padded day, m month name,
 * y Y year of two and four digits, h i s the time; anything else stands for itself.
 */
static bool match(struct mk_str s, const char *pattern, struct date *d)
{
    int ignored;

    for (; *pattern; pattern++) {
        bool ok;

        switch (*pattern) {
        case 'w':
            ok = take_name(&s, day_names, &ignored);
            break;
        case 'W':
            ok = take_long_day(&s);
            break;
        case 'd':
            ok = take_digits(&s, 2, &d->day);
            break;
        case 'e':
            ok = take_padded_day(&s, &d->day);
            break;
        case 'm':
            ok = take_name(&s, month_names, &d->month);
            break;
        case 'y':
            ok = take_digits(&s, 2, &d->year);
            break;
        case 'Y':
            ok = take_digits(&s, 4, &d->year);
            break;
        case 'h':
            ok = take_digits(&s, 2, &d->hour);
            break;
        case 'i':
            ok = take_digits(&s, 2, &d->minute);
            break;
        case 's':
            ok = take_digits(&s, 2, &d->second);
            break;
        default:
            ok = s.len > 0 && s.p[0] == *pattern;
            s.p += ok;
            s.len -= ok;
        }
        if (!ok)
            return false;
    }
    return s.len == 0;
}

static int days_in_month(const struct date *d)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = d->year % 4 == 0 && (d->year % 100 != 0 || d->year % 400 == 0);

    return days[d->month] + (d->month == 1 && leap);
}

/** RFC 9110 section 5.6.7: more than 50 years ahead means the most recent such year in the past. */
static int full_year(int two_digits, int64_t now)
{
    struct date present;
    int year;

    if (now < YEAR_0_BEGINS || now >= YEAR_10000_BEGINS)
        now = 0;
    date_from_days(&present, (now - YEAR_0_BEGINS) / DAY + YEAR_0_BEGINS / DAY);
    year = present.year / 100 * 100 + two_digits;
    if (year > present.year + 50)
        year -= 100;
    return year < 0 ? year + 100 : year;
}

int mk_date_parse(struct mk_str s, int64_t now, int64_t *t)
{
    struct date d = {0};

    if (match(s, "W, d-m-y h:i:s GMT", &d))
        d.year = full_year(d.year, now);
    else if (!match(s, "w, d m Y h:i:s GMT", &d) && !match(s, "w m e h:i:s Y", &d))
        return MK_E_BAD;
    /* second 60 is a leap second: the first of the next minute */
    if (d.day < 1 || d.day > days_in_month(&d) || d.hour > 23 || d.minute > 59 || d.second > 60)
        return MK_E_BAD;
    *t = days_from(&d) * DAY + d.hour * 3600 + d.minute * 60 + d.second;
    return 0;
}

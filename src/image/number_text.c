/* Values as texts: see gcdumpc/unstable/image_numbers.h. */
#include <gcdumpc/unstable/image_numbers.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND UINT64_C(10000000)
#define SECONDS_PER_DAY  UINT64_C(86400)
#define TICKS_PER_DAY    (SECONDS_PER_DAY * TICKS_PER_SECOND)
#define DAYS_MAX         UINT64_C(3652059) /* 9999-12-31 is the one before */
#define TICKS_MASK       UINT64_C(0x3fffffffffffffff)
#define SCALE_MAX        28u /* of a decimal */

/* ---- dates ---- */

/* DAY since 0001-01-01, which must be below DAYS_MAX. */
static void put_day(uint64_t day, char *buf)
{
    /* years from March on, so that the day of a leap year is the last one */
    uint64_t n = day + 306, era = n / 146097, of_era = n % 146097,
             year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365,
             of_year = of_era - (365 * year + year / 4 - year / 100),
             month = (5 * of_year + 2) / 153;
    unsigned d = (unsigned)(of_year - (153 * month + 2) / 5 + 1),
             m = (unsigned)(month < 10 ? month + 3 : month - 9),
             y = (unsigned)(year + era * 400 + (m <= 2));
    (void)snprintf(buf, GCD_NUMBER_BYTES, "%04u-%02u-%02u", y, m, d);
}

/* Appends TICKS of less than a day, with a fraction only if it has one. */
static void put_time(uint64_t ticks, char *buf)
{
    size_t n = strlen(buf);
    uint64_t s = ticks / TICKS_PER_SECOND, fraction = ticks % TICKS_PER_SECOND;
    (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, "%02u:%02u:%02u", (unsigned)(s / 3600),
                   (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    if (fraction == 0)
        return;
    n = strlen(buf);
    (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, ".%07u", (unsigned)fraction);
    for (n = strlen(buf); buf[n - 1] == '0'; n--)
        buf[n - 1] = '\0';
}

static void put_instant(uint64_t ticks, const char *suffix, char *buf)
{
    put_day(ticks / TICKS_PER_DAY, buf);
    size_t n = strlen(buf);
    (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, " ");
    put_time(ticks % TICKS_PER_DAY, buf);
    n = strlen(buf);
    (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, "%s", suffix);
}

/* False: no program makes such a one. */
static bool put_date_time(uint64_t bits, char *buf)
{
    static const char *const suffixes[] = { "", "Z", " local", " local" };
    uint64_t ticks = bits & TICKS_MASK;
    if (ticks / TICKS_PER_DAY >= DAYS_MAX)
        return false;
    put_instant(ticks, suffixes[bits >> 62], buf);
    return true;
}

static bool put_date_time_offset(const struct gcd_number *x, char *buf)
{
    char suffix[16];
    int64_t minutes = (int64_t)x->high;
    if (minutes < -14 * 60 || minutes > 14 * 60)
        return false;
    unsigned m = (unsigned)(minutes < 0 ? -minutes : minutes);
    uint64_t ticks = (x->bits & TICKS_MASK) + (uint64_t)(minutes * 60) * TICKS_PER_SECOND;
    if (ticks / TICKS_PER_DAY >= DAYS_MAX) /* also below the year 1 */
        return false;
    (void)snprintf(suffix, sizeof suffix, "%c%02u:%02u", minutes < 0 ? '-' : '+', m / 60, m % 60);
    put_instant(ticks, suffix, buf);
    return true;
}

static void put_time_span(uint64_t bits, char *buf)
{
    bool negative = (int64_t)bits < 0;
    uint64_t ticks = negative ? 0 - bits : bits, days = ticks / TICKS_PER_DAY;
    (void)snprintf(buf, GCD_NUMBER_BYTES, negative ? "-" : "");
    size_t n = strlen(buf);
    if (days > 0)
        (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, "%" PRIu64 ".", days);
    put_time(ticks % TICKS_PER_DAY, buf);
}

/* ---- others ---- */

static void put_guid(const struct gcd_number *x, char *buf)
{
    (void)snprintf(buf, GCD_NUMBER_BYTES, "%08x-%04x-%04x-", (unsigned)(x->bits & 0xffffffff),
                   (unsigned)(x->bits >> 32 & 0xffff), (unsigned)(x->bits >> 48));
    for (unsigned i = 0; i < 8; i++) {
        size_t n = strlen(buf);
        (void)snprintf(buf + n, GCD_NUMBER_BYTES - n, i == 2 ? "-%02x" : "%02x",
                       (unsigned)(x->high >> 8 * i & 0xff));
    }
}

/* Divides PARTS[N], the highest first, by 10; returns the rest. */
static unsigned take_digit(uint32_t *parts, unsigned n)
{
    uint64_t rest = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t part = rest << 32 | parts[i];
        parts[i] = (uint32_t)(part / 10);
        rest = part % 10;
    }
    return (unsigned)rest;
}

static void put_reversed(const char *reversed, unsigned n, char *buf)
{
    for (unsigned i = 0; i < n; i++)
        buf[i] = reversed[n - 1 - i];
    buf[n] = '\0';
}

/* With all digits behind the point, as the program would print it; false: no decimal. */
static bool put_decimal(const struct gcd_number *x, char *buf)
{
    uint32_t parts[3] = { (uint32_t)x->high, (uint32_t)(x->bits >> 32), (uint32_t)x->bits };
    unsigned scale = (unsigned)(x->high >> 48 & 0xff), digits = 0;
    char reversed[GCD_NUMBER_BYTES];
    if (scale > SCALE_MAX || (x->high >> 32 & UINT32_C(0x7f00ffff)) != 0)
        return false;
    do { /* at most 30 times: 2^96 has 29 digits */
        reversed[digits++] = (char)('0' + take_digit(parts, 3));
        if (digits == scale)
            reversed[digits++] = '.';
    } while ((parts[0] | parts[1] | parts[2]) != 0 || digits <= scale + (scale > 0));
    if (x->high >> 63 != 0)
        reversed[digits++] = '-';
    put_reversed(reversed, digits, buf);
    return true;
}

static void put_128(const struct gcd_number *x, char *buf)
{
    bool negative = x->kind == GCD_NUMBER_INT128 && x->high >> 63 != 0;
    uint64_t low = negative ? 0 - x->bits : x->bits,
             high = negative ? ~x->high + (x->bits == 0) : x->high;
    uint32_t parts[4] = { (uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32),
                          (uint32_t)low };
    char reversed[GCD_NUMBER_BYTES];
    unsigned digits = 0;
    do /* at most 39 times */
        reversed[digits++] = (char)('0' + take_digit(parts, 4));
    while ((parts[0] | parts[1] | parts[2] | parts[3]) != 0);
    if (negative)
        reversed[digits++] = '-';
    put_reversed(reversed, digits, buf);
}

/* ---- numbers with a fraction ---- */

/* The digits that tell all numbers of BYTES apart; so many may also be before the point of one that
 * is written without an exponent, as .NET 10 does. */
static unsigned real_digits(uint64_t bytes)
{
    return bytes == 4 ? 9 : bytes == 2 ? 5 : 17;
}

/* 2 ^ EXPONENT. */
static double power_of_two(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Is TEXT, near D, nearer to the half-precision number D than to its neighbours? */
static bool is_half(double d, uint64_t bits, const char *text)
{
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    int least = (exponent < -14 ? -14 : exponent) - 10; /* of the last bit */
    double step = power_of_two(least - 1), v = strtod(text, NULL);
    bool outwards = d < 0 ? v < d : v > d;
    /* below a power of two, they are nearer */
    if (!outwards && (bits & UINT64_C(0xfffffffffffff)) == 0 && exponent > -14)
        step /= 2;
    double off = v < d ? d - v : v - d, last = (d < 0 ? -d : d) / power_of_two(least);
    /* of two that are as near, an even one */
    return off < step || (!(off > step) && (uint64_t)last % 2 == 0);
}

/* Does TEXT read as X, which is D, in the program? */
static bool reads_as(const struct gcd_number *x, double d, const char *text)
{
    double v = x->high == 4 ? (double)strtof(text, NULL) : strtod(text, NULL);
    return x->high == 2 ? is_half(d, x->bits, text) : !(v < d || v > d);
}

/* Writes N digits, with an exponent or without: SCALE of them are before the point. */
static void put_digits(const char *digits, int n, int scale, bool exponent, char *buf)
{
    int at = (int)strlen(buf), before = exponent ? 1 : scale;
    if (before <= 0)
        at += snprintf(buf + at, GCD_NUMBER_BYTES - (size_t)at, "0.");
    for (int i = before < 0 ? before : 0; i < n || i < before; i++) {
        if (before > 0 && i == before)
            buf[at++] = '.';
        buf[at++] = i < 0 || i >= n ? '0' : digits[i];
    }
    buf[at] = '\0';
    if (exponent)
        (void)snprintf(buf + at, GCD_NUMBER_BYTES - (size_t)at, "E%c%02d", scale > 0 ? '+' : '-',
                       scale > 0 ? scale - 1 : 1 - scale);
}

/* The shortest text that the program reads as the same number. */
static void put_real(const struct gcd_number *x, char *buf)
{
    char text[GCD_NUMBER_BYTES], digits[GCD_NUMBER_BYTES];
    double d;
    memcpy(&d, &x->bits, sizeof d);
    bool negative = x->bits >> 63 != 0, huge = (x->bits >> 52 & 0x7ff) == 0x7ff;
    if (huge && x->bits << 12 != 0) {
        (void)snprintf(buf, GCD_NUMBER_BYTES, "NaN");
        return;
    }
    (void)snprintf(buf, GCD_NUMBER_BYTES, "%s%s", negative ? "-" : "", huge ? "Infinity" : "");
    if (huge)
        return;
    unsigned most = real_digits(x->high);
    for (unsigned n = 1; n <= most; n++) {
        (void)snprintf(text, sizeof text, "%.*e", (int)n - 1, d); /* "-1.25e-05" */
        if (reads_as(x, d, text))
            break;
        /* in the middle of two, the one farther from 0 may be the one: 0.01563 for the half 2^-6 */
        (void)snprintf(text, sizeof text, "%.*e", (int)n - 1, d * (1 + 1e-12));
        if (n < most && reads_as(x, d, text))
            break;
    }
    const char *p = text + negative, *exponent = strchr(text, 'e') + 1;
    unsigned count = 0;
    for (; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[count++] = *p;
    int scale = x->bits << 1 == 0 ? 1 : atoi(exponent) + 1;
    put_digits(digits, (int)count, scale, scale > (int)most || scale < -3, buf);
}

/* False: the bits are no value of the kind. */
static bool put_value(const struct gcd_number *x, char *buf)
{
    switch (x->kind) {
    case GCD_NUMBER_DATE_TIME:
        return put_date_time(x->bits, buf);
    case GCD_NUMBER_DATE_TIME_OFFSET:
        return put_date_time_offset(x, buf);
    case GCD_NUMBER_TIME_SPAN:
        put_time_span(x->bits, buf);
        return true;
    case GCD_NUMBER_DATE:
        if (x->bits >= DAYS_MAX)
            return false;
        put_day(x->bits, buf);
        return true;
    case GCD_NUMBER_TIME:
        if (x->bits >= TICKS_PER_DAY)
            return false;
        put_time(x->bits, buf);
        return true;
    case GCD_NUMBER_GUID:
        put_guid(x, buf);
        return true;
    case GCD_NUMBER_DECIMAL:
        return put_decimal(x, buf);
    case GCD_NUMBER_REAL:
        put_real(x, buf);
        return true;
    case GCD_NUMBER_INT128:
    case GCD_NUMBER_UINT128:
        put_128(x, buf);
        return true;
    default:
        return false;
    }
}

const char *gcd_number_text(const struct gcd_number *x, char buf[GCD_NUMBER_BYTES])
{
    if (x->name != NULL)
        return x->name;
    buf[0] = '\0';
    switch (x->kind) {
    case GCD_NUMBER_BOOL:
        return x->bits != 0 ? "true" : "false";
    case GCD_NUMBER_NULL:
        return "null";
    case GCD_NUMBER_OTHER:
        return "{...}";
    case GCD_NUMBER_CHAR:
        (void)snprintf(buf, GCD_NUMBER_BYTES,
                       x->bits > 0x20 && x->bits < 0x7f ? "'%c'" : "'\\u%04x'", (unsigned)x->bits);
        return buf;
    case GCD_NUMBER_SIGNED:
        (void)snprintf(buf, GCD_NUMBER_BYTES, "%" PRId64, (int64_t)x->bits);
        return buf;
    case GCD_NUMBER_POINTER:
    case GCD_NUMBER_REFERENCE:
        (void)snprintf(buf, GCD_NUMBER_BYTES, x->bits != 0 ? "0x%" PRIx64 : "null", x->bits);
        return buf;
    case GCD_NUMBER_UNSIGNED:
        (void)snprintf(buf, GCD_NUMBER_BYTES, "%" PRIu64, x->bits);
        return buf;
    default:
        if (!put_value(x, buf))
            (void)snprintf(buf, GCD_NUMBER_BYTES, "(invalid: 0x%" PRIx64 ", 0x%" PRIx64 ")",
                           x->bits, x->high);
        return buf;
    }
}

const char *gcd_number_kind_name(const struct gcd_number *x)
{
    static const char *const names[] = {
        [GCD_NUMBER_BOOL] = "bool",
        [GCD_NUMBER_CHAR] = "char",
        [GCD_NUMBER_SIGNED] = "integer",
        [GCD_NUMBER_UNSIGNED] = "integer",
        [GCD_NUMBER_REAL] = "real",
        [GCD_NUMBER_DATE_TIME] = "datetime",
        [GCD_NUMBER_DATE_TIME_OFFSET] = "datetimeoffset",
        [GCD_NUMBER_TIME_SPAN] = "timespan",
        [GCD_NUMBER_DATE] = "date",
        [GCD_NUMBER_TIME] = "time",
        [GCD_NUMBER_GUID] = "guid",
        [GCD_NUMBER_DECIMAL] = "decimal",
        [GCD_NUMBER_INT128] = "integer",
        [GCD_NUMBER_UINT128] = "integer",
        [GCD_NUMBER_POINTER] = "pointer",
        [GCD_NUMBER_NULL] = "null",
        [GCD_NUMBER_REFERENCE] = "object",
        [GCD_NUMBER_OTHER] = "struct",
    };
    if (x->kind == GCD_NUMBER_REFERENCE && x->bits == 0)
        return "null";
    return x->of != 0 ? "enum" : names[x->kind];
}

// SPDX-License-Identifier: Apache-2.0
// The unit is chosen by what the figure would be printed as: 999.6 us is 1.00 ms and not 1000 us.
#include "text/figure.h"

#include <math.h>

#include "base/text.h"

typedef struct scale {
    double size;
    const char *name;
} scale;

static const scale times[] = {{1, "ns"},     {1e3, "us"},    {1e6, "ms"},        {1e9, "s"},
                              {3.6e12, "h"}, {8.64e13, "d"}, {3.1557600e16, "y"}};
static const scale sizes[] = {{1, "B"},     {1e3, "kB"},  {1e6, "MB"}, {1e9, "GB"},
                              {1e12, "TB"}, {1e15, "PB"}, {1e18, "EB"}};
static const scale counts[] = {{1, ""},     {1e3, "k"},  {1e6, "M"}, {1e9, "G"},
                               {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};

enum { SCALES = 7, SECONDS = 3 };
static const double largest_sum_ns = 0x1p64;  // there sums stay (base/sum.h): 584.5 years

static void put_three_digits(double value, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

// What is smallest (a nanosecond, a byte) comes in wholes mostly, which have no decimals.
static void put_smallest(double value, mxp_strbuf *out)
{
    if (value == floor(value)) {
        mxp__strbuf_printf(out, "%.0f", value);
    } else {
        put_three_digits(value, out);
    }
}

// `full` is the place of the scale that goes up to 9999, because nobody knows its next one by
// heart.
static const scale *scale_of(const scale *scales, int full, double value)
{
    int at = 0;
    while (at + 1 < SCALES && value / scales[at].size >= (at == full ? 9999.5 : 999.5)) {
        at++;
    }
    return &scales[at];
}

static void put_sign(double value, bool is_change, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, value < 0 ? "-" : is_change && value > 0 ? "+" : "");
}

static void put_scaled(const scale *scales, const scale *of, double value, mxp_strbuf *out)
{
    if (of == &scales[0]) {
        put_smallest(value, out);
    } else {
        put_three_digits(value / of->size, out);
    }
}

static void put_time_unit(const mxp_screen *screen, const scale *unit, mxp_strbuf *out)
{
    const bool is_micro = unit == &times[MXP_TIME_US - MXP_TIME_NS];
    mxp__strbuf_printf(out, " %s", is_micro && screen->is_utf8 ? "\302\265s" : unit->name);
}

// In a unit that was asked for, where figures below 1 are not turned into another.
static void put_in_unit(const scale *unit, double ns, mxp_strbuf *out)
{
    const double value = ns / unit->size;
    if (unit == &times[0] || value == 0) {
        put_smallest(value, out);
    } else if (value >= 0.9995) {
        put_three_digits(value, out);
    } else {
        mxp__strbuf_printf(out, value < 0.0005 ? "<0.001" : "%.3f", value);
    }
}

static void put_duration(const mxp_screen *screen, double ns, bool is_change, mxp_strbuf *out)
{
    if (!isfinite(ns)) {
        mxp__strbuf_putc(out, '-');
        return;
    }
    if (ns >= largest_sum_ns && !is_change && screen->unit == MXP_TIME_FITTING) {
        mxp__strbuf_puts(out, ">584 y");
        return;
    }
    // What two digits behind the point would show as 0.00 is none, and has no sign.
    const double size_ns = fabs(ns) < 0.005 ? 0 : fabs(ns);
    const scale *unit = screen->unit == MXP_TIME_FITTING ? scale_of(times, SECONDS, size_ns)
                                                         : &times[screen->unit - MXP_TIME_NS];
    put_sign(size_ns == 0 ? 0 : ns, is_change, out);
    if (screen->unit == MXP_TIME_FITTING) {
        put_scaled(times, unit, size_ns, out);
    } else {
        put_in_unit(unit, size_ns, out);
    }
    put_time_unit(screen, unit, out);
}

void mxp__put_duration(const mxp_screen *screen, double ns, mxp_strbuf *out)
{
    put_duration(screen, ns, false, out);
}

void mxp__put_duration_change(const mxp_screen *screen, double ns, mxp_strbuf *out)
{
    put_duration(screen, ns, true, out);
}

static void put_bytes(double bytes, bool is_change, mxp_strbuf *out)
{
    if (!isfinite(bytes)) {
        mxp__strbuf_putc(out, '-');
        return;
    }
    const scale *unit = scale_of(sizes, -1, fabs(bytes));
    put_sign(bytes, is_change, out);
    put_scaled(sizes, unit, fabs(bytes), out);
    mxp__strbuf_printf(out, " %s", unit->name);
}

void mxp__put_bytes(double bytes, mxp_strbuf *out)
{
    put_bytes(bytes, false, out);
}

void mxp__put_bytes_change(double bytes, mxp_strbuf *out)
{
    put_bytes(bytes, true, out);
}

void mxp__put_count(double count, mxp_strbuf *out)
{
    if (!isfinite(count)) {
        mxp__strbuf_putc(out, '-');
        return;
    }
    const scale *unit = scale_of(counts, 0, fabs(count));
    put_sign(count, false, out);
    put_scaled(counts, unit, fabs(count), out);
    mxp__strbuf_puts(out, unit->name);
}

void mxp__put_grouped(uint64_t count, mxp_strbuf *out)
{
    if (count >= 1000) {
        mxp__put_grouped(count / 1000, out);
        mxp__strbuf_printf(out, ",%03u", (unsigned)(count % 1000));
    } else {
        mxp__strbuf_printf(out, "%u", (unsigned)count);
    }
}

static void put_percent(double share, bool is_change, mxp_strbuf *out)
{
    if (!isfinite(share)) {
        mxp__strbuf_putc(out, '-');
        return;
    }
    const double tenths = round(share * 1000);
    put_sign(tenths, is_change, out);
    mxp__strbuf_printf(out, "%.1f%%", fabs(tenths) / 10);
}

void mxp__put_percent(double share, mxp_strbuf *out)
{
    put_percent(share, false, out);
}

void mxp__put_percent_change(double share, mxp_strbuf *out)
{
    put_percent(share, true, out);
}

void mxp__put_tenths(uint64_t tenths, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "%llu.%u%%", (unsigned long long)(tenths / 10),
                       (unsigned)(tenths % 10));
}

void mxp__put_exact(double number, mxp_strbuf *out)
{
    if (isfinite(number)) {
        mxp__json_double(out, number);
    } else {
        mxp__strbuf_printf(out, "%g", number);
    }
}

// ---- bars --------------------------------------------------------------------------------------
size_t mxp__put_bar(const mxp_screen *screen, double share, size_t columns, mxp_strbuf *out)
{
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    const double of_all = share > 0 ? (share < 1 ? share : 1) * (double)columns : 0;
    const size_t steps = screen->is_utf8 ? 8 : 1;
    size_t length = (size_t)(of_all * (double)steps + 0.5);
    if (length == 0 && screen->is_utf8 && of_all > 0) {
        length = 1;
    }
    for (size_t i = 0; i < length / steps; i++) {
        mxp__strbuf_puts(out, screen->is_utf8 ? "\u2588" : "#");
    }
    mxp__strbuf_puts(out, screen->is_utf8 ? eighths[length % steps] : "");
    return (length + steps - 1) / steps;
}

// SPDX-License-Identifier: Apache-2.0
// oneDNN tells each primitive by a printf on the thread that has just run it. Preloaded, this
// library is asked for that printf, so it knows thread and end of the primitive, and nothing of the
// program's output has to be read from outside: all else is printed as it would be.
#include <mxprof/record.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/atomic.h"
#include "profiler/collect/dnnl/verbose_line.h"

enum { LINE_MAX_BYTES = 4096, WITH_METADATA = 3012 };  // from 3.12 on ITT tasks have the problem

static bool is_off;  // a program with more rights than its user
static bool keeps_lines;  // MXPROF_DNNL=keep: the user wants to see them, too
static bool has_itt;  // our collector takes its ITT tasks
static uint64_t first_ticks, first_ns;
static __thread bool is_within;  // a line that was taken, which has not ended
static mxp_atomic_u32 late_version;  // of lines of 3.6 and later

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

__attribute__((constructor)) static void begin(void)
{
    is_off = getauxval(AT_SECURE) != 0;
    const char *lines = is_off ? NULL : getenv("MXPROF_DNNL");
    const char *itt = is_off ? NULL : getenv("INTEL_LIBITTNOTIFY64");
    keeps_lines = lines != NULL && strcmp(lines, "keep") == 0;
    has_itt = itt != NULL && strstr(itt, "libmxprof_collect.") != NULL;
    first_ticks = mxp_ticks();
    first_ns = now_ns();
}

// ---- records -----------------------------------------------------------------------------------
static uint64_t ticks_of(double ms, uint64_t now_ticks)
{
    const uint64_t ns = now_ns() - first_ns;
    const double rate = ns > 0 ? (double)(now_ticks - first_ticks) / (double)ns : 1;
    return (uint64_t)(ms * 1e6 * rate);
}

// oneDNN reads a clock of microseconds, so its time may be one too long, and what it has just run
// would begin before what is around it. Its end is put so much later, for which we wait.
static uint64_t end_of(uint64_t came_ticks)
{
    const uint64_t most = came_ticks + ticks_of(0.001, came_ticks);
    uint64_t now = mxp_ticks();
    while (now < most) {
        now = mxp_ticks();
    }
    return now;
}

static void record(const mxp_verbose_line *line)
{
    const uint64_t came = mxp_ticks();
    const uint64_t duration = ticks_of(line->ms, came);
    const char *category = line->kind == MXP__VERBOSE_EXEC ? "oneDNN" : "oneDNN create";
    const mxp_name name = mxp_intern_in(mxp_string(category), line->primitive,
                                        line->primitive_length, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    const mxp_arg problem = mxp_text(mxp_string("problem"), line->problem, line->problem_length);
    const uint64_t end = end_of(came);
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){
                                      .name = name,
                                      .begin_ticks = duration < end ? end - duration : 0,
                                      .end_ticks = end,
                                      .arg_count = 1,
                                      .args = &problem,
                                  });
}

// Whether the line was for us, and is not to be printed.
static bool take(const char *text)
{
    mxp_verbose_line line;
    if (is_off || !mxp__verbose_parse(text, &line)) {
        return false;
    }
    if (line.kind == MXP__VERBOSE_INFO && line.is_late && line.version != 0) {
        mxp_atomic_store(&late_version, line.version);
    }
    const bool is_told_by_itt =
        has_itt && line.is_late && mxp_atomic_load(&late_version) >= WITH_METADATA;
    if ((line.kind == MXP__VERBOSE_EXEC || line.kind == MXP__VERBOSE_CREATE) && !is_told_by_itt) {
        record(&line);
    }
    return line.kind != MXP__VERBOSE_OTHER && !keeps_lines;
}

// ---- printf ------------------------------------------------------------------------------------
// Most formats end this at their first character. "%s" and "%s\n" are the forms of later versions.
static bool may_be_line(const char *format, va_list values)
{
    if (format == NULL) {
        return false;
    }
    if (format[0] == '%' && format[1] == 's' && (format[2] == '\0' || format[2] == '\n')) {
        va_list copy;
        va_copy(copy, values);
        const char *text = va_arg(copy, const char *);
        va_end(copy);
        return text != NULL && mxp__verbose_may_begin(text);
    }
    return mxp__verbose_may_begin(format);
}

// What printf answers, or -1: it is to be printed.
static int take_formatted(const char *format, va_list values)
{
    char text[LINE_MAX_BYTES];
    if (!is_within && !may_be_line(format, values)) {
        return -1;
    }
    va_list copy;
    va_copy(copy, values);
    const int length = vsnprintf(text, sizeof text, format, copy);
    va_end(copy);
    if (length <= 0 || length >= LINE_MAX_BYTES || !(is_within || take(text))) {
        is_within = false;
        return -1;
    }
    is_within = text[length - 1] != '\n';
    return length;
}

__attribute__((format(printf, 1, 2))) int printf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int written = take_formatted(format, values);
    if (written < 0) {
        written = vprintf(format, values);
    }
    va_end(values);
    return written;
}

// What printf is in programs compiled with checks. Its own checks are made there, where they are.
int __vprintf_chk(int flag, const char *format, va_list values) __attribute__((weak));
int __printf_chk(int flag, const char *format, ...);

int __printf_chk(int flag, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int written = take_formatted(format, values);
    if (written < 0) {
        written =
            __vprintf_chk != NULL ? __vprintf_chk(flag, format, values) : vprintf(format, values);
    }
    va_end(values);
    return written;
}

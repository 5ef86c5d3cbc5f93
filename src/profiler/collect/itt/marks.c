// SPDX-License-Identifier: Apache-2.0
// See marks.h.
#include "profiler/collect/itt/marks.h"

#include <mxprof/foreign.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/collect/itt/handles.h"
#include "profiler/collect/itt/tasks.h"
#include "profiler/collect/itt/values.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/open_table.h"

// The scopes have the same numbers here and there; a task's and one's own are the thread's.
void mxp__itt_marker(itt_domain *domain, itt_id id, itt_string *name, int scope)
{
    (void)id;
    int own = scope == ITT_SCOPE_GLOBAL    ? MXP_INSTANT_GLOBAL
              : scope == ITT_SCOPE_PROCESS ? MXP_INSTANT_PROCESS
                                           : MXP_INSTANT_THREAD;
    mxp_instant(MXP_CLASS_USER, mxp__itt_name(domain, name, MXP_STYLE_INSTANT), own);
}

// A moment at a time that was handed in is a span of no length.
void mxp__itt_marker_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp, itt_id id,
                        itt_string *name, int scope)
{
    const uint64_t ticks = mxp__itt_ticks(clock, stamp);
    (void)id, (void)scope;
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = mxp__itt_name(domain, name, MXP_STYLE_SPAN),
                                              .begin_ticks = ticks,
                                              .end_ticks = ticks});
}

// ---- metadata ----------------------------------------------------------------------------------
// Arguments of the task with this id, or of the innermost one of the domain. What tells of no task,
// and finds none, is a moment of its own; what names one that is not open is counted.
static void tell_moment(itt_domain *domain, itt_string *key, const mxp_arg *args, uint32_t count)
{
    const uint64_t now = mxp_ticks();
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = mxp__itt_name(domain, key, MXP_STYLE_SPAN),
                                              .begin_ticks = now,
                                              .end_ticks = now,
                                              .arg_count = count,
                                              .args = args});
}

static void tell(itt_domain *domain, itt_id id, itt_string *key, const mxp_arg *args,
                 uint32_t count)
{
    const uint64_t task = mxp__itt_id_value(id);
    mxp_collect_span *span = mxp__collect_innermost(domain, task);
    if (span != NULL) {
        mxp__collect_tell(span, args, count);
    } else if (task == 0) {
        tell_moment(domain, key, args, count);
    } else if (!mxp__collect_tell_async(domain, task, args, count)) {
        mxp_lose_foreign(1);
    }
}

static mxp_name key_name(const itt_string *key)
{
    return mxp_string(key != NULL && key->text != NULL ? key->text : "(null)");
}

static mxp_name part_name(const itt_string *key, const char *part)
{
    char text[256];
    snprintf(text, sizeof text, "%.200s%s", key != NULL && key->text != NULL ? key->text : "",
             part);
    return mxp_string(text);
}

// The first numbers of an array, and how many there are.
static uint32_t array_args(const itt_string *key, int type, size_t count, const void *data,
                           mxp_arg *args)
{
    enum { SHOWN = 8 };
    uint32_t used = 0;
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        char part[32];
        snprintf(part, sizeof part, "[%zu]", i);
        used += mxp__itt_value(data, i, type, part_name(key, part), &args[used]);
    }
    args[used++] = mxp_u64(part_name(key, ".count"), count);
    return used;
}

void mxp__itt_metadata_add(itt_domain *domain, itt_id id, itt_string *key, int type, size_t count,
                           void *data)
{
    mxp_arg args[9];
    if (data == NULL || count == 0) {
        return;
    }
    if (count > 1) {
        tell(domain, id, key, args, array_args(key, type, count, data, args));
    } else if (mxp__itt_value(data, 0, type, key_name(key), &args[0])) {
        tell(domain, id, key, args, 1);
    }
}

void mxp__itt_metadata_str_add(itt_domain *domain, itt_id id, itt_string *key, const char *data,
                               size_t length)
{
    if (data != NULL) {
        const mxp_arg text =
            mxp_text(key_name(key), data, length == (size_t)-1 ? strlen(data) : length);
        tell(domain, id, key, &text, 1);
    }
}

// What is said of more than a task is a moment of its own.
void mxp__itt_metadata_add_with_scope(itt_domain *domain, int scope, itt_string *key, int type,
                                      size_t count, void *data)
{
    const itt_id current = {0, 0, 0};
    mxp_arg arg;
    if (scope == ITT_SCOPE_TASK) {
        mxp__itt_metadata_add(domain, current, key, type, count, data);
    } else if (data != NULL && count != 0 && mxp__itt_value(data, 0, type, key_name(key), &arg)) {
        tell_moment(domain, key, &arg, 1);
    }
}

void mxp__itt_metadata_str_add_with_scope(itt_domain *domain, int scope, itt_string *key,
                                          const char *data, size_t length)
{
    const itt_id current = {0, 0, 0};
    if (scope == ITT_SCOPE_TASK) {
        mxp__itt_metadata_str_add(domain, current, key, data, length);
    } else if (data != NULL) {
        const mxp_arg text =
            mxp_text(key_name(key), data, length == (size_t)-1 ? strlen(data) : length);
        tell_moment(domain, key, &text, 1);
    }
}

// What oneDNN says of a primitive. The format is the program's own, from its handle.
static void tell_formatted(itt_domain *domain, itt_id id, itt_string *format, va_list values)
{
    char text[1024];
    int length = format != NULL && format->text != NULL
                     ? vsnprintf(text, sizeof text, format->text, values)
                     : -1;
    if (length >= 0) {
        const size_t kept = (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
        const mxp_arg arg = mxp_text(mxp_string("problem"), text, kept);
        tell(domain, id, format, &arg, 1);
    }
}

void mxp__itt_formatted_metadata_add(itt_domain *domain, itt_string *format, ...)
{
    va_list values;
    va_start(values, format);
    tell_formatted(domain, (itt_id){0, 0, 0}, format, values);
    va_end(values);
}

void mxp__itt_formatted_metadata_add_overlapped(itt_domain *domain, itt_id id, itt_string *format,
                                                ...)
{
    va_list values;
    va_start(values, format);
    tell_formatted(domain, id, format, values);
    va_end(values);
}

// ---- the thread and the session ----------------------------------------------------------------
void mxp__itt_thread_set_name(const char *name)
{
    mxp_thread_name(name);
}

int mxp__itt_thr_name_set(const char *name, int length)
{
    char text[256];
    const size_t given = length > 0 ? (size_t)length : sizeof text - 1;
    snprintf(text, sizeof text, "%.*s", (int)(given < sizeof text ? given : sizeof text - 1),
             name != NULL ? name : "");
    mxp_thread_name(text);
    return 0;
}

// There is no nesting: the last word counts.
void mxp__itt_pause(void)
{
    mxp_session_pause(mxp_session_get(), 1);
}

void mxp__itt_resume(void)
{
    mxp_session_pause(mxp_session_get(), 0);
}

void mxp__itt_pause_scoped(int scope)
{
    (void)scope;
    mxp__itt_pause();
}

void mxp__itt_resume_scoped(int scope)
{
    (void)scope;
    mxp__itt_resume();
}

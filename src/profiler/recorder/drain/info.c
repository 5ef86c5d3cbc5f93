// SPDX-License-Identifier: Apache-2.0
// The INFO lines of a live source: machine, process, clock and the recorder's own figures.
#include <mxprof/foreign.h>
#include <mxprof/version.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/os/os.h"
#include "base/os/process.h"
#include "base/text.h"
#include "profiler/clock/clock.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/async_table.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/thread_index.h"

void mxp__info_fini(mxp_info_list *list)
{
    for (size_t i = 0; i < list->owned_count; i++) {
        mxp__strfree(list->owned[i]);
    }
    mxp__free(list->owned, list->owned_capacity * sizeof(char *));
    mxp__free(list->pairs, list->capacity * sizeof(mxp_info_pair));
    *list = (mxp_info_list){0};
}

int mxp__info_add(mxp_info_list *list, const char *key, const char *value)
{
    char *copy = mxp__strdup(value);
    if (copy == NULL || mxp__grow(&list->owned, &list->owned_capacity, list->owned_count + 1,
                                  sizeof(char *)) != MXP_OK) {
        mxp__strfree(copy);
        return MXP_ENOMEM;
    }
    list->owned[list->owned_count++] = copy;
    int error = mxp__grow(&list->pairs, &list->capacity, list->count + 1, sizeof(mxp_info_pair));
    if (error == MXP_OK) {
        list->pairs[list->count++] = (mxp_info_pair){key, copy};
    }
    return error;
}

__attribute__((format(printf, 3, 4))) static int addf(mxp_info_list *list, const char *key,
                                                      const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mxp__info_add(list, key, text);
}

static int add_figure(mxp_info_list *list, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.9g", value);
    mxp__figures_plain(text);
    return mxp__info_add(list, key, text);
}

static MXP_ATOMIC(int) command_told = {MXP_COMMAND_ALL};

void mxp__info_command_set(int told)
{
    mxp_atomic_store(&command_told, told);
}

static void read_command(char *buffer, size_t size)
{
    int told = mxp_atomic_load(&command_told);
    buffer[0] = '\0';
    if (told == MXP_COMMAND_ALL) {
        mxp__os_command_line(buffer, size);
    } else if (told == MXP_COMMAND_NAME) {
        mxp__os_program_name(buffer, size);
    }
}

static mxp_atomic_u32 process_name;

void mxp_process_name(const char *name)
{
    mxp_atomic_store(&process_name, mxp_string(name));
}

static int add_host(mxp_info_list *list)
{
    static const struct {
        const char *key;
        void (*read)(char *buffer, size_t size);
    } lines[] = {{"host", mxp__os_host_name},
                 {"system", mxp__os_system_name},
                 {"cpu", mxp__os_cpu_name},
                 {"command", read_command}};
    int error = mxp__info_add(list, "mxprof_version", MXP_VERSION_STRING);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0] && error == MXP_OK; i++) {
        char text[512];
        lines[i].read(text, sizeof text);
        error = mxp__info_add(list, lines[i].key, text);
    }
    if (error == MXP_OK && mxp_atomic_load(&process_name) != MXP_NAME_NONE) {
        error = mxp__info_add(list, "process_name", mxp_name_text(mxp_atomic_load(&process_name)));
    }
    if (error == MXP_OK) {
        error = addf(list, "pid", "%u", mxp__os_process_id());
    }
    return error;
}

// Which category used up the table of names.
static int add_names_full(mxp_info_list *list)
{
    uint32_t names;
    uint32_t category = mxp__name_losses() == 0 ? 0 : mxp__names_largest_category(&names);
    if (mxp__name_losses() == 0 || names == 0) {
        return MXP_OK;
    }
    return addf(list, "names_full", "%u of %u are of category %s", names, mxp__name_count(),
                mxp_name_text(category));
}

// What the file cannot tell of itself.
static int add_limits(mxp_info_list *list)
{
    static const char *const policies[] = {
        [MXP_FULL_GROW] = "grow", [MXP_FULL_DROP] = "drop", [MXP_FULL_RING] = "ring"};
    int error = mxp__info_add(list, "full_policy", policies[mxp__rec.limits.full_policy]);
    if (error == MXP_OK) {
        error = addf(list, "memory_limit_bytes", "%llu",
                     (unsigned long long)mxp__rec.limits.memory_limit_bytes);
    }
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"folded_threads", mxp__index_folded()},
                  {"overwritten_records", mxp__ring_overwritten()},
                  {"left_out_of_statistics", mxp__statistics_left_out()},
                  {"arguments_left_out", mxp_atomic_load(&mxp__rec.arguments_left_out)},
                  {"async_left_out", mxp__async_left_out()}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && error == MXP_OK; i++) {
        if (counts[i].value > 0) {
            error = addf(list, counts[i].key, "%llu", (unsigned long long)counts[i].value);
        }
    }
    return error == MXP_OK ? add_names_full(list) : error;
}

static int add_report(mxp_info_list *list)
{
    mxp_report report;
    mxp__report_fill(&report);
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"records", report.records},
                  {"bytes", report.bytes},
                  {"lost", report.lost},
                  {"names", report.names},
                  {"names_bytes", report.names_bytes},
                  {"threads", report.threads},
                  {"memory_bytes", report.memory_bytes}};
    int error = mxp__info_add(list, "clock", mxp__clock_source_name(report.clock_source));
    const struct {
        const char *key;
        double value;
    } figures[] = {{"ns_per_tick", report.ns_per_tick},
                   {"clock_residual_ns", report.clock_residual_ns},
                   {"record_cost_ns", report.record_cost_ns},
                   {"estimated_overhead_ns", report.estimated_overhead_ns}};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0] && error == MXP_OK; i++) {
        error = add_figure(list, figures[i].key, figures[i].value);
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && error == MXP_OK; i++) {
        error = addf(list, counts[i].key, "%llu", (unsigned long long)counts[i].value);
    }
    return error;
}

static const char *root;

void mxp__info_root_set(const char *mark)
{
    root = mark;
}

bool mxp__ring_is_small(void)
{
    return mxp__ring_crowded() != 0;
}

void mxp__ring_warning(char *text, size_t size)
{
    snprintf(text, size,
             "too small: %u threads found no chunk and keep only the newest 64 or 4 KiB of their "
             "own, if any; give each that records a megabyte",
             mxp__ring_crowded());
}

// What has gone wrong between this process and its sessions; mostly nothing.
static int add_warnings(mxp_info_list *list)
{
    int error = MXP_OK;
    if (mxp__threads_unanswered() != 0) {
        error = addf(list, "unanswered", "%llu", (unsigned long long)mxp__threads_unanswered());
    }
    if (error == MXP_OK && mxp__ring_crowded() != 0) {
        char text[160];
        mxp__ring_warning(text, sizeof text);
        error = mxp__info_add(list, "ring_warning", text);
    }
    if (error == MXP_OK && mxp__barrier_is_refused()) {
        error = mxp__info_add(list, "barrier_warning",
                              "the system refuses membarrier: a stop waits for a millisecond, "
                              "after which a record may "
                              "still come");
    }
    return error;
}

int mxp__info_build(mxp_info_list *list)
{
    int error = add_host(list);
    if (error == MXP_OK && root != NULL) {
        error = mxp__info_add(list, "root", root);
    }
    if (error == MXP_OK) {
        error = add_report(list);
    }
    if (error == MXP_OK) {
        error = add_limits(list);
    }
    if (error == MXP_OK) {
        error = add_warnings(list);
    }
    if (error == MXP_OK && mxp__clock_warning() != NULL) {
        error = mxp__info_add(list, "clock_warning", mxp__clock_warning());
    }
    if (error == MXP_OK) {
        error = mxp__info_add_machine(list);
    }
    return error == MXP_OK ? mxp__info_add_noted(list) : error;
}

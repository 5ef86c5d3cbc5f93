// SPDX-License-Identifier: Apache-2.0
// See merge.h. Only a copy of the clock's segments is shifted. Records are not touched, so that two
// records of a process with equal times keep equal times.
#include "profiler/trace/merge.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/trace/event.h"
#include "profiler/trace/same_records.h"

// One process. It owns `inner` only if it is opened alone.
typedef struct aligned {
    mxp_source source;  // must stay first
    mxp_source *inner;
    mxp_timebase timebase;
} aligned;

typedef struct merged {
    aligned first;  // must stay first; without a clock of its own
    mxp_source **given;
    size_t given_count;
    aligned *processes;
    mxp_source **found;  // while opening as they come, then those of `processes`
    size_t count, kept;
} merged;

static const char memory_for[] = "a trace of several processes";
static const int64_t same_start_ns = 1000000000;

// ---- clocks ------------------------------------------------------------------------------------
static int64_t start_of_machine(const mxp_clock_point *point)
{
    return (int64_t)(point->realtime_ns - point->boottime_ns);
}

// What must be added to a trace time of `own` to make it a trace time of `lead`. `beside`: of whose
// clock it is, whose first point was at the lead's; as a rule the lead itself.
static int64_t shift_between(const mxp_timebase *lead, const mxp_timebase *beside,
                             const mxp_timebase *own)
{
    if (lead->point_count == 0 || beside->point_count == 0 || own->point_count == 0) {
        return 0;
    }
    const mxp_clock_point *from = &beside->points[0], *to = &own->points[0];
    uint64_t apart = (uint64_t)start_of_machine(to) - (uint64_t)start_of_machine(from);
    bool same_machine =
        apart + (uint64_t)same_start_ns <= 2 * (uint64_t)same_start_ns;  // within +-
    uint64_t shift = same_machine ? to->raw_ns - from->raw_ns : to->realtime_ns - from->realtime_ns;
    shift += (uint64_t)mxp__timebase_ns(lead, lead->points[0].ticks);
    shift -= (uint64_t)mxp__timebase_ns(own, to->ticks);
    return (int64_t)shift;
}

// As far as the clock's bounds allow: what lies further apart makes no sense.
static void move_clock(mxp_timebase *timebase, int64_t shift_ns)
{
    if (timebase->segment_count == 0) {
        return;
    }
    int64_t least = -MXP__CLOCK_NS_MAX - timebase->segments[0].ns0;
    int64_t most = MXP__CLOCK_NS_MAX - timebase->segments[timebase->segment_count - 1].ns0;
    shift_ns = shift_ns > most ? most : shift_ns;
    shift_ns = shift_ns < least ? least : shift_ns;
    for (size_t i = 0; i < timebase->segment_count; i++) {
        timebase->segments[i].ns0 += shift_ns;
    }
}

// ---- one process -------------------------------------------------------------------------------
static mxp_source *inner_of(const mxp_source *source)
{
    return ((const aligned *)(const void *)source)->inner;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    return inner_of(source)->name(inner_of(source), id);
}

static void rename_one(mxp_source *source, uint32_t id, const mxp_name_view *name)
{
    inner_of(source)->rename(inner_of(source), id, name);
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    return inner_of(source)->range(inner_of(source), number, range);
}

static int get_range_thread(mxp_source *source, size_t number, uint32_t *thread)
{
    return inner_of(source)->range_thread(inner_of(source), number, thread);
}

// Leaves `close` unset: it depends on the owner. `lead` null: its time stays.
static int align(aligned *process, mxp_source *inner, const mxp_timebase *lead,
                 const mxp_timebase *beside)
{
    process->inner = inner;
    process->source = *inner;
    process->source.name = view_name;
    process->source.range = get_range;
    process->source.range_thread = inner->range_thread != NULL ? get_range_thread : NULL;
    process->source.rename = inner->rename != NULL ? rename_one : NULL;
    process->source.close = NULL;
    process->source.process_count = 0;
    process->source.processes = NULL;
    int error = mxp__timebase_copy(&process->timebase, inner->timebase);
    if (error == MXP_OK) {
        move_clock(&process->timebase,
                   lead != NULL ? shift_between(lead, beside, inner->timebase) : 0);
        process->source.timebase = &process->timebase;
    }
    return error;
}

static void close_aligned(mxp_source *source)
{
    aligned *process = (aligned *)(void *)source;
    mxp__timebase_fini(&process->timebase);
    mxp__source_close(process->inner);
    mxp__free(process, sizeof *process);
}

int mxp__aligned_open(mxp_source *inner, const mxp_timebase *lead, mxp_source **source)
{
    *source = NULL;
    aligned *process = mxp__alloc(sizeof *process);
    if (process == NULL) {
        mxp__source_close(inner);
        return mxp__fail_memory(memory_for);
    }
    int error = align(process, inner, lead, lead);
    if (error != MXP_OK) {
        close_aligned(&process->source);
        return error;
    }
    process->source.close = close_aligned;
    *source = &process->source;
    return MXP_OK;
}

// ---- several -----------------------------------------------------------------------------------
static void close_merged(mxp_source *source)
{
    merged *self = (merged *)(void *)source;
    for (size_t i = 0; self->processes != NULL && i < self->count; i++) {
        mxp__timebase_fini(&self->processes[i].timebase);
    }
    for (size_t i = 0; i < self->given_count; i++) {
        mxp__source_close(self->given[i]);
    }
    mxp__free(self->processes, self->count * sizeof *self->processes);
    mxp__free(self->found, self->count * sizeof *self->found);
    mxp__free(self->given, self->given_count * sizeof *self->given);
    mxp__free(self, sizeof *self);
}

static uint64_t begin_of(const mxp_source *source)
{
    const mxp_timebase *timebase = source->timebase;
    return timebase->point_count > 0 ? timebase->points[0].realtime_ns : UINT64_MAX;
}

static bool is_dated(const mxp_source *source)
{
    return mxp__timebase_is_dated(source->timebase);
}

static uint64_t first_thread_of(const mxp_source *source)
{
    return source->thread_count > 0 ? source->threads[0].start_ticks : UINT64_MAX;
}

// A forked child continues with its parent's clock: the process that recorded first is the parent.
static int compare(const void *a, const void *b)
{
    const mxp_source *x = *(mxp_source *const *)a, *y = *(mxp_source *const *)b;
    if (is_dated(x) != is_dated(y)) {
        return is_dated(x) ? -1 : 1;
    }
    if (begin_of(x) != begin_of(y)) {
        return begin_of(x) < begin_of(y) ? -1 : 1;
    }
    uint64_t first_x = first_thread_of(x), first_y = first_thread_of(y);
    return first_x != first_y ? (first_x < first_y ? -1 : 1)
                              : (x->pid > y->pid) - (x->pid < y->pid);
}

static int collect(merged *self, mxp_source *const *sources, size_t count)
{
    memcpy(self->given, sources, count * sizeof(mxp_source *));
    self->given_count = count;
    self->found = mxp__alloc(self->count * sizeof *self->found);
    self->processes = mxp__alloc(self->count * sizeof *self->processes);
    if (self->found == NULL || self->processes == NULL) {
        return mxp__fail_memory(memory_for);
    }
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        mxp_source *process;
        for (size_t j = 0; (process = mxp__source_process(sources[i], j)) != NULL; j++) {
            self->found[found++] = process;
        }
    }
    return MXP_OK;
}

// A file and its copy are one process. Both begin at the same time, so they are neighbours.
static void drop_repeated(merged *self)
{
    self->kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        mxp_source *process = self->found[i];
        bool repeated = false;
        for (size_t j = self->kept; j-- > 0 && begin_of(self->found[j]) == begin_of(process);) {
            repeated = repeated || (mxp__same_process(self->found[j], process) &&
                                    mxp__same_records(self->found[j], process));
        }
        if (!repeated) {
            self->found[self->kept++] = process;
        }
    }
}

// ---- rows --------------------------------------------------------------------------------------
typedef struct taken_pid {
    uint64_t key;  // pid + 1
} taken_pid;

// Viewers know a process by its number, and those of two containers may have the same: a later one
// gets a number that Linux gives to none.
static int number_rows(merged *self)
{
    mxp_id_map taken = {.entry_bytes = sizeof(taken_pid)};
    uint32_t free_pid = UINT32_C(1) << 22;
    int error = MXP_OK;
    for (size_t i = 0; i < self->kept && error == MXP_OK; i++) {
        mxp_source *process = &self->processes[i].source;
        uint32_t pid = process->pid == 0 ? 1 : process->pid;
        process->row_pid = 0;
        if (mxp__id_map_find(&taken, (uint64_t)pid + 1) != NULL) {
            while (mxp__id_map_find(&taken, (uint64_t)free_pid + 1) != NULL) {
                free_pid++;
            }
            process->row_pid = pid = free_pid;
        }
        error = mxp__id_map_add(&taken, (uint64_t)pid + 1) != NULL ? MXP_OK
                                                                   : mxp__fail_memory(memory_for);
    }
    mxp__id_map_fini(&taken);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int align_each(merged *self, bool is_together)
{
    const mxp_timebase *lead = is_together ? NULL : self->found[0]->timebase, *beside = lead;
    for (size_t i = 0; i < self->kept; i++) {
        mxp_source *process = self->found[i];
        if (!is_together && !is_dated(process) && mxp__timebase_is_dated(beside)) {
            beside = process->timebase;
        }
        int error = align(&self->processes[i], process, lead, beside);
        if (error != MXP_OK) {
            return error;
        }
        self->first.source.undated += process->timebase->point_count > 0 && !is_dated(process);
        self->found[i] = &self->processes[i].source;
    }
    return MXP_OK;
}

static int align_all(merged *self, bool is_together)
{
    self->kept = self->count;
    if (!is_together) {
        qsort(self->found, self->count, sizeof *self->found, compare);
        drop_repeated(self);
    }
    int error = align_each(self, is_together);
    error = error == MXP_OK ? number_rows(self) : error;
    if (error != MXP_OK) {
        return error;
    }
    const size_t undated = self->first.source.undated;
    self->first.source = self->processes[0].source;
    self->first.inner = self->processes[0].inner;
    self->first.source.undated = undated;
    self->first.source.process_count = self->kept;
    self->first.source.repeated = self->count - self->kept;
    for (size_t i = 0; i < self->given_count; i++) {
        self->first.source.repeated += self->given[i]->repeated;
    }
    self->first.source.processes = self->found;
    self->first.source.close = close_merged;
    return MXP_OK;
}

static void close_all(mxp_source *const *sources, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxp__source_close(sources[i]);
    }
}

static int open_all(mxp_source *const *sources, size_t count, bool is_together, mxp_source **source)
{
    *source = NULL;
    merged *self = mxp__alloc(sizeof *self);
    mxp_source **given = mxp__alloc(count * sizeof(mxp_source *));
    if (self == NULL || given == NULL) {
        mxp__free(given, count * sizeof(mxp_source *));
        mxp__free(self, sizeof *self);
        close_all(sources, count);
        return mxp__fail_memory(memory_for);
    }
    self->given = given;
    for (size_t i = 0; i < count; i++) {
        self->count += sources[i]->process_count > 0 ? sources[i]->process_count : 1;
    }
    int error = collect(self, sources, count);
    if (error == MXP_OK) {
        error = align_all(self, is_together);
    }
    if (error != MXP_OK) {
        close_merged(&self->first.source);
        return error;
    }
    *source = &self->first.source;
    return MXP_OK;
}

int mxp__merge_open(mxp_source *const *sources, size_t count, mxp_source **source)
{
    return open_all(sources, count, false, source);
}

int mxp__together_open(mxp_source *const *sources, size_t count, mxp_source **source)
{
    return open_all(sources, count, true, source);
}

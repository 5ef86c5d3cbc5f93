// SPDX-License-Identifier: Apache-2.0
// See cut.h. What ends before the window is left out by trace/window.h, which also tells the state
// at its begin. What begins behind it is left out here: a thread's records are in the order of
// their ends, so behind the window's end those that reach into it are in between others.
#include "instances/cut.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "instances/selected.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/recovered_source.h"
#include "profiler/trace/window.h"

typedef struct cut_source {
    mxp_source source;  // must stay first
    mxp_source *inner;
    mxp_record_range *ranges;
    size_t count, capacity;
    mxp_info_pair *info;  // and that it is cut
    char window[64];
} cut_source;

static const char memory_for[] = "a window of a trace";

static cut_source *cut_of(const mxp_source *source)
{
    return (cut_source *)(uintptr_t)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const mxp_source *inner = cut_of(source)->inner;
    return inner->name(inner, id);
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    const cut_source *self = cut_of(source);
    if (number >= self->count) {
        return 0;
    }
    *range = self->ranges[number];
    return 1;
}

static void close_cut(mxp_source *source)
{
    cut_source *self = cut_of(source);
    mxp__free(self->info, (self->inner->info_count + 1) * sizeof *self->info);
    mxp__source_close(self->inner);
    mxp__free(self->ranges, self->capacity * sizeof *self->ranges);
    mxp__free(self, sizeof *self);
}

// ---- the end of the window ---------------------------------------------------------------------
static int add_part(cut_source *self, const mxp_record_range *range, const uint64_t *from,
                    const uint64_t *to)
{
    if (from == NULL || from == to) {
        return MXP_OK;
    }
    if (mxp__grow(&self->ranges, &self->capacity, self->count + 1, sizeof *self->ranges) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    size_t before = (size_t)(from - range->words);
    mxp_record_range *part = &self->ranges[self->count++];
    *part = *range;
    part->words = from;
    part->end = to;
    part->first_unit += (uint32_t)(before / 2);
    part->offset += range->offset == 0 ? 0 : before * sizeof *from;
    return MXP_OK;
}

// The records of a range that begin in the window, in pieces. What the decoder passes over belongs
// to the record before it.
static int add_range(cut_source *self, const mxp_record_range *range, int64_t until_ns)
{
    mxp_decoder decoder;
    mxp_event event;
    const uint64_t *from = NULL;
    int error = MXP_OK;
    mxp__decoder_begin(&decoder, self->inner->timebase, range);
    while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
        bool is_in = event.begin_ns < until_ns;
        if (is_in && from == NULL) {
            from = event.words;
        } else if (!is_in) {
            error = add_part(self, range, from, event.words);
            from = NULL;
        }
    }
    return error == MXP_OK ? add_part(self, range, from, range->end) : error;
}

static int add_ranges(cut_source *self, int64_t until_ns)
{
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK; i++) {
        int found = self->inner->range(self->inner, i, &range);
        if (found != 1) {
            return found;
        }
        error = add_range(self, &range, until_ns);
    }
    return error;
}

static int tell_window(cut_source *self, int64_t from_ns, int64_t until_ns)
{
    size_t count = self->inner->info_count;
    self->info = mxp__alloc((count + 1) * sizeof *self->info);
    if (self->info == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (count > 0) {
        memcpy(self->info, self->inner->info, count * sizeof *self->info);
    }
    snprintf(self->window, sizeof self->window, "from %.9f s to %.9f s", (double)from_ns / 1e9,
             (double)until_ns / 1e9);
    self->info[count] = (mxp_info_pair){"cut", self->window};
    self->source.info = self->info;
    self->source.info_count = count + 1;
    return MXP_OK;
}

// Takes `inner` over. Sums that were made while recording are not the window's.
static int open_cut(mxp_source *inner, int64_t from_ns, int64_t until_ns, mxp_source **source)
{
    cut_source *self = mxp__alloc(sizeof *self);
    if (self == NULL) {
        mxp__source_close(inner);
        return mxp__fail_memory(memory_for);
    }
    self->source = *inner;
    self->source.name = view_name;
    self->source.range = get_range;
    self->source.close = close_cut;
    self->source.range_thread = NULL;
    self->source.rename = NULL;
    self->source.stats_count = self->source.counter_count = 0;
    self->inner = inner;
    int error = tell_window(self, from_ns, until_ns);
    error = error == MXP_OK ? add_ranges(self, until_ns) : error;
    if (error != MXP_OK) {
        close_cut(&self->source);
        return error;
    }
    *source = &self->source;
    return MXP_OK;
}

// ---- one process -------------------------------------------------------------------------------
static int cut_process(const mxp_command *command, mxp_input *input, mxp_source *process,
                       const mxp_selection *selection, mxp_source **cut)
{
    mxp_selected selected;
    int64_t begin_ns, end_ns;
    int code = mxp__selected_make(command, selection, process, &selected);
    if (code < 0) {
        mxp__selected_extent(&selected, &begin_ns, &end_ns);
    }
    mxp__selected_fini(&selected);
    if (code >= 0) {
        return code;
    }
    mxp_recovery_loss lost = {0};
    mxp_source *readable, *later;
    int error = mxp__recovered_open(process, &readable, &lost);
    mxp__input_unread(command, input, &lost);
    if (error == MXP_OK) {
        error = mxp__window_open(readable, begin_ns, &later);
    }
    if (error == MXP_OK) {
        error = open_cut(later, begin_ns, end_ns, cut);
    }
    return error == MXP_OK ? -1 : mxp__command_failed(command);
}

// ---- all processes -----------------------------------------------------------------------------
// The cut processes, and what they are cut from.
typedef struct cut_processes {
    mxp_source source;  // must stay first: as the first process, but for its members of several
    mxp_source *whole;
    mxp_source **cuts;
    size_t count;
} cut_processes;

static void close_all(mxp_source *source)
{
    cut_processes *self = (cut_processes *)(void *)source;
    for (size_t i = 0; i < self->count; i++) {
        mxp__source_close(self->cuts[i]);
    }
    mxp__source_close(self->whole);
    mxp__free(self->cuts, self->count * sizeof(mxp_source *));
    mxp__free(self, sizeof *self);
}

static mxp_name_view name_of_first(const mxp_source *source, uint32_t id)
{
    const mxp_source *first = ((const cut_processes *)(const void *)source)->cuts[0];
    return first->name(first, id);
}

static int range_of_first(mxp_source *source, size_t number, mxp_record_range *range)
{
    mxp_source *first = ((cut_processes *)(void *)source)->cuts[0];
    return first->range(first, number, range);
}

static size_t count_processes(mxp_source *source)
{
    return source->process_count > 0 ? source->process_count : 1;
}

static int cut_all(const mxp_command *command, mxp_input *input, const mxp_selection *selection,
                   cut_processes *self)
{
    mxp_selection shared = *selection;
    int code = mxp__selection_share(command, &shared, self->whole);
    for (size_t i = 0; i < self->count && code < 0; i++) {
        code = cut_process(command, input, mxp__source_process(self->whole, i), &shared,
                           &self->cuts[i]);
    }
    if (code < 0) {
        self->source = *self->cuts[0];
        self->source.process_count = self->whole->process_count;
        self->source.processes = self->cuts;
        self->source.repeated = self->whole->repeated;
        self->source.name = name_of_first;
        self->source.range = range_of_first;
        self->source.close = close_all;
        input->source = &self->source;
    }
    return code;
}

int mxp__input_cut(const mxp_command *command, mxp_input *input, const mxp_selection *selection)
{
    if (!mxp__selection_has_window(selection)) {
        return -1;
    }
    cut_processes *self = mxp__alloc(sizeof *self);
    size_t count = count_processes(input->source);
    mxp_source **cuts = mxp__alloc(count * sizeof(mxp_source *));
    if (self == NULL || cuts == NULL) {
        mxp__free(self, sizeof *self);
        mxp__free(cuts, count * sizeof(mxp_source *));
        mxp__fail_memory(memory_for);
        return mxp__command_failed(command);
    }
    *self = (cut_processes){.whole = input->source, .cuts = cuts, .count = count};
    int code = cut_all(command, input, selection, self);
    if (code >= 0) {
        self->whole = NULL;  // stays the input's
        close_all(&self->source);
    }
    return code;
}

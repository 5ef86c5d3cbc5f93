// SPDX-License-Identifier: Apache-2.0
// See one_clock.h. Records stay where they are; a range with a message that would go backwards is
// copied, and the flow's points in it become marks.
#include "profiler/analysis/clocks/one_clock.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/analysis/clocks/clock_fit.h"
#include "profiler/analysis/clocks/messages.h"
#include "profiler/analysis/clocks/pair_cuts.h"
#include "profiler/trace/merge.h"

enum { REFUSED_MAX = 1 << 18 };  // messages without an arrow; further ones are only counted

typedef struct clocked {
    mxp_source source;  // must stay first
    mxp_source *inner;
    struct one_clock *whole;
    mxp_timebase timebase;
    uint32_t mark;  // name id of the marks
    mxp_info_pair *info;  // the inner one's, with the process's name
    size_t info_count;
} clocked;

typedef struct copied_range {
    uint64_t key;  // address of the range's first word
    uint64_t *words;
    size_t bytes;
} copied_range;

typedef struct one_clock {
    mxp_one_clock all;  // must stay first
    mxp_source *given;
    clocked *processes;
    mxp_source **sources;
    size_t count;
    mxp_pair_cuts pairs;
    mxp_id_map refused;  // ids of messages, plus 1
    mxp_id_map copies;
} one_clock;

static const char memory_for[] = "processes on one clock";
static const char mark_text[] = "message is not drawn: it would go backwards";

static clocked *clocked_of(const mxp_source *source)
{
    return (clocked *)(uintptr_t)source;
}

// ---- a process ---------------------------------------------------------------------------------
static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const clocked *of = clocked_of(source);
    if (id == of->mark) {
        return (mxp_name_view){
            .text = mark_text, .length = sizeof mark_text - 1, .style = MXP_STYLE_INSTANT};
    }
    return of->inner->name(of->inner, id);
}

static void rename_one(mxp_source *source, uint32_t id, const mxp_name_view *name)
{
    clocked *of = clocked_of(source);
    if (id != of->mark) {
        of->inner->rename(of->inner, id, name);
    }
}

static int get_range_thread(mxp_source *source, size_t number, uint32_t *thread)
{
    clocked *of = clocked_of(source);
    return of->inner->range_thread(of->inner, number, thread);
}

static bool is_refused(const clocked *of, const uint64_t *words)
{
    return (words[0] & 0xff) == MXP_KIND_FLOW && words[2] != UINT64_MAX &&
           mxp__id_map_find(&of->whole->refused, words[2] + 1) != NULL &&
           mxp__is_message_name(of->inner, (uint32_t)words[1]);
}

static size_t units_of(const uint64_t *words)
{
    return words[0] >> 8 & 0xff;
}

// The first word of a refused message's point; `end`: there is none.
static const uint64_t *find_refused(const clocked *of, const uint64_t *words, const uint64_t *end)
{
    while (words + 2 <= end && units_of(words) > 0 && words + 2 * units_of(words) <= end) {
        if (units_of(words) >= 2 && is_refused(of, words)) {
            return words;
        }
        words += 2 * units_of(words);
    }
    return end;
}

static void mark_all(const clocked *of, uint64_t *words, const uint64_t *end)
{
    const uint64_t *at = words;
    while ((at = find_refused(of, at, end)) != end) {
        uint64_t *point = words + (at - words);
        point[0] = (point[0] & ~UINT64_C(0xff)) | MXP_KIND_INSTANT;
        point[1] = of->mark | (uint64_t)MXP_INSTANT_THREAD << 32;
        at += 2 * units_of(at);
    }
}

// The copy of a range that has a refused message, made when it is first asked for.
static int copy_range(const clocked *of, mxp_record_range *range)
{
    one_clock *whole = of->whole;
    copied_range *copy = mxp__id_map_add(&whole->copies, (uintptr_t)range->words);
    const size_t bytes = (size_t)(range->end - range->words) * sizeof *range->words;
    if (copy != NULL && copy->words == NULL) {
        copy->words = mxp__alloc(bytes);
        copy->bytes = bytes;
        if (copy->words != NULL) {
            memcpy(copy->words, range->words, bytes);
            mark_all(of, copy->words, copy->words + bytes / sizeof *copy->words);
        }
    }
    if (copy == NULL || copy->words == NULL) {
        return mxp__fail_memory(memory_for);
    }
    range->words = copy->words;
    range->end = copy->words + bytes / sizeof *copy->words;
    return MXP_OK;
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    clocked *of = clocked_of(source);
    const int found = of->inner->range(of->inner, number, range);
    if (found != 1 || of->whole->refused.count == 0 ||
        find_refused(of, range->words, range->end) == range->end) {
        return found;
    }
    const int error = copy_range(of, range);
    return error == MXP_OK ? 1 : error;
}

// INFO with the name that the process has in its job.
static int name_process(clocked *of, const mxp_process_clock *clock)
{
    const mxp_source *inner = of->inner;
    if (inner->clock_bytes == 0) {
        return MXP_OK;
    }
    of->info_count = inner->info_count + 1;
    of->info = mxp__alloc(of->info_count * sizeof *of->info);
    if (of->info == NULL) {
        return mxp__fail_memory(memory_for);
    }
    size_t count = 0;
    for (size_t i = 0; i < inner->info_count; i++) {
        if (strcmp(inner->info[i].key, "process_name") != 0) {
            of->info[count++] = inner->info[i];
        }
    }
    of->info[count++] = (mxp_info_pair){"process_name", clock->name};
    of->source.info = of->info;
    of->source.info_count = count;
    return MXP_OK;
}

static void wrap(one_clock *whole, clocked *of, mxp_fit_process *fitted)
{
    of->inner = fitted->inner;
    of->whole = whole;
    of->timebase = fitted->timebase;
    of->mark = of->inner->name_count;
    of->source = *of->inner;
    of->source.name_count = of->inner->name_count + 1;
    of->source.timebase = &of->timebase;
    of->source.name = view_name;
    of->source.range = get_range;
    of->source.range_thread = of->inner->range_thread != NULL ? get_range_thread : NULL;
    of->source.rename = of->inner->rename != NULL ? rename_one : NULL;
    of->source.close = NULL;
    of->source.process_count = 0;
    of->source.processes = NULL;
}

// ---- all ---------------------------------------------------------------------------------------
static mxp_source *first_of(const mxp_source *source)
{
    return &((const one_clock *)(const void *)source)->processes[0].source;
}

static mxp_name_view first_name(const mxp_source *source, uint32_t id)
{
    return view_name(first_of(source), id);
}

static int first_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    return get_range(first_of(source), number, range);
}

static int first_range_thread(mxp_source *source, size_t number, uint32_t *thread)
{
    return get_range_thread(first_of(source), number, thread);
}

static void rename_first(mxp_source *source, uint32_t id, const mxp_name_view *name)
{
    rename_one(first_of(source), id, name);
}

static void close_all(mxp_source *source)
{
    one_clock *whole = (one_clock *)(void *)source;
    for (size_t i = 0; whole->processes != NULL && i < whole->count; i++) {
        mxp__timebase_fini(&whole->processes[i].timebase);
        mxp__free(whole->processes[i].info,
                  whole->processes[i].info_count * sizeof *whole->processes[i].info);
    }
    for (copied_range *copy = mxp__id_map_next(&whole->copies, NULL); copy != NULL;
         copy = mxp__id_map_next(&whole->copies, copy)) {
        mxp__free(copy->words, copy->bytes);
    }
    mxp__id_map_fini(&whole->copies);
    mxp__pair_cuts_fini(&whole->pairs);
    mxp__id_map_fini(&whole->refused);
    mxp__free(whole->sources, whole->count * sizeof(mxp_source *));
    mxp__free(whole->processes, whole->count * sizeof *whole->processes);
    mxp__free(whole->all.clocks, whole->count * sizeof *whole->all.clocks);
    mxp__source_close(whole->given);
    mxp__free(whole, sizeof *whole);
}

static int compare_ranks(const void *a, const void *b)
{
    const mxp_process_clock *x = &((const mxp_fit_process *)a)->clock;
    const mxp_process_clock *y = &((const mxp_fit_process *)b)->clock;
    if (x->role != y->role) {
        return x->role < y->role ? -1 : 1;
    }
    return x->role == MXP_ROLE_NONE || x->rank == y->rank ? 0 : x->rank < y->rank ? -1 : 1;
}

// Stable: of equals the earlier one stays first.
static void sort_ranks(mxp_fit_process *fitted, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const mxp_fit_process moved = fitted[i];
        size_t j = i;
        for (; j > 0 && compare_ranks(&fitted[j - 1], &moved) > 0; j--) {
            fitted[j] = fitted[j - 1];
        }
        fitted[j] = moved;
    }
}

static int wrap_all(one_clock *whole, mxp_fit_process *fitted)
{
    int error = MXP_OK;
    for (size_t i = 0; i < whole->count; i++) {
        whole->all.clocks[i] = fitted[i].clock;
        wrap(whole, &whole->processes[i], &fitted[i]);
        whole->sources[i] = &whole->processes[i].source;
        if (error == MXP_OK) {
            error = name_process(&whole->processes[i], &whole->all.clocks[i]);
        }
    }
    mxp_source *all = &whole->all.source;
    *all = whole->processes[0].source;
    all->name = first_name;
    all->range = first_range;
    all->range_thread = all->range_thread != NULL ? first_range_thread : NULL;
    all->rename = all->rename != NULL ? rename_first : NULL;
    all->process_count = whole->given->process_count == 0 ? 0 : whole->count;
    all->processes = whole->sources;
    all->repeated = whole->given->repeated;
    return error;
}

static int fit_all(one_clock *whole, bool use_messages)
{
    mxp_fit_process *fitted = mxp__alloc(whole->count * sizeof *fitted);
    if (fitted == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < whole->count; i++) {
        fitted[i].inner = mxp__source_process(whole->given, i);
    }
    int error = mxp__clock_fit(fitted, whole->count, use_messages);
    if (error == MXP_OK) {
        sort_ranks(fitted, whole->count);
        error = wrap_all(whole, fitted);
    } else {
        for (size_t i = 0; i < whole->count; i++) {
            mxp__timebase_fini(&fitted[i].timebase);
        }
    }
    mxp__free(fitted, whole->count * sizeof *fitted);
    return error;
}

bool mxp__one_clock_is_wanted(const mxp_source *source)
{
    mxp_source *whole = (mxp_source *)(uintptr_t)source, *process;
    bool any = false;
    for (size_t i = 0; (process = mxp__source_process(whole, i)) != NULL; i++) {
        any = any || process->clock_bytes != 0;
    }
    return any;
}

bool mxp__one_clock_mixes_jobs(const mxp_source *source)
{
    mxp_source *whole = (mxp_source *)(uintptr_t)source, *process;
    uint64_t job = 0;
    for (size_t i = 0; (process = mxp__source_process(whole, i)) != NULL; i++) {
        const uint64_t own = process->clock_bytes != 0 ? process->clock_owner->job : 0;
        if (own != 0 && job != 0 && own != job) {
            return true;
        }
        job = own != 0 ? own : job;
    }
    return false;
}

int mxp__one_clock_open(mxp_source *inner, bool use_messages, mxp_one_clock **clock)
{
    *clock = NULL;
    one_clock *whole = mxp__alloc(sizeof *whole);
    if (whole == NULL) {
        mxp__source_close(inner);
        return mxp__fail_memory(memory_for);
    }
    whole->given = inner;
    whole->count = inner->process_count == 0 ? 1 : inner->process_count;
    mxp__pair_cuts_init(&whole->pairs);
    whole->refused.entry_bytes = sizeof(uint64_t);
    whole->copies.entry_bytes = sizeof(copied_range);
    whole->processes = mxp__alloc(whole->count * sizeof *whole->processes);
    whole->sources = mxp__alloc(whole->count * sizeof(mxp_source *));
    whole->all.clocks = mxp__alloc(whole->count * sizeof *whole->all.clocks);
    whole->all.count = whole->count;
    int error = whole->processes == NULL || whole->sources == NULL || whole->all.clocks == NULL
                    ? mxp__fail_memory(memory_for)
                    : fit_all(whole, use_messages);
    if (error != MXP_OK) {
        close_all(&whole->all.source);
        return error;
    }
    whole->all.source.close = close_all;
    *clock = &whole->all;
    return MXP_OK;
}

// ---- arrows ------------------------------------------------------------------------------------
static int64_t doubt_of_pair(const mxp_one_clock *clock, size_t a, size_t b)
{
    const one_clock *whole = (const one_clock *)(const void *)clock;
    return mxp__pair_cuts_doubt(&whole->pairs, a, &whole->processes[a].timebase, b,
                                &whole->processes[b].timebase);
}

int64_t mxp__one_clock_doubt(const mxp_one_clock *clock, size_t a, size_t b)
{
    int64_t sum = 0;
    const size_t both[] = {a, b};
    for (size_t i = 0; i < 2 && a != b; i++) {
        const mxp_process_clock *of = &clock->clocks[both[i]];
        if (of->known == MXP__CLOCK_BY_WALL) {
            return INT64_MAX;
        }
        int64_t most = 0;
        for (size_t j = 0; j < 3 && of->known == MXP__CLOCK_BY_CUTS; j++) {
            most = of->doubt_ns[j] > most ? of->doubt_ns[j] : most;
        }
        sum += most;
    }
    const int64_t own = sum > 0 ? doubt_of_pair(clock, a, b) : sum;
    return own < sum ? own : sum;
}

static int check_message(void *context, const mxp_message *message)
{
    one_clock *whole = context;
    mxp_arrow_counts *arrows = &whole->all.arrows;
    const mxp_process_clock *from = &whole->all.clocks[message->from];
    const mxp_process_clock *to = &whole->all.clocks[message->to];
    const bool is_known = from->known != MXP__CLOCK_BY_WALL && to->known != MXP__CLOCK_BY_WALL;
    const int64_t back_ns = message->sent_ns - message->received_ns;
    arrows->checked += is_known;
    arrows->unchecked += !is_known;
    // One that goes backwards proves more than others: by how much the two must be apart.
    const bool is_pair = from->known == MXP__CLOCK_BY_CUTS && to->known == MXP__CLOCK_BY_CUTS;
    const int error = is_pair ? mxp__pair_cuts_add(&whole->pairs, message,
                                                   &whole->processes[message->from].timebase,
                                                   &whole->processes[message->to].timebase)
                              : MXP_OK;
    if (error != MXP_OK || (is_known && back_ns <= 0)) {
        return error;
    }
    if (is_known) {
        arrows->backward++;
        if (back_ns > arrows->worst_ns) {
            arrows->worst_ns = back_ns;
            arrows->worst_from = message->from;
            arrows->worst_to = message->to;
        }
    }
    if (whole->refused.count >= REFUSED_MAX) {
        return MXP_OK;
    }
    return mxp__id_map_add(&whole->refused, message->id + 1) != NULL ? MXP_OK
                                                                     : mxp__fail_memory(memory_for);
}

int mxp__one_clock_check(mxp_one_clock *clock)
{
    one_clock *whole = (one_clock *)(void *)clock;
    mxp_message_counts counts;
    clock->arrows = (mxp_arrow_counts){0};
    return mxp__messages_each(whole->sources, whole->count, check_message, whole, &counts);
}

// SPDX-License-Identifier: Apache-2.0
// See explain_ranks.h. What it prints is in explain_ranks_text.c.
#include "explain_ranks.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "explain_bound.h"
#include "profiler/analysis/ranks/chosen_waits.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/trace/checksum.h"

static const char memory_for[] = "what workers waited for one another";

// A worker while it is read.
typedef struct worker {
    const mxp_explained *of;
    char host[sizeof((mxp_clock_owner *)0)->host + 1];
    mxp_rank_step *steps;
    size_t step_count;
    mxp_rank_time *blocked;
    size_t blocked_count, blocked_capacity;
} worker;

typedef struct making {
    const mxp_explain_view *view;
    mxp_explain_ranks *ranks;
    mxp_rank_waits *waits;  // of each process of the view
    worker *workers;
    mxp_rank *in;
    size_t count;
    mxp_id_map places;  // of keys
} making;

// ---- reading -----------------------------------------------------------------------------------
static const mxp_process_clock *clock_of(const mxp_one_clock *clocks, const mxp_source *process)
{
    for (size_t i = 0; i < clocks->count; i++) {
        if (clocks->source.processes != NULL && clocks->source.processes[i] == process) {
            return &clocks->clocks[i];
        }
    }
    return NULL;
}

static int take_blocked(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                        const mxp_path *path)
{
    worker *to = context;
    (void)graph;
    (void)steps;
    (void)step;
    for (size_t i = 0; i < path->count; i++) {
        const mxp_path_piece *piece = &path->pieces[i];
        if (piece->kind != MXP__PATH_COMMUNICATION || piece->to_ns <= piece->from_ns) {
            continue;
        }
        if (mxp__grow(&to->blocked, &to->blocked_capacity, to->blocked_count + 1,
                      sizeof *to->blocked) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        to->blocked[to->blocked_count++] = (mxp_rank_time){piece->from_ns, piece->to_ns};
    }
    return MXP_OK;
}

static int read_worker(worker *to, const mxp_explained *of, uint64_t limit_bytes)
{
    to->of = of;
    if (of->process->clock_bytes != 0) {
        const char *host = of->process->clock_owner->host;
        memcpy(to->host, host, strnlen(host, sizeof to->host - 1));
    }
    to->steps = mxp__alloc(of->facts.count * sizeof *to->steps);
    if (to->steps == NULL && of->facts.count > 0) {
        return mxp__fail_memory(memory_for);
    }
    to->step_count = of->facts.count;
    for (size_t i = 0; i < of->facts.count; i++) {
        const mxp_step_window *step = &of->steps.all[of->facts.at[i].place];
        to->steps[i] = (mxp_rank_step){
            step->number, step->begin_ns, step->end_ns,
            step->run_delay_ns == MXP__NOT_RECORDED ? MXP__RUN_DELAY_UNKNOWN : step->run_delay_ns};
    }
    return of->steps.operators > 0 ? mxp__path_steps(of->process, &of->steps, of->choice.steps,
                                                     limit_bytes, take_blocked, to)
                                   : MXP_OK;
}

static int take_worker(making *self, size_t process, const mxp_process_clock *clock,
                       uint64_t limit_bytes)
{
    const mxp_explained *of = &self->view->all[process];
    worker *to = &self->workers[self->count];
    int error = read_worker(to, of, limit_bytes);
    self->ranks->names[self->count] = clock->name;
    self->in[self->count++] = (mxp_rank){.rank = clock->rank,
                                         .host = to->host,
                                         .steps = to->steps,
                                         .step_count = to->step_count,
                                         .blocked = to->blocked,
                                         .blocked_count = to->blocked_count,
                                         .has_path = of->steps.operators > 0,
                                         .waits = &self->waits[process]};
    return error;
}

// ---- owners and keys ---------------------------------------------------------------------------
typedef struct key_place {
    uint64_t key;
    size_t place;  // plus 1
} key_place;

static int find_key(making *self, uint64_t key, mxp_rank_key **found)
{
    mxp_explain_ranks *ranks = self->ranks;
    key_place *place = mxp__id_map_add(&self->places, key);
    if (place == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (place->place == 0) {
        if (mxp__grow(&ranks->keys, &ranks->key_capacity, ranks->key_count + 1,
                      sizeof *ranks->keys) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        ranks->keys[ranks->key_count++] = (mxp_rank_key){.key = key};
        place->place = ranks->key_count;
    }
    *found = &ranks->keys[place->place - 1];
    return MXP_OK;
}

static int take_keys(making *self, const mxp_rank_waits *waits)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < waits->wait_count; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        mxp_rank_key *key = NULL;
        if (wait->key == 0) {
            continue;
        }
        error = find_key(self, wait->key, &key);
        if (error == MXP_OK) {
            const mxp_key_name *name = mxp__id_map_find(&waits->names, wait->key);
            key->waits += wait->waited_ns > 0;
            key->bytes += wait->bytes;
            key->waited_ns += (double)wait->waited_ns;
            if (name != NULL && key->name[0] == '\0') {
                snprintf(key->name, sizeof key->name, "%.*s", (int)name->length, name->text);
            }
        }
    }
    return error;
}

static int compare_keys(const void *a, const void *b)
{
    const mxp_rank_key *x = a, *y = b;
    return (x->waited_ns < y->waited_ns) - (x->waited_ns > y->waited_ns);
}

static int compare_owners(const void *a, const void *b)
{
    const mxp_rank_owner *x = a, *y = b;
    return (x->busy_ns < y->busy_ns) - (x->busy_ns > y->busy_ns);
}

// ---- what takes longer -------------------------------------------------------------------------
enum { OTHERS_MOST = 16 };

typedef struct row_times {
    uint64_t key;  // of its label
    double other_ns[OTHERS_MOST];  // a step
    size_t others;
} row_times;

// "conv1" of a scope, or what the program did.
static void label_row(const mxp_explained *of, const mxp_path_row *row, mxp_strbuf *out)
{
    const mxp_cause_place place = {.name = row->name, .scope = row->scope};
    mxp__explain_place(of, &place, out);
    if (out->length == 0) {
        mxp__strbuf_puts(out, row->kind == MXP__PATH_BETWEEN ? "the program between its spans"
                                                             : mxp__path_kind_name(row->kind));
    }
}

static bool is_own(const mxp_path_row *row)
{
    return row->kind != MXP__PATH_COMMUNICATION && row->kind != MXP__PATH_WAKE &&
           row->kind != MXP__PATH_DISPATCH && row->kind != MXP__PATH_UNKNOWN;
}

static double row_ns(const mxp_explained *of, const mxp_path_row *row)
{
    return of->facts.rows.steps > 0 ? (double)row->total_ns / (double)of->facts.rows.steps : 0;
}

static row_times *times_of(mxp_id_map *map, const mxp_explained *of, const mxp_path_row *row,
                           bool adds)
{
    mxp_strbuf label = {0};
    label_row(of, row, &label);
    uint64_t key = mxp__checksum(mxp__strbuf_text(&label), label.length) + (uint64_t)row->kind;
    key = key == 0 ? 1 : key;
    mxp__strbuf_fini(&label);
    return adds ? mxp__id_map_add(map, key) : mxp__id_map_find(map, key);
}

static int take_others(const making *self, size_t named, mxp_id_map *map, size_t *others)
{
    for (size_t i = 0; i < self->count && *others < OTHERS_MOST; i++) {
        const mxp_explained *of = self->workers[i].of;
        const bool is_its_host = self->ranks->found.is_whole_host &&
                                 strcmp(self->workers[i].host, self->workers[named].host) == 0;
        if (i == named || is_its_host) {
            continue;
        }
        for (size_t j = 0; j < of->facts.rows.count; j++) {
            const mxp_path_row *row = &of->facts.rows.rows[j];
            row_times *times = is_own(row) ? times_of(map, of, row, true) : NULL;
            if (is_own(row) && times == NULL) {
                return mxp__fail_memory(memory_for);
            }
            if (times != NULL && times->others <= *others) {
                times->other_ns[*others] += row_ns(of, row);
                times->others = *others;
            }
        }
        ++*others;
    }
    return MXP_OK;
}

static int find_longer(const making *self)
{
    mxp_explain_ranks *ranks = self->ranks;
    const size_t named = (size_t)ranks->found.named;
    const mxp_explained *of = self->workers[named].of;
    mxp_id_map map = {.entry_bytes = sizeof(row_times)};
    size_t others = 0;
    int error = take_others(self, named, &map, &others);
    for (size_t i = 0; error == MXP_OK && i < of->facts.rows.count; i++) {
        const mxp_path_row *row = &of->facts.rows.rows[i];
        row_times *times = is_own(row) ? times_of(&map, of, row, false) : NULL;
        double median_ns = 0;
        if (times != NULL && others > 0) {
            double sorted[OTHERS_MOST];
            memcpy(sorted, times->other_ns, sizeof sorted);
            mxp__sample_sort(sorted, others);
            median_ns = mxp__sample_median(sorted, others);
        }
        const double longer_ns = row_ns(of, row) - median_ns;
        if (is_own(row) && longer_ns > ranks->longer_ns) {
            mxp_strbuf label = {0};
            label_row(of, row, &label);
            ranks->longer_ns = longer_ns;
            ranks->is_input = row->kind == MXP__PATH_INPUT;
            snprintf(ranks->longer, sizeof ranks->longer, "%s", mxp__strbuf_text(&label));
            mxp__strbuf_fini(&label);
        }
    }
    mxp__id_map_fini(&map);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int read_workers(making *self, const mxp_one_clock *clocks, uint64_t limit_bytes)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < self->view->count; i++) {
        const mxp_explained *of = &self->view->all[i];
        const mxp_process_clock *clock = clock_of(clocks, of->process);
        error = mxp__rank_waits_read(of->process, &self->waits[i]);
        if (error == MXP_OK && clock != NULL && clock->role == MXP_ROLE_WORKER && of->is_marked &&
            self->waits[i].wait_count > 0) {
            error = take_worker(self, i, clock, limit_bytes);
        }
    }
    return error;
}

// Where a part of the steps is looked at, nothing else counts.
static int keep_chosen(making *self)
{
    const mxp_explain_view *view = self->view;
    if (view->step == NULL && view->from == NULL && view->until == NULL) {
        return MXP_OK;
    }
    mxp_chosen_part *parts = mxp__alloc(view->count * sizeof *parts);
    if (parts == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < view->count; i++) {
        parts[i].waits = &self->waits[i];
    }
    for (size_t i = 0; i < self->count; i++) {
        mxp_chosen_part *part = &parts[self->in[i].waits - self->waits];
        part->steps = self->workers[i].steps;
        part->step_count = self->workers[i].step_count;
    }
    const int error = mxp__chosen_waits_keep(parts, view->count);
    mxp__free(parts, view->count * sizeof *parts);
    return error;
}

static int read_owners(making *self, const mxp_one_clock *clocks)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < self->view->count; i++) {
        const mxp_process_clock *clock = clock_of(clocks, self->view->all[i].process);
        if (clock == NULL) {
            continue;
        }
        error = mxp__explain_owner_add(self->ranks, &self->waits[i], clock->name,
                                       clock->role == MXP_ROLE_SERVER);
        if (error == MXP_OK) {
            error = take_keys(self, &self->waits[i]);
        }
    }
    return error;
}

static int make(making *self, const mxp_one_clock *clocks, uint64_t limit_bytes)
{
    mxp_explain_ranks *ranks = self->ranks;
    int error = read_workers(self, clocks, limit_bytes);
    if (error == MXP_OK) {
        error = keep_chosen(self);
    }
    if (error == MXP_OK) {
        error = read_owners(self, clocks);
    }
    if (error != MXP_OK || self->count < 2) {
        return error;
    }
    error = mxp__stragglers_find(self->in, self->count, &ranks->found);
    if (error == MXP_OK) {
        error = mxp__absent_rank_find(self->in, self->count, &ranks->absent);
    }
    const int costliest = ranks->found.costliest;
    const int shown = costliest != MXP__STRAGGLERS_NONE ? costliest : 0;
    ranks->shown = self->workers[shown].of;
    ranks->shown_name = ranks->names[shown];
    if (error == MXP_OK && ranks->found.named != MXP__STRAGGLERS_NONE) {
        error = find_longer(self);
        snprintf(ranks->host, sizeof ranks->host, "%s", self->workers[ranks->found.named].host);
        mxp_straggler_kind *kind = &ranks->found.kind;
        if (*kind == MXP__STRAGGLER_UNEXPLAINED && ranks->longer[0] != '\0' &&
            ranks->longer_ns >= ranks->found.cost_ns / 2) {
            *kind = ranks->is_input ? MXP__STRAGGLER_INPUT : MXP__STRAGGLER_COMPUTE;
        }
    }
    if (ranks->key_count > 0) {
        qsort(ranks->keys, ranks->key_count, sizeof *ranks->keys, compare_keys);
    }
    if (ranks->owner_count > 0) {
        qsort(ranks->owners, ranks->owner_count, sizeof *ranks->owners, compare_owners);
    }
    if (error == MXP_OK) {
        error = mxp__explain_bound_make(ranks, self->in, self->count);
    }
    for (size_t i = 0; i < ranks->owner_count; i++) {
        ranks->owners[i].waits = NULL;  // which go
    }
    return error;
}

static void finish(making *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (self->waits != NULL) {
            mxp__rank_waits_fini(&self->waits[i]);
        }
        if (self->workers != NULL) {
            worker *of = &self->workers[i];
            mxp__free(of->steps, of->step_count * sizeof *of->steps);
            mxp__free(of->blocked, of->blocked_capacity * sizeof *of->blocked);
        }
    }
    mxp__free(self->waits, count * sizeof *self->waits);
    mxp__free(self->workers, count * sizeof *self->workers);
    mxp__free(self->in, count * sizeof *self->in);
    mxp__id_map_fini(&self->places);
}

int mxp__explain_ranks_make(const mxp_explain_view *view, const mxp_one_clock *clocks,
                            uint64_t limit_bytes, mxp_explain_ranks **ranks)
{
    const size_t count = view->count;
    making self = {.view = view,
                   .ranks = mxp__alloc(sizeof *self.ranks),
                   .waits = mxp__alloc(count * sizeof *self.waits),
                   .workers = mxp__alloc(count * sizeof *self.workers),
                   .in = mxp__alloc(count * sizeof *self.in),
                   .places = {.entry_bytes = sizeof(key_place)}};
    *ranks = NULL;
    int error = MXP_ENOMEM;
    if (self.ranks != NULL) {
        self.ranks->names = mxp__alloc(count * sizeof *self.ranks->names);
        self.ranks->name_count = count;
    }
    if (self.ranks == NULL || self.waits == NULL || self.workers == NULL || self.in == NULL ||
        self.ranks->names == NULL) {
        mxp__fail_memory(memory_for);
    } else {
        error = make(&self, clocks, limit_bytes);
    }
    if (error == MXP_OK && self.count >= 2 && self.ranks->found.steps > 0) {
        *ranks = self.ranks;
    } else {
        mxp__explain_ranks_free(self.ranks);
    }
    finish(&self, count);
    return error;
}

void mxp__explain_ranks_free(mxp_explain_ranks *ranks)
{
    if (ranks == NULL) {
        return;
    }
    mxp__stragglers_fini(&ranks->found);
    mxp__bounds_fini(&ranks->bounds);
    mxp__free(ranks->names, ranks->name_count * sizeof *ranks->names);
    mxp__free(ranks->owners, ranks->owner_capacity * sizeof *ranks->owners);
    mxp__free(ranks->keys, ranks->key_capacity * sizeof *ranks->keys);
    mxp__free(ranks, sizeof *ranks);
}

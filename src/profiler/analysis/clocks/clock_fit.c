// SPDX-License-Identifier: Apache-2.0
// See clock_fit.h. Each machine has a process that represents it: the one with the most exchanges.
// The axis of the machine's cuts is what that one's clock counts, at one rate: no clock is
// straighter, and it is the same whatever conversion the file has.
#include "profiler/analysis/clocks/clock_fit.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/clocks/bent_time.h"
#include "profiler/analysis/clocks/cut_hull.h"
#include "profiler/analysis/clocks/messages.h"
#include "profiler/analysis/clocks/raw_time.h"
#include "profiler/analysis/clocks/same_clock.h"

enum { MESSAGES_MAX = 4096 };  // of a machine, before those on the hull are looked for
#define NOWHERE SIZE_MAX

typedef struct machine {
    size_t representative;
    mxp_axis axis;  // of its ticks
    mxp_cut *exchanges;
    size_t exchange_count, exchange_capacity;
    mxp_cut *messages;  // MESSAGES_MAX, or null: none yet
    size_t message_count;
} machine;

typedef struct fit {
    mxp_fit_process *all;
    size_t count;
    machine *machines;  // by the place of their first process
    size_t reference;  // the process with whose clock the exchanges were, NOWHERE: it is not here
    size_t reference_machine;  // NOWHERE: the same
    uint64_t zero_raw_ns;  // of the reference's time, if it is not here
} fit;

static const char memory_for[] = "how clocks lie to one another";

static const mxp_timebase *base_of(const fit *self, size_t process)
{
    return self->all[process].inner->timebase;
}

// ---- machines ----------------------------------------------------------------------------------
static bool has_point(const mxp_source *source)
{
    return source->timebase->point_count > 0 && source->timebase->segment_count > 0;
}

static bool is_test(const mxp_source *source)
{
    return source->clock_bytes != 0 && (source->clock_owner->flags & MXP_CLOCK_IS_TEST) != 0;
}

static bool started_at_once(const mxp_source *a, const mxp_source *b)
{
    static const int64_t apart_ns = 1000000000;
    const mxp_clock_point *x = &a->timebase->points[0], *y = &b->timebase->points[0];
    const int64_t apart =
        (int64_t)((x->realtime_ns - x->boottime_ns) - (y->realtime_ns - y->boottime_ns));
    return apart > -apart_ns && apart < apart_ns;
}

static bool is_one_machine(const mxp_source *a, const mxp_source *b)
{
    if (is_test(a) || is_test(b) || !has_point(a) || !has_point(b)) {
        return false;
    }
    if (a->clock_bytes != 0 && b->clock_bytes != 0) {
        const char *x = a->clock_owner->boot_id, *y = b->clock_owner->boot_id;
        return x[0] != '\0' && strncmp(x, y, sizeof a->clock_owner->boot_id) == 0;
    }
    return started_at_once(a, b);
}

static void find_machines(fit *self)
{
    for (size_t i = 0; i < self->count; i++) {
        size_t first = 0;
        while (first < i && !is_one_machine(self->all[first].inner, self->all[i].inner)) {
            first++;
        }
        self->all[i].machine = first < i ? self->all[first].machine : i;
    }
}

// The process with which the others exchanged stamps: of their job, with that number.
static size_t find_reference(const fit *self)
{
    const mxp_clock_cut *cuts;
    for (size_t i = 0; i < self->count; i++) {
        const mxp_source *source = self->all[i].inner;
        const size_t count = mxp__source_cuts(source, &cuts);
        size_t ping = 0;
        while (ping < count && cuts[ping].kind != MXP_CUT_PING) {
            ping++;
        }
        if (ping == count) {
            continue;
        }
        for (size_t j = 0; j < self->count; j++) {
            const mxp_source *other = self->all[j].inner;
            if (other->clock_bytes != 0 && other->clock_owner->job == source->clock_owner->job &&
                other->clock_owner->process == cuts[ping].peer && has_point(other)) {
                return j;
            }
        }
        return NOWHERE;
    }
    return 0;  // no exchanges: the first one's clock is as good as any
}

static size_t cut_count(const fit *self, size_t process)
{
    const mxp_clock_cut *cuts;
    return mxp__source_cuts(self->all[process].inner, &cuts);
}

static void find_representatives(fit *self)
{
    for (size_t i = 0; i < self->count; i++) {
        machine *of = &self->machines[self->all[i].machine];
        if (self->all[i].machine == i || cut_count(self, i) > cut_count(self, of->representative)) {
            of->representative = i;
        }
    }
    if (self->reference != NOWHERE) {
        self->machines[self->reference_machine].representative = self->reference;
    }
    for (size_t i = 0; i < self->count; i++) {
        machine *of = &self->machines[i];
        if (self->all[i].machine == i && has_point(self->all[of->representative].inner)) {
            of->axis = mxp__axis_of(base_of(self, of->representative));
        }
    }
}

// ---- times -------------------------------------------------------------------------------------
static int64_t reference_ns(const fit *self, uint64_t raw_ns)
{
    if (self->reference == NOWHERE) {
        return (int64_t)(raw_ns - self->zero_raw_ns);
    }
    const mxp_timebase *base = base_of(self, self->reference);
    return mxp__timebase_ns(base, mxp__raw_to_ticks(base, raw_ns));
}

static uint64_t reference_raw(const fit *self, int64_t ns)
{
    if (self->reference == NOWHERE) {
        return (uint64_t)ns + self->zero_raw_ns;
    }
    const mxp_timebase *base = base_of(self, self->reference);
    return mxp__raw_of_ticks(base, mxp__timebase_ticks(base, ns));
}

// Ticks of a process as those of another one of its machine: counters are the machine's.
static uint64_t ticks_as(const fit *self, size_t process, uint64_t ticks, size_t other)
{
    const mxp_timebase *from = base_of(self, process), *to = base_of(self, other);
    return from->source == to->source ? ticks
                                      : mxp__raw_to_ticks(to, mxp__raw_of_ticks(from, ticks));
}

// Whatever a damaged file says: differences of any two do not overflow.
static int64_t time_of(const mxp_timebase *timebase, uint64_t ticks)
{
    const int64_t ns = mxp__timebase_ns(timebase, ticks);
    return ns > MXP__CUT_FAR_NS ? MXP__CUT_FAR_NS : ns < -MXP__CUT_FAR_NS ? -MXP__CUT_FAR_NS : ns;
}

// The reference's machine: its time. Others: on the machine's axis.
static int64_t machine_ns(const fit *self, size_t process, uint64_t ticks)
{
    const size_t place = self->all[process].machine;
    const machine *of = &self->machines[place];
    const uint64_t counted = ticks_as(self, process, ticks, of->representative);
    return place == self->reference_machine ? time_of(base_of(self, of->representative), counted)
                                            : mxp__axis_ns(&of->axis, counted);
}

// ---- cuts --------------------------------------------------------------------------------------
static bool is_near(int64_t ns)
{
    return ns > -MXP__CUT_FAR_NS && ns < MXP__CUT_FAR_NS;
}

static int compare_cuts(const void *a, const void *b)
{
    const mxp_cut *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int gather_exchanges(fit *self, size_t process)
{
    machine *to = &self->machines[self->all[process].machine];
    const mxp_clock_cut *cuts;
    const size_t count = mxp__source_cuts(self->all[process].inner, &cuts);
    mxp_process_clock *clock = &self->all[process].clock;
    for (size_t i = 0; i < count; i++) {
        const int64_t at_ns = mxp__axis_ns(&to->axis, cuts[i].ticks);
        const int64_t low_ns = reference_ns(self, cuts[i].low_ns);
        const int64_t high_ns = reference_ns(self, cuts[i].high_ns);
        if (cuts[i].kind != MXP_CUT_PING) {
            continue;
        }
        clock->cuts++;
        if (cuts[i].low_ns > cuts[i].high_ns || low_ns > high_ns || !is_near(at_ns / 2) ||
            !is_near(low_ns / 2) || !is_near(high_ns / 2) || !is_near(low_ns - at_ns) ||
            !is_near(high_ns - at_ns)) {
            clock->wrong_cuts++;
            continue;
        }
        if (mxp__grow(&to->exchanges, &to->exchange_capacity, to->exchange_count + 1,
                      sizeof *to->exchanges) != MXP_OK) {
            return mxp__fail_memory(memory_for);
        }
        to->exchanges[to->exchange_count++] = (mxp_cut){at_ns, low_ns - at_ns, high_ns - at_ns};
    }
    if (to->exchange_count > 0) {
        qsort(to->exchanges, to->exchange_count, sizeof *to->exchanges, compare_cuts);
    }
    return MXP_OK;
}

static int add_message(machine *to, const mxp_cut *cut)
{
    if (to->messages == NULL) {
        to->messages = mxp__alloc(MESSAGES_MAX * sizeof *to->messages);
        if (to->messages == NULL) {
            return mxp__fail_memory(memory_for);
        }
    }
    if (to->message_count == MESSAGES_MAX) {
        to->message_count = mxp__cuts_on_hull(to->messages, MESSAGES_MAX);
    }
    if (to->message_count <
        MESSAGES_MAX) {  // else all are on the hull: this one more is not worth it
        to->messages[to->message_count++] = *cut;
    }
    return MXP_OK;
}

// A message between the reference's machine and another one bounds that one's distance on one side.
static int visit_message(void *context, const mxp_message *message)
{
    fit *self = context;
    const size_t from = self->all[message->from].machine, to = self->all[message->to].machine;
    const bool is_out = from == self->reference_machine;
    if (from == to || (!is_out && to != self->reference_machine)) {
        return MXP_OK;
    }
    const int64_t sent_ns = machine_ns(self, message->from, message->sent_ticks);
    const int64_t received_ns = machine_ns(self, message->to, message->received_ticks);
    const mxp_cut cut = is_out ? (mxp_cut){received_ns, sent_ns - received_ns, MXP__CUT_NO_HIGH}
                               : (mxp_cut){sent_ns, MXP__CUT_NO_LOW, received_ns - sent_ns};
    return is_near(sent_ns - received_ns) ? add_message(&self->machines[is_out ? to : from], &cut)
                                          : MXP_OK;
}

static int gather(fit *self, bool use_messages)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < self->count; i++) {
        const machine *of = &self->machines[self->all[i].machine];
        if (of->representative == i && self->all[i].machine != self->reference_machine &&
            has_point(self->all[i].inner)) {
            error = gather_exchanges(self, i);
        }
    }
    if (error != MXP_OK || !use_messages || self->reference_machine == NOWHERE) {
        return error;
    }
    mxp_source **sources = mxp__alloc(self->count * sizeof(mxp_source *));
    if (sources == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < self->count; i++) {
        sources[i] = self->all[i].inner;
    }
    mxp_message_counts counts;
    error = mxp__messages_each(sources, self->count, visit_message, self, &counts);
    mxp__free(sources, self->count * sizeof(mxp_source *));
    return error;
}

// ---- a machine's processes ---------------------------------------------------------------------
static void time_range(const fit *self, size_t place, int64_t *from_ns, int64_t *until_ns)
{
    *from_ns = INT64_MAX, *until_ns = INT64_MIN;
    for (size_t i = place; i < self->count; i++) {
        if (self->all[i].machine == place && has_point(self->all[i].inner)) {
            const mxp_timebase *base = base_of(self, i);
            const int64_t first_ns = machine_ns(self, i, base->points[0].ticks);
            const int64_t last_ns = machine_ns(self, i, base->points[base->point_count - 1].ticks);
            *from_ns = first_ns < *from_ns ? first_ns : *from_ns;
            *until_ns = last_ns > *until_ns ? last_ns : *until_ns;
        }
    }
}

static void note_curve(const fit *self, size_t process, const mxp_clock_curve *curve)
{
    const mxp_timebase *base = base_of(self, process);
    mxp_process_clock *clock = &self->all[process].clock;
    const uint64_t first = base->points[0].ticks, last = base->points[base->point_count - 1].ticks;
    const int64_t begin_ns = machine_ns(self, process, first);
    const int64_t end_ns = machine_ns(self, process, last);
    const int64_t middle_ns = begin_ns + (end_ns - begin_ns) / 2;
    clock->known = MXP__CLOCK_BY_CUTS;
    clock->parts = curve->part_count;
    for (size_t i = 1; i < curve->part_count; i++) {
        const int64_t jump_ns = mxp__clock_curve_jump(curve, i);
        if (llabs(jump_ns) > llabs(clock->jump_ns)) {
            clock->jump_ns = jump_ns;
            clock->jump_at_ns =
                curve->parts[i].from_ns + mxp__clock_curve_ahead(curve, curve->parts[i].from_ns);
        }
    }
    const int64_t ahead_ns = mxp__clock_curve_ahead(curve, begin_ns);
    const int64_t end_ahead_ns = mxp__clock_curve_ahead(curve, end_ns);
    // Both clocks' own readings, whatever the traces' times are.
    const uint64_t first_raw = mxp__raw_of_ticks(base, first),
                   last_raw = mxp__raw_of_ticks(base, last);
    clock->ahead_ns = (int64_t)(reference_raw(self, begin_ns + ahead_ns) - first_raw);
    const int64_t last_ahead_ns = (int64_t)(reference_raw(self, end_ns + end_ahead_ns) - last_raw);
    const double rise_ns = (double)(last_ahead_ns - clock->ahead_ns);
    clock->skew_ppm = last_raw > first_raw ? rise_ns / (double)(last_raw - first_raw) * 1e6 : 0;
    clock->doubt_ns[0] = mxp__clock_curve_doubt(curve, begin_ns);
    clock->doubt_ns[1] = mxp__clock_curve_doubt(curve, middle_ns);
    clock->doubt_ns[2] = mxp__clock_curve_doubt(curve, end_ns);
}

// The other processes of a machine go with its representative, whose conversion is made.
static int follow(fit *self, size_t process, size_t leader)
{
    const mxp_timebase *base = base_of(self, process);
    mxp_timebase *own = &self->all[process].timebase;
    const mxp_timebase *led = &self->all[leader].timebase;
    if (base->source == base_of(self, leader)->source) {
        return mxp__time_like(led, base, own);
    }
    const uint64_t ticks = ticks_as(self, process, base->points[0].ticks, leader);
    return mxp__time_moved(base, time_of(led, ticks) - time_of(base, base->points[0].ticks), own);
}

static int fit_machine(fit *self, size_t place)
{
    machine *of = &self->machines[place];
    const size_t leader = of->representative;
    const bool is_reference = place == self->reference_machine;
    mxp_clock_curve curve = {0};
    int error;
    if (!is_reference && of->exchange_count > 0) {
        int64_t from_ns, until_ns;
        time_range(self, place, &from_ns, &until_ns);
        of->message_count = mxp__cuts_on_hull(of->messages, of->message_count);
        error =
            mxp__clock_curve_make(of->exchanges, of->exchange_count, of->messages,
                                  of->message_count, from_ns, until_ns, &mxp__cut_model, &curve);
        if (error == MXP_OK) {
            error = mxp__time_bent(base_of(self, leader), &of->axis, &curve,
                                   &self->all[leader].timebase);
        }
    } else {
        error = mxp__time_moved(base_of(self, leader), 0, &self->all[leader].timebase);
    }
    for (size_t i = place; error == MXP_OK && i < self->count; i++) {
        if (self->all[i].machine != place) {
            continue;
        }
        if (i != leader) {
            error = has_point(self->all[i].inner)
                        ? follow(self, i, leader)
                        : mxp__time_moved(base_of(self, i), 0, &self->all[i].timebase);
        }
        if (error == MXP_OK && curve.node_count > 0 && has_point(self->all[i].inner)) {
            note_curve(self, i, &curve);
        } else {
            self->all[i].clock.known = is_reference ? MXP__CLOCK_SAME : MXP__CLOCK_BY_WALL;
        }
    }
    mxp__clock_curve_fini(&curve);
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static void name_clock(const mxp_source *source, mxp_process_clock *clock)
{
    static const char *const roles[] = {"process", "worker", "server", "scheduler"};
    clock->pid = source->pid;
    snprintf(clock->name, sizeof clock->name, "process %u", (unsigned)source->pid);
    if (source->clock_bytes == 0) {
        return;
    }
    const mxp_clock_owner *owner = source->clock_owner;
    const size_t role = owner->role <= MXP_ROLE_SCHEDULER ? owner->role : 0;
    clock->job = owner->job;
    clock->role = (uint32_t)role;
    clock->rank = owner->rank;
    clock->is_test = is_test(source);
    snprintf(clock->name, sizeof clock->name, "%s %u (%.*s)", roles[role], owner->rank,
             (int)strnlen(owner->host, sizeof owner->host), owner->host);
}

// The earliest process begins at 0.
static void move_to_zero(fit *self)
{
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < self->count; i++) {
        const mxp_timebase *timebase = &self->all[i].timebase;
        if (has_point(self->all[i].inner)) {
            const int64_t ns = time_of(timebase, timebase->points[0].ticks);
            first_ns = ns < first_ns ? ns : first_ns;
        }
    }
    for (size_t i = 0; first_ns != INT64_MAX && i < self->count; i++) {
        mxp__time_move(&self->all[i].timebase, first_ns == INT64_MIN ? 0 : -first_ns);
        self->all[i].clock.jump_at_ns += self->all[i].clock.jump_ns != 0 ? -first_ns : 0;
    }
}

static int make_all(fit *self, bool use_messages)
{
    const mxp_clock_cut *cuts;
    find_machines(self);
    self->reference = find_reference(self);
    self->reference_machine =
        self->reference == NOWHERE ? NOWHERE : self->all[self->reference].machine;
    for (size_t i = 0; i < self->count; i++) {
        name_clock(self->all[i].inner, &self->all[i].clock);
        if (self->zero_raw_ns == 0 && mxp__source_cuts(self->all[i].inner, &cuts) > 0) {
            self->zero_raw_ns =
                cuts[0].low_ns - (uint64_t)mxp__timebase_ns(base_of(self, i), cuts[0].ticks);
        }
    }
    find_representatives(self);
    int error = gather(self, use_messages);
    for (size_t i = 0; error == MXP_OK && i < self->count; i++) {
        error = self->all[i].machine == i ? fit_machine(self, i) : MXP_OK;
        if (self->all[i].machine == self->reference_machine && has_point(self->all[i].inner)) {
            self->all[i].clock.proof = mxp__same_clock_proof(self->all[i].inner);
        }
    }
    if (error == MXP_OK) {
        move_to_zero(self);
    }
    return error;
}

int mxp__clock_fit(mxp_fit_process *all, size_t count, bool use_messages)
{
    fit self = {.all = all, .count = count, .machines = mxp__alloc(count * sizeof(machine))};
    if (self.machines == NULL) {
        return mxp__fail_memory(memory_for);
    }
    const int error = make_all(&self, use_messages);
    for (size_t i = 0; i < count; i++) {
        machine *of = &self.machines[i];
        mxp__free(of->exchanges, of->exchange_capacity * sizeof *of->exchanges);
        mxp__free(of->messages, of->messages != NULL ? MESSAGES_MAX * sizeof *of->messages : 0);
    }
    mxp__free(self.machines, count * sizeof(machine));
    return error;
}

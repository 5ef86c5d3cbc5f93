// SPDX-License-Identifier: Apache-2.0
#include "crew.h"

#include <mxprof/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static void require(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "%s: %s\n", what, mxp_last_error());
        exit(3);
    }
}

static void note(crew_member *self, truth_kind kind, const char *name, uint64_t last)
{
    if (self->crew->on) {
        truth_add(&self->burst, kind, name, 1, last);
    }
}

// ---- what a thread does ------------------------------------------------------------------------
static void nested_spans(crew_member *self, int depth)
{
    uint64_t token = mxp_span_begin(self->span);
    while (depth > 1 && random_below(&self->random, 3) != 0) {
        nested_spans(self, depth - 1);
    }
    mxp_span_end(self->span, token);
    note(self, TRUTH_SPAN, self->span_text, 0);
}

static void long_span(crew_member *self)
{
    mxp_arg arg = {.key = mxp_string("number"), .type = MXP_ARG_U64, .value.u64 = self->sequence};
    uint64_t now = mxp_ticks();
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = self->span,
                                              .begin_ticks = now,
                                              .end_ticks = now,
                                              .args = &arg,
                                              .arg_count = 1});
    note(self, TRUTH_SPAN, self->span_text, 0);
}

static void duration(crew_member *self, truth_kind kind, mxp_handle object)
{
    static const char *const words[] = {
        [TRUTH_TASK] = "task", [TRUTH_FRAME] = "frame", [TRUTH_EVENT] = "event"};
    char text[TRUTH_NAME_BYTES];
    snprintf(text, sizeof text, "%s %d", words[kind], self->number);
    require(mxp_duration_start(object) == 0, "start");
    require(mxp_duration_stop(object) == 0, "stop of a duration");
    note(self, kind, text, 0);
}

static void own_counter(crew_member *self)
{
    char text[TRUTH_NAME_BYTES];
    snprintf(text, sizeof text, "sequence %d", self->number);
    mxp_counter_u64(MXP_CLASS_USER, mxp_intern("model", text, MXP_STYLE_COUNTER, MXP_UNIT_NONE),
                    ++self->sequence);
    note(self, TRUTH_COUNTER, text, self->sequence);
}

// Its last value is known when all are through.
static void shared_counter(crew_member *self)
{
    require(mxp_counter_adjust(self->crew->shared, 1) == 0, "counter");
    __atomic_fetch_add(&self->crew->shared_value, 1, __ATOMIC_RELAXED);
    note(self, TRUTH_COUNTER, "shared", 0);
}

static void mark(crew_member *self)
{
    char text[TRUTH_NAME_BYTES];
    if (random_below(&self->random, 2) == 0) {
        snprintf(text, sizeof text, "marker %d", self->number);
        require(mxp_marker_set(self->crew->domain, text, "process") == 0, "marker");
        note(self, TRUTH_MARKER, text, 0);
    } else {
        snprintf(text, sizeof text, "instant %d", self->number);
        mxp_instant(MXP_CLASS_USER, mxp_intern("model", text, MXP_STYLE_INSTANT, MXP_UNIT_NONE),
                    MXP_INSTANT_THREAD);
        note(self, TRUTH_INSTANT, text, 0);
    }
}

static void task(crew_member *self)
{
    duration(self, TRUTH_TASK, self->task);
}

static void frame(crew_member *self)
{
    duration(self, TRUTH_FRAME, self->frame);
}

static void event(crew_member *self)
{
    duration(self, TRUTH_EVENT, self->event);
}

static void spans(crew_member *self)
{
    nested_spans(self, 4);
}

static void spans_in_scope(crew_member *self)
{
    mxp_scope_push("scope");
    nested_spans(self, 2);
    mxp_scope_pop();
}

static void act(crew_member *self)
{
    static void (*const acts[])(crew_member *) = {
        long_span,      task, frame,          event, own_counter,
        shared_counter, mark, spans_in_scope, spans, spans};
    acts[random_below(&self->random, sizeof acts / sizeof acts[0])](self);
}

// ---- spans over the end of a burst -------------------------------------------------------------
static void open_one(crew_member *self)
{
    snprintf(self->open_text, sizeof self->open_text, "open %d.%d", self->crew->round,
             self->number);
    self->open_name = mxp_span_name("model", self->open_text);
    self->token = mxp_span_begin(self->open_name);
    self->open_written = false;
    require((self->token != 0) == self->crew->on, "a span's token does not agree with the state");
}

// Taken also while paused: it was begun while recording was on.
static void close_open(crew_member *self)
{
    if (self->token == 0) {
        return;
    }
    mxp_span_end(self->open_name, self->token);
    self->token = 0;
    if (!self->open_written) {
        truth_add(&self->burst, TRUTH_SPAN, self->open_text, 1, 0);
    }
}

void crew_stopped(crew *all)
{
    for (int i = 0; i < all->size; i++) {
        crew_member *member = &all->member[i];
        if (member->token != 0 && !member->open_written) {
            member->open_written = true;
            truth_add(&all->recorded, TRUTH_SPAN, member->open_text, 1, 0);
        }
    }
}

// ---- the threads -------------------------------------------------------------------------------
static void burst(crew_member *self)
{
    snprintf(self->span_text, sizeof self->span_text, "span %d.%d", self->crew->round,
             self->number);
    self->span = mxp_span_name("model", self->span_text);
    close_open(self);
    for (uint64_t i = random_below(&self->random, (uint64_t)self->crew->most); i > 0; i--) {
        act(self);
    }
    if (self->crew->leaves_open && random_below(&self->random, 3) == 0) {
        open_one(self);
    }
}

static void *live(void *argument)
{
    crew_member *self = argument;
    for (;;) {
        pthread_barrier_wait(&self->crew->begin);
        if (self->crew->ends) {
            return NULL;
        }
        self->burst.rows = 0;
        burst(self);
        pthread_barrier_wait(&self->crew->end);
    }
}

static void make_objects(crew_member *member)
{
    char text[TRUTH_NAME_BYTES];
    snprintf(text, sizeof text, "task %d", member->number);
    require(mxp_task_create(member->crew->domain, text, &member->task) == 0, "task");
    snprintf(text, sizeof text, "frame %d", member->number);
    require(mxp_frame_create(member->crew->domain, text, &member->frame) == 0, "frame");
    snprintf(text, sizeof text, "event %d", member->number);
    require(mxp_event_create(text, &member->event) == 0, "event");
}

void crew_start(crew *all, uint64_t seed)
{
    require(mxp_domain_create("model", &all->domain) == 0, "domain");
    require(mxp_counter_create(all->domain, "shared", &all->shared) == 0, "counter");
    pthread_barrier_init(&all->begin, NULL, (unsigned)all->size + 1);
    pthread_barrier_init(&all->end, NULL, (unsigned)all->size + 1);
    for (int i = 0; i < all->size; i++) {
        crew_member *member = &all->member[i];
        member->random = seed + (uint64_t)i + 1;
        member->number = i;
        member->crew = all;
        make_objects(member);
        require(pthread_create(&member->thread, NULL, live, member) == 0, "thread");
    }
}

void crew_burst(crew *all, bool on)
{
    all->on = on;
    all->round++;
    pthread_barrier_wait(&all->begin);
}

void crew_rest(crew *all)
{
    pthread_barrier_wait(&all->end);
    for (int i = 0; i < all->size; i++) {
        truth *burst = &all->member[i].burst;
        for (int k = 0; k < burst->rows; k++) {
            if (burst->row[k].kind == TRUTH_COUNTER && strcmp(burst->row[k].name, "shared") == 0) {
                burst->row[k].last = all->shared_value;
            }
        }
        truth_add_all(&all->recorded, burst);
    }
}

void crew_end(crew *all)
{
    all->ends = true;
    pthread_barrier_wait(&all->begin);
    for (int i = 0; i < all->size; i++) {
        pthread_join(all->member[i].thread, NULL);
    }
}

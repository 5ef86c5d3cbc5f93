// SPDX-License-Identifier: Apache-2.0
// What the records of a random program's operations say: times in their order, a worker, a scope,
// the variables that the program knows they use, the bulk they belong to, the operation that let
// them go. From the records alone it follows that no two conflicting operations overlap.
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "random_program.h"

enum { STEPS = 3000 };

typedef struct seen {
    const mxp_event *event;
    const char *name;
    mxp_operator_view op;
} seen;

typedef struct fixture {
    program_result result;
    live_events live;
    seen *all;  // operators in the order of their ids
    size_t count;
    bool naive;
} fixture;

static int by_id(const void *left, const void *right)
{
    const seen *a = left, *b = right;
    return a->op.id < b->op.id ? -1 : a->op.id > b->op.id;
}

static void record(fixture *f, uint64_t seed)
{
    program_options options = {.seed = 1, .steps = 50};
    program_run(&options, &f->result);
    free(f->result.steps);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    options = (program_options){.seed = seed, .steps = STEPS};
    program_run(&options, &f->result);
    mxp__recorder_stop(1);
    f->live = live_events_take(MXP__CONSUMER_FILE);
    f->all = calloc(f->live.count, sizeof(seen));
    assert_non_null(f->all);
    f->count = 0;
    for (size_t i = 0; i < f->live.count; i++) {
        const mxp_event *event = &f->live.events[i];
        if (event->kind == MXP_KIND_OPERATOR) {
            seen *s = &f->all[f->count++];
            s->event = event;
            s->name = f->live.source->name(f->live.source, event->name).text;
            mxp__event_operator(event, &s->op);
        }
    }
    qsort(f->all, f->count, sizeof(seen), by_id);
}

static void finish(fixture *f)
{
    free(f->all);
    free(f->result.steps);
    live_events_free(&f->live);
}

static const seen *find(const fixture *f, uint32_t id)
{
    const seen key = {.op.id = id};
    return bsearch(&key, f->all, f->count, sizeof(seen), by_id);
}

static bool is_bulk(const seen *s)
{
    return (s->event->flags & MXP_OP_BULK_PARENT) != 0;
}

static bool is_engines_own(const seen *s)
{
    return is_bulk(s) || strcmp(s->name, "DeleteVariable") == 0 ||
           strcmp(s->name, "WaitForVar") == 0;
}

static uint32_t variable_of(const seen *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->op.variable_count; i++) {
        uint32_t variable = mxp__event_variable(s->event, i);
        if ((variable & ~MXP_VARIABLE_WRITTEN) == id) {
            return variable;
        }
    }
    return 0;
}

// Whether one of them must wait for the other.
static bool conflict(const seen *a, const seen *b)
{
    for (uint32_t i = 0; i < a->op.variable_count; i++) {
        uint32_t mine = mxp__event_variable(a->event, i);
        uint32_t theirs = variable_of(b, mine & ~MXP_VARIABLE_WRITTEN);
        if (theirs != 0 && ((mine | theirs) & MXP_VARIABLE_WRITTEN) != 0) {
            return true;
        }
    }
    return false;
}

// ---- one operation ----------------------------------------------------------------------------
static void check_times(const fixture *f, const seen *s)
{
    assert_true(s->op.push_ticks <= s->op.ready_ticks);
    assert_true(s->op.ready_ticks <= s->event->begin_ticks);
    assert_true(s->event->begin_ticks <= s->event->end_ticks);
    assert_true(s->op.id != 0 && s->op.device == 0);
    assert_true(s->event->thread < f->live.source->thread_count);
    assert_true(s->op.push_thread < f->live.source->thread_count);
    bool inside = s->event->thread == s->op.push_thread;
    bool may_be_inside = f->naive || strcmp(s->name, "DeleteVariable") == 0;
    assert_true(!inside || may_be_inside);
    for (uint32_t i = 0; i < s->op.variable_count; i++) {
        assert_true((mxp__event_variable(s->event, i) & ~MXP_VARIABLE_WRITTEN) != 0);
    }
}

static void check_member(const fixture *f, const seen *s)
{
    const seen *bulk = find(f, s->op.bulk_parent);
    assert_non_null(bulk);
    assert_true(is_bulk(bulk) && !is_bulk(s));
    assert_int_equal(bulk->event->thread, s->event->thread);
    assert_true(bulk->event->begin_ticks <= s->event->begin_ticks);
    assert_true(bulk->event->end_ticks >= s->event->end_ticks);
    for (uint32_t i = 0; i < s->op.variable_count; i++) {
        uint32_t variable = mxp__event_variable(s->event, i);
        uint32_t united = variable_of(bulk, variable & ~MXP_VARIABLE_WRITTEN);
        assert_true((united & variable) == variable);
    }
}

// What let it go ended at that moment, conflicts with it, and had been pushed before.
static void check_predecessor(const fixture *f, const seen *s)
{
    const seen *before = find(f, s->op.released_by);
    if (before == NULL && strcmp(s->name, "WaitForVar") == 0) {
        return;  // an operation without a name, which makes a wait wait for reads too
    }
    assert_non_null(before);
    assert_true(before->op.id < s->op.id);
    assert_true(before->event->end_ticks <= s->event->begin_ticks);
    assert_true(conflict(before, s));
    if (s->op.bulk_parent == 0 || s->op.bulk_parent != before->op.bulk_parent) {
        assert_true(before->event->end_ticks == s->op.ready_ticks);
    }
}

// It was ready when it was pushed and the last of all that it conflicts with had ended; of those
// not long before it, that is.
static void check_ready(const fixture *f, size_t at)
{
    enum { LONG_BEFORE = 150 };
    const seen *s = &f->all[at], *last = NULL;
    for (size_t i = at > LONG_BEFORE ? at - LONG_BEFORE : 0; i < at; i++) {
        const seen *before = &f->all[i];
        if ((last == NULL || before->event->end_ticks > last->event->end_ticks) &&
            before->op.id != s->op.bulk_parent && conflict(before, s)) {
            last = before;
        }
    }
    if (last == NULL || last->event->end_ticks <= s->op.push_ticks) {
        return;
    }
    assert_true(s->op.ready_ticks >= last->event->end_ticks);
    assert_true(s->op.released_by != 0);
    if (strcmp(s->name, "WaitForVar") != 0) {  // those follow operations without a name
        assert_true(s->op.ready_ticks == last->event->end_ticks);
    }
}

static void check_each(const fixture *f)
{
    size_t members = 0, released = 0;
    for (size_t i = 0; i < f->count; i++) {
        const seen *s = &f->all[i];
        check_times(f, s);
        check_ready(f, i);
        if (s->op.bulk_parent != 0) {
            check_member(f, s);
            members++;
        }
        if (s->op.released_by != 0) {
            check_predecessor(f, s);
            released++;
        }
    }
    assert_true(f->naive ? members == 0 : members > STEPS / 10);
    assert_true(f->naive || released > STEPS / 10);
}

// ---- all together -----------------------------------------------------------------------------
// What touches a variable, in the order of the pushes: writes alone, reads between the same writes
// together. Members are inside their bulk, so bulks are left out.
static void check_order(const fixture *f, uint32_t variable)
{
    uint64_t write_end = 0, reads_end = 0;
    for (size_t i = 0; i < f->count; i++) {
        const seen *s = &f->all[i];
        uint32_t found = is_bulk(s) ? 0 : variable_of(s, variable);
        if (found == 0) {
            continue;
        }
        assert_true(s->event->begin_ticks >= write_end);
        if ((found & MXP_VARIABLE_WRITTEN) != 0) {
            assert_true(s->event->begin_ticks >= reads_end);
            write_end = s->event->end_ticks;
        } else if (s->event->end_ticks > reads_end) {
            reads_end = s->event->end_ticks;
        }
    }
}

static void check_all_orders(const fixture *f)
{
    uint32_t done[256];
    size_t count = 0;
    for (size_t i = 0; i < f->count && count < 256; i++) {
        const seen *s = &f->all[i];
        uint32_t id = s->op.variable_count > 0 ? mxp__event_variable(s->event, 0) : 0;
        id &= ~MXP_VARIABLE_WRITTEN;
        size_t at = 0;
        while (at < count && done[at] != id) {
            at++;
        }
        if (at == count && id != 0) {
            done[count++] = id;
            check_order(f, id);
        }
    }
    assert_true(count > 20);
}

// One by one what the program has asked for, with the variables and the scope that it knows.
static void check_program(const fixture *f)
{
    size_t at = 0;
    for (size_t i = 0; i < f->result.step_count; i++) {
        const program_step *step = &f->result.steps[i];
        while (at < f->count && is_engines_own(&f->all[at])) {
            at++;
        }
        assert_true(at < f->count);
        const seen *s = &f->all[at++];
        assert_string_equal(s->name, step->name);
        const char *scope = f->live.source->name(f->live.source, s->op.scope).text;
        assert_string_equal(scope, step->scope != NULL ? step->scope : "");
        if (step->internal) {
            continue;
        }
        // Besides them perhaps the workspace that the operator writes.
        assert_in_range(s->op.variable_count, step->variable_count, step->variable_count + 1);
        for (uint32_t v = 0; v < step->variable_count; v++) {
            uint32_t wanted = step->variables[v];
            assert_int_equal(variable_of(s, wanted & ~MXP_VARIABLE_WRITTEN), wanted);
        }
    }
}

// ---- both engines -----------------------------------------------------------------------------
static void check(bool naive)
{
    for (uint64_t seed = 21; seed < 24; seed++) {
        fixture f = {.naive = naive};
        record(&f, seed);
        check_each(&f);
        check_all_orders(&f);
        check_program(&f);
        finish(&f);
    }
}

static void records_tell_the_truth(void **state)
{
    (void)state;
    check(false);
}

static void records_tell_the_truth_with_naive_engine(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    check(true);
    engine_use(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_tell_the_truth),
        cmocka_unit_test(records_tell_the_truth_with_naive_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// A push of a bulk template does what the same operations do that are pushed one by one.
#include <pthread.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"

enum { VARS = 4, MEMBERS = 6, ROUNDS = 1000 };

// A state that every order of steps but the right one leaves different.
typedef struct machine {
    mxn_var *vars[VARS];
    uint64_t values[VARS];
} machine;

typedef struct step {
    machine *of;
    uint32_t from, to;
    uint64_t factor;
} step;

static int run_step(const mxn_run *run, void *argument)
{
    (void)run;
    const step *at = argument;
    uint64_t *values = at->of->values;
    values[at->to] = values[at->to] * at->factor + values[at->from] + 1;
    return 0;
}

static void machine_begin(machine *of)
{
    *of = (machine){0};
    for (int i = 0; i < VARS; i++) {
        of->vars[i] = mxn_var_new();
    }
}

static void machine_end(machine *of)
{
    for (int i = 0; i < VARS; i++) {
        mxn_var_delete(of->vars[i], NULL, NULL, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
}

static const uint32_t froms[MEMBERS] = {0, 1, 2, 3, 0, 2}, tos[MEMBERS] = {1, 2, 3, 0, 2, 1};

// Lists that outlive no call: what is pushed must be copied.
static mxn_work step_work(const step *at, mxn_var **read, mxn_var **write)
{
    *read = at->of->vars[at->from];
    *write = at->of->vars[at->to];
    return (mxn_work){.function.sync = run_step,
                      .argument = (void *)at,
                      .reads = read,
                      .read_count = 1,
                      .writes = write,
                      .write_count = 1};
}

static void fill_steps(step *steps, machine *of, uint32_t round)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        steps[i] = (step){of, froms[i], tos[i], 3 + 2 * (uint64_t)round + i};
    }
}

static mxn_bulk_template *make_steps(step *steps)
{
    mxn_work works[MEMBERS];
    mxn_var *reads[MEMBERS], *writes[MEMBERS];
    mxn_bulk_template *made;
    for (int i = 0; i < MEMBERS; i++) {
        works[i] = step_work(&steps[i], &reads[i], &writes[i]);
    }
    assert_int_equal(mxn_bulk_template_make(works, MEMBERS, &made), 0);
    for (int i = 0; i < MEMBERS; i++) {
        works[i] = (mxn_work){0};
        reads[i] = writes[i] = NULL;
    }
    return made;
}

static mxn_engine_counts counts(void)
{
    mxn_engine_counts now;
    mxn_engine_counts_get(&now);
    return now;
}

static step single[ROUNDS][MEMBERS], templated[ROUNDS][MEMBERS];

static void a_thousand_pushes_leave_what_single_pushes_leave(void **state)
{
    (void)state;
    machine one, many;
    machine_begin(&one);
    machine_begin(&many);
    step own[MEMBERS];
    fill_steps(own, &many, 0);
    mxn_bulk_template *made = make_steps(own);
    const mxn_engine_counts before = counts();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        void *arguments[MEMBERS];
        fill_steps(single[round], &one, round);
        fill_steps(templated[round], &many, round);
        for (int i = 0; i < MEMBERS; i++) {
            mxn_var *read, *write;
            const mxn_work work = step_work(&single[round][i], &read, &write);
            assert_int_equal(mxn_push(&work), 0);
            arguments[i] = &templated[round][i];
        }
        assert_int_equal(mxn_bulk_template_push(made, arguments, NULL, NULL), 0);
        if (round % 100 == 99) {  // single operations in between keep their place
            engine_push(run_step, &single[round][1], one.vars[1], one.vars[2]);
            engine_push(run_step, &templated[round][1], many.vars[1], many.vars[2]);
        }
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_memory_equal(one.values, many.values, sizeof one.values);
    assert_true(many.values[0] != 0);
    const mxn_engine_counts after = counts();
    assert_int_equal(after.bulks - before.bulks, ROUNDS);
    assert_int_equal(after.executed - before.executed, 2 * MEMBERS * ROUNDS + 20);
    assert_true(after.pushed == after.completed);
    mxn_bulk_template_free(made);
    machine_end(&one);
    machine_end(&many);
}

static void without_arguments_members_have_their_own(void **state)
{
    (void)state;
    uint32_t ran = 0;
    const mxn_work work = {.function.sync = engine_add_one, .argument = &ran};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(&work, 1, &made), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(ran, 5);
    mxn_bulk_template_free(made);
    mxn_bulk_template_free(NULL);
}

static void a_variable_read_and_written_counts_as_written_once(void **state)
{
    (void)state;
    machine of;
    machine_begin(&of);
    step steps[MEMBERS];
    fill_steps(steps, &of, 0);
    mxn_bulk_template *made = make_steps(steps);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
        assert_int_equal(mxn_var_pushed_version(of.vars[2]), i);  // two members write it
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_true(mxn_var_version(of.vars[2]) == 3);
    mxn_bulk_template_free(made);
    machine_end(&of);
}

// ---- records ----------------------------------------------------------------------------------

static mxp_operator_view view_named(const live_events *live, const char *name, size_t index)
{
    mxp_operator_view view;
    const mxp_event *event = live_events_find(live, MXP_KIND_OPERATOR, name, index);
    assert_non_null(event);
    mxp__event_operator(event, &view);
    return view;
}

static mxn_bulk_template *make_named(const char *const *names, mxn_var **vars)
{
    mxn_work works[2];
    for (int i = 0; i < 2; i++) {
        works[i] = (mxn_work){.function.sync = engine_do_nothing,
                              .name = mxp_span_name("operator", names[i]),
                              .flags = i == 0 ? MXP_PHASE_BACKWARD : 0,
                              .shape = i == 0 ? mxp_string("(2,3)") : 0,
                              .reads = &vars[i],
                              .read_count = 1,
                              .writes = &vars[i + 1],
                              .write_count = 1};
    }
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(works, 2, &made), 0);
    return made;
}

static void check_members(const live_events *live, const char *const *names, size_t index)
{
    const mxp_operator_view bulk = view_named(live, "ImperativeBulk", index);
    assert_int_equal(bulk.variable_count, 3);
    const mxp_operator_view first = view_named(live, names[0], index);
    const mxp_operator_view second = view_named(live, names[1], index);
    assert_int_equal(first.bulk_parent, bulk.id);
    assert_int_equal(second.bulk_parent, bulk.id);
    assert_int_equal(second.released_by, first.id);
    assert_int_equal(first.push_thread, mxp_thread_index());
    assert_int_equal(first.shape, mxp_string("(2,3)"));
    assert_true(first.push_ticks <= bulk.push_ticks);
}

static void records_of_members_have_the_bulk_as_parent(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two"};
    machine of;
    machine_begin(&of);
    mxn_bulk_template *made = make_named(names, of.vars);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    uint32_t scopes[2];
    for (int i = 0; i < 2; i++) {
        scopes[i] = mxp_scope_push(i == 0 ? "layer1" : "layer2");
        mxn_phase_set(MXP_PHASE_FORWARD);
        assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
        mxn_phase_set(MXP_PHASE_NONE);
        mxp_scope_pop();
        assert_int_equal(mxn_wait_all(), 0);
    }
    mxp__recorder_stop(1);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, NULL), 6);
    for (size_t i = 0; i < 2; i++) {
        check_members(&live, names, i);
        assert_int_equal(view_named(&live, "two", i).scope, scopes[i]);
        const mxp_event *one = live_events_find(&live, MXP_KIND_OPERATOR, "one", i);
        const mxp_event *two = live_events_find(&live, MXP_KIND_OPERATOR, "two", i);
        assert_int_equal(one->flags & MXP_OP_PHASE_MASK, MXP_PHASE_BACKWARD);
        assert_int_equal(two->flags & MXP_OP_PHASE_MASK, MXP_PHASE_FORWARD);
    }
    live_events_free(&live);
    mxn_bulk_template_free(made);
    machine_end(&of);
}

static void a_bulk_of_a_graph_is_of_the_class_of_its_members(void **state)
{
    (void)state;
    const mxn_work work = {.function.sync = engine_do_nothing,
                           .name = mxp_span_name("operator", "symbolic"),
                           .flags = MXN_WORK_SYMBOLIC};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(&work, 1, &made), 0);
    mxp__recorder_start(MXP_CLASS_SYMBOLIC, 0);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(view_named(&live, "symbolic", 0).bulk_parent,
                     view_named(&live, "ImperativeBulk", 0).id);
    live_events_free(&live);
    mxn_bulk_template_free(made);
}

// ---- errors -----------------------------------------------------------------------------------

static int fail_if_told(const mxn_run *run, void *argument)
{
    return argument != NULL ? engine_fail(run, argument) : 0;
}

static int count_if_told(const mxn_run *run, void *argument)
{
    return argument != NULL ? engine_add_one(run, argument) : 0;
}

static void an_error_of_a_member_reaches_its_variables(void **state)
{
    (void)state;
    machine of;
    machine_begin(&of);
    mxn_var **vars = of.vars;
    const mxn_work works[] = {
        {.function.sync = fail_if_told, .writes = &vars[0], .write_count = 1},
        {.function.sync = count_if_told,
         .reads = &vars[0],
         .read_count = 1,
         .writes = &vars[1],
         .write_count = 1},
        {.function.sync = count_if_told, .writes = &vars[2], .write_count = 1}};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(works, 3, &made), 0);
    uint32_t dependent = 0, independent = 0;
    void *failing[] = {"member", &dependent, &independent};
    assert_int_equal(mxn_bulk_template_push(made, failing, NULL, NULL), 0);
    assert_int_equal(mxn_var_wait(vars[2]), 0);
    assert_int_equal(mxn_var_wait(vars[1]), MXP_EVALUE);
    assert_string_equal(mxp_last_error(), "member");
    assert_int_equal(dependent, 0);
    assert_int_equal(independent, 1);
    void *right[] = {NULL, &dependent, &independent};
    assert_int_equal(mxn_bulk_template_push(made, right, NULL, NULL), 0);
    assert_int_equal(mxn_wait_all(), 0);
    assert_int_equal(dependent, 1);
    assert_int_equal(independent, 2);
    mxn_bulk_template_free(made);
    machine_end(&of);
}

// ---- other pushes -----------------------------------------------------------------------------

static void what_a_thread_has_collected_goes_first(void **state)
{
    (void)state;
    machine one, many;
    machine_begin(&one);
    machine_begin(&many);
    step first[MEMBERS], steps[MEMBERS];
    fill_steps(first, &one, 7);
    fill_steps(steps, &many, 7);
    mxn_bulk_template *made = make_steps(steps);
    mxn_bulk_size_set(100);
    engine_push(run_step, &steps[4], many.vars[0], many.vars[2]);
    assert_int_equal(mxn_bulk_template_push(made, NULL, NULL, NULL), 0);
    mxn_bulk_size_set(0);
    engine_push(run_step, &first[4], one.vars[0], one.vars[2]);
    for (int i = 0; i < MEMBERS; i++) {
        mxn_var *read, *write;
        const mxn_work work = step_work(&first[i], &read, &write);
        assert_int_equal(mxn_push(&work), 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
    assert_memory_equal(one.values, many.values, sizeof one.values);
    mxn_bulk_template_free(made);
    machine_end(&one);
    machine_end(&many);
}

static int add_plain(const mxn_run *run, void *counter)
{
    (void)run;
    ++*(uint32_t *)counter;  // two at once would be a race
    return 0;
}

static void *push_a_thousand(void *made)
{
    for (int i = 0; i < ROUNDS; i++) {
        if (mxn_bulk_template_push(made, NULL, NULL, NULL) != 0) {
            return made;
        }
    }
    return NULL;
}

static void threads_push_one_template_side_by_side(void **state)
{
    enum { THREADS = 4 };
    (void)state;
    mxn_var *var = mxn_var_new();
    uint32_t ran = 0;
    const mxn_work work = {
        .function.sync = add_plain, .argument = &ran, .writes = &var, .write_count = 1};
    const mxn_work works[] = {work, work};
    mxn_bulk_template *made;
    assert_int_equal(mxn_bulk_template_make(works, 2, &made), 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, push_a_thousand, made), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    mxn_bulk_template_free(made);
    assert_int_equal(mxn_var_wait(var), 0);
    assert_int_equal(ran, 2 * THREADS * ROUNDS);
    mxn_var_delete(var, NULL, NULL, 0);
    assert_int_equal(mxn_wait_all(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_pushes_leave_what_single_pushes_leave),
        cmocka_unit_test(without_arguments_members_have_their_own),
        cmocka_unit_test(a_variable_read_and_written_counts_as_written_once),
        cmocka_unit_test(records_of_members_have_the_bulk_as_parent),
        cmocka_unit_test(a_bulk_of_a_graph_is_of_the_class_of_its_members),
        cmocka_unit_test(an_error_of_a_member_reaches_its_variables),
        cmocka_unit_test(what_a_thread_has_collected_goes_first),
        cmocka_unit_test(threads_push_one_template_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

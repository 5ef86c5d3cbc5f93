// SPDX-License-Identifier: Apache-2.0
// Causes of steps that are put together by hand, so that what each one gains is known to the
// nanosecond: a thread of the program, workers, and one thing that is wrong.
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/analysis/causes/verdict.h"

enum { STEPS = 30, US = 1000 };

// A program that is written record by record; times in ns, one tick each.
typedef struct fixture {
    mxp_source *source;
    uint32_t program, worker, other_worker;
    uint32_t call, next_batch, wait_name, names[6], scopes[6];
    uint32_t next_id;
    uint64_t at;  // where the program is
    uint64_t free_at;  // the worker
    uint32_t last_id;  // the operator that ended last
    float flops;  // of the operators that come
    const mxp_ceilings *ceilings;
} fixture;

static void begin(fixture *of)
{
    static const char *const names[] = {"conv", "dense", "relu", "pool", "add", "zeros"};
    *of = (fixture){.source = fake_source_create(), .next_id = 1, .at = 1000, .free_at = 1000};
    of->program = fake_thread(of->source, "python");
    of->worker = fake_thread(of->source, "compute worker");
    of->other_worker = fake_thread(of->source, "light worker");
    of->call = fake_span_name(of->source, "MXNET_C_API", "MXImperativeInvoke");
    of->next_batch = fake_span_name(of->source, "input", "next batch");
    of->wait_name = fake_span_name(of->source, "", "WaitForVar");
    const uint32_t net = fake_scope(of->source, 0, "net");
    for (size_t i = 0; i < 6; i++) {
        of->names[i] = fake_span_name(of->source, "operator", names[i]);
        of->scopes[i] = fake_scope(of->source, net, names[i]);
    }
}

static void mark(fixture *of, uint64_t number)
{
    fake_meta(of->source, of->program, MXP_META_STEP, 0, of->at, number);
}

static void load(fixture *of, uint64_t ns)
{
    fake_span(of->source, of->program, of->next_batch, of->at, of->at + ns);
    of->at += ns;
}

// A push by a call of `push_ns`; the operator runs as soon as the worker has nothing else.
static void push(fixture *of, size_t layer, uint64_t push_ns, uint64_t run_ns, uint32_t variable)
{
    const uint64_t pushed = of->at;
    const uint32_t uses[] = {variable | MXP_VARIABLE_WRITTEN};
    fake_span(of->source, of->program, of->call, of->at, of->at + push_ns);
    of->at += push_ns;
    const uint64_t start = of->free_at > pushed ? of->free_at : pushed;
    of->free_at = start + run_ns;
    of->last_id = of->next_id++;
    fake_operator(of->source, of->worker,
                  &(mxp_operator){.name = of->names[layer],
                                  .scope = of->scopes[layer],
                                  .id = of->last_id,
                                  .push_ticks = pushed,
                                  .ready_ticks = pushed,
                                  .start_ticks = start,
                                  .end_ticks = of->free_at,
                                  .push_thread = of->program,
                                  .flops = of->flops,
                                  .variable_count = 1,
                                  .variables = uses});
}

static void wait(fixture *of)
{
    const uint64_t begin_ns = of->at;
    of->at = of->free_at > of->at ? of->free_at : of->at;
    fake_wait(of->source, of->program,
              &(fake_wait_record){.begin_ticks = begin_ns,
                                  .end_ticks = of->at,
                                  .name = of->wait_name,
                                  .ended_by = of->last_id,
                                  .what = MXP_WAIT_WRITTEN,
                                  .flags = of->at > begin_ns ? MXP_WAIT_BLOCKED : 0});
}

// The verdict on what was chosen of all that was written. The fixture is over.
static void judge_part(fixture *of, const mxp_choice_wish *wish,
                       void (*check)(const mxp_facts *, const mxp_verdict *))
{
    mxp_steps steps;
    mxp_choice choice;
    mxp_facts facts;
    mxp_verdict verdict;
    mark(of, STEPS);
    assert_int_equal(mxp__steps_find(of->source, &steps), MXP_OK);
    assert_int_equal(mxp__choice_make(&steps, wish, &choice), MXP_OK);
    assert_int_equal(
        mxp__facts_make(of->source, &steps, &choice, MXP__GRAPH_BYTES_MAX, NULL, &facts), MXP_OK);
    facts.ceilings = of->ceilings;
    assert_int_equal(mxp__verdict_make(&facts, MXP__GRAPH_BYTES_MAX, &verdict), MXP_OK);
    check(&facts, &verdict);
    mxp__verdict_fini(&verdict);
    mxp__facts_fini(&facts);
    mxp__choice_fini(&choice);
    mxp__steps_fini(&steps);
    mxp__source_close(of->source);
}

static void judge(fixture *of, void (*check)(const mxp_facts *, const mxp_verdict *))
{
    judge_part(of, &(mxp_choice_wish){0}, check);
}

static const mxp_cause *nth(const mxp_verdict *verdict, size_t n, mxp_cause_id id)
{
    assert_true(verdict->told > n);
    assert_string_equal(mxp__cause_name(verdict->causes.all[n].id), mxp__cause_name(id));
    assert_true(verdict->causes.all[n].is_told);
    return &verdict->causes.all[n];
}

static void five_layers(fixture *of, uint64_t ns)
{
    for (size_t layer = 0; layer < 5; layer++) {
        push(of, layer, 100, ns / 5, (uint32_t)layer + 1);
    }
}

// ---- nothing -----------------------------------------------------------------------------------
static void check_nothing(const mxp_facts *facts, const mxp_verdict *verdict)
{
    assert_int_equal(facts->count, STEPS);
    assert_int_equal(verdict->told, 0);
    assert_int_equal(verdict->replay, MXP_REMEDIES_EXACT);
    assert_true(verdict->noise_ns >= 0.01 * verdict->mean_ns);
    assert_false(verdict->is_noisy);
}

static void even_layers_that_run_ahead_have_no_cause(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        five_layers(&of, 100 * US);
    }
    wait(&of);
    judge(&of, check_nothing);
}

// ---- input -------------------------------------------------------------------------------------
static void check_input(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *input = nth(verdict, 0, MXP_CAUSE_INPUT);
    assert_int_equal(input->steps, STEPS);
    assert_string_equal(facts->process->name(facts->process, input->places[0].name).text,
                        "next batch");
    assert_false(input->waits_for_workers);
    // 40 us to load beside 60 us of work: a step takes as long as the work, but for the first.
    assert_true(input->gain_ns > 38 * US && input->gain_ns <= 40 * US);
    assert_int_equal(input->gain, MXP_GAIN_REPLAY);
    // What the wait gains besides is what is left after it: not again the time of the input.
    for (size_t i = 1; i < verdict->told; i++) {
        assert_true(verdict->causes.all[i].gain_ns < 3 * US);
    }
}

static void slow_input_comes_before_the_wait_that_it_makes_costly(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        load(&of, 40 * US);
        five_layers(&of, 60 * US);
        wait(&of);
    }
    judge(&of, check_input);
}

static void check_workers(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *input = nth(verdict, 0, MXP_CAUSE_INPUT);
    (void)facts;
    assert_true(input->waits_for_workers);
    assert_int_equal(input->gain, MXP_GAIN_PATH);
    assert_int_equal((int)(input->gain_ns + 0.5), 40 * US);
}

// They are beside the program already: what is gained by faster ones no replay knows.
static void workers_of_the_loader_that_are_slow_are_told_as_such(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        fake_wait(of.source, of.program,
                  &(fake_wait_record){.begin_ticks = of.at + US,
                                      .end_ticks = of.at + 39 * US,
                                      .name = of.next_batch,
                                      .what = MXP_WAIT_INPUT,
                                      .flags = MXP_WAIT_BLOCKED | MXP_WAIT_SLEPT});
        load(&of, 40 * US);
        five_layers(&of, 60 * US);
        wait(&of);
    }
    judge(&of, check_workers);
}

// ---- waits -------------------------------------------------------------------------------------
static void check_wait(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *wait = nth(verdict, 0, MXP_CAUSE_WAIT);
    (void)facts;
    assert_true(wait->is_upper_bound);
    assert_int_equal((int)(wait->count + 0.5), 1);
    // 30 us of Python beside 70 us of work.
    assert_true(wait->gain_ns > 28 * US && wait->gain_ns < 31 * US);
}

static void a_wait_that_keeps_the_program_from_running_ahead_is_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        of.at += 30 * US;
        five_layers(&of, 70 * US);
        wait(&of);
    }
    judge(&of, check_wait);
}

static void check_last_call(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *wait = nth(verdict, 0, MXP_CAUSE_WAIT);
    const mxp_name_view name = facts->process->name(facts->process, wait->places[0].name);
    assert_string_equal(name.text, "the longest");
}

// Four others wait before it in the first steps.
static void of_many_calls_that_wait_the_longest_is_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    uint32_t calls[5];
    static const char *const names[] = {"a", "b", "c", "d", "the longest"};
    for (size_t i = 0; i < 5; i++) {
        calls[i] = fake_span_name(of.source, "", names[i]);
    }
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        for (size_t j = 0; j < 4 && i < 2; j++) {
            of.wait_name = calls[j];
            push(&of, 5, 10, 100, 99);
            wait(&of);
        }
        of.at += 30 * US;
        five_layers(&of, 70 * US);
        of.wait_name = calls[4];
        wait(&of);
    }
    judge(&of, check_last_call);
}

// ---- a layer -----------------------------------------------------------------------------------
static void check_layer(const mxp_facts *facts, const mxp_verdict *verdict)
{
    size_t length;
    const mxp_cause *layer = nth(verdict, 0, MXP_CAUSE_LAYER);
    assert_string_equal(mxp__scope_tree_path(&facts->scopes, layer->layer, &length), "net/dense");
    assert_true(layer->share > 0.69 && layer->share < 0.71);
    assert_true(layer->gain_ns > 34 * US && layer->gain_ns < 36 * US);
    assert_int_equal(verdict->told, 1);
}

static void a_layer_above_all_others_together_is_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        push(&of, 0, 100, 30 * US, 1);
        push(&of, 1, 100, 70 * US, 2);
    }
    wait(&of);
    judge(&of, check_layer);
}

// Half of the path is not surely more than half.
static void check_half(const mxp_facts *facts, const mxp_verdict *verdict)
{
    (void)facts;
    assert_int_equal(verdict->told, 0);
}

static void a_layer_of_half_is_not_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        push(&of, 0, 100, (i % 2 == 0 ? 60 : 40) * US, 1);
        push(&of, 1, 100, (i % 2 == 0 ? 40 : 60) * US, 2);
    }
    wait(&of);
    judge(&of, check_half);
}

// ---- a roof ------------------------------------------------------------------------------------
static const mxp_ceilings ceilings = {.machine = {.cores = 2},
                                      .one = {[MXP__CEILING_F32] = {.rate = 1e9}},
                                      .all = {[MXP__CEILING_F32] = {.rate = 1e9}}};

static void check_roof(const mxp_facts *facts, const mxp_verdict *verdict)
{
    size_t length;
    const mxp_cause *layer = nth(verdict, 0, MXP_CAUSE_LAYER);
    assert_string_equal(mxp__scope_tree_path(&facts->scopes, layer->layer, &length), "net/dense");
    assert_false(layer->is_most);
    assert_float_equal(layer->roof, 0.25, 1e-6);  // 10,000 at 1e9 a second, in 40 us
    assert_true(layer->gain_ns > 29 * US && layer->gain_ns < 31 * US);
}

static void with_ceilings_the_layer_with_most_time_above_its_roof_is_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    of.ceilings = &ceilings;
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        of.flops = 58000;
        push(&of, 0, 100, 60 * US, 1);
        of.flops = 10000;
        push(&of, 1, 100, 40 * US, 2);
        of.flops = 19000;
        push(&of, 2, 100, 20 * US, 3);
    }
    wait(&of);
    judge(&of, check_roof);
}

// What is beside the roof is what the program does, and not what it uses.
static void check_roof_last(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *input = nth(verdict, 0, MXP_CAUSE_INPUT);
    const mxp_cause *layer = nth(verdict, verdict->told - 1, MXP_CAUSE_LAYER);
    (void)facts;
    assert_false(layer->is_most);
    assert_true(layer->gain_ns > input->gain_ns);
}

static void a_layer_above_its_roof_comes_behind_what_is_on_the_path(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    of.ceilings = &ceilings;
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        load(&of, 20 * US);
        of.flops = 4000;
        push(&of, 1, 100, 40 * US, 1);
        of.flops = 39000;
        push(&of, 0, 100, 40 * US, 2);
        wait(&of);
    }
    judge(&of, check_roof_last);
}

// ---- tiny operators ----------------------------------------------------------------------------
static void check_tiny(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *tiny = nth(verdict, 0, MXP_CAUSE_TINY);
    (void)facts;
    assert_int_equal((int)tiny->count, 20);
    assert_int_equal((int)tiny->each_ns, 2 * US);
    assert_int_equal((int)tiny->run_ns, 100);
    // Seven of eight pushes, as far as they are on the path.
    assert_true(tiny->gain_ns > 30 * US && tiny->gain_ns <= 35 * US);
}

static void operators_shorter_than_their_push_are_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        for (size_t j = 0; j < 20; j++) {
            push(&of, j % 5, 2 * US, 100, (uint32_t)(j % 5) + 1);
        }
        wait(&of);
    }
    judge(&of, check_tiny);
}

// ---- recording ---------------------------------------------------------------------------------
static void check_recording(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *recording = nth(verdict, 0, MXP_CAUSE_RECORDING);
    (void)facts;
    // A mark, 100 spans and 5 calls with their operators; 100 ns each.
    assert_int_equal((int)(recording->count + 0.5), 111);
    assert_true(recording->gain_ns > 11.0 * US && recording->gain_ns < 11.2 * US);
    assert_int_equal(recording->most_records_kind, MXP_KIND_SPAN);
}

static void records_at_their_cost_are_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    fake_info(of.source, "record_cost_ns", "100");
    const uint32_t mine = fake_span_name(of.source, "", "mine");
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        for (size_t j = 0; j < 100; j++) {
            fake_span(of.source, of.program, mine, of.at, of.at + 10);
            of.at += 20;
        }
        five_layers(&of, 50 * US);
    }
    wait(&of);
    judge(&of, check_recording);
}

// ---- first runs --------------------------------------------------------------------------------
static void check_first(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *first = nth(verdict, 0, MXP_CAUSE_FIRST_RUN);
    assert_int_equal(facts->count, STEPS - 3);
    assert_int_equal(first->first_steps, 3);
    assert_true(first->is_left_out && first->left_ns == verdict->mean_ns);
    // Three steps of 500 us instead of 100, spread over all.
    assert_true(first->gain_ns > 1150.0 * US / STEPS && first->gain_ns < 1250.0 * US / STEPS);
}

static void slow_first_steps_are_told_though_they_are_left_out(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        five_layers(&of, (i < 3 ? 500 : 100) * US);
        wait(&of);
    }
    judge(&of, check_first);
}

static void check_later(const mxp_facts *facts, const mxp_verdict *verdict)
{
    assert_int_equal(facts->count, STEPS - 5);
    for (size_t i = 0; i < verdict->causes.count; i++) {
        assert_int_not_equal(verdict->causes.all[i].id, MXP_CAUSE_FIRST_RUN);
    }
}

static void first_runs_before_what_was_chosen_are_no_cause_of_it(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        five_layers(&of, (i < 3 ? 500 : 100) * US);
        wait(&of);
    }
    judge_part(&of, &(mxp_choice_wish){.steps = MXP_STEPS_RANGE, .first = 5, .last = STEPS - 1},
               check_later);
}

// ---- a chain -----------------------------------------------------------------------------------
static void check_chain(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *chain = nth(verdict, 0, MXP_CAUSE_CHAIN);
    assert_int_equal(verdict->told, 1);
    assert_int_equal(facts->workers, 2);
    assert_int_equal(chain->gain, MXP_GAIN_NONE);
    assert_true(chain->share > 0.97 && chain->width < 1.01);
    assert_int_equal(chain->place_count, MXP_CAUSE_PLACES);
    assert_int_equal(facts->at[3].dependent_ns, 100 * US);
}

// Operators that all write one variable, on two workers in turn.
static void push_link(fixture *of, size_t layer, uint64_t run_ns)
{
    const uint64_t pushed = of->at;
    const uint32_t uses[] = {1 | MXP_VARIABLE_WRITTEN};
    const uint32_t before = of->last_id;
    fake_span(of->source, of->program, of->call, of->at, of->at + 100);
    of->at += 100;
    const uint64_t start = of->free_at > pushed ? of->free_at : pushed;
    const bool is_released = of->free_at > pushed;
    of->last_id = of->next_id++;
    fake_operator(of->source, layer % 2 == 0 ? of->worker : of->other_worker,
                  &(mxp_operator){.name = of->names[layer],
                                  .scope = of->scopes[layer],
                                  .id = of->last_id,
                                  .released_by = is_released ? before : 0,
                                  .push_ticks = pushed,
                                  .ready_ticks = start,
                                  .start_ticks = start,
                                  .end_ticks = start + run_ns,
                                  .push_thread = of->program,
                                  .variable_count = 1,
                                  .variables = uses});
    of->free_at = start + run_ns;
}

// The other worker never had one: there are two all the same, as the engine says.
static void a_chain_on_one_of_several_workers_is_one(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    of.other_worker = of.worker;
    fake_info(of.source, "engine.workers", "1");
    fake_info(of.source, "engine.light", "1");
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        for (size_t layer = 0; layer < 5; layer++) {
            push_link(&of, layer, 20 * US);
        }
    }
    wait(&of);
    judge(&of, check_chain);
}

static void operators_that_need_one_another_are_a_chain(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        for (size_t layer = 0; layer < 5; layer++) {
            push_link(&of, layer, 20 * US);
        }
    }
    wait(&of);
    judge(&of, check_chain);
}

// ---- memory ------------------------------------------------------------------------------------
static void allocate(fixture *of, uint32_t thread, uint64_t at, uint64_t bytes, uint64_t *live,
                     uint32_t flags)
{
    *live += bytes;
    fake_memory(of->source, thread, at,
                &(mxp_memory){.name = of->names[5],
                              .scope = of->scopes[5],
                              .block = *live,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes,
                              .live_bytes = *live});
}

static void check_growth(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *growth = nth(verdict, 0, MXP_CAUSE_GROWTH);
    assert_int_equal(verdict->told, 1);
    assert_int_equal(growth->gain, MXP_GAIN_NONE);
    assert_int_equal((int)(growth->bytes + 0.5), 4000);
    assert_string_equal(facts->process->name(facts->process, growth->places[0].name).text, "zeros");
}

static void memory_that_grows_is_told_and_is_no_time(void **state)
{
    (void)state;
    fixture of;
    uint64_t live = 0;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        allocate(&of, of.program, of.at + 1, 4000, &live, MXP_MEM_REUSED);
        five_layers(&of, 100 * US);
        wait(&of);
    }
    judge(&of, check_growth);
}

static void check_allocation(const mxp_facts *facts, const mxp_verdict *verdict)
{
    const mxp_cause *allocation = nth(verdict, 0, MXP_CAUSE_ALLOCATION);
    (void)facts;
    assert_int_equal(allocation->steps, STEPS);
    assert_int_equal((int)(allocation->blocks + 0.5), 1);
    assert_int_equal((int)(allocation->bytes + 0.5), 1000);
    // 40 us where the same takes 10 us on memory of the pool.
    assert_int_equal((int)(allocation->gain_ns + 0.5), 30 * US);
}

static void pages_that_are_new_in_every_step_are_told(void **state)
{
    (void)state;
    fixture of;
    uint64_t live = 0;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        of.free_at = of.free_at > of.at ? of.free_at : of.at;
        allocate(&of, of.worker, of.free_at + 1, 1000, &live, MXP_MEM_REUSED);
        push(&of, 5, 100, 10 * US, 6);
        allocate(&of, of.worker, of.free_at + 1, 1000, &live, 0);
        push(&of, 5, 100, 40 * US, 7);
        push(&of, 0, 100, 30 * US, 1);
        push(&of, 1, 100, 30 * US, 2);
    }
    wait(&of);
    judge(&of, check_allocation);
}

// ---- what cannot be said -----------------------------------------------------------------------
static void check_few(const mxp_facts *facts, const mxp_verdict *verdict)
{
    (void)facts;
    assert_false(verdict->has_noise);
    assert_int_equal(verdict->told, 0);
}

static void of_few_steps_no_cause_is_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < MXP_VERDICT_STEPS_MIN - 1; i++) {
        mark(&of, i);
        load(&of, 90 * US);
        five_layers(&of, 10 * US);
        wait(&of);
    }
    judge(&of, check_few);
}

static void check_noisy(const mxp_facts *facts, const mxp_verdict *verdict)
{
    (void)facts;
    assert_true(verdict->is_noisy);
    assert_int_equal(verdict->told, 0);
}

// Input of 12 us in steps of 10 to 2000 us.
static void what_is_below_the_noise_is_not_told(void **state)
{
    (void)state;
    fixture of;
    begin(&of);
    for (uint64_t i = 0; i < STEPS; i++) {
        mark(&of, i);
        load(&of, 12 * US);
        five_layers(&of, (i * 7919 % 13 == 0 ? 2000 : 10) * US);
        wait(&of);
    }
    judge(&of, check_noisy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(even_layers_that_run_ahead_have_no_cause),
        cmocka_unit_test(slow_input_comes_before_the_wait_that_it_makes_costly),
        cmocka_unit_test(workers_of_the_loader_that_are_slow_are_told_as_such),
        cmocka_unit_test(a_wait_that_keeps_the_program_from_running_ahead_is_told),
        cmocka_unit_test(of_many_calls_that_wait_the_longest_is_told),
        cmocka_unit_test(a_layer_above_all_others_together_is_told),
        cmocka_unit_test(a_layer_of_half_is_not_told),
        cmocka_unit_test(with_ceilings_the_layer_with_most_time_above_its_roof_is_told),
        cmocka_unit_test(a_layer_above_its_roof_comes_behind_what_is_on_the_path),
        cmocka_unit_test(operators_shorter_than_their_push_are_told),
        cmocka_unit_test(records_at_their_cost_are_told),
        cmocka_unit_test(slow_first_steps_are_told_though_they_are_left_out),
        cmocka_unit_test(first_runs_before_what_was_chosen_are_no_cause_of_it),
        cmocka_unit_test(operators_that_need_one_another_are_a_chain),
        cmocka_unit_test(a_chain_on_one_of_several_workers_is_one),
        cmocka_unit_test(memory_that_grows_is_told_and_is_no_time),
        cmocka_unit_test(pages_that_are_new_in_every_step_are_told),
        cmocka_unit_test(of_few_steps_no_cause_is_told),
        cmocka_unit_test(what_is_below_the_noise_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Resources: the start that is seen once, workspaces in turn and with their thread, generators that
// follow the seed in the order of the operations, Philox against its published vectors.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/tensor/resource.h"

static const mxn_context cpu = {MXN_CPU, 0};

static mxn_storage_counts counts_of(uint32_t device)
{
    mxn_storage_counts counts;
    mxn_storage_counts_get(device, &counts);
    return counts;
}

// Runs `function` in an operation that writes `var`, a resource's, which keeps no error, and waits.
static int run_on(mxn_var *var, int (*function)(const mxn_run *run, void *argument), void *argument)
{
    const mxn_work work = {
        .function.sync = function, .argument = argument, .writes = &var, .write_count = 1};
    int error = mxn_push(&work);
    return error == MXP_OK ? mxn_wait_all() : error;
}

// ---- start ------------------------------------------------------------------------------------
static size_t operators_recorded(const char *name)
{
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    size_t count = live_events_count(&live, MXP_KIND_OPERATOR, name);
    live_events_free(&live);
    return count;
}

static void *request_workspace(void *argument)
{
    (void)argument;
    mxn_workspace *workspace;
    return (void *)(intptr_t)mxn_workspace_get(cpu, &workspace);
}

static void the_first_request_of_all_threads_seeds_once(void **state)
{
    (void)state;
    setenv("MXNET_CPU_PARALLEL_RAND_COPY", "x", 1);
    mxn_workspace *workspace;
    assert_int_equal(mxn_workspace_get(cpu, &workspace), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "MXNET_CPU_PARALLEL_RAND_COPY='x'"));
    setenv("MXNET_CPU_PARALLEL_RAND_COPY", "2", 1);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *error;
        pthread_create(&thread, NULL, request_workspace, NULL);
        pthread_join(thread, &error);
        assert_null(error);
    }
    assert_int_equal(mxn_wait_all(), MXP_OK);
    assert_int_equal(operators_recorded("ResourceParallelRandomSetSeed"), 2);
}

// ---- workspaces
// -----------------------------------------------------------------------------------
typedef struct take_job {
    mxn_workspace *workspace;
    uint64_t bytes;
    void *data;
} take_job;

static int run_take(const mxn_run *run, void *argument)
{
    (void)run;
    take_job *job = argument;
    int error = mxn_workspace_take(job->workspace, job->bytes, mxp_string("temp_space (a.c +1)"),
                                   &job->data);
    if (error == MXP_OK && job->data != NULL) {
        memset(job->data, 0x11, job->bytes);
    }
    return error;
}

static void *take(mxn_workspace *workspace, uint64_t bytes)
{
    take_job job = {workspace, bytes, NULL};
    assert_int_equal(run_on(mxn_workspace_var(workspace), run_take, &job), MXP_OK);
    return job.data;
}

static void spaces_are_given_in_turn(void **state)
{
    (void)state;
    mxn_workspace *workspaces[9];
    for (int i = 0; i < 9; i++) {
        assert_int_equal(mxn_workspace_get(cpu, &workspaces[i]), MXP_OK);
    }
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(workspaces[i], workspaces[i + 4]);
        for (int k = 0; k < i; k++) {
            assert_ptr_not_equal(workspaces[i], workspaces[k]);
        }
    }
    assert_ptr_equal(workspaces[8], workspaces[0]);
    mxn_workspace *other;
    assert_int_equal(mxn_workspace_get((mxn_context){MXN_CPU, 2}, &other), MXP_OK);
    assert_ptr_not_equal(other, workspaces[1]);
    assert_int_equal(mxn_workspace_get((mxn_context){MXN_GPU, 0}, &other), MXP_EINVAL);
}

static void a_workspace_grows(void **state)
{
    (void)state;
    const mxn_context context = {MXN_CPU, 5};
    mxn_workspace *workspace;
    assert_int_equal(mxn_workspace_get(context, &workspace), MXP_OK);
    assert_null(take(workspace, 0));
    assert_int_equal(counts_of(5).allocations, 0);
    void *data = take(workspace, 1000);
    assert_int_equal((uintptr_t)data % MXN_ALIGNMENT, 0);
    assert_ptr_equal(take(workspace, 4096), data);  // all of the page is there
    assert_int_equal(counts_of(5).allocations, 1);
    assert_non_null(take(workspace, 4097));
    mxn_storage_counts counts = counts_of(5);
    assert_int_equal(counts.allocations, 2);
    assert_int_equal(counts.frees, 1);
    assert_int_equal(counts.live_bytes, 4097);
    assert_int_equal(counts.held_bytes, 8192);
    assert_non_null(take(workspace, 10));
    assert_int_equal(counts_of(5).allocations, 2);
    mxn_owner owner;
    assert_int_equal(mxn_storage_owners(5, &owner, 1), 1);
    assert_string_equal(mxp_name_text(owner.scope), "resource:");
    assert_string_equal(mxp_name_text(owner.name), "temp_space (a.c +1)");
    take_job job = {workspace, UINT64_C(1) << 60, NULL};
    assert_int_equal(run_on(mxn_workspace_var(workspace), run_take, &job), MXP_ENOMEM);
    assert_non_null(take(workspace, 10));
}

static void a_large_workspace_shrinks_when_little_is_asked_for_in_a_long_time(void **state)
{
    (void)state;
    enum { LARGE = 64 << 20, MEDIUM = 16 << 20, SMALL = 1000, OFTEN = 1000 };
    const mxn_context context = {MXN_CPU, 6};
    mxn_workspace *workspace;
    assert_int_equal(mxn_workspace_get(context, &workspace), MXP_OK);
    assert_non_null(take(workspace, LARGE));
    for (int i = 0; i < OFTEN - 1; i++) {
        assert_non_null(take(workspace, SMALL));
    }
    assert_int_equal(counts_of(6).held_bytes, LARGE);
    assert_non_null(take(workspace, MEDIUM));  // not small: the count begins anew
    for (int i = 0; i < OFTEN - 1; i++) {
        assert_non_null(take(workspace, SMALL));
    }
    assert_int_equal(counts_of(6).held_bytes, LARGE);
    assert_non_null(take(workspace, SMALL));
    assert_int_equal(counts_of(6).held_bytes, 4096);
    for (int i = 0; i < 2 * OFTEN; i++) {
        assert_non_null(take(workspace, 10));
    }
    assert_int_equal(counts_of(6).allocations, 2);
}

static void *use_workspace(void *argument)
{
    (void)argument;
    mxn_workspace *workspace;
    take_job *job = calloc(1, sizeof *job);
    if (mxn_workspace_get((mxn_context){MXN_CPU, 7}, &workspace) != MXP_OK) {
        return "no workspace";
    }
    job->workspace = workspace;
    job->bytes = 5000;
    mxn_var *var = mxn_workspace_var(workspace);
    // The thread ends without waiting: the operation keeps what it needs.
    return mxn_push(&(mxn_work){.function.sync = run_take,
                                .argument = job,
                                .deleter = free,
                                .writes = &var,
                                .write_count = 1}) == MXP_OK
               ? NULL
               : "push failed";
}

static void spaces_go_with_their_thread(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *problem;
        pthread_create(&thread, NULL, use_workspace, NULL);
        pthread_join(thread, &problem);
        assert_null(problem);
    }
    assert_int_equal(mxn_wait_all(), MXP_OK);
    assert_int_equal(counts_of(7).allocations, 20);
    assert_int_equal(counts_of(7).live_bytes, 0);
}

// ---- random numbers ---------------------------------------------------------------------------
// From the paper's own test vectors (kat_vectors of Random123), where the upper half is zero.
static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    uint32_t numbers[4];
    mxn_random_block(0, 0, numbers);
    const uint32_t expected[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    assert_memory_equal(numbers, expected, sizeof expected);
}

typedef struct draw_job {
    mxn_random *random;
    uint32_t numbers[8];
} draw_job;

static int run_draw(const mxn_run *run, void *argument)
{
    (void)run;
    draw_job *job = argument;
    uint64_t key, first;
    mxn_random_reserve(job->random, 2, &key, &first);
    mxn_random_block(key, first, job->numbers);
    mxn_random_block(key, first + 1, job->numbers + 4);
    return MXP_OK;
}

static void draw(bool parallel, uint32_t numbers[8])
{
    draw_job job = {0};
    assert_int_equal(parallel ? mxn_random_get_parallel(cpu, &job.random)
                              : mxn_random_get(cpu, &job.random),
                     MXP_OK);
    assert_int_equal(run_on(mxn_random_var(job.random), run_draw, &job), MXP_OK);
    memcpy(numbers, job.numbers, sizeof job.numbers);
}

static void a_seed_repeats_the_numbers(void **state)
{
    (void)state;
    uint32_t first[3][8], again[3][8], parallel[8];
    assert_int_equal(mxn_random_seed(42), MXP_OK);
    for (int i = 0; i < 3; i++) {
        draw(false, first[i]);
    }
    draw(true, parallel);
    assert_int_equal(mxn_random_seed(42), MXP_OK);
    for (int i = 0; i < 3; i++) {
        draw(false, again[i]);
    }
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first[0], first[1], sizeof first[0]);
    assert_memory_not_equal(first[0], parallel, sizeof parallel);
    assert_memory_not_equal(first[0], &first[0][4], 16);
    assert_int_equal(mxn_random_seed_context(43, cpu), MXP_OK);
    draw(false, again[0]);
    assert_memory_not_equal(first[0], again[0], sizeof again[0]);
    assert_int_equal(mxn_random_seed_context(1, (mxn_context){MXN_GPU, 0}), MXP_EINVAL);
}

static void parallel_generators_take_turns(void **state)
{
    (void)state;
    mxn_random *randoms[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mxn_random_get_parallel(cpu, &randoms[i]), MXP_OK);
    }
    assert_ptr_equal(randoms[0], randoms[2]);
    assert_ptr_equal(randoms[1], randoms[3]);
    assert_ptr_not_equal(randoms[0], randoms[1]);
}

static void a_seed_begins_the_turns_anew(void **state)
{
    (void)state;
    uint32_t first[3][8], again[3][8];
    assert_int_equal(mxn_random_seed(42), MXP_OK);
    for (int i = 0; i < 3; i++) {  // an odd number: the turn is the other generator's
        draw(true, first[i]);
    }
    assert_int_equal(mxn_random_seed(42), MXP_OK);
    for (int i = 0; i < 3; i++) {
        draw(true, again[i]);
    }
    assert_memory_equal(first, again, sizeof first);
}

static void *seed(void *argument)
{
    return (void *)(intptr_t)mxn_random_seed(*(int *)argument);
}

static void a_seed_of_one_thread_reaches_all(void **state)
{
    (void)state;
    uint32_t first[8], again[8];
    assert_int_equal(mxn_random_seed(7), MXP_OK);
    draw(false, first);
    pthread_t thread;
    void *error;
    int value = 7;
    pthread_create(&thread, NULL, seed, &value);
    pthread_join(thread, &error);
    assert_null(error);
    draw(false, again);
    assert_memory_equal(first, again, sizeof first);
}

static void seeding_is_recorded_under_its_names(void **state)
{
    (void)state;
    assert_int_equal(mxn_random_seed(3), MXP_OK);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "ResourceRandomSetSeed"), 1);
    assert_int_equal(live_events_count(&live, MXP_KIND_OPERATOR, "ResourceNativeRandomSetSeed"), 2);
    live_events_free(&live);
}

static void a_forked_child_has_resources(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        mxn_workspace *workspace;
        take_job job = {.bytes = 100};
        int error = mxn_workspace_get(cpu, &workspace);
        job.workspace = workspace;
        error = error == MXP_OK ? run_on(mxn_workspace_var(workspace), run_take, &job) : error;
        error = error == MXP_OK ? mxn_random_seed(1) : error;
        _exit(error == MXP_OK && mxn_wait_all() == MXP_OK && job.data != NULL ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_request_of_all_threads_seeds_once,
                                        live_events_start, live_events_stop),
        cmocka_unit_test(spaces_are_given_in_turn),
        cmocka_unit_test(a_workspace_grows),
        cmocka_unit_test(a_large_workspace_shrinks_when_little_is_asked_for_in_a_long_time),
        cmocka_unit_test(spaces_go_with_their_thread),
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(a_seed_repeats_the_numbers),
        cmocka_unit_test(parallel_generators_take_turns),
        cmocka_unit_test(a_seed_begins_the_turns_anew),
        cmocka_unit_test(a_seed_of_one_thread_reaches_all),
        cmocka_unit_test_setup_teardown(seeding_is_recorded_under_its_names, live_events_start,
                                        live_events_stop),
        cmocka_unit_test(a_forked_child_has_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

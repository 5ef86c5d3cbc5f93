// SPDX-License-Identifier: Apache-2.0
// Every allocation of arrays, storage and resources fails once: the call says so, nothing breaks
// and nothing stays behind; with memory back, the same calls work.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <unistd.h>

#include "fake_alloc.h"
#include "runtime/tensor/resource.h"
#include "runtime/tensor/tensor.h"

static const char file[] = "array_memory.params";

static int use_workspace(const mxn_run *run, void *argument)
{
    (void)run;
    void *data;
    return mxn_workspace_take(argument, 50000, MXP_NAME_NONE, &data);
}

static int push_workspace(void)
{
    mxn_workspace *workspace = NULL;
    mxn_random *random;
    int error = mxn_workspace_get((mxn_context){MXN_CPU, 1}, &workspace);
    if (error == MXP_OK) {
        error = mxn_random_get((mxn_context){MXN_CPU, 0}, &random);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxn_var *var = mxn_workspace_var(workspace);
    const mxn_work work = {
        .function.sync = use_workspace, .argument = workspace, .writes = &var, .write_count = 1};
    error = mxn_push(&work);
    return error == MXP_OK ? mxn_var_wait(var) : error;
}

// One of everything, on blocks of a size nobody has used before; the first error.
static int work_once(int number)
{
    const char *names[] = {"first", "second"};
    mxn_shape shape = {.ndim = 2, .dims = {2, 2048 + 1024 * (int64_t)number}};
    mxn_array *arrays[2] = {NULL, NULL}, *view = NULL;
    mxn_array_list list = {0};
    mxn_owner owner;
    const mxn_context cpu = {MXN_CPU, 0};
    int error = mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, false, &arrays[0]);
    error = error != MXP_OK ? error : mxn_array_new(&shape, MXN_INT8, cpu, NULL, true, &arrays[1]);
    error = error != MXP_OK ? error : mxn_array_fill(arrays[0], 3, NULL);
    error = error != MXP_OK ? error : mxn_array_copy(arrays[0], arrays[1], NULL);
    error = error != MXP_OK ? error : mxn_array_slice(arrays[0], 1, 2, &view);
    error = error != MXP_OK ? error : mxn_array_wait_read(arrays[1]);
    error = error != MXP_OK ? error : push_workspace();
    error = error != MXP_OK ? error : mxn_arrays_save(file, 2, arrays, names, true);
    error = error != MXP_OK ? error : mxn_arrays_load(file, &list);
    if (error == MXP_OK && mxn_storage_owners(0, &owner, 1) < 0) {
        error = MXP_ENOMEM;
    }
    error = error != MXP_OK ? error : mxn_storage_csv_write("array_memory.csv");
    mxn_array_list_fini(&list);
    mxn_array_release(view);
    mxn_array_release(arrays[0]);
    mxn_array_release(arrays[1]);
    int pending = mxn_wait_all();
    return error != MXP_OK ? error : pending;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t refused;
    int rounds = 0;
    do {
        mxn_storage_release(0);
        mxn_storage_release(1);
        fake_alloc_fail_after((size_t)rounds);
        int error = work_once(rounds);
        refused = fake_alloc_failed();
        fake_alloc_fail_never();
        assert_true(error == MXP_OK || refused > 0);
        assert_true(error == MXP_OK || mxp_last_error()[0] != '\0');
        mxn_wait_all();
        uint64_t arrays, buffers;
        mxn_array_counts(&arrays, &buffers);
        assert_int_equal(arrays, 0);
        assert_int_equal(buffers, 0);
        mxn_storage_counts counts;
        mxn_storage_counts_get(0, &counts);
        assert_int_equal(counts.live_bytes, 0);
        assert_int_equal(work_once(rounds), MXP_OK);
        rounds++;
    } while (refused > 0 && rounds < 1000);
    assert_int_equal(refused, 0);
    assert_true(rounds > 10);
    unlink(file);
    unlink("array_memory.csv");
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

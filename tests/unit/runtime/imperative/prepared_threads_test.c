// SPDX-License-Identifier: Apache-2.0
// Prepared calls and numbers of threads: which kernel runs when that has changed, and what a
// preparation leaves of the calling thread's own settings.
#include <dirent.h>

#include "prepared_calls.h"
#include "runtime/imperative/bound.h"
#include "runtime/parallel/thread_pool.h"

// Of the runtime that oneDNN brings; null in a build without it.
extern void omp_set_num_threads(int threads) __attribute__((weak));
extern int omp_get_max_threads(void) __attribute__((weak));

static void the_workspace_is_for_the_threads_of_the_run(void **state)
{
    (void)state;
    mxn_thread_pool_resize(1);
    mxn_prepared *one = prepare("dot", NULL);
    mxn_thread_pool_resize(3);
    mxn_prepared *three = prepare("dot", NULL);
    assert_int_equal(one->kernel.threads, 1);
    assert_int_equal(three->kernel.threads, 3);
    assert_int_equal(mxn__threads_most(), 1);  // of this thread, as before
    mxn_array *a = make(SIZE, SIZE, 1), *out = make(SIZE, SIZE, 0);
    mxn_array *expected = invoke("dot", a, a);
    assert_int_equal(run(one, a, a, out), MXP_OK);
    same_values(out, expected);
    mxn_array_release(a);
    mxn_array_release(out);
    mxn_array_release(expected);
    mxn_prepared_release(one);
    mxn_prepared_release(three);
}

// A kernel that was chosen for one number of threads is not run with another: the run chooses anew,
// and with the number of the preparation takes the prepared one again.
static void a_changed_number_of_threads_chooses_the_kernel_anew(void **state)
{
    (void)state;
    mxn_thread_pool_resize(2);
    mxn_prepared *prepared = prepare("dot", NULL);
    prepared->kernel.run = add_seven;
    mxn_array *a = make(SIZE, SIZE, 1), *out = make(SIZE, SIZE, 0), *seven = make(SIZE, SIZE, 8);
    mxn_array *product = invoke("dot", a, a);
    mxn_array *const expected[] = {seven, product, product, seven};
    const int threads[] = {2, 1, 3, 2};
    for (int i = 0; i < 4; i++) {
        mxn_thread_pool_resize(threads[i]);
        assert_int_equal(run(prepared, a, a, out), MXP_OK);
        same_values(out, expected[i]);
    }
    mxn_array_release(a);
    mxn_array_release(out);
    mxn_array_release(seven);
    mxn_array_release(product);
    mxn_prepared_release(prepared);
}

static int task_count(void)
{
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    int count = 0;
    while (readdir(tasks) != NULL) {
        count++;
    }
    closedir(tasks);
    return count;
}

// softmax is oneDNN's where it is built in, and its primitives are made for a number of threads.
static void preparing_leaves_the_caller_its_own_openmp(void **state)
{
    (void)state;
    enum { OWN_THREADS = 5 };
    if (omp_set_num_threads == NULL) {
        skip();
    }
    mxn_thread_pool_resize(3);
    omp_set_num_threads(OWN_THREADS);
    mxn_params *params = parse("softmax", 1);
    const mxn_shape shape = shape_of(SIZE, SIZE);
    const mxn_tensor_type input = {&shape, MXN_FLOAT32};
    const mxn_signature signature = {.params = params, .inputs = &input, .context = cpu};
    mxn_prepared *prepared = NULL;
    const int tasks = task_count();
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_OK);
    assert_int_equal(prepared->kernel.threads, 3);
    assert_int_equal(omp_get_max_threads(), OWN_THREADS);
    assert_int_equal(mxn__threads_most(), 1);
    assert_int_equal(task_count(), tasks);
    mxn_prepared_release(prepared);
    mxn_params_release(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_workspace_is_for_the_threads_of_the_run),
        cmocka_unit_test(a_changed_number_of_threads_chooses_the_kernel_anew),
        cmocka_unit_test(preparing_leaves_the_caller_its_own_openmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

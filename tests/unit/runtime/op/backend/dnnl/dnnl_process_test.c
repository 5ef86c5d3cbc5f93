// SPDX-License-Identifier: Apache-2.0
// oneDNN and the process: a forked child computes without the parent's threads, and the library's
// own log shows what it did.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { CHILD_SECONDS = 60, LINE_MAX_BYTES = 1024 };

// A convolution as of LeNet, `times` over; the sum of what came out.
static double convolve(int times)
{
    mxn_array *inputs[] = {
        op_array(MXN_FLOAT32, 4, (const int64_t[]){8, 20, 12, 12}, NULL, 1),
        op_array(MXN_FLOAT32, 4, (const int64_t[]){50, 20, 5, 5}, NULL, 2),
        op_array(MXN_FLOAT32, 1, (const int64_t[]){50}, NULL, 3),
    };
    mxn_array *out = NULL;
    int error = 0;
    for (int i = 0; i < times && error == 0; i++) {
        error = op_run("Convolution", P("kernel", "(5,5)", "num_filter", "50"), 3, inputs, &out,
                       MXN_WRITE);
    }
    double sum = 0;
    if (error == 0) {
        double *values = malloc(mxn_array_size(out) * sizeof *values);
        op_values(out, values);
        for (uint64_t i = 0; i < mxn_array_size(out); i++) {
            sum += values[i];
        }
        free(values);
    }
    for (int i = 0; i < 3; i++) {
        mxn_array_release(inputs[i]);
    }
    mxn_array_release(out);
    return sum;
}

static int wait_for(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Each engine in a process of its own: with NaiveEngine the thread that forks has called the
// library itself.
static int compute_and_fork(const char *engine)
{
    setenv("MXNET_ENGINE_TYPE", engine, 1);
    setenv("MXNET_CPU_KERNELS", "dnnl", 1);
    setenv("MXNET_OMP_MAX_THREADS", "2", 1);
    double sum = convolve(1);
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(convolve(2) == sum ? 0 : 1);
    }
    return wait_for(child) == 0 && convolve(1) == sum ? 0 : 1;
}

static void forked_child_computes(void **state)
{
    (void)state;
    const char *const engines[] = {"ThreadedEnginePerDevice", "NaiveEngine"};
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(CHILD_SECONDS);
            _exit(compute_and_fork(engines[i]));
        }
        assert_int_equal(wait_for(child), 0);
    }
}

typedef struct log_counts {
    int convolutions_made, convolutions_run, weights_reordered, by_reference;
} log_counts;

static log_counts read_log(const char *path)
{
    log_counts counts = {0};
    char line[LINE_MAX_BYTES];
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    while (fgets(line, sizeof line, log) != NULL) {
        bool runs = strstr(line, "verbose,exec,") != NULL;
        bool makes = strstr(line, "verbose,create") != NULL;
        bool convolves = strstr(line, ",convolution,") != NULL;
        counts.convolutions_made += makes && convolves;
        counts.convolutions_run += runs && convolves;
        counts.weights_reordered +=
            runs && strstr(line, ",reorder,") != NULL && strstr(line, "50x20x5x5") != NULL;
        counts.by_reference += runs && strstr(line, ",ref:") != NULL;
    }
    fclose(log);
    return counts;
}

static void log_of_the_library_shows_the_operators(void **state)
{
    (void)state;
    const char *path = "dnnl_process_test.log";
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        unsetenv("MXNET_CPU_KERNELS");  // auto: the log is enough to have the library
        setenv("DNNL_VERBOSE", "2", 1);
        bool opened = freopen(path, "w", stdout) != NULL;
        convolve(5);
        fflush(stdout);
        _exit(opened ? 0 : 1);
    }
    assert_int_equal(wait_for(child), 0);
    const log_counts counts = read_log(path);
    assert_int_equal(counts.convolutions_made, 1);
    assert_int_equal(counts.convolutions_run, 5);
    assert_int_equal(counts.weights_reordered, 1);
    assert_int_equal(counts.by_reference, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forked_child_computes),
        cmocka_unit_test(log_of_the_library_shows_the_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

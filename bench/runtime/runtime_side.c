// SPDX-License-Identifier: Apache-2.0
// The loop over commands, and the profiler of the library that is measured.
#include "runtime/runtime_side.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mxnet_library.h"

static const side_workload *const of_library[] = {side_empty_operations, side_held_worker,
                                                  side_scalar_operator,  side_lenet_step,
                                                  side_matrix_product,   NULL};
static const side_workload *const of_floors[] = {side_bare_hand_off, side_multiply_add,
                                                 side_library_product, NULL};

static char trace_path[64];
static bool running, recorded;

void side_answer(const char *name, double value, const char *other, double other_value)
{
    printf("{\"%s\": %.6g", name, value);
    if (other != NULL) {
        printf(", \"%s\": %.6g", other, other_value);
    }
    printf("}\n");
}

noreturn void side_fail(const char *what)
{
    fprintf(stderr, "runtime_side: %s\n", what);
    _Exit(1);
}

static const side_workload *find(const side_workload *const *lists, const char *name)
{
    for (; *lists != NULL; lists++) {
        for (const side_workload *workload = *lists; workload->name != NULL; workload++) {
            if (strcmp(workload->name, name) == 0) {
                return workload;
            }
        }
    }
    return NULL;
}

// A regular file: the original deletes what it is told to write to, before it writes.
static void profiler_configure(void)
{
    snprintf(trace_path, sizeof trace_path, "/tmp/runtime-side-%d.json", (int)getpid());
    const char *const keys[] = {"filename", "profile_all", "aggregate_stats", "continuous_dump"};
    const char *const values[] = {trace_path, "1", "0", "0"};
    bench_mxnet_check(mxnet.profiler_config(4, keys, values), "configuring the profiler");
}

static void profiler_set(bool run)
{
    if (running != run) {
        bench_mxnet_check(mxnet.profiler_state(run), "starting or stopping the profiler");
        running = run;
        recorded |= run;
    }
}

static void drain(void)
{
    profiler_set(false);
    if (recorded) {
        bench_mxnet_check(mxnet.profiler_dump(1), "writing the trace");
        remove(trace_path);
        recorded = false;
    }
    side_answer("records", bench_mxnet_records(), NULL, 0);
}

static void obey(const side_workload *workload, const char *command, bool has_library)
{
    if (strcmp(command, "off\n") == 0) {
        if (has_library) {
            profiler_set(false);
        }
        workload->batch();
    } else if (has_library && strcmp(command, "on\n") == 0) {
        profiler_set(true);
        workload->batch();
    } else if (has_library && strcmp(command, "drain\n") == 0) {
        drain();
    } else {
        side_fail("unknown command");
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool has_library = argc == 3;
    const side_workload *workload =
        argc >= 2 ? find(has_library ? of_library : of_floors, argv[1]) : NULL;
    if (workload == NULL || argc > 3) {
        fprintf(stderr, "usage: %s WORKLOAD [LIBRARY]; bench/README.md lists the workloads\n",
                argv[0]);
        return 2;
    }
    if (has_library) {
        bench_mxnet_load(argv[2]);
        profiler_configure();
    }
    if (workload->prepare != NULL) {
        workload->prepare();
    }
    char command[16];
    while (fgets(command, sizeof command, stdin) != NULL) {
        obey(workload, command, has_library);
    }
    if (has_library) {
        remove(trace_path);
    }
    fflush(stdout);
    _Exit(0);  // the original's clean-up would write a trace nobody reads
}

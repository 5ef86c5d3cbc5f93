// SPDX-License-Identifier: Apache-2.0
// Finds the functions and wraps those that every workload calls.
#include "runtime/mxnet_library.h"

#include <dlfcn.h>
#include <mxprof/profiler.h>
#include <stdio.h>
#include <string.h>

#include "runtime/runtime_side.h"

bench_mxnet mxnet;

// Of libmxprof, which our own library brings along; null in others.
static __typeof__(&mxp_session_get) session_get;
static __typeof__(&mxp_session_report) session_report;

static const struct entry {
    const char *name;
    size_t offset;
} entries[] = {
    {"MXGetLastError", offsetof(bench_mxnet, last_error)},
    {"MXSetProfilerConfig", offsetof(bench_mxnet, profiler_config)},
    {"MXSetProfilerState", offsetof(bench_mxnet, profiler_state)},
    {"MXDumpProfile", offsetof(bench_mxnet, profiler_dump)},
    {"MXNDArrayCreateEx", offsetof(bench_mxnet, array_create)},
    {"MXNDArrayFree", offsetof(bench_mxnet, array_free)},
    {"MXNDArraySyncCopyFromCPU", offsetof(bench_mxnet, array_fill)},
    {"MXNDArraySyncCopyToCPU", offsetof(bench_mxnet, array_read)},
    {"MXNDArrayWaitToRead", offsetof(bench_mxnet, array_wait)},
    {"MXNDArrayWaitAll", offsetof(bench_mxnet, wait_all)},
    {"MXEnginePushSyncND", offsetof(bench_mxnet, push)},
    {"MXSymbolListAtomicSymbolCreators", offsetof(bench_mxnet, operators)},
    {"MXSymbolGetAtomicSymbolName", offsetof(bench_mxnet, operator_name)},
    {"MXImperativeInvokeEx", offsetof(bench_mxnet, invoke)},
    {"MXAutogradSetIsRecording", offsetof(bench_mxnet, set_recording)},
    {"MXAutogradSetIsTraining", offsetof(bench_mxnet, set_training)},
    {"MXAutogradMarkVariables", offsetof(bench_mxnet, mark_variables)},
    {"MXAutogradBackwardEx", offsetof(bench_mxnet, backward)},
};

// ISO C has no cast from an object pointer to a function pointer, POSIX lets one work.
static void find(void *library, const char *name, void *function, bool needed)
{
    void *address = dlsym(library, name);
    if (address == NULL && needed) {
        side_fail(dlerror());
    }
    memcpy(function, &address, sizeof address);
}

void bench_mxnet_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        side_fail(dlerror());
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        find(library, entries[i].name, (char *)&mxnet + entries[i].offset, true);
    }
    find(library, "mxp_session_get", &session_get, false);
    find(library, "mxp_session_report", &session_report, false);
}

double bench_mxnet_records(void)
{
    mxp_report report = {.size_bytes = sizeof report};
    if (session_get == NULL || session_report == NULL) {
        return 0;
    }
    bench_mxnet_check(session_report(session_get(), &report), "counting records");
    return (double)report.records;
}

void bench_mxnet_check(int error, const char *what)
{
    if (error != 0) {
        fprintf(stderr, "%s: %s\n", what, mxnet.last_error());
        side_fail(what);
    }
}

AtomicSymbolCreator bench_mxnet_operator(const char *name)
{
    mx_uint count;
    AtomicSymbolCreator *creators;
    bench_mxnet_check(mxnet.operators(&count, &creators), "listing operators");
    for (mx_uint i = 0; i < count; i++) {
        const char *found;
        bench_mxnet_check(mxnet.operator_name(creators[i], &found), "an operator's name");
        if (strcmp(found, name) == 0) {
            return creators[i];
        }
    }
    side_fail(name);
}

NDArrayHandle bench_mxnet_array(const uint32_t *shape, uint32_t rank)
{
    NDArrayHandle array;
    bench_mxnet_check(mxnet.array_create(shape, rank, 1, 0, 0, 0, &array), "creating an array");
    return array;
}

void bench_mxnet_push(EngineSyncFunc function, void *argument, NDArrayHandle *reads, int read_count,
                      NDArrayHandle *writes, int write_count)
{
    static const struct MXContext processor = {1, 0};
    bench_mxnet_check(mxnet.push(function, argument, NULL, &processor, reads, read_count, writes,
                                 write_count, NULL, 0, "empty"),
                      "pushing an operation");
}

// SPDX-License-Identifier: Apache-2.0
// Fuzzes the merge: the input is two files, the first as long as its first four bytes say. They are
// merged, read, summed up and written in every format. No time leaves its bounds, each process
// keeps its records, one that is there twice is there once.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/export/export.h"
#include "profiler/export/table/aggregate.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/reader.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t count_records(mxp_source *source)
{
    mxp_reader *reader;
    mxp_event event;
    uint64_t count = 0;
    if (mxp__reader_open(source, &reader) != MXP_OK) {
        return 0;
    }
    while (mxp__reader_next(reader, &event) == 1) {
        if (event.begin_ns > event.end_ns || event.begin_ns < -MXP__NS_MAX ||
            event.end_ns > MXP__NS_MAX) {
            abort();
        }
        count++;
    }
    mxp__reader_close(reader);
    return count;
}

static void export_all(mxp_source *merged)
{
    for (const mxp_exporter *const *each = mxp__exporters(); *each != NULL; each++) {
        for (int group = MXP_GROUP_NAME; group <= MXP_GROUP_STEP; group++) {
            mxp_strbuf text = {0};
            mxp_sink sink;
            mxp__sink_string(&sink, &text);
            int error = mxp__export(*each, merged, &(mxp_export_options){.group = group}, &sink);
            mxp__strbuf_fini(&text);
            if (error != MXP_OK && error != MXP_EFORMAT) {
                abort();
            }
        }
    }
}

static void merge(mxp_source *const *sources)
{
    uint64_t before = count_records(sources[0]) + count_records(sources[1]);
    mxp_source *merged, *process;
    if (mxp__merge_open(sources, 2, &merged) != MXP_OK) {
        abort();
    }
    uint64_t after = 0;
    uint32_t threads = 0;
    for (size_t i = 0; (process = mxp__source_process(merged, i)) != NULL; i++) {
        after += count_records(process);
        threads += process->thread_count;
    }
    bool is_one = mxp__source_process(merged, 1) == NULL;  // twice the same
    if (before != (is_one ? 2 : 1) * after) {
        abort();
    }
    if (threads <= 256) {  // a chunk of thread 65,535 would cost a line for each
        export_all(merged);
    }
    mxp__source_close(merged);
}

static uint64_t processes_of(const mxp_source *source)
{
    return source->process_count > 0 ? source->process_count : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t first = 0;
    if (size < sizeof first) {
        return 0;
    }
    memcpy(&first, data, sizeof first);
    size -= sizeof first;
    first = first < size ? first : (uint32_t)size;
    size_t sizes[] = {first, size - first};
    const uint8_t *at = data + sizeof first;
    uint8_t *copies[2] = {NULL, NULL};
    mxp_source *sources[2] = {NULL, NULL};
    for (int i = 0; i < 2; at += sizes[i], i++) {
        copies[i] = aligned_alloc(16, (sizes[i] + 16) / 16 * 16);
        memcpy(copies[i], at, sizes[i]);
        seal_file(copies[i], sizes[i]);
        if (mxp__native_open_memory(copies[i], sizes[i], &sources[i], NULL) != MXP_OK) {
            sources[i] = NULL;
        }
    }
    bool both = sources[0] != NULL && sources[1] != NULL;
    if (both && processes_of(sources[0]) == 1 && processes_of(sources[1]) == 1) {
        merge(sources);
    } else {
        mxp__source_close(sources[0]);
        mxp__source_close(sources[1]);
    }
    free(copies[0]);
    free(copies[1]);
    return 0;
}

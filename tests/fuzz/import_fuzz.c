// SPDX-License-Identifier: Apache-2.0
// Fuzzes the import of other profilers' JSON, with and without arguments. Whatever the text is, the
// native file that it becomes is whole, its records are in the order of their ends, and its names
// are there.
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_process(mxp_source *process)
{
    mxp_reader *reader;
    if (mxp__reader_open(process, &reader) != 0) {
        return;
    }
    mxp_event event;
    int64_t before = INT64_MIN;
    int found;
    while ((found = mxp__reader_next(reader, &event)) == 1) {
        if (event.end_ns < before || event.end_ns < event.begin_ns ||
            event.name >= process->name_count || event.thread >= process->thread_count) {
            abort();
        }
        before = event.end_ns;
        for (uint32_t i = 0; i < mxp__event_arg_count(&event); i++) {
            uint32_t key, type, length, whole;
            uint64_t value;
            mxp__event_arg(&event, i, &key, &type, &value);
            if (key >= process->name_count ||
                (type == MXP_ARG_TEXT && mxp__event_arg_text(&event, i, &length, &whole) == NULL)) {
                abort();
            }
        }
    }
    if (found != 0) {
        abort();
    }
    mxp__reader_close(reader);
}

static void import_text(const uint8_t *data, size_t size, bool with_args)
{
    mxp_import_options options = {.with_args = with_args};
    mxp_source *source;
    mxp_damage damage;
    mxp_strbuf notes = {0};
    if (mxp__import_open_memory(data, size, &options, &source, &damage, &notes) == 0) {
        mxp_source *process;
        for (size_t i = 0; (process = mxp__source_process(source, i)) != NULL; i++) {
            read_process(process);
        }
        mxp__source_close(source);
    }
    mxp__strbuf_fini(&notes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)mxp__import_is_json(data, size);
    import_text(data, size, false);
    import_text(data, size, true);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reading of native files: everything a source offers is asked for, every record is
// decoded and every field of it looked at. Checksums would keep a fuzzer from getting anywhere, so
// each input is also read with all of them made right.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "describe_source.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/reader.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What every reader of events may rely on.
static void check_event(const mxp_source *source, const mxp_event *event)
{
    if (event->begin_ns > event->end_ns || event->begin_ns < -MXP__NS_MAX ||
        event->end_ns > MXP__NS_MAX || event->thread >= source->thread_count) {
        abort();
    }
}

static void read_everything(mxp_source *source)
{
    mxp_strbuf text = {0};
    if (source->thread_count <= 256) {  // a chunk of thread 65,535 would cost a line for each
        describe_tables(source, &text);
    }
    for (uint32_t id = 0; id <= source->name_count; id++) {
        mxp_name_view name = source->name(source, id);
        if (name.text[name.length] != 0 || (name.category != 0 && name.category >= id)) {
            abort();
        }
    }
    mxp_reader *reader;
    if (mxp__reader_open(source, &reader) == 0) {
        mxp_event event;
        while (mxp__reader_next(reader, &event) == 1) {
            check_event(source, &event);
            mxp__strbuf_clear(&text);
            describe_event(source, &event, &text);
        }
        mxp__reader_close(reader);
    }
    mxp__strbuf_fini(&text);
}

static void read_bytes(const void *data, size_t size)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(data, size, &source, &damage) != 0) {
        return;
    }
    if (damage.text != NULL && (damage.offset > size || damage.text[0] == 0)) {
        abort();
    }
    read_everything(source);
    mxp__source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    use_sealed_copy(data, size, read_bytes);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Fuzzes recovery: what `mxprof recover` writes of any file that can be opened must be a whole
// file, with the same records, names and losses as could be read.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "describe_source.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/recovered_source.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *out_path(void)
{
    static char path[64];
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "recovered.%ld.mxp", (long)getpid());
    }
    return path;
}

static void write_file(mxp_source *source)
{
    mxp_native_writer *writer;
    if (mxp__native_writer_open(out_path(), &writer) != MXP_OK ||
        mxp__native_append(writer, source) != MXP_OK) {
        abort();
    }
    mxp__native_writer_close(writer);
}

// Records of all processes, thread by thread as they were written.
static mxp_strbuf all_records(mxp_source *source)
{
    mxp_strbuf text = {0};
    mxp_source *process;
    for (size_t i = 0; (process = mxp__source_process(source, i)) != NULL; i++) {
        if (describe_events(process, &text) != MXP_OK) {
            abort();
        }
    }
    return text;
}

static void check_recovered(mxp_source *readable)
{
    mxp_source *again;
    mxp_damage damage;
    if (mxp__native_open(out_path(), &again, &damage) != MXP_OK || damage.text != NULL) {
        abort();
    }
    mxp_strbuf before = all_records(readable), after = all_records(again);
    if (before.length != after.length ||
        (before.length > 0 && memcmp(before.data, after.data, before.length) != 0)) {
        abort();
    }
    mxp__strbuf_fini(&before);
    mxp__strbuf_fini(&after);
    mxp__source_close(again);
}

static void recover(const void *data, size_t size)
{
    mxp_source *source, *readable;
    mxp_recovery_loss lost = {0};
    if (mxp__native_open_memory(data, size, &source, NULL) != MXP_OK) {
        return;
    }
    if (mxp__recovered_open(source, &readable, &lost) != MXP_OK ||
        (lost.chunks > 0 && lost.text[0] == '\0')) {
        abort();
    }
    write_file(readable);
    check_recovered(readable);
    unlink(out_path());
    mxp__source_close(readable);
    mxp__source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recover(data, size);
    use_sealed_copy(data, size, recover);
    return 0;
}

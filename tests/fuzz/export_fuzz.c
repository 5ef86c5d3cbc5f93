// SPDX-License-Identifier: Apache-2.0
// Fuzzes the exporters: a native file is exported in every format, the table by name, scope and
// step, the trace by one thread and by two. What the two write must be the same.
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/export/export.h"
#include "profiler/trace/file/native.h"
#include "seal_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static mxp_strbuf export_text(mxp_source *source, const mxp_exporter *exporter,
                              const mxp_export_options *options)
{
    mxp_strbuf text = {0};
    mxp_sink sink;
    mxp__sink_string(&sink, &text);
    int error = mxp__export(exporter, source, options, &sink);
    if (error != MXP_OK && error != MXP_EFORMAT) {
        abort();
    }
    return text;
}

static void export_by_threads(mxp_source *source)
{
    const mxp_exporter *chrome = mxp__exporter_find("chrome");
    mxp_strbuf one = export_text(source, chrome, &(mxp_export_options){.threads = 1});
    mxp_strbuf two = export_text(source, chrome, &(mxp_export_options){.threads = 2});
    if (one.length != two.length || memcmp(one.data, two.data, one.length) != 0) {
        abort();
    }
    mxp__strbuf_fini(&one);
    mxp__strbuf_fini(&two);
}

static void export_everything(const void *data, size_t size)
{
    mxp_source *source;
    mxp_damage damage;
    if (mxp__native_open_memory(data, size, &source, &damage) != 0) {
        return;
    }
    if (source->thread_count <= 256) {  // a chunk of thread 65,535 would cost a line for each
        export_by_threads(source);
    }
    for (const mxp_exporter *const *each = mxp__exporters(); *each != NULL; each++) {
        for (int group = MXP_GROUP_NAME; group <= MXP_GROUP_STEP && (*each)->range == NULL;
             group++) {
            mxp_strbuf text = export_text(source, *each, &(mxp_export_options){.group = group});
            mxp__strbuf_fini(&text);
        }
    }
    mxp__source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_sealed_copy(data, size, export_everything);
    return 0;
}

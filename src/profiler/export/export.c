// SPDX-License-Identifier: Apache-2.0
// The list of exporters and the driver that runs one over a source into a sink.
#include "profiler/export/export.h"

#include <string.h>

#include "base/fail.h"
#include "profiler/export/ranges.h"
#include "profiler/trace/reader.h"

static const mxp_exporter *const exporters[] = {
#define X(name) &mxp__exporter_##name,
#include "profiler/export/exporters.def"
#undef X
    NULL};

const mxp_exporter *mxp__exporter_find(const char *name)
{
    for (size_t i = 0; name != NULL && exporters[i] != NULL; i++) {
        if (strcmp(exporters[i]->name, name) == 0) {
            return exporters[i];
        }
    }
    return NULL;
}

const mxp_exporter *const *mxp__exporters(void)
{
    return exporters;
}

static int export_events(mxp_export *run, mxp_sink *sink)
{
    mxp_reader *reader;
    int error = mxp__reader_open(run->source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    mxp_event event;
    while ((error = mxp__reader_next(reader, &event)) == 1) {
        error = run->exporter->event(run, &event);
        if (error == MXP_OK && run->out->length >= run->flush_bytes) {
            error = mxp__export_flush(run->out, sink);
        }
        if (error != MXP_OK) {
            break;
        }
    }
    mxp__reader_close(reader);
    return error;
}

static int export_records(mxp_export *run, mxp_sink *sink)
{
    if (run->exporter->range != NULL) {
        return mxp__export_ranges(run, sink);
    }
    if (run->exporter->event != NULL) {
        return export_events(run, sink);
    }
    return run->exporter->rest != NULL ? mxp__export_rest(run, sink) : MXP_OK;
}

// The records of every process. Damage ends none but its range: it is returned at the end.
static int export_processes(mxp_export *run, mxp_sink *sink)
{
    mxp_source *first = run->source;
    size_t count = run->exporter->process != NULL ? first->process_count : 1;
    int error = export_records(run, sink);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    for (size_t i = 1; i < count && (error == MXP_OK || error == MXP_EFORMAT); i++) {
        run->source = first->processes[i];
        error = run->exporter->process(run);
        if (error == MXP_OK) {
            error = export_records(run, sink);
        }
        damage = error == MXP_EFORMAT ? error : damage;
    }
    run->source = first;
    return error != MXP_OK ? error : damage;
}

int mxp__export(const mxp_exporter *exporter, mxp_source *source, const mxp_export_options *options,
                mxp_sink *sink)
{
    static const mxp_export_options defaults;
    mxp_strbuf out = {0};
    mxp_export run = {.exporter = exporter,
                      .source = source,
                      .options = options != NULL ? options : &defaults,
                      .out = &out,
                      .flush_bytes = MXP__FLUSH_BYTES};
    int error = exporter->begin != NULL ? exporter->begin(&run) : MXP_OK;
    int damage = MXP_OK;
    if (error == MXP_OK) {
        error = export_processes(&run, sink);
        if (error == MXP_EFORMAT) {
            damage = error;
            error = MXP_OK;
        }
    }
    // `end` frees what begin made, also after an error; its own error is of interest only if there
    // was none before.
    int end_error = exporter->end != NULL ? exporter->end(&run) : MXP_OK;
    error = error != MXP_OK ? error : end_error;
    if (error == MXP_OK || error == MXP_EFORMAT) {
        damage = damage != MXP_OK ? damage : error;
        error = mxp__export_flush(&out, sink);
    }
    mxp__strbuf_fini(&out);
    return error != MXP_OK ? error : damage;
}

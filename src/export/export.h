// SPDX-License-Identifier: Apache-2.0
// One struct of callbacks per exporter; exporters.def lists them. mxp__export runs one over a
// source. What they need beyond the source comes in mxp_export_options.
#ifndef MXP_EXPORT_EXPORT_H
#define MXP_EXPORT_EXPORT_H

#include "export/sink.h"
#include "trace/event.h"

typedef struct mxp_export_options {
    int sort_by, ascending;   // MXP_SORT_* of mxprof/profiler.h
    int group;                // MXP_GROUP_*
    unsigned threads;         // for exporters that can use several; 0: two if the source is large
} mxp_export_options;

enum { MXP_GROUP_NAME = 0, MXP_GROUP_SCOPE = 1, MXP_GROUP_STEP = 2 };

typedef struct mxp_export mxp_export;
typedef struct mxp_exporter {
    const char *name;         // "chrome", "table", "json", "csv"
    const char *extension;    // ".json"
    const char *help;         // one line for --help
    // begin: before any record; event: each record; end: after the last. `out` collects text and is
    // flushed between calls. An exporter that leaves `event` null does its own reading in `end`.
    int (*begin)(mxp_export *run);
    // If `parallel`, called from several threads at once, each with its own `run->out` and in no
    // order across blocks; the text of a block stays together and blocks keep their order.
    int (*event)(mxp_export *run, const mxp_event *event);
    int (*end)(mxp_export *run);
    int parallel;
} mxp_exporter;

struct mxp_export {
    const mxp_exporter *exporter;
    mxp_source *source;
    const mxp_export_options *options;
    mxp_strbuf *out;
    void *state;              // the exporter's, made in begin, freed in end
};

const mxp_exporter *mxp__exporter_find(const char *name);  // null if unknown
const mxp_exporter *const *mxp__exporters(void);           // null-terminated

int mxp__export(const mxp_exporter *exporter, mxp_source *source, const mxp_export_options *options,
                mxp_sink *sink);

#endif

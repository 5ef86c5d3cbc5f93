// SPDX-License-Identifier: Apache-2.0
// Folder profiler/export: a source written in another format, as text or bytes.
//
// An exporter is a struct of callbacks in a file of its own and a line in exporters.def, which
// makes it a format of `mxprof convert`. mxp__export runs an exporter over a source, with
// mxp_export_options.
#ifndef MXP_EXPORT_EXPORT_H
#define MXP_EXPORT_EXPORT_H

#include "profiler/export/sink.h"
#include "profiler/trace/event.h"

typedef struct mxp_export_options {
    int sort_by, ascending;  // MXP_SORT_* of mxprof/profiler.h
    int group;  // MXP_GROUP_*
    unsigned threads;  // for exporters that can use several; 0: two if the source is large
    mxp_strbuf *notes;  // gets a line for each thing that the format cannot show; may be null
} mxp_export_options;

enum { MXP_GROUP_NAME = 0, MXP_GROUP_SCOPE = 1, MXP_GROUP_STEP = 2 };

typedef struct mxp_export mxp_export;
typedef struct mxp_exporter {
    const char *name;  // "chrome": what `mxprof convert --to` takes
    const char *extension;  // ".json": of two exporters with one, it means the first
    const char *help;  // one line for `mxprof convert --help`
    bool is_table;  // it gives sums of the whole trace, in which lost records are missing
    // Callbacks return MXP_OK or an error (mxprof/error.h), which ends the export.
    // begin, end: may be null. begin comes before any record, end after the last, also after an
    // error (it frees `state`).
    // `out` collects text and is flushed between calls. In between comes one of these:
    // - event: each record in time order;
    // - range: each range, from several threads at once, in no order across ranges, each with its
    //   own `run->out`; the text of a range stays together and ranges keep their order. It returns
    //   0 when the range is done, or 1 with range->words at the first record left if `out` has
    //   reached run->flush_bytes: it is called again when that was written;
    // - neither: the exporter reads the source itself in `rest` or `end`.
    int (*begin)(mxp_export *run);
    int (*event)(mxp_export *run, const mxp_event *event);
    int (*range)(mxp_export *run, mxp_record_range *range);
    // May be null. What follows from the records of all ranges: after the last one, unless there
    // was an error other than damage; without a range callback, all there is. It returns 0, or 1 to
    // be called again when `out` was written.
    int (*rest)(mxp_export *run);
    // May be null: only the first process of a source is exported, or the exporter looks for the
    // others itself. After the records of a process: run->source is the next one, whose records
    // come now. `end` finds the first one there again.
    int (*process)(mxp_export *run);
    int (*end)(mxp_export *run);
} mxp_exporter;

struct mxp_export {
    const mxp_exporter *exporter;
    mxp_source *source;
    const mxp_export_options *options;
    mxp_strbuf *out;
    size_t flush_bytes;
    void *state;  // the exporter's, made in begin, freed in end
};

// The place of each in mxp__exporters, and how many there are.
enum {
#define X(name) MXP__EXPORTER_##name,
#include "profiler/export/exporters.def"
#undef X
    MXP__EXPORTERS
};

#define X(name) extern const mxp_exporter mxp__exporter_##name;
#include "profiler/export/exporters.def"
#undef X

const mxp_exporter *mxp__exporter_find(const char *name);  // null if unknown
const mxp_exporter *const *mxp__exporters(void);  // null-terminated

// MXP_EFORMAT: the source is damaged; what could be read before the damage has been written, and
// the output is complete in itself. After any other error it is not.
int mxp__export(const mxp_exporter *exporter, mxp_source *source, const mxp_export_options *options,
                mxp_sink *sink);

#endif

// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: running an exporter's range callback over all ranges of a source.
#ifndef MXP_EXPORT_RANGES_H
#define MXP_EXPORT_RANGES_H

#include "profiler/export/export.h"

// How much text is collected before it is written.
#define MXP__FLUSH_BYTES ((size_t)1 << 20)

// Text left in `run->out` by whoever called before goes first. MXP_EFORMAT: some range was damaged
// or could not be read; everything else has been written. Uses run->options->threads.
int mxp__export_ranges(mxp_export *run, mxp_sink *sink);

// Runs an exporter's rest callback to its end.
int mxp__export_rest(mxp_export *run, mxp_sink *sink);

// Writes what `buffer` holds and empties it.
int mxp__export_flush(mxp_strbuf *buffer, mxp_sink *sink);

#endif

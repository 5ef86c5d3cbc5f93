// SPDX-License-Identifier: Apache-2.0
// A small trace in which everything occurs that the format has: all kinds of records, awkward
// names, a clock of two rates, stamps around 2^48, losses, statistics, info. tests/format/v1.mxp is
// it as a file, so it must not change; a new format version gets a sample of its own.
#ifndef TRACE_SAMPLE_H
#define TRACE_SAMPLE_H

#include "profiler/trace/source.h"

mxp_source *trace_sample_create(void);

// What a source holds after a second cut of the same program: two more names, one more thread, some
// more records. Written behind the sample it gives a file with two appends.
mxp_source *trace_sample_create_more(void);

#endif

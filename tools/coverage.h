// SPDX-License-Identifier: Apache-2.0
// Since when a ring holds the records of each of its threads. A ring overwrites chunks of busy
// threads while idle threads keep theirs from the begin.
#ifndef MXP_TOOLS_COVERAGE_H
#define MXP_TOOLS_COVERAGE_H

#include "command.h"

typedef struct mxp_coverage {
    bool is_ring;
    uint64_t limit_bytes;  // 0: unknown
    bool overwritten;  // something of any thread is
    int64_t complete_ns;  // from then on everything of all threads is there
    int64_t *since_ns;  // of each thread; INT64_MAX: nothing of it is held
    size_t thread_count;
    uint64_t older_records, older_bytes;  // that made room; 0: unknown
} mxp_coverage;

bool mxp__is_ring(const mxp_source *source);
// Of one process. Everything of what is no ring is covered. MXP_ENOMEM.
int mxp__coverage_make(mxp_source *source, mxp_coverage *coverage);
void mxp__coverage_fini(mxp_coverage *coverage);
// "64 MiB; holds the last 0.220 s; 5400000 older records made room", for a ring whose last record
// is at `last_ns`.
void mxp__coverage_print(const mxp_coverage *coverage, int64_t last_ns, mxp_strbuf *out);

// Whether it is the ring of one process.
bool mxp__is_ring_alone(const mxp_source *source);
// Of such a ring, makes input->source the part from where on all threads are there, and
// input->ring what mxp__coverage_print says.
int mxp__coverage_limit(mxp_input *input, int64_t last_ns);
// The same without a summary, for commands that go from thread to thread; `note` is a line on it,
// or is left empty.
int mxp__coverage_take(mxp_input *input, mxp_strbuf *note);

#endif

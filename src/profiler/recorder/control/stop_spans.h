// SPDX-License-Identifier: Apache-2.0
// What a stop does with the spans that are open on other threads' stacks: it writes them in the
// place of their threads, whose ends then record nothing. Under the drain lock.
#ifndef MXP_PROF_STOP_SPANS_H
#define MXP_PROF_STOP_SPANS_H

#include <stdint.h>

// Counts the spans that are deeper than the stacks keep: they have no name, so they are not
// written. In a freeze, before the time of the stop is read: spans may still begin, and those that
// begin later are not the stop's.
void mxp__stop_count_deeper(uint64_t now);

// Writes the spans of all threads that began up to the stop at `end_ticks`. After the freeze.
void mxp__stop_close_spans(uint64_t end_ticks);

#endif

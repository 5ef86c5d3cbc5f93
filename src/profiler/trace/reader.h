// SPDX-License-Identifier: Apache-2.0
// All records of a source in time order: a span at its end, every other record at its time. Each
// thread's records are taken as they were written; a signal handler that interrupted a record may
// be a few nanoseconds out of order. Threads are merged by time. Memory: one decoder a thread.
#ifndef MXP_TRACE_READER_H
#define MXP_TRACE_READER_H

#include "profiler/trace/event.h"

typedef struct mxp_reader mxp_reader;

int mxp__reader_open(mxp_source *source, mxp_reader **reader);
// 1: *event is set; 0: the end; a negative error: the rest cannot be read, and the events so far
// are valid.
int mxp__reader_next(mxp_reader *reader, mxp_event *event);
void mxp__reader_close(mxp_reader *reader);

#endif

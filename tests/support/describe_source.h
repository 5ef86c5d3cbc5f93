// SPDX-License-Identifier: Apache-2.0
// Everything a source holds as text, one line a thing: two sources that hold the same have the same
// text. All fields of all records, names, threads, losses, statistics, info and clock are in it.
#ifndef DESCRIBE_SOURCE_H
#define DESCRIBE_SOURCE_H

#include "base/strbuf.h"
#include "profiler/trace/event.h"

// One event with its newline. Touches every accessor that its kind has.
void describe_event(const mxp_source *source, const mxp_event *event, mxp_strbuf *out);

// All events in the reader's order. Returns what the reader ended with (0 or an error).
int describe_events(mxp_source *source, mxp_strbuf *out);

// Everything but the events.
void describe_tables(const mxp_source *source, mxp_strbuf *out);

#endif

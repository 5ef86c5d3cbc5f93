// SPDX-License-Identifier: Apache-2.0
// The tracks of a Chrome trace and what one output file already
// tells about them. The process is the real one; every thread is a row under its real id; lanes
// (devices, streams) and the domains of tasks and frames are tracks under ids made up from their
// name ids. The output depends only on the source and on what was committed. A failed append may be
// repeated.
#ifndef MXP_EXPORT_TRACKS_H
#define MXP_EXPORT_TRACKS_H

#include "base/strbuf.h"
#include "profiler/export/arrows.h"

typedef struct mxp_chrome_tracks mxp_chrome_tracks;

int mxp__chrome_tracks_create(mxp_chrome_tracks **tracks);
void mxp__chrome_tracks_destroy(mxp_chrome_tracks *tracks);  // null is fine

// Takes in the threads and names of `source`, which later calls may name.
int mxp__chrome_tracks_begin(mxp_chrome_tracks *tracks, const mxp_source *source);

// The ids for "tid". Thread-safe between begin and commit; the second marks the lane as
// used, so that the tail names it. An id the source does not have is fine.
uint32_t mxp__chrome_thread_row(const mxp_chrome_tracks *tracks, uint32_t thread);
uint32_t mxp__chrome_lane_row(mxp_chrome_tracks *tracks, uint32_t name);

// Whether a counter of this name needs an id because an earlier one has the same text (in another
// category): viewers tell counters apart by name only.
int mxp__chrome_counter_needs_id(const mxp_chrome_tracks *tracks, uint32_t name);

// The items that come before the records (process and threads) and after them (lanes, losses), as
// far as the file does not have them. Each begins with ",\n", but for the first of a file.
void mxp__chrome_tracks_head(const mxp_chrome_tracks *tracks, const mxp_source *source,
                             mxp_strbuf *out);
void mxp__chrome_tracks_tail(const mxp_chrome_tracks *tracks, const mxp_source *source,
                             mxp_strbuf *out);

// How many API calls the file counts; `count` of a source come with what is written now.
uint64_t mxp__chrome_api_calls(const mxp_chrome_tracks *tracks);
void mxp__chrome_add_api_calls(mxp_chrome_tracks *tracks, uint64_t count);
// When a change of their counters is shown: `ns`, but not before the changes that the file has. A
// call that an earlier part could not know, because it lasted, counts from the end of that part on.
int64_t mxp__chrome_api_time(mxp_chrome_tracks *tracks, int64_t ns);

// Of the source that is written now.
mxp_arrows *mxp__chrome_tracks_arrows(mxp_chrome_tracks *tracks);

// All that the last head and tail wrote is in the file.
void mxp__chrome_tracks_commit(mxp_chrome_tracks *tracks, const mxp_source *source);

// "pid" of the source: never 0, which viewers treat as missing, and no other process's.
uint32_t mxp__chrome_pid(const mxp_source *source);

// The place of a lane among those of its process, 1 to 255; 0: it has none and comes behind them.
uint32_t mxp__lane_place(const mxp_name_view *lane);

// The name that the process has given itself, or the program's file name; not terminated after
// *length.
const char *mxp__process_name(const mxp_source *source, size_t *length);
// That name for a row of its own: with the process's number, if the row has another.
void mxp__process_title(const mxp_source *source, mxp_strbuf *out);

#endif

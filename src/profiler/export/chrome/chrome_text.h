// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: the text of a trace that grows, through a sink. Puts the parts of
// chrome.h together; chrome_file.c decides where in a file the text goes.
//
// All of these may return MXP_EFORMAT: the source is damaged, and everything readable was written.
#ifndef MXP_EXPORT_CHROME_TEXT_H
#define MXP_EXPORT_CHROME_TEXT_H

#include "profiler/export/chrome/chrome_limit.h"
#include "profiler/export/tracks.h"

// The items of `source` that `tracks` do not have, after what `out` holds already, which is empty
// afterwards. Records that do not fit into `limit` are left out, names of tracks never. `threads`
// format them; 0: as many as pay.
int mxp__chrome_text_items(unsigned threads, mxp_chrome_tracks *tracks, mxp_source *source,
                           mxp_strbuf *out, mxp_chrome_limit *limit);

// What the closing part says of the file, beside the source.
typedef struct mxp_chrome_remarks {
    const char *note;  // null if there is none
    uint64_t left_out;  // events, for want of space
    uint64_t space_bytes;  // the part is at least as long, with blanks at its end
} mxp_chrome_remarks;

// The closing part, which goes to `closing` as well.
int mxp__chrome_text_closing(const mxp_source *source, const mxp_chrome_remarks *remarks,
                             mxp_sink *sink, mxp_strbuf *closing);
// All from the beginning. *items_end receives how many bytes came before the closing part.
int mxp__chrome_text_all(unsigned threads, mxp_chrome_tracks *tracks, mxp_source *source,
                         const char *note, mxp_chrome_limit *limit, mxp_strbuf *closing,
                         uint64_t *items_end);

#endif

// SPDX-License-Identifier: Apache-2.0
// Private to src/export: the text of a trace that grows, through a sink. What chrome.h has the
// parts of is put together here; which bytes of a file it becomes is for chrome_file.c to say.
//
// All of these may return MXP_EFORMAT: the source is damaged, and everything readable was written.
#ifndef MXP_EXPORT_CHROME_TEXT_H
#define MXP_EXPORT_CHROME_TEXT_H

#include "export/chrome_rows.h"
#include "export/sink.h"

// The items of `source` that `rows` do not have, behind what `out` holds already, which is empty
// afterwards. `threads` format them; 0: as many as pay.
int mxp__chrome_text_items(unsigned threads, mxp_chrome_rows *rows, mxp_source *source,
                           mxp_strbuf *out, mxp_sink *sink);
// The closing part, which goes to `closing` as well: at least `room` bytes, with blanks at its end.
// `note` as for mxp__chrome_closing.
int mxp__chrome_text_closing(const mxp_source *source, const char *note, uint64_t room,
                             mxp_sink *sink, mxp_strbuf *closing);
// All from the beginning. *items_end receives how many bytes came before the closing part.
int mxp__chrome_text_all(unsigned threads, mxp_chrome_rows *rows, mxp_source *source,
                         const char *note, mxp_sink *sink, mxp_strbuf *closing,
                         uint64_t *items_end);

#endif

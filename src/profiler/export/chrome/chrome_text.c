// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/chrome/chrome_text.h"

#include <string.h>

#include "base/fail.h"
#include "profiler/export/chrome/chrome.h"
#include "profiler/export/ranges.h"

int mxp__chrome_text_items(unsigned threads, mxp_chrome_tracks *tracks, mxp_source *source,
                           mxp_strbuf *out, mxp_chrome_limit *limit)
{
    const mxp_export_options options = {.threads = threads};
    mxp_chrome chrome;
    mxp_export run = {.exporter = &mxp__exporter_chrome,
                      .source = source,
                      .options = &options,
                      .out = out,
                      .flush_bytes = MXP__FLUSH_BYTES,
                      .state = &chrome};
    int error = mxp__chrome_tracks_begin(tracks, source);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__chrome_init(&chrome, source, tracks);
    if (error == MXP_OK) {
        mxp__chrome_tracks_head(tracks, source, out);
        error = mxp__export_flush(out, limit->to);
    }
    if (error == MXP_OK) {
        error = mxp__export_ranges(&run, &limit->sink);
        int flush_error = mxp__export_flush(out, &limit->sink);
        error = flush_error != MXP_OK ? flush_error : error;
    }
    if (error == MXP_OK || error == MXP_EFORMAT) {
        mxp__chrome_tracks_tail(tracks, source, out);
        int flush_error = mxp__export_flush(out, limit->to);
        error = flush_error != MXP_OK ? flush_error : error;
    }
    mxp__chrome_fini(&chrome);
    return error;
}

static void pad(mxp_strbuf *closing, uint64_t space)
{
    if (closing->failed || closing->length >= space) {
        return;
    }
    size_t blanks = (size_t)(space - closing->length);
    char *at = mxp__strbuf_reserve(closing, blanks);
    if (at != NULL) {
        memset(at, ' ', blanks);
        at[-1] = ' ';  // the newline moves to the end
        at[blanks - 1] = '\n';
        closing->length += blanks;
    }
}

int mxp__chrome_text_closing(const mxp_source *source, const mxp_chrome_remarks *remarks,
                             mxp_sink *sink, mxp_strbuf *closing)
{
    mxp__chrome_closing(source, remarks->note, remarks->left_out, closing);
    pad(closing, remarks->space_bytes);
    if (closing->failed) {
        return mxp__fail_memory("the trace file");
    }
    return sink->write(sink, closing->data, closing->length);
}

int mxp__chrome_text_all(unsigned threads, mxp_chrome_tracks *tracks, mxp_source *source,
                         const char *note, mxp_chrome_limit *limit, mxp_strbuf *closing,
                         uint64_t *items_end)
{
    mxp_strbuf out = {0};
    mxp__chrome_opening(&out);
    int error = mxp__chrome_text_items(threads, tracks, source, &out, limit);
    mxp__strbuf_fini(&out);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    if (error == MXP_OK || damage != MXP_OK) {
        const mxp_chrome_remarks remarks = {.note = note, .left_out = limit->left_out};
        *items_end = limit->to->written_bytes;
        error = mxp__chrome_text_closing(source, &remarks, limit->to, closing);
    }
    return error != MXP_OK ? error : damage;
}

// SPDX-License-Identifier: Apache-2.0
// The samples of counters and of memory as items. Ranges are written thread by thread, but several
// threads may sample one counter. The samples are therefore written after all ranges, in the order
// of their times, so that a reader of the file sees the values of a counter in their order.
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/export/chrome/chrome.h"

// 1: there is more to come; 0: that was all; a negative error.
static int put_samples(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    mxp_event event;
    int found;
    while ((found = mxp__reader_next(chrome->samples, &event)) == 1) {
        if (!mxp__chrome_is_sample(&event)) {
            continue;
        }
        const mxp_chrome_name *name = mxp__chrome_name(chrome, event.name);
        if (name == NULL) {
            return MXP_ENOMEM;
        }
        mxp__chrome_event(chrome, name, &event, run->out);
        if (run->out->length >= run->flush_bytes || run->out->failed) {
            return run->out->failed ? mxp__fail_memory("the exported text") : 1;
        }
    }
    return found == MXP_EFORMAT ? 0 : found;  // which the ranges have told
}

int mxp__chrome_rest(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    if (mxp_atomic_load(&chrome->has_samples)) {
        int more = MXP_OK;
        if (chrome->samples == NULL) {
            more = mxp__reader_open(chrome->source, &chrome->samples);
        }
        if (more == MXP_OK) {
            more = put_samples(run);
        }
        if (more != MXP_OK) {
            return more;
        }
        mxp_atomic_store(&chrome->has_samples, false);
    }
    int more = mxp__chrome_api_open(chrome);
    if (more == MXP_OK) {
        more = mxp__chrome_arrows(run);
    }
    return more == MXP_OK ? mxp__chrome_api_counters(run) : more;
}

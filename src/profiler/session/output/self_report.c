// SPDX-License-Identifier: Apache-2.0
// What the session tells about itself: whether it runs, its own cost and losses.
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/grown_struct.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/session.h"

int mxp_session_report(mxp_session *session, mxp_report *report)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    if (report == NULL || report->size_bytes < 2 * sizeof(uint32_t) ||
        report->size_bytes > MXP__STRUCT_BYTES_MAX) {
        return mxp__fail(MXP_EINVAL, "mxp_session_report: set report->size_bytes to "
                                     "sizeof(mxp_report) first");
    }
    mxp_report full = {.size_bytes = sizeof(full)};
    mxp__lock(&session->lock);
    mxp__recorder_report(&full);
    full.has_file = mxp__session_has_file();
    mxp__unlock(&session->lock);
    // A program built against an older header gets the members it knows, one against a newer
    // header zeros for those that we do not know.
    uint32_t size = report->size_bytes;
    memset(report, 0, size);
    memcpy(report, &full, size < sizeof(full) ? size : sizeof(full));
    report->size_bytes = size;
    return MXP_OK;
}

int mxp_session_is_running(mxp_session *session, char *filename, size_t size)
{
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    int running = session->running ? 1 : 0;
    if (filename != NULL && size > 0) {
        const char *configured = session->config.filename;
        snprintf(filename, size, "%s", configured == NULL ? "" : configured);
    }
    mxp__unlock(&session->lock);
    return running;
}

void mxp__session_warn_of_ring(void)
{
    static mxp_atomic_bool told;
    if (mxp__ring_is_small() && !mxp_atomic_exchange(&told, true)) {
        char text[160];
        mxp__ring_warning(text, sizeof text);
        fprintf(stderr, "mxprof: the ring is %s\n", text);
    }
}

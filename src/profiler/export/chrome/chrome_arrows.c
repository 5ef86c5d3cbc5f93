// SPDX-License-Identifier: Apache-2.0
// The arrows to operators as items: a flow that begins in the row of the call when it pushed, and
// ends in the operator. They come after the records, because a call may be recorded after the
// operator that it pushed.
#include <inttypes.h>

#include "base/fail.h"
#include "base/text.h"
#include "profiler/export/chrome/chrome.h"

// Flows are told apart by name, category and id, and processes may stand in one file.
static uint64_t flow_id(const mxp_source *source, uint64_t id)
{
    return id ^ mxp__chrome_pid(source) * UINT64_C(0x9e3779b97f4a7c15);
}

static void put_end(mxp_chrome *chrome, const char *phase, uint32_t thread, int64_t ns, uint64_t id,
                    mxp_strbuf *out)
{
    char ts[MXP__US_CHARS + 1];
    *mxp__write_us(ts, ns) = '\0';
    mxp__strbuf_printf(
        out,
        ",\n{\"ph\":\"%c\",\"cat\":\"" MXP__ARROW_NAME "\",\"name\":\"" MXP__ARROW_NAME
        "\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%s,\"id\":\"0x%" PRIx64 "\"%s}",
        phase[0], mxp__chrome_pid(chrome->source), mxp__chrome_thread_row(chrome->tracks, thread),
        ts, flow_id(chrome->source, id), phase + 1);
}

// 1: there is more to come; 0: that was all; a negative error.
static int put_arrow(mxp_export *run, const mxp_arrow *arrow)
{
    put_end(run->state, "s", arrow->from_thread, arrow->from_ns, arrow->id, run->out);
    put_end(run->state, "f,\"bp\":\"e\"", arrow->to_thread, arrow->to_ns, arrow->id, run->out);
    if (run->out->failed) {
        return mxp__fail_memory("the exported text");
    }
    return run->out->length >= run->flush_bytes;
}

static int put_waited(mxp_export *run, mxp_arrows *arrows)
{
    mxp_arrow arrow;
    int found;
    while ((found = mxp__arrows_waited(arrows, &arrow)) == 1) {
        int more = put_arrow(run, &arrow);
        if (more != 0) {
            return more;
        }
    }
    return found;
}

static int put_new(mxp_export *run, mxp_arrows *arrows)
{
    mxp_chrome *chrome = run->state;
    mxp_event event;
    mxp_arrow arrow;
    int found;
    while ((found = mxp__reader_next(chrome->operators, &event)) == 1) {
        int more = mxp__chrome_is_exchange(&event) ? 0 : mxp__arrows_of(arrows, &event, &arrow);
        if (more == 1) {
            more = put_arrow(run, &arrow);
        }
        if (more != 0) {
            return more;
        }
    }
    return found == MXP_EFORMAT ? 0 : found;  // which the ranges have told
}

int mxp__chrome_arrows(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    mxp_arrows *arrows = mxp__chrome_tracks_arrows(chrome->tracks);
    int more = put_waited(run, arrows);
    if (more != MXP_OK || !mxp_atomic_load(&chrome->has_operators)) {
        return more;
    }
    if (chrome->operators == NULL) {
        more = mxp__reader_open(chrome->source, &chrome->operators);
    }
    if (more == MXP_OK) {
        more = put_new(run, arrows);
    }
    if (more == MXP_OK) {
        mxp_atomic_store(&chrome->has_operators, false);
    }
    return more;
}

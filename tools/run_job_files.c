// SPDX-License-Identifier: Apache-2.0
// What each process of a job left: a line a file.
#include <inttypes.h>
#include <mxprof/error.h>

#include "base/fail.h"
#include "profiler/trace/file/native.h"
#include "run_job.h"
#include "text/figure.h"

// By the records' lengths alone: nothing is decoded.
static uint64_t count_records(mxp_source *source)
{
    mxp_record_range range;
    uint64_t count = 0;
    int found;
    for (size_t i = 0; (found = source->range(source, i, &range)) == 1 || found == MXP_EFORMAT;
         i++) {
        const uint64_t *at = range.words, *end = found == 1 ? range.end : at;
        while (found == 1 && at < end && (at[0] >> 8 & 0xff) != 0) {
            count++;
            at += 2 * (at[0] >> 8 & 0xff);
        }
    }
    return count;
}

static void put_file(const char *name, mxp_source *source, mxp_strbuf *out)
{
    static const char *const states[] = {[MXP__PROCESS_FINISHED] = "",
                                         [MXP__PROCESS_RECORDING] = ", still running",
                                         [MXP__PROCESS_DIED] = ", died",
                                         [MXP__PROCESS_UNFINISHED] = ", did not finish"};
    uint64_t lost = 0;
    for (size_t i = 0; i < source->loss_count; i++) {
        lost += source->losses[i].count;
    }
    mxp__strbuf_printf(out, "mxprof:   %s  ", name);
    mxp__put_grouped(count_records(source), out);
    mxp__strbuf_puts(out, " records, ");
    if (lost > 0) {
        mxp__put_grouped(lost, out);
        mxp__strbuf_puts(out, " lost");
    } else {
        mxp__strbuf_puts(out, "nothing lost");
    }
    mxp__strbuf_printf(out, "%s\n", states[source->state]);
}

int mxp__job_files(const char *folder, const mxp_run_traces *traces, mxp_strbuf *out)
{
    size_t read = 0;
    for (size_t i = 0; i < traces->count; i++) {
        const char *name = traces->all[i];
        mxp_strbuf path = {0};
        mxp_source *source;
        mxp__strbuf_printf(&path, "%s/%s", folder, name);
        if (mxp__native_open(mxp__strbuf_text(&path), &source, NULL) == MXP_OK) {
            put_file(name, source, out);
            mxp__source_close(source);
            read++;
        } else {
            mxp__strbuf_printf(out, "mxprof:   %s  cannot be read\n", name);
        }
        mxp__strbuf_fini(&path);
    }
    return read > 0 ? MXP_OK : mxp__fail(MXP_EIO, "no file in '%s' can be read", folder);
}

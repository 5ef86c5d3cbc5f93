// SPDX-License-Identifier: Apache-2.0
// The counters of API calls as items: a sample of both where a call begins, of the concurrency
// where it ends. They are the process's and come after the records.
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "profiler/export/chrome/chrome.h"

enum { CALLS, CONCURRENCY, COUNTERS };

// What is constant in the samples of a counter, around the time and the value.
typedef struct counter_text {
    mxp_strbuf begin;
    const char *middle;
} counter_text;

static void put_sample(mxp_strbuf *out, const counter_text *text, int64_t ns, uint64_t value)
{
    mxp__strbuf_append(out, text->begin.data, text->begin.length);
    char *at = mxp__strbuf_reserve(out, MXP__US_CHARS);
    if (at != NULL) {
        out->length += (size_t)(mxp__write_us(at, ns < 0 ? 0 : ns) - at);
    }
    mxp__strbuf_puts(out, text->middle);
    at = mxp__strbuf_reserve(out, MXP__U64_CHARS + 2);
    if (at != NULL) {
        char *end = mxp__write_u64(at, value);
        memcpy(end, "}}", 2);
        out->length += (size_t)(end + 2 - at);
    }
}

static bool make_texts(const mxp_source *source, counter_text texts[COUNTERS])
{
    static const char *const names[COUNTERS] = {MXP__API_CALLS, MXP__API_CONCURRENCY};
    static const char *const middles[COUNTERS] = {",\"args\":{\"" MXP__API_CALLS "\":",
                                                  ",\"args\":{\"" MXP__API_CONCURRENCY "\":"};
    bool made = true;
    for (int i = 0; i < COUNTERS; i++) {
        uint32_t pid = mxp__chrome_pid(source);
        texts[i] = (counter_text){.middle = middles[i]};
        mxp__strbuf_printf(&texts[i].begin,
                           ",\n{\"ph\":\"C\",\"cat\":\"" MXP__API_CATEGORY
                           "\",\"name\":\"%s\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":",
                           names[i], pid, pid);
        made = made && !texts[i].begin.failed;
    }
    return made;
}

static int put_samples(mxp_export *run, const counter_text texts[COUNTERS])
{
    mxp_chrome *chrome = run->state;
    uint64_t before = mxp__chrome_api_calls(chrome->tracks);
    mxp_api_change change;
    int found;
    while ((found = mxp__api_stream_next(chrome->api, &change)) == 1) {
        change.ns = mxp__chrome_api_time(chrome->tracks, change.ns);
        if (!change.is_end) {
            put_sample(run->out, &texts[CALLS], change.ns, before + change.calls);
            mxp__chrome_add_api_calls(chrome->tracks, change.calls);
        }
        put_sample(run->out, &texts[CONCURRENCY], change.ns, change.open);
        if (run->out->length >= run->flush_bytes || run->out->failed) {
            return run->out->failed ? mxp__fail_memory("the exported text") : 1;
        }
    }
    return found;
}

// Only names that a record had have entries.
static bool has_calls(const mxp_chrome *chrome)
{
    for (uint32_t id = 0; id < chrome->name_count; id++) {
        if (mxp_atomic_own(&chrome->names[id]) != NULL && mxp__is_api_name(chrome->source, id)) {
            return true;
        }
    }
    return false;
}

int mxp__chrome_api_open(mxp_chrome *chrome)
{
    if (chrome->api != NULL || !has_calls(chrome)) {
        return MXP_OK;
    }
    return mxp__api_stream_open(chrome->source, mxp__chrome_tracks_arrows(chrome->tracks),
                                &chrome->api);
}

int mxp__chrome_api_counters(mxp_export *run)
{
    mxp_chrome *chrome = run->state;
    if (chrome->api == NULL) {
        return MXP_OK;
    }
    counter_text texts[COUNTERS];
    int more = make_texts(chrome->source, texts) ? put_samples(run, texts)
                                                 : mxp__fail_memory("the exported text");
    for (int i = 0; i < COUNTERS; i++) {
        mxp__strbuf_fini(&texts[i].begin);
    }
    return more;
}

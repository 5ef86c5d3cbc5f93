// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: formatting one source as items of a Chrome JSON trace. Both the
// exporter "chrome" (one complete text) and chrome_file.c (a file that grows) are made of these
// parts:
//
//   {                              mxp__chrome_opening
//       "traceEvents": [
//   item,                          mxp__chrome_tracks_head, mxp__chrome_range for each range,
//   item,                          mxp__chrome_rest
//   item                           mxp__chrome_tracks_tail
//
//       ],                         mxp__chrome_closing
//       "otherData": {...},
//       "displayTimeUnit": "ms"
//   }
//
// One item a line. Every item but the first of a file begins with ",\n", so that the text can be
// truncated after any of them.
#ifndef MXP_EXPORT_CHROME_H
#define MXP_EXPORT_CHROME_H

#include "base/atomic.h"
#include "profiler/export/api_calls.h"
#include "profiler/export/export.h"
#include "profiler/export/tracks.h"
#include "profiler/trace/reader.h"

// What is constant in the items of a name: everything from ",\n{" up to "tid":, with phase X.
typedef struct mxp_chrome_name {
    uint32_t length;
    uint32_t category;  // name id
    bool is_async, needs_id;
    char text[];  // followed by MXP__CHROME_PAD bytes, so that it can be copied in strides
} mxp_chrome_name;

typedef MXP_ATOMIC(mxp_chrome_name *) mxp_chrome_name_slot;

enum {
    MXP__CHROME_PAD = 96,  // most names need no more
    MXP__CHROME_PHASE_AT = 9  // where the phase letter is in mxp_chrome_name.text
};

typedef struct mxp_chrome {
    mxp_source *source;
    mxp_chrome_tracks *tracks;  // borrowed
    mxp_chrome_name_slot *names;  // by name id, made on first use; the last one is for bad ids
    uint32_t name_count;
    mxp_atomic_bool has_samples, has_operators;  // what mxp__chrome_rest has to look for
    mxp_reader *samples, *operators;
    mxp_api_stream *api;  // what mxp__chrome_api_counters has not written yet
} mxp_chrome;

// `tracks` must have been begun with the source and outlive it.
int mxp__chrome_init(mxp_chrome *chrome, mxp_source *source, mxp_chrome_tracks *tracks);
void mxp__chrome_fini(mxp_chrome *chrome);

// The entry of a name; null without memory. Thread-safe.
const mxp_chrome_name *mxp__chrome_name_slow(mxp_chrome *chrome, uint32_t id);

static inline const mxp_chrome_name *mxp__chrome_name(mxp_chrome *chrome, uint32_t id)
{
    id = id < chrome->name_count ? id : chrome->name_count;
    // Pairs with the exchange in mxp__chrome_name_slow.
    const mxp_chrome_name *name = mxp_atomic_load_acquire(&chrome->names[id]);
    return __builtin_expect(name != NULL, 1) ? name : mxp__chrome_name_slow(chrome, id);
}

// The exporter's range callback (export.h); run->state is a mxp_chrome.
int mxp__chrome_range(mxp_export *run, mxp_record_range *range);

// Samples come after all ranges.
static inline bool mxp__chrome_is_sample(const mxp_event *event)
{
    return event->kind == MXP_KIND_COUNTER || event->kind == MXP_KIND_MEMORY;
}

// The exporter's rest callback: samples of the ranges that were formatted, the arrows to their
// operators, then the counters of their API calls, which the arrows have to know.
int mxp__chrome_rest(mxp_export *run);
int mxp__chrome_api_open(mxp_chrome *chrome);
int mxp__chrome_arrows(mxp_export *run);
int mxp__chrome_api_counters(mxp_export *run);

// An exchange with other processes, of which a thread has several under way at once: an operator of
// that phase which another completed, or which no thread pushed. It is drawn as an asynchronous
// event, because viewers drop slices of one row that overlap. No arrow leads to such an event.
bool mxp__chrome_is_exchange(const mxp_event *event);

// Any one record, `name` being its entry; kinds that are not drawn write nothing.
void mxp__chrome_event(mxp_chrome *chrome, const mxp_chrome_name *name, const mxp_event *event,
                       mxp_strbuf *out);

void mxp__chrome_opening(mxp_strbuf *out);
// `note` (may be null): a remark for readers of the file. `left_out`: how many events exceeded the
// file's limit.
void mxp__chrome_closing(const mxp_source *source, const char *note, uint64_t left_out,
                         mxp_strbuf *out);

#endif

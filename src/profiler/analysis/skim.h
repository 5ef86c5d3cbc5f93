// SPDX-License-Identifier: Apache-2.0
// Records of a range by their kinds, without decoding them all: most records are passed by at the
// cost of looking at one word.
#ifndef MXP_ANALYSIS_SKIM_H
#define MXP_ANALYSIS_SKIM_H

#include <stdbool.h>

#include "profiler/trace/event.h"

#define MXP__KINDS(kind) (UINT64_C(1) << (kind))

typedef struct mxp_skimmed {
    uint64_t counts[MXP_KIND_END];  // by kind; kinds that are not known under 0
    const uint64_t *last;  // the last record
} mxp_skimmed;

// Moves `decoder` to its next record whose kind is in `kinds` and decodes it. 1, 0 at the end of
// the range, MXP_EFORMAT as mxp__decoder_next. `skimmed` counts all records that it passes, and
// this one.
static inline int mxp__skim_next(mxp_decoder *decoder, uint64_t kinds, mxp_skimmed *skimmed,
                                 mxp_event *event)
{
    for (;;) {
        const uint64_t *at = decoder->at, *end = decoder->range.end;
        while (end - at >= 2) {
            const uint64_t kind = *at & 0xff, units = *at >> 8 & 0xff;
            if (units == 0 || units > (uint64_t)(end - at) / 2 ||
                (kind < MXP_KIND_END && (kinds >> kind & 1) != 0)) {
                break;
            }
            skimmed->counts[kind < MXP_KIND_END ? kind : 0]++;
            skimmed->last = at;
            at += 2 * units;
        }
        decoder->at = at;
        int more = mxp__decoder_next(decoder, event);
        if (more == 1) {
            skimmed->counts[*event->words & 0xff]++;
            skimmed->last = event->words;
            if ((kinds >> (*event->words & 0xff) & 1) == 0) {
                continue;  // a record that ended the loop by its length
            }
        }
        return more;
    }
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Durations of which percentiles are wanted: all of them as far as memory goes, so that they are
// exact, else a histogram of them, whose percentiles are marked.
#ifndef MXP_TOOLS_DURATIONS_H
#define MXP_TOOLS_DURATIONS_H

#include "profiler/trace/histogram.h"
#include "text/json_writer.h"
#include "text/screen.h"

enum { MXP__DURATIONS_MOST = 8 << 20 };  // 64 MiB

typedef struct mxp_durations {
    int64_t *all;  // sorted by mxp__durations_sort
    size_t count, capacity;
    uint64_t total;  // how many there were
    mxp_histogram *histogram;  // of all, where they are too many
} mxp_durations;

int mxp__durations_add(mxp_durations *durations, int64_t ns);  // MXP_ENOMEM
void mxp__durations_sort(mxp_durations *durations);
void mxp__durations_fini(mxp_durations *durations);

static inline bool mxp__durations_are_exact(const mxp_durations *durations)
{
    return durations->histogram == NULL;
}

// The least duration that `percent` of all do not exceed. Of none: 0. Sorted ones only.
int64_t mxp__durations_percentile(const mxp_durations *durations, double percent);

// "50,99,99.9": which percentiles are wanted.
enum { MXP__PERCENTILES_MOST = 16 };
typedef struct mxp_percentiles {
    double percents[MXP__PERCENTILES_MOST];
    size_t count;
} mxp_percentiles;

// Null: 50, 90, 99, 99.9. False: the text is no such list; each is above 0 and at most 100.
bool mxp__percentiles_parse(const char *text, mxp_percentiles *percentiles);

// "p50 104 us  p99 810 us"; and a member "percentiles" with rows of percent and ns.
void mxp__durations_put(const mxp_durations *durations, const mxp_percentiles *percentiles,
                        const mxp_screen *screen, mxp_strbuf *out);
void mxp__durations_json(mxp_json *json, const mxp_durations *durations,
                         const mxp_percentiles *percentiles);

#endif

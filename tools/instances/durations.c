// SPDX-License-Identifier: Apache-2.0
#include "instances/durations.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "text/figure.h"

static int start_histogram(mxp_durations *durations)
{
    durations->histogram = mxp__alloc(sizeof *durations->histogram);
    if (durations->histogram == NULL) {
        return mxp__fail_memory("durations of spans");
    }
    mxp__histogram_init(durations->histogram);
    for (size_t i = 0; i < durations->count; i++) {
        mxp__histogram_add(durations->histogram, (uint64_t)durations->all[i]);
    }
    return MXP_OK;
}

int mxp__durations_add(mxp_durations *durations, int64_t ns)
{
    durations->total++;
    if (durations->count == MXP__DURATIONS_MOST && durations->histogram == NULL &&
        start_histogram(durations) != MXP_OK) {
        return MXP_ENOMEM;
    }
    if (durations->histogram != NULL) {
        mxp__histogram_add(durations->histogram, (uint64_t)ns);
        return MXP_OK;
    }
    if (mxp__grow(&durations->all, &durations->capacity, durations->count + 1,
                  sizeof *durations->all) != MXP_OK) {
        return mxp__fail_memory("durations of spans");
    }
    durations->all[durations->count++] = ns;
    return MXP_OK;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void mxp__durations_sort(mxp_durations *durations)
{
    if (durations->count > 1) {
        qsort(durations->all, durations->count, sizeof *durations->all, ascending);
    }
}

void mxp__durations_fini(mxp_durations *durations)
{
    mxp__free(durations->all, durations->capacity * sizeof *durations->all);
    mxp__free(durations->histogram, sizeof *durations->histogram);
    *durations = (mxp_durations){0};
}

int64_t mxp__durations_percentile(const mxp_durations *durations, double percent)
{
    if (durations->histogram != NULL) {
        return (int64_t)mxp__histogram_quantile(durations->histogram, percent / 100);
    }
    if (durations->count == 0) {
        return 0;
    }
    // The rank from 1: the least one that is no smaller than the share. 99.9 % of 1000 is rank 999,
    // although the product is a little more in binary.
    double exact = percent / 100 * (double)durations->count;
    size_t rank = (size_t)exact;
    rank += exact - (double)rank > 1e-9 * (double)durations->count;
    rank = rank < 1 ? 1 : rank > durations->count ? durations->count : rank;
    return durations->all[rank - 1];
}

// ---- percentiles -------------------------------------------------------------------------------
bool mxp__percentiles_parse(const char *text, mxp_percentiles *percentiles)
{
    *percentiles = (mxp_percentiles){{50, 90, 99, 99.9}, 4};
    if (text == NULL) {
        return true;
    }
    percentiles->count = 0;
    for (;;) {
        char *end;
        double percent = strtod(text, &end);
        bool fits = end != text && percent > 0 && percent <= 100 &&
                    percentiles->count < MXP__PERCENTILES_MOST;
        if (!fits || (*end != ',' && *end != '\0')) {
            return false;
        }
        percentiles->percents[percentiles->count++] = percent;
        if (*end == '\0') {
            return true;
        }
        text = end + 1;
    }
}

void mxp__durations_put(const mxp_durations *durations, const mxp_percentiles *percentiles,
                        const mxp_screen *screen, mxp_strbuf *out)
{
    for (size_t i = 0; i < percentiles->count; i++) {
        double percent = percentiles->percents[i];
        mxp__strbuf_printf(out, "%sp%.6g %s", i > 0 ? "  " : "", percent,
                           mxp__durations_are_exact(durations) ? "" : "~");
        mxp__put_duration(screen, (double)mxp__durations_percentile(durations, percent), out);
    }
}

void mxp__durations_json(mxp_json *json, const mxp_durations *durations,
                         const mxp_percentiles *percentiles)
{
    mxp__json_bool(json, "percentiles_are_exact", mxp__durations_are_exact(durations));
    mxp__json_array(json, "percentiles");
    for (size_t i = 0; i < percentiles->count; i++) {
        double percent = percentiles->percents[i];
        mxp__json_row(json, NULL);
        mxp__json_number(json, "percent", percent);
        mxp__json_i64(json, "ns", mxp__durations_percentile(durations, percent));
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

// SPDX-License-Identifier: Apache-2.0
// See first_runs.h.
#include "profiler/analysis/causes/first_runs.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/histogram.h"

typedef struct run_place {
    uint64_t key;  // name and scope
    uint64_t run;  // plus 1
} run_place;

static const char memory_for[] = "the first runs of operators";

static int add_run(mxp_first_runs *runs, uint32_t name, uint32_t scope, run_place *place)
{
    if (mxp__grow(&runs->all, &runs->capacity, runs->count + 1, sizeof *runs->all) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_histogram *later = mxp__alloc(sizeof *later);
    if (later == NULL) {
        return mxp__fail_memory(memory_for);
    }
    mxp__histogram_init(later);
    runs->all[runs->count++] = (mxp_first_run){.name = name, .scope = scope, .later = later};
    place->run = runs->count;
    return MXP_OK;
}

int mxp__first_runs_add(mxp_first_runs *runs, uint32_t name, uint32_t scope, int64_t begin_ns,
                        int64_t took_ns)
{
    const uint64_t key = (uint64_t)scope << 32 | name;
    if (key == 0) {
        return MXP_OK;
    }
    if (runs->places.entry_bytes == 0) {
        runs->places.entry_bytes = sizeof(run_place);
    }
    run_place *place = mxp__id_map_find(&runs->places, key);
    if (place == NULL && runs->count == MXP__FIRST_RUNS_MAX) {
        return MXP_OK;
    }
    place = place != NULL ? place : mxp__id_map_add(&runs->places, key);
    if (place == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (place->run == 0) {
        int error = add_run(runs, name, scope, place);
        if (error != MXP_OK) {
            return error;
        }
    }
    mxp_first_run *run = &runs->all[place->run - 1];
    run->count++;
    if (run->count == 1 || begin_ns < run->first_begin_ns) {
        const int64_t before_ns = run->first_ns;
        run->first_begin_ns = begin_ns;
        run->first_ns = took_ns;
        took_ns = before_ns;
    }
    if (run->count > 1) {
        mxp__histogram_add(run->later, (uint64_t)took_ns);
    }
    return MXP_OK;
}

void mxp__first_runs_fini(mxp_first_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        mxp__free(runs->all[i].later, sizeof *runs->all[i].later);
    }
    mxp__free(runs->all, runs->capacity * sizeof *runs->all);
    mxp__id_map_fini(&runs->places);
    *runs = (mxp_first_runs){0};
}

int64_t mxp__first_run_excess_ns(const mxp_first_run *run)
{
    if (run->count < MXP__FIRST_RUN_OTHERS_MIN + 1 ||
        (uint64_t)run->first_ns <= mxp__histogram_locate(run->later, 0.99).last) {
        return 0;
    }
    return run->first_ns - (int64_t)mxp__histogram_quantile(run->later, 0.5);
}

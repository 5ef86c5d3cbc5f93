// SPDX-License-Identifier: Apache-2.0
// See imbalance.h.
#include "profiler/analysis/causes/imbalance.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/sample.h"
#include "profiler/analysis/statistics/trend.h"

typedef struct paired_step {
    uint64_t key;  // its number, plus 1
    uint64_t processes;  // that have it, so far
    double sum_ns, most_ns;
    uint64_t slowest;  // process
} paired_step;

static const double error_least = 0.025;

static const char memory_for[] = "the steps of all processes";

// A step counts for a process if all before it have it too.
static int pair_process(mxp_id_map *pairs, const mxp_own_steps *process, size_t index)
{
    for (size_t i = process->count; i-- > 0;) {  // from the last one, which counts
        const uint64_t key = process->numbers[i] + 1;
        paired_step *pair = key == 0     ? NULL
                            : index == 0 ? mxp__id_map_add(pairs, key)
                                         : mxp__id_map_find(pairs, key);
        if (pair == NULL && index == 0 && key != 0) {
            return mxp__fail_memory(memory_for);
        }
        if (pair == NULL || pair->processes != index) {
            continue;
        }
        pair->processes++;
        pair->sum_ns += process->own_ns[i];
        if (index == 0 || process->own_ns[i] > pair->most_ns) {
            pair->most_ns = process->own_ns[i];
            pair->slowest = index;
        }
    }
    return MXP_OK;
}

static bool is_whole(const paired_step *pair, size_t count)
{
    return pair != NULL && pair->processes == count;
}

// Gains and longest own times in the order of the first process's steps.
static void take_series(const mxp_id_map *pairs, const mxp_own_steps *processes, size_t count,
                        mxp_cause *cause, double *longest, uint64_t *times)
{
    size_t at = 0;
    for (size_t i = 0; i < processes[0].count && at < cause->steps; i++) {
        paired_step *pair = mxp__id_map_find(pairs, processes[0].numbers[i] + 1);
        if (is_whole(pair, count)) {
            longest[at] = pair->most_ns;
            cause->gains[at++] = pair->most_ns - pair->sum_ns / (double)count;
            times[pair->slowest]++;
            pair->processes = 0;  // a number that comes again counts once
        }
    }
    cause->steps = at;
}

static void take_means(const mxp_own_steps *processes, size_t count, mxp_imbalance *found)
{
    double others_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const double mean_ns = mxp__sample_mean(processes[i].own_ns, processes[i].count);
        if (i == found->slowest) {
            found->slowest_ns = mean_ns;
        } else {
            others_ns += mean_ns;
        }
    }
    found->others_ns = others_ns / (double)(count - 1);
}

static int weigh(const mxp_own_steps *processes, size_t count, const mxp_id_map *pairs,
                 mxp_imbalance *found)
{
    mxp_verdict lengths = {0};
    double *longest = mxp__alloc(found->pairs * sizeof *longest);
    uint64_t *times = mxp__alloc(count * sizeof *times);
    mxp_cause *cause = mxp__causes_add(&found->causes, MXP_CAUSE_IMBALANCE, MXP_GAIN_COUNTED);
    int error =
        longest == NULL || times == NULL || cause == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    if (error == MXP_OK) {
        cause->steps = found->pairs;
        take_series(pairs, processes, count, cause, longest, times);
        for (size_t i = 0; i < count; i++) {
            found->slowest = times[i] > times[found->slowest] ? i : found->slowest;
        }
        found->times = times[found->slowest];
        found->doubt = mxp__sign_test(found->times, found->pairs);
        take_means(processes, count, found);
        error = mxp__verdict_measure(longest, found->pairs, &lengths);
        found->noise_ns = lengths.noise_ns;
    }
    if (error == MXP_OK) {
        error = mxp__cause_weigh(cause, found->pairs, lengths.noise_ns);
    }
    if (error == MXP_OK) {
        cause->pid = processes[found->slowest].pid;
        cause->steps = found->times;
        cause->count = (double)found->pairs;
        cause->each_ns = found->slowest_ns;
        cause->run_ns = found->others_ns;
        cause->is_told = lengths.has_noise && found->doubt <= error_least &&
                         2 * found->times > found->pairs && 10 * cause->doubt <= error_least;
    }
    mxp__free(longest, found->pairs * sizeof *longest);
    mxp__free(times, count * sizeof *times);
    return error;
}

int mxp__imbalance_find(const mxp_own_steps *processes, size_t count, mxp_imbalance *imbalance)
{
    assert(count >= 2 && "one process alone is in balance");
    mxp_id_map pairs = {.entry_bytes = sizeof(paired_step)};
    int error = MXP_OK;
    *imbalance = (mxp_imbalance){.doubt = 1};
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        error = pair_process(&pairs, &processes[i], i);
    }
    for (paired_step *pair = mxp__id_map_next(&pairs, NULL); pair != NULL;
         pair = mxp__id_map_next(&pairs, pair)) {
        imbalance->pairs += is_whole(pair, count);
    }
    imbalance->causes.steps = imbalance->pairs;
    if (error == MXP_OK && imbalance->pairs > 0) {
        error = weigh(processes, count, &pairs, imbalance);
    }
    mxp__id_map_fini(&pairs);
    if (error != MXP_OK) {
        mxp__imbalance_fini(imbalance);
    }
    return error;
}

void mxp__imbalance_fini(mxp_imbalance *imbalance)
{
    mxp__causes_fini(&imbalance->causes);
    *imbalance = (mxp_imbalance){0};
}

// SPDX-License-Identifier: Apache-2.0
// See verdict.h.
#include "profiler/analysis/causes/verdict.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/bootstrap.h"
#include "profiler/analysis/statistics/correction.h"
#include "profiler/analysis/statistics/sample.h"

static const double noise_least = 0.01, noise_large = 0.1;  // of a step
static const double error_one_side = 0.025;  // of all that is told together
enum { LOOKED_AT = 10 };  // kinds of causes with a gain in time: as many tests, whatever is found

static const char memory_for[] = "the verdict on a trace";

// ---- the steps ---------------------------------------------------------------------------------
int mxp__verdict_measure(const double *walls_ns, size_t count, mxp_verdict *verdict)
{
    double *sorted = mxp__alloc(count * sizeof *sorted);
    if (sorted == NULL) {
        return count > 0 ? mxp__fail_memory(memory_for) : MXP_OK;
    }
    memcpy(sorted, walls_ns, count * sizeof *sorted);
    mxp__sample_sort(sorted, count);
    verdict->steps = count;
    verdict->mean_ns = mxp__sample_mean(walls_ns, count);
    verdict->median_ns = mxp__sample_median(sorted, count);
    verdict->p90_ns = mxp__sample_percentile(sorted, count, 0.9);
    mxp__free(sorted, count * sizeof *sorted);
    mxp_bootstrap bootstrap;
    verdict->noise_ns = noise_least * verdict->mean_ns;
    verdict->has_noise = count >= MXP_VERDICT_STEPS_MIN;
    if (!verdict->has_noise) {
        return MXP_OK;
    }
    int error = mxp__bootstrap_init(&bootstrap, walls_ns, count);
    if (error == MXP_OK) {
        const double half =
            (mxp__bootstrap_bound(&bootstrap, 0.975) - mxp__bootstrap_bound(&bootstrap, 0.025)) / 2;
        verdict->noise_ns = half > verdict->noise_ns ? half : verdict->noise_ns;
        verdict->is_noisy = verdict->noise_ns > noise_large * verdict->mean_ns;
        mxp__bootstrap_fini(&bootstrap);
    }
    return error;
}

static void measure_machine(const mxp_facts *facts, mxp_verdict *verdict)
{
    double wall_ns = 0, cpu_ns = 0, delay_ns = 0;
    bool has_cpu = facts->count > 0, has_delay = facts->count > 0;
    for (size_t i = 0; i < facts->count; i++) {
        const mxp_step_window *step = &facts->steps->all[facts->at[i].place];
        const bool is_last = facts->at[i].place + 1 == facts->steps->count;
        if (is_last && facts->count > 1) {
            continue;  // no mark follows it
        }
        wall_ns += facts->at[i].wall_ns;
        has_cpu &= step->cpu_ns != MXP__NOT_RECORDED;
        has_delay &= step->run_delay_ns != MXP__NOT_RECORDED;
        cpu_ns += has_cpu ? (double)step->cpu_ns : 0;
        delay_ns += has_delay ? (double)step->run_delay_ns : 0;
    }
    verdict->cpu_share = has_cpu && wall_ns > 0 ? cpu_ns / wall_ns : -1;
    verdict->delay_share = has_delay && wall_ns > 0 ? delay_ns / wall_ns : -1;
}

// ---- the causes --------------------------------------------------------------------------------
int mxp__cause_weigh(mxp_cause *cause, size_t steps, double noise_ns)
{
    mxp_bootstrap bootstrap;
    cause->gain_ns = mxp__sample_mean(cause->gains, steps);
    cause->low_ns = cause->high_ns = cause->gain_ns;
    cause->doubt = 1;
    if (cause->is_certain) {
        cause->doubt = cause->gain_ns > noise_ns ? 0 : 1;
        return MXP_OK;
    }
    if (steps < MXP_VERDICT_STEPS_MIN || cause->gain_ns <= 0) {
        return MXP_OK;
    }
    int error = mxp__bootstrap_init(&bootstrap, cause->gains, steps);
    if (error == MXP_OK) {
        cause->low_ns = mxp__bootstrap_bound(&bootstrap, 0.025);
        cause->high_ns = mxp__bootstrap_bound(&bootstrap, 0.975);
        cause->doubt = mxp__bootstrap_doubt(&bootstrap, noise_ns);
        mxp__bootstrap_fini(&bootstrap);
    }
    return error;
}

static int weigh_all(mxp_verdict *verdict)
{
    enum { TESTS = MXP_CAUSES_MAX + LOOKED_AT };
    mxp_causes *causes = &verdict->causes;
    double doubts[TESTS];
    size_t tests = 0;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < causes->count; i++) {
        if (causes->all[i].gain != MXP_GAIN_NONE) {
            error = mxp__cause_weigh(&causes->all[i], causes->steps, verdict->noise_ns);
            doubts[tests++] = causes->all[i].doubt;
            causes->all[i].left_ns =
                verdict->mean_ns - (causes->all[i].is_left_out ? 0 : causes->all[i].gain_ns);
        }
    }
    size_t padded = tests;
    for (; padded < LOOKED_AT; padded++) {
        doubts[padded] = 1;
    }
    if (error == MXP_OK) {
        error = mxp__correction_holm(doubts, padded, doubts);
    }
    for (size_t i = 0, test = 0; error == MXP_OK && i < causes->count; i++) {
        mxp_cause *cause = &causes->all[i];
        if (cause->gain != MXP_GAIN_NONE) {
            cause->doubt = doubts[test++];
        }
        cause->is_told =
            verdict->has_noise && (cause->gain == MXP_GAIN_NONE || cause->doubt <= error_one_side);
    }
    return error;
}

// ---- with what is mended -----------------------------------------------------------------------
// Replaces what a cause gains by what the replay says: never more than its time on the path.
static int replay_cause(const mxp_facts *facts, mxp_remedies *remedies, mxp_cause *cause,
                        double *lengths_ns)
{
    int error = mxp__remedies_mend(remedies, cause);
    if (error == MXP_OK) {
        error = mxp__remedies_lengths(remedies, lengths_ns);
    }
    if (error == MXP_OK) {
        error = mxp__remedies_undo(remedies, cause);
    }
    if (error != MXP_OK) {
        return error;
    }
    double before_ns = 0, after_ns = 0;
    for (size_t i = 0; i < facts->count; i++) {
        before_ns += cause->gains[i];
        after_ns += facts->at[i].wall_ns - lengths_ns[i];
    }
    const bool is_of_path = cause->id != MXP_CAUSE_WAIT && cause->id != MXP_CAUSE_LAYER;
    if (is_of_path && after_ns > before_ns) {
        return MXP_OK;
    }
    cause->gain = MXP_GAIN_REPLAY;
    cause->is_upper_bound =
        cause->id == MXP_CAUSE_INPUT || cause->id == MXP_CAUSE_WAIT || cause->id == MXP_CAUSE_TINY;
    for (size_t i = 0; i < facts->count; i++) {
        cause->gains[i] = facts->at[i].wall_ns - lengths_ns[i];
    }
    return MXP_OK;
}

static int replay_all(const mxp_facts *facts, mxp_remedies *remedies, mxp_causes *causes)
{
    double *lengths_ns = mxp__alloc(facts->count * sizeof *lengths_ns);
    int error = lengths_ns == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < causes->count; i++) {
        if (mxp__remedy_exists(&causes->all[i])) {
            error = replay_cause(facts, remedies, &causes->all[i], lengths_ns);
        }
    }
    mxp__free(lengths_ns, facts->count * sizeof *lengths_ns);
    return error;
}

// What a cause gains after those above it are mended: `now_ns` are the steps' lengths then, and
// become those with it. The first one's is what was replayed before. Is it still above the noise?
static int mend_next(const mxp_verdict *verdict, mxp_remedies *remedies, mxp_cause *cause,
                     bool is_first, double *now_ns, double *lengths_ns)
{
    const size_t steps = verdict->steps;
    int error = mxp__remedies_mend(remedies, cause);
    for (size_t i = 0; error == MXP_OK && is_first && i < steps; i++) {
        lengths_ns[i] = now_ns[i] - cause->gains[i];
    }
    if (error == MXP_OK && !is_first) {
        error = mxp__remedies_lengths(remedies, lengths_ns);
    }
    for (size_t i = 0; error == MXP_OK && i < steps; i++) {
        cause->gains[i] = now_ns[i] - lengths_ns[i];
    }
    if (error == MXP_OK) {
        error = mxp__cause_weigh(cause, steps, verdict->noise_ns);
    }
    if (error != MXP_OK) {
        return error;
    }
    cause->doubt = LOOKED_AT * cause->doubt < 1 ? LOOKED_AT * cause->doubt : 1;
    cause->is_told = cause->doubt <= error_one_side;
    if (!cause->is_told) {
        return mxp__remedies_undo(remedies, cause);
    }
    memcpy(now_ns, lengths_ns, steps * sizeof *now_ns);
    cause->left_ns = mxp__sample_mean(now_ns, steps);
    return MXP_OK;
}

// Gains of the told ones, each after those above it. The first one's is its own.
static int mend_all(const mxp_facts *facts, mxp_remedies *remedies, mxp_verdict *verdict)
{
    const size_t bytes = facts->count * sizeof(double);
    double *now_ns = mxp__alloc(bytes), *lengths_ns = mxp__alloc(bytes);
    int error = now_ns == NULL || lengths_ns == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    bool is_first = true;
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        now_ns[i] = facts->at[i].wall_ns;
    }
    for (size_t i = 0; error == MXP_OK && i < verdict->causes.count; i++) {
        mxp_cause *cause = &verdict->causes.all[i];
        if (cause->is_told && cause->gain == MXP_GAIN_REPLAY) {
            error = mend_next(verdict, remedies, cause, is_first, now_ns, lengths_ns);
            is_first = false;
        }
    }
    mxp__free(now_ns, bytes);
    mxp__free(lengths_ns, bytes);
    return error;
}

// ---- order -------------------------------------------------------------------------------------
// First those whose time is on the path; then what only a replay knows: waits, and what layers have
// above their roofs; the program last, because without needless waits much of it is beside the
// path; and then what is no time.
static int rank_of(const mxp_cause *cause)
{
    switch (cause->id) {
    case MXP_CAUSE_LAYER:
        return cause->is_most ? 0 : 2;
    case MXP_CAUSE_WAIT:
        return 1;
    case MXP_CAUSE_PROGRAM:
        return 3;
    case MXP_CAUSE_CHAIN:
        return 4;
    case MXP_CAUSE_GROWTH:
        return 5;
    default:
        return 0;
    }
}

static int compare_causes(const void *a, const void *b)
{
    const mxp_cause *x = a, *y = b;
    if (x->is_told != y->is_told) {
        return x->is_told ? -1 : 1;
    }
    if (rank_of(x) != rank_of(y)) {
        return rank_of(x) - rank_of(y);
    }
    if (x->gain_ns != y->gain_ns) {
        return x->gain_ns > y->gain_ns ? -1 : 1;
    }
    return (int)x->id - (int)y->id;
}

static int decide(const mxp_facts *facts, mxp_remedies *remedies, mxp_verdict *verdict)
{
    mxp_causes *causes = &verdict->causes;
    const bool replays = remedies->state == MXP_REMEDIES_EXACT && verdict->has_noise;
    int error = mxp__causes_find(facts, causes);
    if (error == MXP_OK && replays) {
        error = mxp__find_waits(remedies, causes);
    }
    if (error == MXP_OK && replays) {
        error = replay_all(facts, remedies, causes);
    }
    if (error == MXP_OK) {
        error = weigh_all(verdict);
    }
    if (error != MXP_OK) {
        return error;
    }
    qsort(causes->all, causes->count, sizeof *causes->all, compare_causes);
    if (replays) {
        error = mend_all(facts, remedies, verdict);
    }
    // Those that have nothing left to gain go behind the others, which keep their order.
    for (size_t i = 0; error == MXP_OK && i < causes->count; i++) {
        if (causes->all[i].is_told) {
            const mxp_cause told = causes->all[i];
            memmove(&causes->all[verdict->told + 1], &causes->all[verdict->told],
                    (i - verdict->told) * sizeof told);
            causes->all[verdict->told++] = told;
        }
    }
    return error;
}

int mxp__verdict_make(const mxp_facts *facts, uint64_t limit_bytes, mxp_verdict *verdict)
{
    *verdict = (mxp_verdict){0};
    mxp_remedies remedies = {0};
    double *walls_ns = mxp__alloc(facts->count * sizeof *walls_ns);
    int error = walls_ns == NULL && facts->count > 0 ? mxp__fail_memory(memory_for) : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        walls_ns[i] = facts->at[i].wall_ns;
    }
    if (error == MXP_OK) {
        error = mxp__verdict_measure(walls_ns, facts->count, verdict);
    }
    if (error == MXP_OK) {
        error = mxp__remedies_open(facts, limit_bytes, &remedies);
    }
    verdict->replay = remedies.state;
    measure_machine(facts, verdict);
    if (error == MXP_OK) {
        error = decide(facts, &remedies, verdict);
    }
    mxp__remedies_fini(&remedies);
    mxp__free(walls_ns, facts->count * sizeof *walls_ns);
    if (error != MXP_OK) {
        mxp__verdict_fini(verdict);
    }
    return error;
}

void mxp__verdict_fini(mxp_verdict *verdict)
{
    mxp__causes_fini(&verdict->causes);
    *verdict = (mxp_verdict){0};
}

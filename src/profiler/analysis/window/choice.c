// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/window/choice.h"

#include <assert.h>
#include <inttypes.h>
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"

static int64_t length_of(const mxp_step_window *step)
{
    return step->end_ns - step->begin_ns;
}

static void choose(mxp_choice *choice, size_t place)
{
    choice->steps[place] = true;
    choice->step_count++;
    choice->wall_ns += (uint64_t)length_of(&choice->of->all[place]);
}

static void choose_usual(mxp_choice *choice)
{
    const mxp_steps *steps = choice->of;
    for (size_t i = 0; i < steps->count; i++) {
        if (mxp__step_is_plain(&steps->all[i])) {
            choose(choice, i);
        } else if (steps->all[i].is_first_run) {
            choice->first_run++;
        } else {
            choice->incomplete++;
            choice->reasons |= mxp__step_reasons(&steps->all[i]);
        }
    }
    if (choice->step_count > 0) {
        return;
    }
    choice->is_forced = true;
    choice->first_run = choice->incomplete = choice->reasons = 0;
    for (size_t i = 0; i < steps->count; i++) {
        choose(choice, i);
    }
}

static int choose_range(mxp_choice *choice, const mxp_choice_wish *wish)
{
    const mxp_steps *steps = choice->of;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < steps->count; i++) {
        const uint64_t number = steps->all[i].number;
        least = number < least ? number : least;
        most = number > most ? number : most;
        if (number >= wish->first && number <= wish->last) {
            choose(choice, i);
        }
    }
    return choice->step_count > 0
               ? MXP_OK
               : mxp__fail(MXP_EINVAL,
                           "there is no such step; the steps have the numbers %" PRIu64
                           " to %" PRIu64,
                           least, most);
}

static void choose_last(mxp_choice *choice)
{
    size_t last = choice->of->count - 1;
    while (last > 0 && choice->of->all[last].is_open) {
        last--;
    }
    choose(choice, choice->of->all[last].is_open ? choice->of->count - 1 : last);
}

static void choose_slowest(mxp_choice *choice)
{
    const mxp_steps *steps = choice->of;
    size_t slowest = SIZE_MAX;
    for (int best = 2; best >= 0 && slowest == SIZE_MAX; best--) {  // plain, with an end, any
        for (size_t i = 0; i < steps->count; i++) {
            const mxp_step_window *step = &steps->all[i];
            const int is = mxp__step_is_plain(step) ? 2 : step->is_open ? 0 : 1;
            if (is >= best &&
                (slowest == SIZE_MAX || length_of(step) > length_of(&steps->all[slowest]))) {
                slowest = i;
            }
        }
    }
    choose(choice, slowest);
}

static int choose_steps(mxp_choice *choice, const mxp_choice_wish *wish)
{
    choice->steps = mxp__alloc(choice->of->count * sizeof *choice->steps);
    if (choice->steps == NULL) {
        return mxp__fail_memory("the chosen steps");
    }
    switch (wish->steps) {
    case MXP_STEPS_USUAL:
        choose_usual(choice);
        return MXP_OK;
    case MXP_STEPS_RANGE:
        return choose_range(choice, wish);
    case MXP_STEPS_LAST:
        choose_last(choice);
        return MXP_OK;
    default:
        choose_slowest(choice);
        return MXP_OK;
    }
}

bool mxp__choice_leave_out(mxp_choice *choice, unsigned reasons)
{
    const mxp_steps *steps = choice->of;
    const size_t count = choice->steps == NULL ? 0 : steps->count;
    size_t out = 0;
    for (size_t i = 0; i < count; i++) {
        out += choice->steps[i] && (mxp__step_lacks(&steps->all[i]) & reasons) != 0;
    }
    if (out == choice->step_count) {
        return out == 0;
    }
    for (size_t i = 0; out > 0 && i < count; i++) {
        const mxp_step_window *step = &steps->all[i];
        if (choice->steps[i] && (mxp__step_lacks(step) & reasons) != 0) {
            choice->steps[i] = false;
            choice->step_count--;
            choice->incomplete++;
            choice->reasons |= mxp__step_reasons(step);
            choice->wall_ns -= (uint64_t)length_of(step);
        }
    }
    return true;
}

static int64_t time_of(const mxp_time_wish *wish, int64_t begin_ns, int64_t end_ns,
                       int64_t unset_ns)
{
    return wish->base == MXP_TIME_UNSET        ? unset_ns
           : wish->base == MXP_TIME_FROM_ZERO  ? wish->ns
           : wish->base == MXP_TIME_FROM_BEGIN ? begin_ns + wish->ns
                                               : end_ns - wish->ns;
}

// What ends last ends within the time, so one nanosecond more is taken.
static int choose_time(mxp_choice *choice, const mxp_choice_wish *wish)
{
    const int64_t first_ns = choice->of->first_ns, last_ns = choice->of->last_ns + 1;
    const int64_t from_ns = time_of(&wish->from, first_ns, last_ns, first_ns);
    const int64_t until_ns = time_of(&wish->until, from_ns, last_ns, last_ns);
    if (from_ns >= until_ns || from_ns >= last_ns || until_ns <= first_ns) {
        return mxp__fail(MXP_EINVAL,
                         "there is nothing from %.9g s to %.9g s; what is recorded is "
                         "from %.9g s to %.9g s",
                         (double)from_ns / 1e9, (double)until_ns / 1e9, (double)first_ns / 1e9,
                         (double)last_ns / 1e9);
    }
    choice->from_ns = from_ns < first_ns ? first_ns : from_ns;
    choice->until_ns = until_ns > last_ns ? last_ns : until_ns;
    choice->is_everything = wish->from.base == MXP_TIME_UNSET && wish->until.base == MXP_TIME_UNSET;
    choice->wall_ns = (uint64_t)(choice->until_ns - choice->from_ns);
    return MXP_OK;
}

int mxp__choice_make(const mxp_steps *steps, const mxp_choice_wish *wish, mxp_choice *choice)
{
    const bool wants_time = wish->from.base != MXP_TIME_UNSET || wish->until.base != MXP_TIME_UNSET;
    *choice = (mxp_choice){.of = steps};
    int error;
    if (!wants_time && steps->count > 0) {
        error = choose_steps(choice, wish);
    } else if (!wants_time && wish->steps != MXP_STEPS_USUAL) {
        error = mxp__fail(MXP_ENOTSUP, "no steps are marked in it: " MXP_STEPS_ARE_MARKED_BY
                                       "; or choose a time with --from and --until");
    } else {
        error = choose_time(choice, wish);
    }
    if (error != MXP_OK) {
        mxp__choice_fini(choice);
    }
    return error;
}

void mxp__choice_make_time(const mxp_steps *steps, int64_t from_ns, int64_t until_ns,
                           mxp_choice *choice)
{
    const int64_t last_ns = steps->last_ns + 1;
    assert(from_ns <= until_ns);
    *choice = (mxp_choice){.of = steps};
    choice->from_ns = from_ns < steps->first_ns ? steps->first_ns : from_ns;
    choice->until_ns = until_ns > last_ns ? last_ns : until_ns;
    if (choice->until_ns < choice->from_ns) {
        choice->until_ns = choice->from_ns;
    }
    choice->wall_ns = (uint64_t)(choice->until_ns - choice->from_ns);
}

void mxp__choice_fini(mxp_choice *choice)
{
    mxp__free(choice->steps, choice->of == NULL ? 0 : choice->of->count * sizeof *choice->steps);
    *choice = (mxp_choice){0};
}

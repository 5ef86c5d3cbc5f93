// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/drain/ended.h"

#include <mxprof/error.h>

#include "base/alloc.h"
#include "profiler/recorder/drain/report.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/thread_index.h"

typedef struct ended_thread {
    mxp_thread_entry entry;
    size_t first_loss;  // + 1; 0: none
} ended_thread;

typedef struct ended_loss {
    mxp_loss_entry loss;
    size_t next;  // of the same index, + 1; 0: none
} ended_loss;

static struct {
    ended_thread *threads;  // by index
    size_t thread_capacity;
    ended_loss *losses;
    size_t loss_count, loss_capacity;
    mxp_ended_totals totals;
} ended;

const mxp_ended_totals *mxp__ended_totals(void)
{
    return &ended.totals;
}

mxp_thread_entry mxp__ended_entry(uint32_t index)
{
    return index < ended.thread_capacity ? ended.threads[index].entry : (mxp_thread_entry){0};
}

// ---- losses ------------------------------------------------------------------------------------
size_t mxp__ended_loss_count(void)
{
    return ended.loss_count;
}

const mxp_loss_entry *mxp__ended_loss(size_t number)
{
    return &ended.losses[number].loss;
}

size_t mxp__ended_loss_before(const mxp_loss_entry *loss)
{
    size_t at = loss->thread < ended.thread_capacity ? ended.threads[loss->thread].first_loss : 0;
    while (at != 0 && ended.losses[at - 1].loss.reason != loss->reason) {
        at = ended.losses[at - 1].next;
    }
    return at - 1;
}

// Its begin stays: by that an output knows what it has told already.
void mxp__ended_join(mxp_loss_entry *to, const mxp_loss_entry *loss)
{
    to->count += loss->count;
    to->to_ticks = loss->to_ticks > to->to_ticks ? loss->to_ticks : to->to_ticks;
}

static void add_loss(const mxp_loss_entry *loss)
{
    ended_thread *thread = &ended.threads[loss->thread];
    ended.losses[ended.loss_count++] = (ended_loss){*loss, thread->first_loss};
    thread->first_loss = ended.loss_count;
}

// Those of one thread stay apart.
static void keep_losses(const mxp_loss_entry *losses, size_t count)
{
    size_t there = ended.loss_count;
    for (size_t i = 0; i < count; i++) {
        size_t before = mxp__ended_loss_before(&losses[i]);
        if (before < there) {
            mxp__ended_join(&ended.losses[before].loss, &losses[i]);
        } else {
            add_loss(&losses[i]);
        }
    }
}

// ---- threads -----------------------------------------------------------------------------------
static int grow(uint32_t index, size_t losses)
{
    size_t capacity = ended.thread_capacity;
    int error =
        mxp__grow(&ended.threads, &ended.thread_capacity, (size_t)index + 1, sizeof *ended.threads);
    for (size_t i = capacity; error == MXP_OK && i < ended.thread_capacity; i++) {
        ended.threads[i] = (ended_thread){0};
    }
    return error == MXP_OK ? mxp__grow(&ended.losses, &ended.loss_capacity,
                                       ended.loss_count + losses, sizeof *ended.losses)
                           : error;
}

int mxp__ended_add(mxp_thread *thread)
{
    assert(mxp__drain_is_held());
    mxp_loss_entry losses[MXP__LOSS_WINDOWS + 1];
    size_t count = mxp__thread_losses(thread, losses);
    int error = grow(thread->index, count);
    if (error != MXP_OK) {
        return error;
    }
    ended.threads[thread->index].entry = mxp__thread_entry_of(thread);
    keep_losses(losses, count);
    ended.totals.records += thread->records;
    ended.totals.bytes += thread->bytes;
    ended.totals.lost += mxp__thread_lost(thread);
    return MXP_OK;
}

void mxp__ended_fork_child(void)
{
    for (size_t i = 0; i < ended.thread_capacity; i++) {
        ended.threads[i] = (ended_thread){0};
    }
    ended.loss_count = 0;
    ended.totals = (mxp_ended_totals){0};
}

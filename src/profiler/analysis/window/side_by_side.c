// SPDX-License-Identifier: Apache-2.0
// See side_by_side.h. Each thread takes the next piece that nobody has taken. Where no thread can
// be started, the calling one does all.
#include "profiler/analysis/window/side_by_side.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"

enum { WORTH_BYTES = 8 << 20 };  // less is read in the time that a thread takes to begin

typedef struct work {
    mxp_piece_run *run;
    void *context;
    size_t count;
    mxp_atomic_u64 next;
    mxp_lock lock;  // of the rest
    size_t failed;  // the first piece with an error
    int error;
    char line[512];
} work;

static void note_error(work *all, size_t piece, int error)
{
    mxp__lock(&all->lock);
    if (all->error == MXP_OK || piece < all->failed) {
        all->failed = piece;
        all->error = error;
        all->line[0] = '\0';
        strncat(all->line, mxp_last_error(), sizeof all->line - 1);
    }
    mxp__unlock(&all->lock);
}

static void do_piece(work *all, size_t piece)
{
    const int error = all->run(all->context, piece);
    if (error != MXP_OK) {
        note_error(all, piece, error);
    }
}

static void *do_others(void *context)
{
    work *all = context;
    for (size_t piece; (piece = mxp_atomic_add(&all->next, 1)) < all->count;) {
        do_piece(all, piece);
    }
    return NULL;
}

size_t mxp__side_by_side_count(uint64_t bytes)
{
    const size_t cores = mxp__os_cpu_count();
    return bytes < WORTH_BYTES ? 1 : cores < MXP__SIDES_MAX ? cores : MXP__SIDES_MAX;
}

int mxp__side_by_side(size_t count, mxp_piece_run *run, void *context)
{
    work all = {.run = run, .context = context, .count = count, .next = {1}};
    const size_t cores = mxp__os_cpu_count(), most = count < cores ? count : cores;
    pthread_t threads[MXP__SIDES_MAX];
    size_t started = 0;
    mxp__lock_reset(&all.lock);
    while (started + 1 < most && started + 1 < MXP__SIDES_MAX &&
           mxp__os_start_thread(&threads[started], do_others, &all) == 0) {
        started++;
    }
    if (count > 0) {
        do_piece(&all, 0);
        do_others(&all);
    }
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&all.lock.mutex);
    if (all.error != MXP_OK) {
        mxp_set_last_error(all.error, all.line);
    }
    return all.error;
}

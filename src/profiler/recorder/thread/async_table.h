// SPDX-License-Identifier: Apache-2.0
// The open asynchronous spans of the process. The table in memory is what counts; where a recording
// file has one too, each change is made there as well, so that the file of a dead process has them.
#ifndef MXP_PROF_ASYNC_TABLE_H
#define MXP_PROF_ASYNC_TABLE_H

#include <mxprof/async.h>
#include <stdbool.h>

// A span that was in the table, taken out by whoever ends it.
typedef struct mxp_async_taken {
    mxp_async span;
    uint32_t thread;  // that began it
} mxp_async_taken;

// Puts a span in; gives its place, 0: there is none, which is counted. `who`: its name, and in the
// high half that of the argument "id". The caller holds busy.
uint32_t mxp__async_put(uint64_t begin_ticks, uint64_t who, uint64_t id, mxp_context context,
                        uint32_t thread);

// Takes a span out, for exactly one caller. False: it is not there (any more). The caller holds
// busy or the drain lock.
bool mxp__async_take(const mxp_async *span);
// Of those with this name and id the one that began first.
bool mxp__async_take_first(mxp_name name, uint64_t id, mxp_async_taken *taken);
// The next one after place *at (0: the first) that began up to `end_ticks`.
bool mxp__async_take_next(uint32_t *at, uint64_t end_ticks, mxp_async_taken *taken);

const mxp_async_slot *mxp__async_slots(void);  // MXP_ASYNC_SLOTS of them, for core files
uint64_t mxp__async_left_out(void);  // for how many there was no place

// The table in the file; null: none. With `copy` those that are open are entered there, while
// nobody records.
void mxp__async_show(mxp_open_section *section, bool copy);
bool mxp__async_is_shown(void);
bool mxp__async_is_used(void);  // whether there ever was one
void mxp__async_fork_child(void);

#endif

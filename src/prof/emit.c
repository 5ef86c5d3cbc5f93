// SPDX-License-Identifier: Apache-2.0
// The slow half of emit.h: holds, new chunks, scope announcements.
#include "prof/emit.h"

#include <errno.h>

#include "base/os/os.h"
#include "prof/state.h"

void mxp__emit_lose_busy(mxp_thread *self)
{
    __atomic_fetch_add(&self->hot.lost_busy, 1, __ATOMIC_RELAXED);
}

static bool is_held(uint32_t *gate)
{
    *gate = __atomic_load_n(&mxp_control.gate, __ATOMIC_ACQUIRE);
    return (*gate & MXP_GATE_HOLD) != 0;
}

// The holder waits for busy threads: who waits for it steps out, or both wait for ever. It may
// change the page that `busy` is in, so that what is stored there meanwhile is lost: `busy` is set
// when the hold is over, and then the gate is read again.
static uint32_t gate_after_hold(void)
{
    uint32_t gate;
    mxp_recorder *self = mxp_self;
    while (is_held(&gate)) {
        __atomic_store_n(&self->busy, 0u, __ATOMIC_RELEASE);
        for (unsigned tries = 1; is_held(&gate); tries++) {
            if (tries % 64 == 0) {
                mxp__os_yield();
            }
        }
        __atomic_store_n(&self->busy, 1u, __ATOMIC_SEQ_CST);
    }
    return gate;
}

bool mxp__emit_gate_slow(uint32_t classes)
{
    if (mxp__hold_is_ours()) {
        mxp__emit_lose_busy((mxp_thread *)mxp_self);
        return false;
    }
    uint32_t gate = gate_after_hold();
    return classes == MXP__FORCED || (gate & classes) != 0;
}

static bool announce_one(mxp_thread *self, unsigned what, uint32_t scope, uint64_t now)
{
    uint64_t *words = mxp__emit_room_slow(self, 2, now);
    if (words == NULL) {
        return false;
    }
    words[0] = mxp__word0(MXP_KIND_META, 2, now);
    words[1] = scope | (uint64_t)what << 32;
    words[2] = words[3] = 0;
    __atomic_store_n(&self->hot.cursor, words + 4, __ATOMIC_RELEASE);
    return true;
}

// The whole stack anew, or that the thread is in no scope. A thread that never was says nothing.
static void announce_scopes(mxp_thread *self, uint64_t now)
{
    self->announce = 0;
    if (self->uses_scopes && self->scope_depth == 0) {
        announce_one(self, MXP_META_SCOPE_POP, MXP_NAME_NONE, now);
    }
    for (uint32_t i = 0; i < self->scope_depth && i < MXP__SCOPES_MAX; i++) {
        if (!announce_one(self, MXP_META_SCOPE_PUSH, self->scopes[i], now)) {
            return;
        }
    }
}

uint64_t *mxp__emit_room_slow(mxp_thread *self, unsigned units, uint64_t now)
{
    int saved = errno;
    if (self->announce != 0) {
        announce_scopes(self, now);
    }
    uint64_t *words = NULL;
    bool fits =
        self->hot.cursor + 2 * units <= self->chunk_end && (now - self->hot.base_ticks) >> 47 == 0;
    if (fits || mxp__thread_new_chunk(self, now)) {
        words = self->hot.cursor;
        // In statistics-only mode every span must come the slow way.
        uint64_t *limit = mxp__rec.limits.statistics_only ? NULL : self->chunk_end;
        __atomic_store_n(&self->hot.limit, limit, __ATOMIC_RELAXED);
    }
    errno = saved;
    return words;
}

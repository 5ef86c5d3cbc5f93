// SPDX-License-Identifier: Apache-2.0
// Rules of the recorder that only a programmer can break, broken on purpose: a debug build ends at
// once and names the rule. Other builds check none of them.
#include "broken_rule.h"
#include "cmocka_all.h"

#ifdef NDEBUG
int main(void)
{
    return 77;  // skipped
}
#else
#include <mxprof/record.h>

#include "base/fork_lock.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/memory/ring_queue.h"
#include "profiler/recorder/memory/walk.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store_space.h"
#include "profiler/recorder/thread/thread_index.h"
#include "profiler/session/output/record_file.h"

static mxp_thread *recording_thread(void)
{
    mxp__recorder_start(MXP_CLASS_USER, 0);
    return mxp__thread_self();
}

// ---- locks ------------------------------------------------------------------------------------

static void walk_without_lock(void)
{
    mxp_position begin = {0};
    mxp__walk(recording_thread(), &begin, NULL, NULL, NULL);
}

static void freeze_without_lock(void)
{
    mxp__freeze();
}

static void unlink_without_lock(void)
{
    mxp__index_unlink(recording_thread(), 0);
}

static void unlock_twice(void)
{
    mxp__spin_lock(&mxp__pool_lock);
    mxp__spin_unlock(&mxp__pool_lock);
    mxp__spin_unlock(&mxp__pool_lock);
}

static void sync_a_recording_file_without_lock(void)
{
    mxp__record_file_sync();
}

static void unlock_what_was_never_registered(void)
{
    static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(NULL);
    mxp__lock(&lock.lock);
    mxp__fork_unlock(&lock);
}

static void what_needs_a_lock_is_not_called_without(void **state)
{
    (void)state;
    expect_abort(sync_a_recording_file_without_lock, "mxp__lock_is_held");
    expect_abort(unlock_what_was_never_registered, "a fork lock is taken before it is registered");
    expect_abort(walk_without_lock, "mxp__drain_is_held()");
    expect_abort(freeze_without_lock, "mxp__drain_is_held()");
    expect_abort(unlink_without_lock, "mxp__spin_is_held(&mxp__pool_lock)");
    expect_abort(unlock_twice, "mxp__spin_is_held(spin)");
}

// ---- the protocol -----------------------------------------------------------------------------

static void empty_ring_under_recording_threads(void)
{
    recording_thread();
    mxp__drain_lock();
    mxp__ring_forget();
}

static void thaw_without_freeze(void)
{
    mxp__drain_lock();
    mxp__thaw();
}

static void who_changes_chunks_has_frozen_their_threads(void **state)
{
    (void)state;
    expect_abort(empty_ring_under_recording_threads, "mxp__nobody_records()");
    expect_abort(thaw_without_freeze, "mxp__freeze_is_ours()");
}

static void leave_twice(void)
{
    mxp_emit emit;
    recording_thread();
    if (mxp__emit_enter(&emit, MXP_CLASS_USER, 0)) {
        mxp__emit_leave(emit.self);
        mxp__emit_leave(emit.self);
    }
}

static void lose_outside_of_a_record(void)
{
    mxp__thread_lose(recording_thread(), MXP_LOSS_LATE, 1, mxp_ticks());
}

static void a_thread_changes_what_is_its_own_inside_of_a_record(void **state)
{
    (void)state;
    expect_abort(leave_twice, "mxp__is_in_record(self)");
    expect_abort(lose_outside_of_a_record, "mxp__is_in_record(self)");
}

// ---- records and chunks -----------------------------------------------------------------------

static void write_more_than_there_is_room_for(void)
{
    mxp_emit emit;
    recording_thread();
    if (mxp__emit_open_at(&emit, MXP_CLASS_USER, 1, 0)) {
        mxp__emit_close(&emit, 2);
    }
}

static void write_behind_the_chunk(void)
{
    mxp_emit emit;
    const mxp_thread *self = recording_thread();
    if (mxp__emit_open_at(&emit, MXP_CLASS_USER, 1, 0)) {
        emit.words = self->chunk_end;
        mxp__emit_close(&emit, 1);
    }
}

static void a_record_ends_within_the_limit_of_its_thread(void **state)
{
    (void)state;
    expect_abort(write_more_than_there_is_room_for, "a record is of another length");
    expect_abort(write_behind_the_chunk, "mxp__cursor_is_in_chunk(emit->self)");
}

static void walk_from_elsewhere(void)
{
    mxp_thread *self = recording_thread();
    mxp_position before = {self->current, mxp__chunk_words(self->current) - 1};
    mxp__drain_lock();
    mxp__walk(self, &before, NULL, NULL, NULL);
}

static void a_position_is_in_its_chunk(void **state)
{
    (void)state;
    expect_abort(walk_from_elsewhere, "mxp__position_is_in_chunk(position)");
}

static void queue_twice(void)
{
    mxp_chunk_header *chunk = mxp__pool_take_chunk();
    mxp__spin_lock(&mxp__pool_lock);
    mxp__queue_add(chunk);
    mxp__queue_add(chunk);
}

static void a_chunk_is_queued_once(void **state)
{
    (void)state;
    expect_abort(queue_twice, "a chunk is queued twice");
}

static void take_half_a_page(void)
{
    static mxp_file_header pages[4096];
    mxp_recording_file file = {.file = {.base = (char *)pages,
                                        .limit_bytes = sizeof pages,
                                        .reserved_bytes = {sizeof pages},
                                        .prepared_bytes = {sizeof pages}}};
    mxp__store_allocate(&file, MXP_SECTION_CHUNK, MXP__STORE_PAGE_BYTES / 2);
}

static void sections_of_a_file_are_whole_pages(void **state)
{
    (void)state;
    expect_abort(take_half_a_page, "a section is no whole pages");
}

// ---- what is counted --------------------------------------------------------------------------

static void register_twice(void)
{
    mxp_thread *self = recording_thread();
    mxp__spin_lock(&mxp__pool_lock);
    mxp__index_link(self);
}

static void a_thread_is_registered_once(void **state)
{
    (void)state;
    expect_abort(register_twice, "a thread is registered under an index that another one has");
}

static void unpin_twice(void)
{
    mxp__ring_pin();
    mxp__ring_unpin();
    mxp__ring_unpin();
}

static void a_ring_is_unpinned_as_often_as_pinned(void **state)
{
    (void)state;
    expect_abort(unpin_twice, "a ring is pinned less often than unpinned");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_a_lock_is_not_called_without),
        cmocka_unit_test(who_changes_chunks_has_frozen_their_threads),
        cmocka_unit_test(a_thread_changes_what_is_its_own_inside_of_a_record),
        cmocka_unit_test(a_record_ends_within_the_limit_of_its_thread),
        cmocka_unit_test(a_position_is_in_its_chunk),
        cmocka_unit_test(a_chunk_is_queued_once),
        cmocka_unit_test(sections_of_a_file_are_whole_pages),
        cmocka_unit_test(a_thread_is_registered_once),
        cmocka_unit_test(a_ring_is_unpinned_as_often_as_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif

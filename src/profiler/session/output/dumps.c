// SPDX-License-Identifier: Apache-2.0
// The aggregate statistics: a second consumer of the recorder's records, with its own position, so
// that printing never touches the trace file. The text given out belongs to the calling thread.
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "base/thread_slot.h"
#include "profiler/export/export.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/session.h"

// ---- the table --------------------------------------------------------------------------------
// The table. It exists as long as the caller has the turn, even if it is switched off meanwhile.
static mxp_aggregate *take_table(mxp_session *session)
{
    mxp__turn_take_locked(&session->table_turn, &session->lock);
    return session->aggregate;
}

static void give_table(mxp_session *session, mxp_aggregate *aggregate)
{
    if (aggregate != session->aggregate) {
        mxp__aggregate_destroy(aggregate);
    }
    mxp__turn_give_locked(&session->table_turn);
}

// In turn; gives the lock up.
static int drain(mxp_session *session, mxp_aggregate *aggregate)
{
    mxp_source *source = NULL;
    int error = mxp__live_open(MXP__CONSUMER_STATS, &source);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock_give_up(&session->lock);
    error = mxp__aggregate_add(aggregate, source);
    // The records are consumed also after an error, because counting one twice is worse than
    // missing it.
    mxp__live_consume(MXP__CONSUMER_STATS, source);
    mxp__source_close(source);
    mxp__lock_take_back(&session->lock);
    return error;
}

int mxp__aggregate_drain_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp_aggregate *aggregate = take_table(session);
    int error = aggregate != NULL ? drain(session, aggregate) : MXP_OK;
    give_table(session, aggregate);
    return error;
}

// Skips what was recorded before the table was switched on.
static void skip_to_now(void)
{
    mxp_source *source = NULL;
    if (mxp__live_open(MXP__CONSUMER_STATS, &source) == MXP_OK) {
        mxp__live_consume(MXP__CONSUMER_STATS, source);
        mxp__source_close(source);
    }
}

int mxp__aggregate_switch_locked(mxp_session *session, bool on)
{
    assert(mxp__lock_is_held(&session->lock));
    if (on && session->aggregate == NULL) {
        int error = mxp__aggregate_create(MXP_GROUP_NAME, &session->aggregate);
        if (error != MXP_OK) {
            return error;
        }
        mxp__consumer_set_active(MXP__CONSUMER_STATS, 1);
        skip_to_now();
    } else if (!on && session->aggregate != NULL) {
        mxp__consumer_set_active(MXP__CONSUMER_STATS, 0);
        if (!session->table_turn.taken) {
            mxp__aggregate_destroy(session->aggregate);
        }
        session->aggregate = NULL;
    }
    return MXP_OK;
}

// In a forked child. A table to which another thread was adding is leaked, because that thread does
// not exist here and the table may be half changed.
void mxp__aggregate_fork_child(mxp_session *session)
{
    if (session->aggregate != NULL) {
        mxp__aggregate_switch_locked(session, false);
        mxp__turn_init(&session->table_turn);
        mxp__aggregate_switch_locked(session, true);
    }
    mxp__turn_init(&session->table_turn);
}

// ---- this thread's text -----------------------------------------------------------------------
static __thread mxp_strbuf *result __attribute__((tls_model("initial-exec")));

static void result_free(void *buffer)
{
    mxp__strbuf_fini(buffer);
    mxp__free(buffer, sizeof(mxp_strbuf));
    result = NULL;
}

static mxp_thread_slot result_slot = MXP__THREAD_SLOT_INIT(result_free);

static mxp_strbuf *result_get(void)
{
    if (result == NULL) {
        result = mxp__thread_slot_new(&result_slot, sizeof(mxp_strbuf));
    }
    return result;
}

// ---- printing ---------------------------------------------------------------------------------
static int (*const printers[])(const mxp_row *, size_t, mxp_strbuf *) = {
    [MXP_FORMAT_TABLE] = mxp__print_table,
    [MXP_FORMAT_JSON] = mxp__print_json,
    [MXP_FORMAT_CSV] = mxp__print_csv,
};

// The time up to which counters are weighted: now, or when recording ended.
static int64_t end_ns(void)
{
    uint64_t ticks = mxp__recorder_is_on() ? mxp_ticks() : mxp__recorder_off_ticks();
    return mxp__timebase_ns(mxp__recorder_timebase(1), ticks);
}

typedef struct request {
    int format, sort_by, ascending;
    bool reset;
} request;

static int print(mxp_aggregate *aggregate, const request *wanted, int64_t now_ns, mxp_strbuf *out)
{
    const mxp_row *rows = NULL;
    size_t count = 0;
    int error =
        mxp__aggregate_rows(aggregate, wanted->sort_by, wanted->ascending, now_ns, &rows, &count);
    if (error == MXP_OK) {
        error = printers[wanted->format](rows, count, out);
    }
    if (error == MXP_OK && out->failed) {
        error = mxp__fail_memory("the table's text");
    }
    if (error == MXP_OK && wanted->reset) {
        mxp__aggregate_reset(aggregate);
    }
    return error;
}

static int print_locked(mxp_session *session, const request *wanted, mxp_strbuf *out)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp_aggregate *aggregate = take_table(session);
    int error = aggregate != NULL ? drain(session, aggregate) : MXP_OK;
    if (aggregate != NULL && error == MXP_OK) {
        int64_t now_ns = end_ns();
        mxp__lock_give_up(&session->lock);
        error = print(aggregate, wanted, now_ns, out);
        mxp__lock_take_back(&session->lock);
    }
    give_table(session, aggregate);
    return error;
}

int mxp_session_dumps(mxp_session *session, int format, int sort_by, int ascending, int reset,
                      const char **text)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    if (text == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: out_str");
    }
    if (format < MXP_FORMAT_TABLE || format > MXP_FORMAT_CSV) {
        return mxp__fail(MXP_EINVAL,
                         "Invalid value for parameter format: %d, valid values are 0 "
                         "(table), 1 (JSON)",
                         format);
    }
    if (sort_by < MXP_SORT_TOTAL || sort_by > MXP_SORT_COUNT) {
        return mxp__fail(MXP_EINVAL,
                         "Invalid value for parameter sort_by: %d, valid values are 0 "
                         "(total), 1 (avg), 2 (min), 3 (max), 4 (count)",
                         sort_by);
    }
    mxp_strbuf *out = result_get();
    if (out == NULL) {
        return mxp__fail_memory("the table's text");
    }
    mxp__strbuf_clear(out);
    const request wanted = {format, sort_by, ascending, reset != 0};
    mxp__live_prepare();
    mxp__lock(&session->lock);
    error = print_locked(session, &wanted, out);
    mxp__unlock(&session->lock);
    if (error == MXP_OK) {
        *text = mxp__strbuf_text(out);
    }
    return error;
}

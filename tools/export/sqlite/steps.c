// SPDX-License-Identifier: Apache-2.0
// Steps as the table by step has them: one lasts until the next begins, the last one until its end
// was marked, else until the last record. If several threads have marked steps, nobody knows their
// ends, which then are null.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "export/sqlite/process.h"

typedef struct step_mark {
    int64_t begin_ns;
    uint64_t number;
} step_mark;

struct mxp_sqlite_steps {
    mxp_sqlite_process *process;
    step_mark *marks;
    size_t count, capacity;
    step_mark last_end;  // the latest end that was marked
    uint32_t thread;  // of the first mark
    bool is_mixed, has_end;
};

int mxp__sqlite_steps_create(mxp_sqlite_process *process, mxp_sqlite_steps **steps)
{
    *steps = mxp__alloc(sizeof **steps);
    if (*steps == NULL) {
        return mxp__fail_memory("the steps");
    }
    (*steps)->process = process;
    return MXP_OK;
}

void mxp__sqlite_steps_destroy(mxp_sqlite_steps *steps)
{
    if (steps != NULL) {
        mxp__free(steps->marks, steps->capacity * sizeof *steps->marks);
        mxp__free(steps, sizeof *steps);
    }
}

static void note_end(mxp_sqlite_steps *steps, const mxp_event *event)
{
    if (!steps->has_end || event->begin_ns >= steps->last_end.begin_ns) {
        steps->last_end = (step_mark){event->begin_ns, event->value.u64};
        steps->has_end = true;
    }
}

// A mark of a step that goes on stands in every chunk, so the same one comes often.
int mxp__sqlite_steps_add(mxp_sqlite_steps *steps, const mxp_event *event)
{
    bool is_standing = event->phase == MXP_META_STEP_STANDING;
    if (event->phase == MXP_META_STEP_END) {
        note_end(steps, event);
    }
    if (event->phase != MXP_META_STEP && !is_standing) {
        return MXP_OK;
    }
    const mxp_timebase *timebase = steps->process->source->timebase;
    step_mark mark = {event->begin_ns, event->value.u64};
    uint32_t thread = event->thread;
    if (is_standing) {
        mark.begin_ns = mxp__timebase_ns(timebase, event->words[3]);
        thread = (uint32_t)(event->words[1] >> 40);
    }
    const step_mark *last = steps->count > 0 ? &steps->marks[steps->count - 1] : NULL;
    if (last != NULL && last->begin_ns == mark.begin_ns && last->number == mark.number) {
        return MXP_OK;
    }
    if (mxp__grow(&steps->marks, &steps->capacity, steps->count + 1, sizeof *steps->marks) !=
        MXP_OK) {
        return mxp__fail_memory("the steps");
    }
    steps->thread = steps->count == 0 ? thread : steps->thread;
    steps->is_mixed = steps->is_mixed || thread != steps->thread;
    steps->marks[steps->count++] = mark;
    return MXP_OK;
}

static int compare_marks(const void *a, const void *b)
{
    const step_mark *left = a, *right = b;
    if (left->begin_ns != right->begin_ns) {
        return left->begin_ns < right->begin_ns ? -1 : 1;
    }
    return (left->number > right->number) - (left->number < right->number);
}

static int64_t end_of_last(const mxp_sqlite_steps *steps, const step_mark *last)
{
    bool is_marked = steps->has_end && steps->last_end.number == last->number &&
                     steps->last_end.begin_ns >= last->begin_ns;
    return is_marked ? steps->last_end.begin_ns : steps->process->until_ns;
}

int mxp__sqlite_steps_finish(mxp_sqlite_steps *steps)
{
    mxp_database *database = steps->process->database;
    mxp_rows *rows = mxp__database_rows(database, MXP__TABLE_step);
    int error = MXP_OK;
    if (steps->count > 1) {
        qsort(steps->marks, steps->count, sizeof *steps->marks, compare_marks);
    }
    for (size_t i = 0; i < steps->count && error == MXP_OK; i++) {
        const step_mark *mark = &steps->marks[i];
        if (i > 0 && compare_marks(mark - 1, mark) == 0) {
            continue;
        }
        size_t next = i + 1;
        while (next < steps->count && compare_marks(mark, &steps->marks[next]) == 0) {
            next++;
        }
        int64_t end_ns =
            next < steps->count ? steps->marks[next].begin_ns : end_of_last(steps, mark);
        mxp__put_i64(rows, steps->process->run);
        mxp__put_u64(rows, mark->number);
        mxp__put_i64(rows, mark->begin_ns);
        mxp__put_some(rows, !steps->is_mixed, end_ns);
        error = mxp__row_end(database, MXP__TABLE_step, rows);
    }
    return error;
}

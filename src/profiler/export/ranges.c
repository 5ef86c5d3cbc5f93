// SPDX-License-Identifier: Apache-2.0
// Formats ranges on one thread or several. With several, each worker takes the number of the next
// range, formats it into a text of its own, and writes the text when the range's turn comes. If the
// turn has not come yet, the worker formats another range first. So one thread at a time writes, in
// the order of ranges, and memory is bounded by the workers' texts. No worker writes the text of
// another, because it lies in the other core's cache. A range whose text outgrows flush_bytes waits
// for its turn and is then written in pieces.
#include "profiler/export/ranges.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/lock.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"

enum {
    WORKERS_MAX = 8,
    TEXTS_PER_WORKER = 2,  // more would leave the core's cache
    BLOCKS_WORTH_A_THREAD = 16  // fewer are formatted in less time than a thread needs to start
};

// With several threads the text of a range is below this, unless its names are very long.
static const size_t text_flush_bytes = (size_t)8 << 20;

// `lock` guards the fields below it. The text of range next_write belongs to its worker alone,
// which writes it without the lock.
typedef struct pipeline {
    mxp_export *run;
    mxp_sink *sink;
    mxp_lock lock;
    pthread_cond_t changed;
    size_t next_range;  // to be formatted
    size_t next_write;  // to be written
    bool ended;
    int error;  // stops everything
    int damage;  // MXP_EFORMAT, reported at the end
    char text[512];  // its detail line: the worker's thread has it, the caller's needs it
} pipeline;

// What one thread has formatted and not written yet, in the order of the ranges.
typedef struct worker {
    pipeline *line;
    size_t first, count;  // of the waiting texts, in a ring
    size_t numbers[TEXTS_PER_WORKER];  // the ranges whose text they are
    mxp_strbuf texts[TEXTS_PER_WORKER];
} worker;

int mxp__export_flush(mxp_strbuf *buffer, mxp_sink *sink)
{
    if (buffer->failed) {
        return mxp__fail_memory("the exported text");
    }
    int error = buffer->length == 0 ? MXP_OK : sink->write(sink, buffer->data, buffer->length);
    mxp__strbuf_clear(buffer);
    return error;
}

// Calls the exporter's callback and checks what export.h promises of it.
static int format_some(mxp_export *run, mxp_record_range *range)
{
    const uint64_t *before = range->words;
    int more = run->exporter->range(run, range);
    assert(more <= 1 && (more != 1 || range->words > before) && "an exporter makes no progress");
    (void)before;
    return more;
}

// ---- one thread -------------------------------------------------------------------------------
static int format_range(mxp_export *run, mxp_record_range *range, mxp_sink *sink)
{
    int more;
    do {
        more = format_some(run, range);
        if (more < 0 && more != MXP_EFORMAT) {
            return more;
        }
        if (run->out->failed || run->out->length >= run->flush_bytes) {
            int error = mxp__export_flush(run->out, sink);
            if (error != MXP_OK) {
                return error;
            }
        }
    } while (more == 1);
    return more;
}

static int run_alone(mxp_export *run, mxp_sink *sink)
{
    int damage = MXP_OK;
    for (size_t number = 0;; number++) {
        mxp_record_range range;
        int found = run->source->range(run->source, number, &range);
        if (found == 0) {
            return damage;
        }
        int error = found == 1 ? format_range(run, &range, sink) : found;
        if (error == MXP_EFORMAT) {
            damage = error;
        } else if (error != MXP_OK) {
            return error;
        }
    }
}

// ---- several threads --------------------------------------------------------------------------
static void note_error_locked(pipeline *line, int error)
{
    assert(mxp__lock_is_held(&line->lock));
    int *noted = error == MXP_EFORMAT ? &line->damage : &line->error;
    if (line->error == MXP_OK && *noted == MXP_OK) {
        snprintf(line->text, sizeof line->text, "%s", mxp_last_error());
    }
    *noted = *noted != MXP_OK ? *noted : error;
    pthread_cond_broadcast(&line->changed);
}

// Writes the text of range next_write, without holding the lock. Nothing is written after an
// error.
static void write_locked(pipeline *line, mxp_strbuf *text)
{
    assert(mxp__lock_is_held(&line->lock));
    if (line->error != MXP_OK) {
        return;
    }
    mxp__unlock(&line->lock);
    int error = mxp__export_flush(text, line->sink);
    mxp__lock(&line->lock);
    if (error != MXP_OK) {
        note_error_locked(line, error);
    }
}

static void write_due_locked(worker *self)
{
    assert(mxp__lock_is_held(&self->line->lock));
    pipeline *line = self->line;
    while (self->count > 0 && self->numbers[self->first] == line->next_write) {
        write_locked(line, &self->texts[self->first]);
        self->first = (self->first + 1) % TEXTS_PER_WORKER;
        self->count--;
        line->next_write++;
        pthread_cond_broadcast(&line->changed);
    }
}

// The text of range `number` is too long to be kept: waits for its turn and writes what is there.
static int write_overflow(worker *self, size_t number, mxp_strbuf *text)
{
    pipeline *line = self->line;
    mxp__lock(&line->lock);
    write_due_locked(self);
    while (line->error == MXP_OK && line->next_write != number) {
        mxp__lock_wait(&line->lock, &line->changed);
        write_due_locked(self);
    }
    write_locked(line, text);
    int error = line->error;
    mxp__unlock(&line->lock);
    return error;
}

// Formats range `number` into `text`. *ended: there is no such range, or none after it can be read.
static int format_kept(worker *self, size_t number, mxp_strbuf *text, bool *ended)
{
    mxp_export run = *self->line->run;
    run.out = text;
    run.flush_bytes = text_flush_bytes;
    mxp_record_range range;
    int found = run.source->range(run.source, number, &range);
    if (found != 1) {
        *ended = found != MXP_EFORMAT;
        return found;
    }
    int more;
    while ((more = format_some(&run, &range)) == 1) {
        int error = write_overflow(self, number, text);
        if (error != MXP_OK) {
            return error;
        }
    }
    return text->failed ? mxp__fail_memory("the exported text") : more;
}

// Formats the next range. The caller has a free text.
static void format_next_locked(worker *self)
{
    assert(mxp__lock_is_held(&self->line->lock));
    pipeline *line = self->line;
    size_t number = line->next_range++;
    mxp__unlock(&line->lock);
    if (self->count == 0) {
        self->first = 0;  // the text that is in the cache
    }
    size_t place = (self->first + self->count) % TEXTS_PER_WORKER;  // due texts may leave meanwhile
    bool ended = false;
    int error = format_kept(self, number, &self->texts[place], &ended);
    mxp__lock(&line->lock);
    if (error != MXP_OK) {
        note_error_locked(line, error);
    }
    line->ended = line->ended || ended;
    self->numbers[place] = number;
    self->count++;
}

static void work_on(worker *self)
{
    pipeline *line = self->line;
    mxp__lock(&line->lock);
    while (line->error == MXP_OK) {
        write_due_locked(self);
        if (self->count < TEXTS_PER_WORKER && !line->ended) {
            format_next_locked(self);
        } else if (self->count > 0) {
            mxp__lock_wait(&line->lock, &line->changed);
        } else {
            break;
        }
    }
    mxp__unlock(&line->lock);
}

static void *work(void *context)
{
    worker self = {.line = context};
    work_on(&self);
    for (size_t i = 0; i < TEXTS_PER_WORKER; i++) {
        mxp__strbuf_fini(&self.texts[i]);
    }
    return NULL;
}

// Starts up to `wanted` workers beside the calling thread, which is one too. Returns how many.
static size_t start_workers(pipeline *line, size_t wanted, pthread_t *threads)
{
    size_t started = 0;
    while (started < wanted && mxp__os_start_thread(&threads[started], work, line) == 0) {
        started++;
    }
    return started;
}

static int run_pipeline(mxp_export *run, mxp_sink *sink, size_t workers)
{
    pipeline *line = mxp__alloc(sizeof *line);
    if (line == NULL) {
        return run_alone(run, sink);
    }
    line->run = run;
    line->sink = sink;
    mxp__lock_reset(&line->lock);
    pthread_cond_init(&line->changed, NULL);
    pthread_t threads[WORKERS_MAX];
    size_t started = start_workers(line, workers - 1, threads);
    work(line);
    for (size_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    int error = line->error != MXP_OK ? line->error : line->damage;
    if (error != MXP_OK) {
        mxp_set_last_error(error, line->text);
    }
    pthread_cond_destroy(&line->changed);
    pthread_mutex_destroy(&line->lock.mutex);
    mxp__free(line, sizeof *line);
    return error;
}

static size_t workers_for(const mxp_export *run)
{
    size_t wanted = run->options->threads;
    mxp_record_range range;
    if (wanted == 1 || run->source->range(run->source, BLOCKS_WORTH_A_THREAD, &range) == 0) {
        return 1;
    }
    if (wanted == 0) {
        return mxp__os_cpu_count() > 1 ? 2 : 1;
    }
    return wanted > WORKERS_MAX ? WORKERS_MAX : wanted;
}

int mxp__export_rest(mxp_export *run, mxp_sink *sink)
{
    int more;
    do {
        more = run->exporter->rest(run);
        int error = more == 1 ? mxp__export_flush(run->out, sink) : MXP_OK;
        more = error != MXP_OK ? error : more;
    } while (more == 1);
    return more;
}

int mxp__export_ranges(mxp_export *run, mxp_sink *sink)
{
    size_t workers = workers_for(run);
    int error = workers == 1 ? run_alone(run, sink) : mxp__export_flush(run->out, sink);
    if (workers > 1 && error == MXP_OK) {
        error = run_pipeline(run, sink, workers);
    }
    if (run->exporter->rest != NULL && (error == MXP_OK || error == MXP_EFORMAT)) {
        int rest_error = mxp__export_rest(run, sink);
        error = error != MXP_OK && rest_error == MXP_OK ? error : rest_error;
    }
    return error;
}

// SPDX-License-Identifier: Apache-2.0
// Formats blocks, on one thread or several. Several: each worker takes the next block's number and
// formats it into the slot number % slots; whoever finishes writes all slots that are next in line.
// So text is written in block order by one thread at a time, nobody waits unless it is a whole ring
// ahead, and memory is bounded by the slots. A block whose text outgrows flush_bytes waits for its
// turn and goes on in pieces.
#include "export/blocks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"

enum {
    WORKERS_MAX = 8,
    SLOTS_PER_WORKER = 4,
    BLOCKS_WORTH_A_THREAD = 16,  // fewer are formatted before a thread has started
    SIGNAL_MASK_BYTES = 128
};

// With several threads a normal block stays below this; only one with very long names does not.
static const size_t slot_flush_bytes = (size_t)8 << 20;

typedef enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_READY } slot_state;

// The length of the text changes with every record, and neighbours are filled by different threads:
// they must not share cache lines.
typedef struct slot {
    mxp_strbuf out;
    slot_state state;
    char apart[128];
} slot;

// Everything below the mutex is guarded by it, but a slot's text belongs to its worker while it is
// FILLING and to the writer while `writing`.
typedef struct pipeline {
    mxp_export *run;
    mxp_sink *sink;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t next_block;  // to be formatted
    size_t next_write;  // to be written
    bool writing, ended;
    int error;  // stops everything
    int damage;  // MXP_EFORMAT, reported at the end
    char text[512];  // its detail line: the worker's thread has it, the caller's needs it
    size_t slot_count;
    slot slots[WORKERS_MAX * SLOTS_PER_WORKER];
} pipeline;

int mxp__export_flush(mxp_strbuf *buffer, mxp_sink *sink)
{
    if (buffer->failed) {
        return mxp__fail_memory("the exported text");
    }
    int error = buffer->length == 0 ? MXP_OK : sink->write(sink, buffer->data, buffer->length);
    mxp__strbuf_clear(buffer);
    return error;
}

// ---- one thread -------------------------------------------------------------------------------
static int format_block(mxp_export *run, mxp_block *block, mxp_sink *sink)
{
    int more;
    do {
        more = run->exporter->block(run, block);
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
        mxp_block block;
        int found = run->source->block(run->source, number, &block);
        if (found <= 0) {
            return found == 0 ? damage : found;
        }
        int error = format_block(run, &block, sink);
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
    int *noted = error == MXP_EFORMAT ? &line->damage : &line->error;
    if (line->error == MXP_OK && *noted == MXP_OK) {
        snprintf(line->text, sizeof line->text, "%s", mxp_last_error());
    }
    *noted = *noted != MXP_OK ? *noted : error;
    pthread_cond_broadcast(&line->changed);
}

// Writes one slot's text without holding the mutex; the caller has set `writing`.
static void write_slot_locked(pipeline *line, slot *written)
{
    if (line->error != MXP_OK) {
        return;
    }
    pthread_mutex_unlock(&line->mutex);
    int error = mxp__export_flush(&written->out, line->sink);
    pthread_mutex_lock(&line->mutex);
    if (error != MXP_OK) {
        note_error_locked(line, error);
    }
}

static void write_ready_locked(pipeline *line)
{
    if (line->writing) {
        return;
    }
    line->writing = true;
    slot *next;
    while ((next = &line->slots[line->next_write % line->slot_count])->state == SLOT_READY) {
        write_slot_locked(line, next);
        next->state = SLOT_FREE;
        line->next_write++;
        pthread_cond_broadcast(&line->changed);
    }
    line->writing = false;
    pthread_cond_broadcast(&line->changed);
}

// The text of block `number` is too long for its slot: waits for its turn and writes what is there.
static int write_overflow(pipeline *line, size_t number)
{
    pthread_mutex_lock(&line->mutex);
    while (line->error == MXP_OK && (line->writing || line->next_write != number)) {
        pthread_cond_wait(&line->changed, &line->mutex);
    }
    line->writing = true;
    write_slot_locked(line, &line->slots[number % line->slot_count]);
    line->writing = false;
    pthread_cond_broadcast(&line->changed);
    int error = line->error;
    pthread_mutex_unlock(&line->mutex);
    return error;
}

// Formats block `number` into its slot. *ended: there is none, or it cannot be got at.
static int fill_slot(pipeline *line, size_t number, bool *ended)
{
    mxp_export run = *line->run;
    run.out = &line->slots[number % line->slot_count].out;
    run.flush_bytes = slot_flush_bytes;
    mxp_block block;
    int found = run.source->block(run.source, number, &block);
    if (found <= 0) {
        *ended = true;
        return found;
    }
    int more;
    while ((more = run.exporter->block(&run, &block)) == 1) {
        int error = write_overflow(line, number);
        if (error != MXP_OK) {
            return error;
        }
    }
    if (run.out->failed) {
        return mxp__fail_memory("the exported text");
    }
    return more;
}

static void *work(void *context)
{
    pipeline *line = context;
    pthread_mutex_lock(&line->mutex);
    while (!line->ended && line->error == MXP_OK) {
        size_t number = line->next_block;
        slot *mine = &line->slots[number % line->slot_count];
        if (mine->state != SLOT_FREE) {
            pthread_cond_wait(&line->changed, &line->mutex);
            continue;
        }
        line->next_block++;
        mine->state = SLOT_FILLING;
        pthread_mutex_unlock(&line->mutex);
        bool ended = false;
        int error = fill_slot(line, number, &ended);
        pthread_mutex_lock(&line->mutex);
        if (error != MXP_OK) {
            note_error_locked(line, error);
        }
        line->ended = line->ended || ended;
        mine->state = SLOT_READY;
        write_ready_locked(line);
    }
    pthread_cond_broadcast(&line->changed);
    pthread_mutex_unlock(&line->mutex);
    return NULL;
}

// The workers beside the calling thread. They take no signals: those are for the program's threads.
static size_t start_workers(pipeline *line, size_t wanted, pthread_t *threads)
{
    uint64_t saved[SIGNAL_MASK_BYTES / sizeof(uint64_t)];
    size_t started = 0;
    mxp__os_block_signals(saved);
    while (started < wanted && pthread_create(&threads[started], NULL, work, line) == 0) {
        started++;
    }
    mxp__os_restore_signals(saved);
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
    line->slot_count = workers * SLOTS_PER_WORKER;
    pthread_mutex_init(&line->mutex, NULL);
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
    for (size_t i = 0; i < line->slot_count; i++) {
        mxp__strbuf_fini(&line->slots[i].out);
    }
    pthread_cond_destroy(&line->changed);
    pthread_mutex_destroy(&line->mutex);
    mxp__free(line, sizeof *line);
    return error;
}

static size_t workers_for(const mxp_export *run)
{
    size_t wanted = run->options->threads;
    mxp_block block;
    if (wanted == 1 || run->source->block(run->source, BLOCKS_WORTH_A_THREAD, &block) != 1) {
        return 1;
    }
    if (wanted == 0) {
        return mxp__os_cpu_count() > 1 ? 2 : 1;
    }
    return wanted > WORKERS_MAX ? WORKERS_MAX : wanted;
}

int mxp__export_blocks(mxp_export *run, mxp_sink *sink)
{
    size_t workers = workers_for(run);
    if (workers == 1) {
        return run_alone(run, sink);
    }
    int error = mxp__export_flush(run->out, sink);
    return error != MXP_OK ? error : run_pipeline(run, sink, workers);
}

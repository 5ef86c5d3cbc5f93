// SPDX-License-Identifier: Apache-2.0
// The native file of an import: process after process, each a source whose ranges are filled from
// the spool while they are written.
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "import/import_state.h"
#include "profiler/trace/file/section_writer.h"

enum {
    HELD =
        MXP__WRITER_HOLDS + 1,  // ranges that the writer may still read, and the one being filled
    CHUNK_WORDS = (MXP_CHUNK_BYTES - sizeof(mxp_chunk_header)) / sizeof(uint64_t),
    INFO_PAIRS = 3,
    LOSSES = MXP__IMPORT_REASONS + 3
};

// Ends in one chunk lie within this.
static const uint64_t base_reach = UINT64_C(1) << 46;

// A process as it is written.
typedef struct written {
    mxp_source source;  // must stay first
    mxp_import *import;
    const mxp_import_process *process;
    uint32_t number;
    const mxp_spooled *next;  // of the spool, not written yet; null: the end
    int error;
    mxp_timebase timebase;
    mxp_clock_point point;
    mxp_clock_segment segment;
    mxp_thread_entry *threads;
    mxp_info_pair info[INFO_PAIRS];
    mxp_loss_entry losses[LOSSES];
    mxp_strbuf name, incomplete;
    size_t taken;  // ranges
    uint64_t *chunks[HELD];  // used in turn, each of CHUNK_WORDS once it is
} written;

static written *written_of(mxp_source *source)
{
    return (written *)(void *)source;
}

static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    return mxp__import_name_view(&((const written *)(const void *)source)->process->names, id);
}

static void take_next(written *self)
{
    int found = mxp__import_spool_next(self->import->spool, &self->next);
    self->next = found == 1 ? self->next : NULL;
    self->error = found < 0 ? found : MXP_OK;
}

static bool fits(const mxp_spooled *next, const mxp_record_range *range, uint32_t rank,
                 size_t words)
{
    return next->rank == rank && words + 2 * next->units <= CHUNK_WORDS &&
           next->end_ticks - range->base_ticks < base_reach;
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    (void)number;
    written *self = written_of(source);
    if (self->next == NULL || self->next->rank >> MXP__RANK_THREAD_BITS != self->number) {
        return self->error;
    }
    uint64_t **chunk = &self->chunks[self->taken++ % HELD];
    *chunk = *chunk != NULL ? *chunk : mxp__alloc(CHUNK_WORDS * sizeof **chunk);
    if (*chunk == NULL) {
        return mxp__fail_memory("an imported trace");
    }
    uint64_t *to = *chunk;
    uint32_t rank = self->next->rank;
    size_t words = 0;
    *range = (mxp_record_range){.words = to,
                                .base_ticks = self->next->end_ticks,
                                .thread = rank & ((1u << MXP__RANK_THREAD_BITS) - 1)};
    while (self->next != NULL && fits(self->next, range, rank, words)) {
        memcpy(to + words, self->next->words, (size_t)self->next->units * MXP_RECORD_UNIT);
        words += 2 * self->next->units;
        take_next(self);
    }
    range->end = to + words;
    return self->error != MXP_OK ? self->error : 1;
}

// ---- what stands before the records ------------------------------------------------------------
// When the process begins; the one that began first, when the trace does.
static int64_t begin_of(const mxp_import *import, const mxp_import_process *process, int64_t zero)
{
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < process->thread_count; i++) {
        int64_t ns = process->threads[i].first_ns;
        first_ns = ns < first_ns ? ns : first_ns;
    }
    return first_ns == INT64_MAX || first_ns == import->first_ns ? zero : first_ns;
}

static void set_clock(written *self)
{
    const mxp_import *import = self->import;
    bool is_empty = import->first_ns == INT64_MAX;
    int64_t zero = import->kind == MXP__IMPORT_OWN || is_empty ? 0 : import->first_ns;
    int64_t begin = begin_of(import, self->process, zero);
    // Without a base they may be of any clock: what is before 2001 is no date.
    bool is_counted = import->base_ns != 0 || zero > 0;
    uint64_t first_ns = is_counted ? import->base_ns + (uint64_t)zero : 0;
    uint64_t real_ns = first_ns + (uint64_t)(begin - zero);
    self->point = (mxp_clock_point){.ticks = mxp__import_ticks(begin),
                                    .monotonic_ns = real_ns,
                                    .raw_ns = real_ns,
                                    .realtime_ns = real_ns};
    self->segment =
        (mxp_clock_segment){.ticks0 = mxp__import_ticks(begin), .mult = UINT64_C(1) << 32};
    self->timebase = (mxp_timebase){.source = MXP_CLOCK_SOURCE_MONOTONIC,
                                    .points = &self->point,
                                    .point_count = 1,
                                    .segments = &self->segment,
                                    .segment_count = 1};
}

static int set_threads(written *self)
{
    mxp_import_process *process = &self->import->rows.processes[self->number];
    size_t count = process->thread_count;
    self->threads = mxp__alloc(count * sizeof *self->threads);
    if (self->threads == NULL && count > 0) {
        return mxp__fail_memory("the threads of an imported trace");
    }
    for (size_t i = 0; i < count; i++) {
        const mxp_import_thread *thread = &process->threads[i];
        mxp_name_view label = mxp__import_thread_label(&self->import->rows, process, thread);
        uint32_t name = 0;
        int error = label.length == 0 ? MXP_OK
                                      : mxp__import_name(&process->names, label.text, label.length,
                                                         0, MXP_STYLE_NONE, MXP_UNIT_NONE, &name);
        if (error != MXP_OK) {
            return error;
        }
        bool has_records = thread->records > 0;
        self->threads[i] = (mxp_thread_entry){
            .index = (uint32_t)i,
            .tid = thread->tid,
            .start_ticks = has_records ? mxp__import_ticks(thread->first_ns) : self->point.ticks,
            .end_ticks = has_records ? mxp__import_ticks(thread->last_ns) : self->point.ticks,
            .records = thread->records,
            .name = name};
    }
    self->source.threads = self->threads;
    self->source.thread_count = (uint32_t)count;
    return MXP_OK;
}

static void set_info(written *self)
{
    mxp_name_view label = mxp__import_process_label(&self->import->rows, self->process);
    self->info[self->source.info_count++] =
        (mxp_info_pair){"imported", mxp__import_kind_name(self->import->kind)};
    if (label.length > 0) {
        mxp__strbuf_append(&self->name, label.text, label.length);
        self->info[self->source.info_count++] =
            (mxp_info_pair){"process_name", mxp__strbuf_text(&self->name)};
    }
    mxp__strbuf_clear(&self->incomplete);
    mxp__import_incomplete(self->import, &self->incomplete);
    if (self->incomplete.length > 0) {
        self->info[self->source.info_count++] =
            (mxp_info_pair){"incomplete", mxp__strbuf_text(&self->incomplete)};
    }
    self->source.info = self->info;
}

static void add_loss(written *self, uint32_t reason, uint64_t count)
{
    if (count > 0) {
        self->losses[self->source.loss_count++] = (mxp_loss_entry){.thread = UINT32_MAX,
                                                                   .reason = reason,
                                                                   .count = count,
                                                                   .from_ticks = self->point.ticks,
                                                                   .to_ticks = self->point.ticks};
    }
}

// Losses of the file stand with its first process.
static void set_losses(written *self)
{
    const mxp_import *import = self->import;
    if (self->number == 0) {
        add_loss(self, MXP_LOSS_FOREIGN, import->notes.ends + import->open.left_out);
        add_loss(self, MXP_LOSS_NO_NUMBER, import->notes.values);
    }
    add_loss(self, MXP_LOSS_NAMES_FULL, self->process->names.full);
    for (uint32_t i = 1; i < MXP__IMPORT_REASONS; i++) {
        add_loss(self, i, self->process->lost[i]);
    }
    self->source.losses = self->losses;
}

static int set_source(written *self)
{
    set_clock(self);
    self->source = (mxp_source){.pid = self->process->pid,
                                .timebase = &self->timebase,
                                .name = view_name,
                                .range = get_range};
    int error = set_threads(self);
    self->source.name_count = (uint32_t)self->process->names.count;
    set_info(self);
    set_losses(self);
    return error;
}

// ---- writing -----------------------------------------------------------------------------------
static int write_process(written *self, mxp_section_writer *writer)
{
    static int (*const parts[])(mxp_section_writer *, const mxp_source *) = {
        mxp__write_file_header, mxp__write_names, mxp__write_threads, mxp__write_losses,
        mxp__write_info};
    writer->progress = (mxp_file_progress){0};
    writer->sequence_count = 0;
    int error = set_source(self);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && error == MXP_OK; i++) {
        error = parts[i](writer, &self->source);
        if (i == 0 && error == MXP_OK) {
            error = mxp__write_clock(writer, &self->timebase);
        }
    }
    if (error == MXP_OK) {
        error = mxp__write_chunks(writer, &self->source);
    }
    return error == MXP_OK ? mxp__write_end(writer) : error;
}

static int write_processes(written *self, mxp_section_writer *writer)
{
    mxp_import_rows *rows = &self->import->rows;
    int error = MXP_OK;
    take_next(self);
    error = self->error;
    for (uint32_t i = 0; i < rows->count && error == MXP_OK; i++) {
        self->process = &rows->processes[i];
        self->number = i;
        error = write_process(self, writer);
        mxp__free(self->threads, self->process->thread_count * sizeof *self->threads);
        self->threads = NULL;
        mxp__strbuf_clear(&self->name);
    }
    return error;
}

int mxp__import_write(mxp_import *import, int fd, const char *path)
{
    mxp_section_writer writer = {.fd = fd, .path = path};
    written *self = mxp__alloc(sizeof *self);
    int error = mxp__import_rows_finish(&import->rows);
    if (self == NULL) {
        return mxp__fail_memory("an imported trace");
    }
    self->import = import;
    error = error == MXP_OK ? write_processes(self, &writer) : error;
    for (size_t i = 0; i < HELD; i++) {
        mxp__free(self->chunks[i], CHUNK_WORDS * sizeof *self->chunks[i]);
    }
    mxp__strbuf_fini(&self->name);
    mxp__strbuf_fini(&self->incomplete);
    mxp__free(self, sizeof *self);
    mxp__strbuf_fini(&writer.body);
    mxp__free(writer.sequences, writer.sequence_capacity * sizeof *writer.sequences);
    return error;
}

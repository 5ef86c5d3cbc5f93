// SPDX-License-Identifier: Apache-2.0
// See record_file.h. The recorder writes only records; the sections around them are built here by
// profiler/trace/file/section_writer.h from a live source.
#include "profiler/session/output/record_file.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/strbuf.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/session/session.h"
#include "profiler/session/turn.h"
#include "profiler/trace/file/mapped_file.h"
#include "profiler/trace/file/section_writer.h"

// ---- begin -------------------------------------------------------------------------------------
static int build_clock(mxp_section_writer *writer, const mxp_timebase *timebase)
{
    writer->align_bytes = MXP__STORE_CLOCK_BYTES;
    return mxp__write_clock(writer, timebase);
}

static int append_built(mxp_strbuf *sections, const mxp_section_writer *writer)
{
    mxp__strbuf_append(sections, writer->body.data, writer->body.length);
    return sections->failed ? mxp__fail_memory("the recording file") : MXP_OK;
}

// The first sections of a file: the clock twice, and INFO.
static int build_first(mxp_section_writer *writer, const mxp_source *source, mxp_strbuf *sections)
{
    int error = build_clock(writer, source->timebase);
    for (int i = 0; i < 2 && error == MXP_OK; i++) {
        error = append_built(sections, writer);
    }
    if (error == MXP_OK) {
        writer->align_bytes = MXP__STORE_HEADER_BYTES;
        error = mxp__write_info(writer, source);
    }
    return error == MXP_OK ? append_built(sections, writer) : error;
}

typedef int (*store_opener)(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                            const void *sections, size_t sections_bytes);

static int open_store(const char *path, uint64_t limit_bytes, store_opener open)
{
    // A death must not leave ticks of unknown length.
    mxp__recorder_calibrate(open == mxp__store_plan);
    mxp_source *source = NULL;
    int error = mxp__live_open(MXP__CONSUMER_FILE, &source);
    if (error != MXP_OK) {
        return error;
    }
    mxp_section_writer writer = {.fd = -1, .path = path};
    mxp_strbuf sections = {0};
    mxp_file_header header = mxp__file_header_of(source, MXP__STORE_HEADER_BYTES, MXP_FILE_MAPPED);
    error = build_first(&writer, source, &sections);
    if (error == MXP_OK) {
        error = open(path, limit_bytes, &header, sections.data, sections.length);
    }
    mxp__strbuf_fini(&sections);
    mxp__strbuf_fini(&writer.body);
    mxp__source_close(source);
    return error;
}

// What was recorded in memory and is in no file yet.
static bool is_pending(const mxp_record_range *range)
{
    return range->words != range->end && !range->filed;
}

static uint64_t pending_bytes(mxp_source *source, uint64_t since_ticks)
{
    uint64_t size_bytes = 0;
    mxp_record_range range;
    for (size_t i = 0; source->range(source, i, &range) == 1; i++) {
        if (range.base_ticks >= since_ticks && is_pending(&range)) {
            size_bytes += (uint64_t)(range.end - range.words) * sizeof *range.words;
        }
    }
    return size_bytes;
}

// The first ticks to copy. Space that copies take is lost for a ring as long as the file lasts, so
// copies get at most an eighth of it, for the newest records.
static uint64_t first_to_copy(mxp_source *source, uint64_t limit_bytes)
{
    uint64_t from = 0, to = mxp_ticks();
    if (!mxp__ring_is_on() || pending_bytes(source, 0) <= limit_bytes / 8) {
        return 0;
    }
    while (to - from > 1) {
        uint64_t middle = from + (to - from) / 2;
        if (pending_bytes(source, middle) > limit_bytes / 8) {
            from = middle;
        } else {
            to = middle;
        }
    }
    return to;
}

static int copy_pending(uint64_t limit_bytes)
{
    mxp_source *source = NULL;
    int error = mxp__live_open(MXP__CONSUMER_FILE, &source);
    uint64_t first = error == MXP_OK ? first_to_copy(source, limit_bytes) : 0;
    mxp_record_range range;
    for (size_t i = 0; error == MXP_OK && source->range(source, i, &range) == 1; i++) {
        if (range.base_ticks >= first && is_pending(&range)) {
            error = mxp__store_copy(&range);
        }
    }
    mxp__source_close(source);
    return error;
}

static int fail_begin(int error)
{
    return mxp__fail(error, "%s; recording continues in memory", mxp_last_error());
}

int mxp__record_file_begin(const char *path, uint64_t limit_bytes)
{
    assert(mxp__lock_is_held(&mxp__session_storage()->lock));
    int error = open_store(path, limit_bytes, mxp__store_open);
    if (error != MXP_OK) {
        return fail_begin(error);
    }
    error = copy_pending(limit_bytes);
    mxp__ring_restart();
    return error;
}

int mxp__record_file_plan(const char *path, uint64_t limit_bytes)
{
    assert(mxp__lock_is_held(&mxp__session_storage()->lock));
    int error = open_store(path, limit_bytes, mxp__store_plan);
    return error == MXP_OK ? MXP_OK : fail_begin(error);
}

void mxp__record_file_sync(void)
{
    assert(mxp__lock_is_held(&mxp__session_storage()->lock));
    if (!mxp__store_is_open()) {
        return;
    }
    mxp_section_writer writer = {.fd = -1};
    if (build_clock(&writer, mxp__recorder_timebase(0)) == MXP_OK) {
        mxp__store_put_clock(writer.body.data, writer.body.length);
    }
    mxp__strbuf_fini(&writer.body);
}

// There is nothing to complete.
static int give_up(mxp_store_end *end)
{
    mxp__mapped_file_unlock(&end->descriptor);
    return mxp__fail(MXP_EIO, "the recording file was emptied by another program; what it held is "
                              "lost, recording continues in memory");
}

static void tell_refusal(void)
{
    const char *path = NULL;
    const int refusal = mxp__store_refusal(&path);
    if (refusal != 0) {
        mxp_file_signals held;
        mxp__file_signals_hold(&held);  // stderr may be a file with the same limit
        fprintf(stderr,
                "mxprof: '%s' cannot grow: %s%s; records that do not fit are lost, and counted\n",
                path, strerror(refusal),
                refusal == EFBIG ? " (the process's limit, ulimit -f)" : "");
        mxp__file_signals_release(&held);
    }
}

void mxp__record_file_look(void)
{
    assert(mxp__lock_is_held(&mxp__session_storage()->lock));
    tell_refusal();
    if (!mxp__store_was_emptied()) {
        return;
    }
    mxp_store_end end;
    mxp__store_finish(&end);
    (void)give_up(&end);
    fprintf(stderr, "mxprof: %s\n", mxp_last_error());
}

// ---- end ---------------------------------------------------------------------------------------
static int fail_complete(void)
{
    return mxp__fail(MXP_EIO, "cannot complete the recording file: %s", mxp__descriptor_reason());
}

static int check_name(const mxp_descriptor *descriptor)
{
    struct stat status;
    if (!mxp__descriptor_is_ours(descriptor)) {
        return mxp__fail(MXP_EIO, "cannot complete the recording file: the descriptor of the "
                                  "recording file was closed by the program, and its name is not "
                                  "the file's any more; it can be read all the same");
    }
    if (fstat(descriptor->fd, &status) != 0) {
        return fail_complete();
    }
    return status.st_nlink > 0 ? MXP_OK
                               : mxp__fail(MXP_EIO, "the recording file was removed or replaced "
                                                    "while it was being written");
}

static int write_clock(mxp_section_writer *writer, const mxp_source *source)
{
    return mxp__write_clock(writer, source->timebase);
}

static int write_end(mxp_section_writer *writer, const mxp_source *source)
{
    (void)source;
    return mxp__write_end(writer);
}

static int build_tables(mxp_section_writer *writer, const mxp_source *source, mxp_strbuf *tables)
{
    static int (*const writes[])(mxp_section_writer *, const mxp_source *) = {
        write_clock,      mxp__write_threads, mxp__write_losses,
        mxp__write_stats, mxp__write_info,    write_end};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        int error = writes[i](writer, source);
        if (error != MXP_OK) {
            return error;
        }
        error = append_built(tables, writer);
        if (error != MXP_OK) {
            return error;
        }
    }
    return MXP_OK;
}

// The magic of the first section is written last, by a write of four bytes, which is never partial.
// Before it the file is like that of a process that died, after it the file is finished.
static int put_tables(const mxp_descriptor *to, uint64_t offset, mxp_strbuf *tables)
{
    mxp_section first;
    memcpy(&first, tables->data, sizeof first);
    memset(tables->data, 0, sizeof first.magic);
    bool put =
        mxp__descriptor_write_at(to, tables->data, tables->length, offset) == tables->length &&
        mxp__descriptor_truncate(to, offset + tables->length) &&
        mxp__descriptor_write_at(to, &first.magic, sizeof first.magic, offset) ==
            sizeof first.magic;
    return put ? MXP_OK : fail_complete();
}

static int complete(const mxp_store_end *end, mxp_source *source)
{
    mxp_section_writer writer = {
        .fd = -1,
        .path = "the recording file",
        .progress = {.sections = end->sections, .record_bytes = end->record_bytes},
    };
    mxp_strbuf tables = {0};
    int error = check_name(&end->descriptor);
    if (error != MXP_OK) {
        goto out;
    }
    error = build_tables(&writer, source, &tables);
    if (error != MXP_OK) {
        goto out;
    }
    error = put_tables(&end->descriptor, end->offset, &tables);
out:
    mxp__strbuf_fini(&tables);
    mxp__strbuf_fini(&writer.body);
    return error;
}

int mxp__record_file_end(mxp_lock *lock)
{
    assert(mxp__lock_is_held(lock));
    mxp__store_forget_due();
    if (!mxp__store_is_open()) {
        return MXP_OK;
    }
    tell_refusal();
    mxp_store_end end;
    mxp__store_finish(&end);
    if (end.damaged) {
        return give_up(&end);
    }
    mxp_source *source = NULL;
    int error = mxp__live_open(MXP__CONSUMER_FILE, &source);
    mxp__lock_give_up(lock);
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    if (error == MXP_OK) {
        error = complete(&end, source);
    }
    mxp__source_close(source);
    mxp__mapped_file_unlock(&end.descriptor);
    mxp__file_signals_release(&held);
    mxp__lock_take_back(lock);
    return error;
}

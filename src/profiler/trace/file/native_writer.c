// SPDX-License-Identifier: Apache-2.0
// The path of a native file, and how the file stays whole. An append completes or leaves the file
// as it was: the first one writes a temporary file, and a later one that fails is truncated again.
// No descriptor is kept between appends, because the program may close it. A pipe or device stays
// open, because its reader waits for the end; its bytes cannot be undone, so after a failure
// nothing more is written to it.
#include "profiler/trace/file/native.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/os/new_file.h"
#include "profiler/trace/file/mapped_file.h"
#include "profiler/trace/file/section_writer.h"

struct mxp_native_writer {
    mxp_section_writer sections;
    char *path;  // with symbolic links resolved
    mxp_descriptor descriptor;  // none between appends, but for what is no regular file
    bool in_place;  // no regular file
    bool broken;  // failed in the middle, and not undone
    bool several;  // the file is complete: a source of several processes is in it
    bool begun;  // device and inode are those of a file that is ours
    uint64_t device, inode;
#ifndef NDEBUG
    mxp_atomic_bool in_use;  // a thread is inside mxp__native_append
#endif
};

// ---- opening -----------------------------------------------------------------------------------
int mxp__native_writer_open(const char *path, mxp_native_writer **opened)
{
    *opened = NULL;
    if (path == NULL || path[0] == '\0') {
        return mxp__fail(MXP_EINVAL, "a native trace needs a file name");
    }
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO, "cannot write '%s': it is a directory; name a file in it", path);
    }
    mxp_native_writer *writer = mxp__alloc(sizeof *writer);
    if (writer == NULL) {
        return mxp__fail_memory("writing a native trace");
    }
    // A link stays: what it points to is replaced.
    char *resolved = exists ? realpath(path, NULL) : NULL;
    writer->path = mxp__strdup(resolved != NULL ? resolved : path);
    free(resolved);
    writer->in_place = exists && !S_ISREG(status.st_mode);
    writer->descriptor = MXP__DESCRIPTOR_NONE;
    writer->sections.fd = -1;
    writer->sections.path = writer->path;
    writer->sections.leaves_filed_out = true;
    writer->sections.appends = true;
    if (writer->path == NULL) {
        mxp__native_writer_close(writer);
        return mxp__fail_memory("writing a native trace");
    }
    *opened = writer;
    return MXP_OK;
}

static int fail_open(const char *path)
{
    int error = errno == ENOMEM ? MXP_ENOMEM : MXP_EIO;
    return mxp__fail(error, "cannot write '%s': %s", path, mxp__descriptor_reason());
}

// To what is at `name`, from `place` on.
static void attach(mxp_native_writer *writer, mxp_descriptor *descriptor, const char *name,
                   uint64_t place)
{
    writer->sections.fd = descriptor->fd;
    writer->sections.checked = descriptor;
    writer->sections.name = name;
    writer->sections.is_placed = !writer->in_place;
    writer->sections.place = place;
}

// One that was lost can be had again: for a reader of a pipe, nothing has happened.
static int open_in_place(mxp_native_writer *writer)
{
    mxp_descriptor *descriptor = &writer->descriptor;
    if (mxp__descriptor_is_ours(descriptor)) {
        return MXP_OK;
    }
    bool opened = descriptor->fd < 0 ? mxp__descriptor_take_stream(descriptor, writer->path)
                                     : mxp__descriptor_open_again(descriptor, writer->path);
    if (!opened) {
        return fail_open(writer->path);
    }
    attach(writer, descriptor, writer->path, 0);
    return MXP_OK;
}

// ---- appending ---------------------------------------------------------------------------------
// What records need to be understood comes before them, so that a file cut short can be read up to
// the cut; and what else there is to tell, so that it is known of whom and of how much it tells.
static int write_head(mxp_section_writer *sections, const mxp_source *source)
{
    return sections->progress.bytes == 0 ? mxp__write_file_header(sections, source) : MXP_OK;
}

static int write_clock(mxp_section_writer *sections, const mxp_source *source)
{
    bool has_records = source->timebase->segment_count > 0;
    return has_records ? mxp__write_clock(sections, source->timebase) : MXP_OK;
}

static int write_process(mxp_section_writer *sections, mxp_source *source)
{
    static int (*const before_records[])(mxp_section_writer *, const mxp_source *) = {
        write_head,         write_clock,        mxp__write_names,
        mxp__write_threads, mxp__write_modules, mxp__write_clock_cuts,
        mxp__write_losses,  mxp__write_stats,   mxp__write_info};
    for (size_t i = 0; i < sizeof before_records / sizeof before_records[0]; i++) {
        int error = before_records[i](sections, source);
        if (error != MXP_OK) {
            return error;
        }
    }
    int error = mxp__write_chunks(sections, source);
    if (error != MXP_OK) {
        return error;
    }
    return mxp__write_end(sections);
}

// Writes the processes one after the other, each with its header, as if it had a file for itself.
static int write_all(mxp_section_writer *sections, mxp_source *source)
{
    int error = write_process(sections, source);
    uint64_t bytes = sections->progress.bytes;
    for (size_t i = 1; i < source->process_count && error == MXP_OK; i++) {
        sections->progress = (mxp_file_progress){0};
        sections->sequence_count = 0;
        mxp__section_writer_forget(sections);
        error = write_process(sections, source->processes[i]);
        bytes += sections->progress.bytes;
    }
    sections->progress.bytes = bytes;
    return error;
}

static void forget_file(mxp_native_writer *writer)
{
    writer->begun = false;
    writer->sections.progress = (mxp_file_progress){0};
    writer->sections.sequence_count = 0;
    mxp__section_writer_forget(&writer->sections);
}

static int write_first(mxp_native_writer *writer, mxp_source *source)
{
    mxp_new_file made;
    if (mxp__mapped_file_is_taken(writer->path)) {
        return mxp__fail(MXP_EIO,
                         "cannot write '%s': another process records into it; give each process a "
                         "native_filename of its own",
                         writer->path);
    }
    if (!mxp__new_file_open(&made, writer->path, 0666)) {
        return fail_open(writer->path);
    }
    writer->device = made.descriptor.device;
    writer->inode = made.descriptor.inode;
    attach(writer, &made.descriptor, made.temporary, 0);
    int error = write_all(&writer->sections, source);
    if (error == MXP_OK &&
        mxp__new_file_finish(&made, writer->path, MXP__PUBLISH_REPLACE) != MXP__PUBLISHED) {
        error = fail_open(writer->path);
    }
    mxp__new_file_discard(&made);
    attach(writer, &writer->descriptor, writer->path, 0);  // none
    if (error == MXP_OK) {
        writer->begun = true;
    } else {
        forget_file(writer);
    }
    return error;
}

static void cut_off(mxp_native_writer *writer, uint64_t size_bytes)
{
    if (writer->in_place || !mxp__descriptor_truncate(&writer->descriptor, size_bytes)) {
        writer->broken = true;
    }
}

static int write_more(mxp_native_writer *writer, mxp_source *source)
{
    mxp_section_writer *sections = &writer->sections;
    mxp_file_progress progress = sections->progress;
    uint32_t sequence_count = sections->sequence_count;
    size_t kept_bytes = sequence_count * sizeof *sections->sequences;
    uint32_t *sequences = mxp__alloc(kept_bytes);
    if (sequences == NULL && kept_bytes != 0) {
        return mxp__fail_memory("writing a native trace");
    }
    if (kept_bytes != 0) {
        memcpy(sequences, sections->sequences, kept_bytes);
    }
    int error = write_all(sections, source);
    if (error != MXP_OK) {
        cut_off(writer, progress.bytes);
        mxp__section_writer_forget(sections);
        sections->progress = progress;
        sections->sequence_count = sequence_count;
        if (kept_bytes != 0) {
            memcpy(sections->sequences, sequences, kept_bytes);
        }
    }
    mxp__free(sequences, kept_bytes);
    return error;
}

// By its name: a number may be taken away.
static bool is_as_it_was(const mxp_native_writer *writer)
{
    struct stat status;
    return lstat(writer->path, &status) == 0 && status.st_dev == writer->device &&
           status.st_ino == writer->inode &&
           (uint64_t)status.st_size == writer->sections.progress.bytes;
}

// Opens the file at `path` at its end if it is as the last append left it. A file that was moved,
// deleted or emptied is not opened.
static int open_behind(mxp_native_writer *writer)
{
    mxp_descriptor *opened = &writer->descriptor;
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
    if (!mxp__descriptor_open(opened, writer->path, flags)) {
        bool is_gone = errno == ENOENT || errno == ENOTDIR || errno == EISDIR || errno == ELOOP;
        return is_gone ? MXP_OK : fail_open(writer->path);
    }
    if (opened->device != writer->device || opened->inode != writer->inode ||
        !is_as_it_was(writer)) {
        mxp__descriptor_close(opened);
        return MXP_OK;
    }
    attach(writer, opened, writer->path, writer->sections.progress.bytes);
    return MXP_OK;
}

static int append_behind(mxp_native_writer *writer, mxp_source *source)
{
    int error = write_more(writer, source);
    if (!mxp__descriptor_close(&writer->descriptor) && error == MXP_OK) {
        writer->broken = true;
        error = fail_open(writer->path);
    }
    return error;
}

static int append(mxp_native_writer *writer, mxp_source *source)
{
    if (writer->in_place) {
        int error = open_in_place(writer);
        return error == MXP_OK ? write_more(writer, source) : error;
    }
    int error = writer->begun ? open_behind(writer) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    if (writer->descriptor.fd >= 0) {
        return append_behind(writer, source);
    }
    forget_file(writer);
    return write_first(writer, source);
}

int mxp__native_append(mxp_native_writer *writer, mxp_source *source)
{
    if (writer->broken) {
        return mxp__fail(MXP_EIO,
                         "cannot write '%s': an earlier write failed in its middle; "
                         "choose another file name",
                         writer->path);
    }
    assert(!writer->several && "something is appended after a source of several processes");
    assert(!mxp_atomic_exchange(&writer->in_use, true) && "two threads append to one file");
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    int error = append(writer, source);
    mxp__file_signals_release(&held);
    writer->several = error == MXP_OK && source->process_count > 1;
    assert(mxp_atomic_exchange(&writer->in_use, false));
    return error;
}

void mxp__native_writer_close(mxp_native_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    (void)mxp__descriptor_close(&writer->descriptor);
    mxp__section_writer_fini(&writer->sections);
    mxp__strfree(writer->path);
    mxp__free(writer, sizeof *writer);
}

int mxp__native_write(const char *path, mxp_source *source)
{
    mxp_native_writer *writer = NULL;
    int error = mxp__native_writer_open(path, &writer);
    if (error == MXP_OK) {
        writer->sections.leaves_filed_out = false;
        writer->sections.appends = false;
        error = mxp__native_append(writer, source);
    }
    mxp__native_writer_close(writer);
    return error;
}

// SPDX-License-Identifier: Apache-2.0
// Where a native file stands and how it stays whole. An append either completes or leaves the file
// as it was: the first one works on a temporary name, a later one is cut off again. What is no
// regular file (a pipe, /dev/null) cannot be undone: after a failure in it nothing more is written.
#include "trace/native.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/os/os.h"
#include "trace/section_writer.h"

struct mxp_native_writer {
    mxp_section_writer sections;  // its fd is -1 until something was written
    char *path;  // with symbolic links resolved
    bool in_place;  // no regular file
    bool broken;  // written in place, and failed in the middle
    dev_t device;  // which file the descriptor is
    ino_t inode;
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
    writer->sections.fd = -1;
    writer->sections.path = writer->path;
    if (writer->path == NULL) {
        mxp__native_writer_close(writer);
        return mxp__fail_memory("writing a native trace");
    }
    *opened = writer;
    return MXP_OK;
}

static int fail_open(const char *path)
{
    return mxp__fail(MXP_EIO, "cannot write '%s': %s", path, strerror(errno));
}

// Without O_NONBLOCK, opening a pipe that nobody reads would wait for a reader.
static int open_in_place(mxp_native_writer *writer)
{
    int fd = open(writer->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return fail_open(writer->path);
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0) {
        int error = fail_open(writer->path);
        close(fd);
        return error;
    }
    writer->sections.fd = fd;
    return MXP_OK;
}

static int open_temporary(mxp_native_writer *writer, const char *temporary)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(temporary, flags, 0666);
    if (fd < 0 && errno == EEXIST) {  // of a process of the same number that was killed
        unlink(temporary);
        fd = open(temporary, flags, 0666);
    }
    if (fd < 0) {
        return fail_open(writer->path);
    }
    writer->sections.fd = fd;
    return MXP_OK;
}

// ---- appending ---------------------------------------------------------------------------------
// What records need to be understood comes before them, so that a file cut short can be read up to
// the cut; and what else there is to tell, so that it is known of whom and of how much it tells.
static int write_process(mxp_section_writer *sections, mxp_source *source)
{
    int error = sections->progress.bytes == 0 ? mxp__write_file_header(sections, source) : MXP_OK;
    if (error == MXP_OK && source->timebase->segment_count > 0) {  // else there are no records
        error = mxp__write_clock(sections, source->timebase);
    }
    error = error == MXP_OK ? mxp__write_names(sections, source) : error;
    error = error == MXP_OK ? mxp__write_threads(sections, source) : error;
    error = error == MXP_OK ? mxp__write_losses(sections, source) : error;
    error = error == MXP_OK ? mxp__write_stats(sections, source) : error;
    error = error == MXP_OK ? mxp__write_info(sections, source) : error;
    error = error == MXP_OK ? mxp__write_chunks(sections, source) : error;
    return error == MXP_OK ? mxp__write_end(sections) : error;
}

// One process behind the other, each with its header, as if it had a file for itself.
static int write_all(mxp_section_writer *sections, mxp_source *source)
{
    int error = write_process(sections, source);
    uint64_t bytes = sections->progress.bytes;
    for (size_t i = 1; i < source->process_count && error == MXP_OK; i++) {
        sections->progress = (mxp_file_progress){0};
        sections->sequence_count = 0;
        error = write_process(sections, source->processes[i]);
        bytes += sections->progress.bytes;
    }
    sections->progress.bytes = bytes;
    return error;
}

static void forget_file(mxp_native_writer *writer)
{
    mxp_section_writer *sections = &writer->sections;
    if (sections->fd >= 0) {
        close(sections->fd);
    }
    sections->fd = -1;
    sections->progress = (mxp_file_progress){0};
    sections->sequence_count = 0;
}

static char *temporary_name(const char *path)
{
    mxp_strbuf name = {0};
    mxp__strbuf_printf(&name, "%s.tmp.%u", path, mxp__os_process_id());
    char *copy = name.failed ? NULL : mxp__strdup(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    return copy;
}

static int write_first(mxp_native_writer *writer, mxp_source *source)
{
    char *temporary = temporary_name(writer->path);
    if (temporary == NULL) {
        return mxp__fail_memory("the name of a temporary file");
    }
    int error = open_temporary(writer, temporary);
    if (error != MXP_OK) {
        goto out;
    }
    struct stat status;
    error = write_all(&writer->sections, source);
    if (error == MXP_OK &&
        (fstat(writer->sections.fd, &status) != 0 || rename(temporary, writer->path) != 0)) {
        error = fail_open(writer->path);
    }
    if (error != MXP_OK) {
        forget_file(writer);
        unlink(temporary);
        goto out;
    }
    writer->device = status.st_dev;
    writer->inode = status.st_ino;
out:
    mxp__strfree(temporary);
    return error;
}

static void cut_off(mxp_native_writer *writer, uint64_t size_bytes)
{
    int fd = writer->sections.fd;
    off_t end = (off_t)size_bytes;
    if (writer->in_place || ftruncate(fd, end) != 0 || lseek(fd, end, SEEK_SET) != end) {
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
        sections->progress = progress;
        sections->sequence_count = sequence_count;
        if (kept_bytes != 0) {
            memcpy(sections->sequences, sequences, kept_bytes);
        }
    }
    mxp__free(sequences, kept_bytes);
    return error;
}

// Whether the file at `path` is still as it was left: it may have been moved, deleted or emptied.
static bool still_there(const mxp_native_writer *writer)
{
    struct stat status;
    return stat(writer->path, &status) == 0 && status.st_dev == writer->device &&
           status.st_ino == writer->inode &&
           (uint64_t)status.st_size == writer->sections.progress.bytes;
}

static int append(mxp_native_writer *writer, mxp_source *source)
{
    if (writer->in_place) {
        int error = writer->sections.fd < 0 ? open_in_place(writer) : MXP_OK;
        return error == MXP_OK ? write_more(writer, source) : error;
    }
    if (writer->sections.fd >= 0 && !still_there(writer)) {
        forget_file(writer);
    }
    return writer->sections.fd < 0 ? write_first(writer, source) : write_more(writer, source);
}

int mxp__native_append(mxp_native_writer *writer, mxp_source *source)
{
    if (writer->broken) {
        return mxp__fail(MXP_EIO,
                         "cannot write '%s': an earlier write failed in its middle; "
                         "choose another file name",
                         writer->path);
    }
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    int error = append(writer, source);
    mxp__file_signals_release(&held);
    return error;
}

uint64_t mxp__native_written_bytes(const mxp_native_writer *writer)
{
    return writer->sections.progress.bytes;
}

void mxp__native_writer_close(mxp_native_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->sections.fd >= 0) {
        close(writer->sections.fd);
    }
    mxp__strbuf_fini(&writer->sections.body);
    mxp__free(writer->sections.sequences,
              writer->sections.sequence_capacity * sizeof *writer->sections.sequences);
    mxp__strfree(writer->path);
    mxp__free(writer, sizeof *writer);
}

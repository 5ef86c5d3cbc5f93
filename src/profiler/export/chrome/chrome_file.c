// SPDX-License-Identifier: Apache-2.0
// The growing file. Between appends it is complete JSON: an append writes the new items over the
// closing part and a new closing part after them, with blanks at the end if the file would become
// smaller. The old closing part is kept in memory, so a failed append is undone.
//
//   opening | items of earlier appends | closing, blanks
//                                      ^ items_end       ^ size_bytes
#include "profiler/export/chrome/chrome_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/new_file.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "profiler/export/chrome/chrome_text.h"

enum { THREADS_MAX = 64 };

struct mxp_chrome_file {
    char *path;
    mxp_chrome_tracks *tracks;  // what the file tells, null before the first append
    unsigned threads;  // that format it; 0: as many as pay
    bool started;
    bool replaced;  // an earlier part was removed by others
    dev_t device;  // with inode and size: whether the file is still ours
    ino_t inode;
    uint64_t items_end, size_bytes;
    uint64_t limit_bytes;
    uint64_t left_out;  // events beyond the limit
    mxp_strbuf closing;  // as it is in the file, blanks included
};

// A sink that writes at an offset; `written_bytes` counts from there.
typedef struct place {
    mxp_sink sink;
    mxp_descriptor *to;
    const char *name;  // under which it is opened again if the program closes it
    uint64_t start;
    bool is_stream;  // no regular file: offsets mean nothing
} place;

static unsigned threads_wanted(void)
{
    static mxp_atomic_bool told;
    uint64_t threads;
    if (mxp__setting_read("MXPROF_EXPORT_THREADS", 0, 1, THREADS_MAX, &threads) != MXP_OK &&
        !mxp_atomic_exchange(&told, true)) {
        fprintf(stderr, "mxprof: %s\n", mxp_last_error());
    }
    return (unsigned)threads;
}

int mxp__chrome_file_create(const char *path, mxp_chrome_file **file)
{
    *file = NULL;
    mxp_chrome_file *made = mxp__alloc(sizeof *made);
    if (made == NULL || (made->path = mxp__strdup(path)) == NULL) {
        mxp__free(made, sizeof *made);
        return mxp__fail_memory("the trace file");
    }
    made->threads = threads_wanted();
    made->limit_bytes = UINT64_MAX;
    *file = made;
    return MXP_OK;
}

void mxp__chrome_file_limit(mxp_chrome_file *file, uint64_t limit_bytes)
{
    file->limit_bytes = limit_bytes;
}

uint64_t mxp__chrome_file_bytes(const mxp_chrome_file *file)
{
    return file->size_bytes;
}

uint64_t mxp__chrome_file_left_out(const mxp_chrome_file *file)
{
    return file->left_out;
}

int mxp__chrome_file_started(const mxp_chrome_file *file)
{
    return file->started;
}

int mxp__chrome_file_grows(const mxp_chrome_file *file)
{
    return file->tracks != NULL;
}

void mxp__chrome_file_close(mxp_chrome_file *file)
{
    if (file == NULL) {
        return;
    }
    mxp__chrome_tracks_destroy(file->tracks);
    mxp__strbuf_fini(&file->closing);
    mxp__strfree(file->path);
    mxp__free(file, sizeof *file);
}

// ---- writing ----------------------------------------------------------------------------------
static int write_place(mxp_sink *sink, const char *data, size_t size_bytes)
{
    place *at = sink->target;
    uint64_t offset = at->start + sink->written_bytes;
    size_t done = at->is_stream
                      ? mxp__descriptor_put(at->to, at->name, data, size_bytes)
                      : mxp__descriptor_put_at(at->to, at->name, data, size_bytes, offset);
    sink->fd = at->to->fd;
    sink->written_bytes += done;
    return done == size_bytes
               ? MXP_OK
               : mxp__fail(MXP_EIO, "cannot write '%s': %s; the records are kept for the next dump",
                           sink->path, mxp__descriptor_reason());
}

static void place_init(place *at, mxp_descriptor *to, const char *path, uint64_t start)
{
    *at = (place){.sink = {.write = write_place, .target = at, .fd = to->fd, .path = path},
                  .to = to,
                  .name = path,
                  .start = start};
}

// For items after the first `items_end` bytes; 0: of a file that begins anew.
static void limit_init(mxp_chrome_limit *limit, const mxp_chrome_file *file, uint64_t items_end,
                       mxp_sink *sink)
{
    uint64_t space_bytes = file->limit_bytes > items_end ? file->limit_bytes - items_end : 0;
    mxp__chrome_limit_init(limit, space_bytes, items_end > 0 ? file->left_out : 0, sink);
}

static const char *note_of(const mxp_chrome_file *file)
{
    return file->replaced ? "the file was removed or replaced between two dumps; earlier records "
                            "went with it"
                          : NULL;
}

static bool is_written(int error)
{
    return error == MXP_OK || error == MXP_EFORMAT;
}

// ---- a new file -------------------------------------------------------------------------------
static int fail_path(const char *what, const char *path)
{
    return mxp__fail(MXP_EIO, "cannot %s '%s': %s", what, path, mxp__descriptor_reason());
}

// Remembers the state of the file.
static void remember(mxp_chrome_file *file, const place *at, uint64_t items_end,
                     mxp_strbuf *closing)
{
    file->device = at->to->device;
    file->inode = at->to->inode;
    file->items_end = items_end;
    file->size_bytes = at->start + at->sink.written_bytes;
    mxp_strbuf old = file->closing;
    file->closing = *closing;
    *closing = old;
}

// `error`, or that of closing what was written without one.
static int close_written(mxp_descriptor *descriptor, const char *path, int error)
{
    bool closed = mxp__descriptor_close(descriptor);
    return !closed && is_written(error) ? fail_path("write", path) : error;
}

static int write_temporary(mxp_chrome_file *file, mxp_new_file *made, mxp_chrome_tracks *tracks,
                           mxp_source *source)
{
    mxp_strbuf closing = {0};
    place at;
    mxp_chrome_limit limit;
    uint64_t items_end = 0;
    place_init(&at, &made->descriptor, file->path, 0);
    at.name = made->temporary;
    limit_init(&limit, file, 0, &at.sink);
    int error = mxp__chrome_text_all(file->threads, tracks, source, note_of(file), &limit, &closing,
                                     &items_end);
    if (is_written(error)) {
        remember(file, &at, items_end, &closing);
        file->left_out = limit.left_out;
    }
    mxp__strbuf_fini(&closing);
    return error;
}

// `path` is the real one (a link has been followed); `old` its status, null if there is nothing.
static int write_renamed(mxp_chrome_file *file, const char *path, const struct stat *old,
                         mxp_chrome_tracks *tracks, mxp_source *source)
{
    mxp_new_file made;
    if (!mxp__new_file_open(&made, path, 0666)) {
        return fail_path("create", path);
    }
    if (old != NULL) {
        (void)fchmod(made.descriptor.fd, old->st_mode & 07777);  // best effort: it is a new file
    }
    int error = write_temporary(file, &made, tracks, source);
    if (is_written(error) &&
        mxp__new_file_finish(&made, path, MXP__PUBLISH_REPLACE) != MXP__PUBLISHED) {
        error = fail_path("write", path);
    }
    mxp__new_file_discard(&made);
    return error;
}

// A device or a pipe takes a complete text at each append.
static int write_stream(mxp_chrome_file *file, mxp_chrome_tracks *tracks, mxp_source *source)
{
    mxp_strbuf closing = {0};
    place at;
    mxp_chrome_limit limit;
    uint64_t items_end;
    mxp_descriptor stream;
    if (!mxp__descriptor_take_stream(&stream, file->path)) {
        return fail_path("write", file->path);
    }
    place_init(&at, &stream, file->path, 0);
    at.is_stream = true;
    limit_init(&limit, file, 0, &at.sink);
    int error = mxp__chrome_text_all(file->threads, tracks, source, note_of(file), &limit, &closing,
                                     &items_end);
    file->left_out = limit.left_out;
    mxp__strbuf_fini(&closing);
    return close_written(&stream, file->path, error);
}

static int write_new(mxp_chrome_file *file, mxp_chrome_tracks *tracks, mxp_source *source,
                     bool *is_stream)
{
    struct stat status;
    bool exists = stat(file->path, &status) == 0;
    *is_stream = exists && !S_ISREG(status.st_mode);
    if (exists && S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO, "cannot write '%s': it is a directory; give a file name",
                         file->path);
    }
    if (!exists && errno != ENOENT) {
        return fail_path("write", file->path);
    }
    if (*is_stream) {
        return write_stream(file, tracks, source);
    }
    // Through a link: the file it names is replaced, not the link.
    char *real = exists ? realpath(file->path, NULL) : NULL;
    int error = write_renamed(file, real != NULL ? real : file->path, exists ? &status : NULL,
                              tracks, source);
    free(real);
    return error;
}

static int start_file(mxp_chrome_file *file, mxp_source *source)
{
    mxp_chrome_tracks *tracks;
    bool is_stream;
    int error = mxp__chrome_tracks_create(&tracks);
    if (error != MXP_OK) {
        return error;
    }
    error = write_new(file, tracks, source, &is_stream);
    if (!is_written(error)) {
        mxp__chrome_tracks_destroy(tracks);
        return error;
    }
    mxp__chrome_tracks_destroy(file->tracks);
    file->tracks = NULL;
    file->started = true;
    if (is_stream) {
        mxp__chrome_tracks_destroy(tracks);  // the next text begins anew
    } else {
        mxp__chrome_tracks_commit(tracks, source);
        file->tracks = tracks;
    }
    return error;
}

// ---- appending --------------------------------------------------------------------------------
// Whether the file is still the one that was written, and as long. It is checked by its name,
// because the program may have closed the descriptor.
static bool is_as_it_was(const mxp_chrome_file *file)
{
    struct stat status;
    return stat(file->path, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->inode && (uint64_t)status.st_size == file->size_bytes;
}

// Opens the file for appending. The descriptor stays NONE if the file is gone or has been replaced.
static int open_again(const mxp_chrome_file *file, mxp_descriptor *opened)
{
    if (!mxp__descriptor_open(opened, file->path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
        return errno == ENOENT || errno == EISDIR ? MXP_OK : fail_path("open", file->path);
    }
    if (opened->device != file->device || opened->inode != file->inode || !is_as_it_was(file)) {
        mxp__descriptor_close(opened);
    }
    return MXP_OK;
}

// Puts the old closing part back and truncates the file after it.
static void undo(const mxp_chrome_file *file, mxp_descriptor *to)
{
    place at;
    mxp_strbuf message = {0};
    mxp__strbuf_puts(&message, mxp_last_error());
    place_init(&at, to, file->path, file->items_end);
    if (write_place(&at.sink, file->closing.data, file->closing.length) != MXP_OK ||
        !mxp__descriptor_truncate(to, file->size_bytes)) {
        mxp__strbuf_puts(&message, " (and the file could not be put back as it was)");
    }
    mxp_set_last_error(MXP_EIO, mxp__strbuf_text(&message));
    mxp__strbuf_fini(&message);
}

static int append_items(mxp_chrome_file *file, mxp_source *source, mxp_descriptor *to)
{
    mxp_strbuf out = {0}, closing = {0};
    place at;
    mxp_chrome_limit limit;
    place_init(&at, to, file->path, file->items_end);
    limit_init(&limit, file, file->items_end, &at.sink);
    int error = mxp__chrome_text_items(file->threads, file->tracks, source, &out, &limit);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    uint64_t items_bytes = at.sink.written_bytes;
    mxp__strbuf_fini(&out);
    if (is_written(error) && (items_bytes > 0 || limit.left_out > file->left_out)) {
        uint64_t space = file->size_bytes - file->items_end;
        const mxp_chrome_remarks remarks = {
            .note = note_of(file),
            .left_out = limit.left_out,
            .space_bytes = space > items_bytes ? space - items_bytes : 0,
        };
        error = mxp__chrome_text_closing(source, &remarks, &at.sink, &closing);
        if (error == MXP_OK) {
            remember(file, &at, file->items_end + items_bytes, &closing);
            file->left_out = limit.left_out;
        }
    }
    if (!is_written(error) && at.sink.written_bytes > 0) {
        undo(file, to);
    }
    mxp__strbuf_fini(&closing);
    if (is_written(error)) {
        mxp__chrome_tracks_commit(file->tracks, source);
    }
    return error != MXP_OK ? error : damage;
}

// Begins a new file in place of one that is gone. It says that an earlier part is missing.
static int replace_file(mxp_chrome_file *file, mxp_source *source)
{
    bool before = file->replaced;
    file->replaced = true;
    int error = start_file(file, source);
    file->replaced = before || is_written(error);
    return error;
}

int mxp__chrome_file_append(mxp_chrome_file *file, mxp_source *source)
{
    if (file->tracks == NULL) {
        mxp_record_range range;
        bool has_news = !file->started || source->range(source, 0, &range) != 0;
        return has_news ? start_file(file, source) : MXP_OK;
    }
    mxp_descriptor opened;
    int error = open_again(file, &opened);
    if (error != MXP_OK) {
        return error;
    }
    if (opened.fd < 0) {
        return replace_file(file, source);
    }
    return close_written(&opened, file->path, append_items(file, source, &opened));
}

// ---- another process ---------------------------------------------------------------------------
// Adds another process. The closing part is not changed: it describes the process that owns the
// file.
static int append_process(mxp_chrome_file *file, mxp_chrome_tracks *tracks, mxp_source *source,
                          mxp_descriptor *to)
{
    mxp_strbuf out = {0}, closing = {0};
    place at;
    mxp_chrome_limit limit;
    place_init(&at, to, file->path, file->items_end);
    limit_init(&limit, file, file->items_end, &at.sink);
    mxp__strbuf_puts(&out, ",\n");
    int error = mxp__chrome_text_items(file->threads, tracks, source, &out, &limit);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    uint64_t items_bytes = at.sink.written_bytes;
    mxp__strbuf_fini(&out);
    if (is_written(error)) {
        mxp__strbuf_append(&closing, file->closing.data, file->closing.length);
        error = closing.failed ? mxp__fail_memory("the trace file")
                               : at.sink.write(&at.sink, closing.data, closing.length);
    }
    if (error == MXP_OK) {
        remember(file, &at, file->items_end + items_bytes, &closing);
        file->left_out = limit.left_out;
    } else if (at.sink.written_bytes > 0) {
        undo(file, to);
    }
    mxp__strbuf_fini(&closing);
    return error != MXP_OK ? error : damage;
}

int mxp__chrome_file_add_process(mxp_chrome_file *file, mxp_source *source)
{
    mxp_chrome_tracks *tracks;
    mxp_descriptor opened;
    if (file->tracks == NULL) {
        return MXP_OK;
    }
    int error = open_again(file, &opened);
    if (error == MXP_OK && opened.fd < 0) {
        error = mxp__fail(MXP_EIO, "'%s' was removed or replaced", file->path);
    }
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__chrome_tracks_create(&tracks);
    if (error == MXP_OK) {
        error = append_process(file, tracks, source, &opened);
        mxp__chrome_tracks_destroy(tracks);
    }
    return close_written(&opened, file->path, error);
}

// SPDX-License-Identifier: Apache-2.0
// See children.h. Files are mapped one at a time, so memory does not grow with their number.
//
// Which files belong to this run: a forked child continues its parent's clock, so its file has the
// same first clock point as this process. A program that was started has its own clock; its file
// names the profile it belongs to (root.h). A file is taken into one trace of this process only.
#include "profiler/session/output/children.h"

#include <dirent.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/root.h"
#include "profiler/trace/merge.h"

enum {
    CHILDREN_MAX = 4096,  // files that one dump opens, which bounds its time
    TAKEN_MAX = 65536  // files that are remembered as taken
};

// ---- files that are in a trace already ---------------------------------------------------------
typedef struct child_file {
    dev_t device;
    ino_t inode;
    unsigned long pid;
} child_file;

// By the thread that has the turn of the files.
static struct {
    child_file *files;
    size_t count, capacity;
    size_t oldest;  // the entry that is replaced next, once there are TAKEN_MAX
} taken;

static bool is_taken(const child_file *file)
{
    for (size_t i = 0; i < taken.count; i++) {
        const child_file *each = &taken.files[i];
        if (each->pid == file->pid && each->inode == file->inode && each->device == file->device) {
            return true;
        }
    }
    return false;
}

static void remember(const child_file *file)
{
    if (taken.count == TAKEN_MAX) {
        taken.files[taken.oldest] = *file;
        taken.oldest = (taken.oldest + 1) % TAKEN_MAX;
    } else if (mxp__grow(&taken.files, &taken.capacity, taken.count + 1, sizeof *file) == MXP_OK) {
        taken.files[taken.count++] = *file;
    }
}

// ---- one file ----------------------------------------------------------------------------------

// Whether the file is of a program that this process started, directly or through others.
static bool was_started_by_us(const mxp_source *source)
{
    const char *root = mxp__source_info(source, "root");
    return root != NULL && strcmp(root, mxp__root_mark()) == 0;
}

static bool is_of_this_run(const mxp_source *source, const mxp_timebase *ours, unsigned long pid)
{
    const mxp_timebase *timebase = source->timebase;
    if (source->pid == pid && was_started_by_us(source)) {
        return true;
    }
    return source->pid == pid && timebase->point_count > 0 && ours->point_count > 0 &&
           timebase->points[0].ticks == ours->points[0].ticks &&
           timebase->points[0].realtime_ns == ours->points[0].realtime_ns;
}

static void report(const char *path, const char *what)
{
    fprintf(stderr, "mxprof: the child's file '%s' %s: %s\n", path, what, mxp_last_error());
}

static void add_file(mxp_chrome_file *chrome, const mxp_timebase *ours, const char *path,
                     const child_file *file)
{
    mxp_source *source;
    mxp_damage damage;
    int error = mxp__native_open(path, &source, &damage);
    if (error != MXP_OK) {
        report(path, "is left out of the trace");
        return;
    }
    if (!is_of_this_run(source, ours, file->pid)) {
        mxp__source_close(source);
        return;
    }
    if (damage.text != NULL) {
        mxp__fail(MXP_EFORMAT, "damaged at offset %" PRIu64 ": %s", damage.offset, damage.text);
        report(path, "is in the trace as far as it can be read");
    }
    error = mxp__aligned_open(source, ours, &source);
    if (error == MXP_OK) {
        error = mxp__chrome_file_add_process(chrome, source);
    }
    if (error == MXP_OK || error == MXP_EFORMAT) {
        remember(file);
    }
    if (error != MXP_OK) {
        report(path, error == MXP_EFORMAT ? "is in the trace as far as it can be read"
                                          : "is left out of the trace");
    }
    mxp__source_close(source);
}

// ---- all of them -------------------------------------------------------------------------------
typedef struct children {
    mxp_chrome_file *chrome;
    const mxp_timebase *ours;
    size_t looked_at, left_out;
} children;

static void add_child(children *all, const char *path, unsigned long pid)
{
    struct stat status;
    child_file file = {.pid = pid};
    if (stat(path, &status) == 0) {
        file.device = status.st_dev;
        file.inode = status.st_ino;
    }
    if (is_taken(&file)) {
        return;
    }
    if (all->looked_at == CHILDREN_MAX) {
        all->left_out++;
        return;
    }
    all->looked_at++;
    add_file(all->chrome, all->ours, path, &file);
}

// Adds the files that match `pattern`, in the folder of `path`, the native file of this process.
static void add_files(children *all, const char *path, const char *pattern)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    mxp_strbuf name = {0};
    mxp__strbuf_append(&name, path, (size_t)(file - path));
    size_t folder_length = name.length;
    mxp__strbuf_puts(&name, folder_length == 0 ? "." : "");
    DIR *folder = opendir(mxp__strbuf_text(&name));
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        unsigned long pid = mxp__output_child(pattern, entry->d_name);
        if (pid != 0) {
            mxp__strbuf_clear(&name);
            mxp__strbuf_append(&name, path, folder_length);
            mxp__strbuf_puts(&name, entry->d_name);
            add_child(all, mxp__strbuf_text(&name), pid);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    mxp__strbuf_fini(&name);
}

void mxp__children_add_in_turn(mxp_session *session)
{
    if (session->inherited || session->chrome == NULL || !mxp__chrome_file_grows(session->chrome)) {
        return;
    }
    mxp_strbuf path = {0}, pattern = {0};
    mxp_timebase ours = {0};
    mxp__native_name(session, &path);
    mxp__child_pattern(session, &pattern);
    int error = mxp__timebase_copy(&ours, mxp__recorder_timebase(0));
    if (!path.failed && !pattern.failed && error == MXP_OK) {
        mxp__lock_give_up(&session->lock);
        children all = {.chrome = session->chrome, .ours = &ours};
        add_files(&all, mxp__strbuf_text(&path), mxp__strbuf_text(&pattern));
        if (all.left_out != 0) {
            fprintf(stderr,
                    "mxprof: %zu files of children are left out of the trace, which takes %d; "
                    "mxprof merge takes all\n",
                    all.left_out, CHILDREN_MAX);
        }
        mxp__lock_take_back(&session->lock);
    }
    mxp__timebase_fini(&ours);
    mxp__strbuf_fini(&path);
    mxp__strbuf_fini(&pattern);
}

// SPDX-License-Identifier: Apache-2.0
// See children.h. One file at a time, mapped: memory does not grow with them. A child goes on with
// its parent's clock, so that clock's first point tells its files from those of earlier runs.
#include "session/children.h"

#include <dirent.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "prof/recorder.h"
#include "session/dump.h"
#include "trace/merge.h"

enum { CHILDREN_MAX = 4096 };  // files that are looked at

// STEM.PID + ending: the PID, or 0 if the name is none of a child's file.
static unsigned long child_of(const char *name, const char *file, size_t stem)
{
    if (strncmp(name, file, stem) != 0 || name[stem] != '.' || name[stem + 1] < '1' ||
        name[stem + 1] > '9') {
        return 0;
    }
    char *end;
    unsigned long pid = strtoul(name + stem + 1, &end, 10);
    return strcmp(end, file + stem) == 0 && pid <= UINT32_MAX ? pid : 0;
}

static bool is_of_this_run(const mxp_source *source, const mxp_timebase *ours, unsigned long pid)
{
    const mxp_timebase *timebase = source->timebase;
    return source->pid == pid && timebase->point_count > 0 && ours->point_count > 0 &&
           timebase->points[0].ticks == ours->points[0].ticks &&
           timebase->points[0].realtime_ns == ours->points[0].realtime_ns;
}

static void report(const char *path, const char *what)
{
    fprintf(stderr, "mxprof: the child's file '%s' %s: %s\n", path, what, mxp_last_error());
}

static void add_file(mxp_chrome_file *chrome, const mxp_timebase *ours, const char *path,
                     unsigned long pid)
{
    mxp_source *source;
    mxp_damage damage;
    int error = mxp__native_open(path, &source, &damage);
    if (error != MXP_OK) {
        report(path, "is left out of the trace");
        return;
    }
    if (!is_of_this_run(source, ours, pid)) {
        mxp__source_close(source);
        return;
    }
    if (damage.text != NULL) {
        mxp__fail(MXP_EFORMAT, "damaged at offset %" PRIu64 ": %s", damage.offset, damage.text);
        report(path, "is in the trace as far as it can be read");
    }
    error = mxp__aligned_open(source, ours, &source);
    error = error == MXP_OK ? mxp__chrome_file_add_process(chrome, source) : error;
    if (error != MXP_OK) {
        report(path, error == MXP_EFORMAT ? "is in the trace as far as it can be read"
                                          : "is left out of the trace");
    }
    mxp__source_close(source);
}

// `path` is the native file's of this process.
static void add_files(mxp_chrome_file *chrome, const mxp_timebase *ours, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    size_t stem = dot != NULL ? (size_t)(dot - file) : strlen(file);
    mxp_strbuf name = {0};
    mxp__strbuf_append(&name, path, (size_t)(file - path));
    size_t folder_length = name.length;
    mxp__strbuf_puts(&name, folder_length == 0 ? "." : "");
    DIR *folder = opendir(mxp__strbuf_text(&name));
    const struct dirent *entry;
    for (int i = 0; folder != NULL && i < CHILDREN_MAX && (entry = readdir(folder)) != NULL;) {
        unsigned long pid = child_of(entry->d_name, file, stem);
        if (pid != 0) {
            mxp__strbuf_clear(&name);
            mxp__strbuf_append(&name, path, folder_length);
            mxp__strbuf_puts(&name, entry->d_name);
            add_file(chrome, ours, mxp__strbuf_text(&name), pid);
            i++;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    mxp__strbuf_fini(&name);
}

void mxp__children_add_in_turn(mxp_session *session)
{
    if (session->inherited || session->chrome == NULL) {
        return;
    }
    mxp_strbuf path = {0};
    mxp_timebase ours = {0};
    mxp__native_name(session, &path);
    int error = mxp__timebase_copy(&ours, mxp__recorder_timebase(0));
    if (!path.failed && error == MXP_OK) {
        mxp__lock_give_up(&session->lock);
        add_files(session->chrome, &ours, mxp__strbuf_text(&path));
        mxp__lock_take_back(&session->lock);
    }
    mxp__timebase_fini(&ours);
    mxp__strbuf_fini(&path);
}

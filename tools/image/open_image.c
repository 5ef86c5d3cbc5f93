// SPDX-License-Identifier: Apache-2.0
// A core file, or the memory of a process, as a source: written as a native file without a name,
// which is then opened like any other.
#include <errno.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/temporary_file.h"
#include "image/recorder_image.h"

static char damage_text[256];

// A forked child has its parent's anchor until it records itself.
static int find_anchor(const mxp_memory_image *image, long pid, mxp_image_anchor *anchor)
{
    int error = mxp__image_find_anchor(image, anchor);
    if (error == MXP_OK && pid != 0 && anchor->pid != mxp__process_own_number(pid)) {
        error = mxp__fail(MXP_EFORMAT,
                          "it does not record: it was forked by process %" PRIu32
                          ", which recorded in memory; with MXPROF_STORE=file children record as "
                          "well",
                          anchor->pid);
    }
    return error;
}

// `pid`: of a living process, else 0.
static int write_file(const mxp_memory_image *image, long pid, const char *path, mxp_strbuf *name,
                      mxp_image_loss *loss)
{
    mxp_image_anchor anchor;
    int error = find_anchor(image, pid, &anchor);
    if (error != MXP_OK) {
        char line[256] = "";
        strncat(line, mxp_last_error(), sizeof line - 1);
        return error == MXP_EFORMAT ? mxp__fail(error, "cannot read '%s': %s", path, line) : error;
    }
    int fd = mxp__temporary_file_make(name);
    if (fd < 0) {
        return mxp__fail(MXP_EIO, "cannot create '%s' to copy '%s' into: %s",
                         mxp__strbuf_text(name), path, strerror(errno));
    }
    error = mxp__image_write(image, &anchor, fd, mxp__strbuf_text(name), loss);
    close(fd);
    return error;
}

static bool has_file(const mxp_source *source)
{
    const char *config = mxp__source_info(source, "config");
    return config != NULL && strstr(config, "store=1") != NULL;
}

static void describe(const mxp_memory_image *image, const mxp_source *source,
                     const mxp_image_loss *loss, mxp_damage *damage)
{
    damage_text[0] = '\0';
    if (image->missing_bytes > 0) {
        snprintf(damage_text, sizeof damage_text,
                 "the core file is cut: %" PRIu64 " bytes of the process's memory are not in it",
                 image->missing_bytes);
    } else if (loss->chunks > 0 && loss->in_file && has_file(source)) {
        snprintf(damage_text, sizeof damage_text,
                 "the process recorded into a file, which has its records; a core file has none of "
                 "them");
    } else if (loss->chunks > 0 && loss->in_file) {
        snprintf(damage_text, sizeof damage_text,
                 "%" PRIu64 " lists of records lead out of the memory that is in it", loss->chunks);
    }
    if (damage_text[0] != '\0') {
        *damage = (mxp_damage){0, damage_text};
    }
}

static int open_image(const mxp_memory_image *image, long pid, const char *path,
                      mxp_source **source, mxp_damage *damage)
{
    mxp_strbuf name = {0};
    mxp_image_loss loss = {0};
    mxp_damage inner = {0, NULL};
    int error = write_file(image, pid, path, &name, &loss);
    if (error == MXP_OK) {
        error = mxp__native_open(mxp__strbuf_text(&name), source, &inner);
    }
    if (error == MXP_OK) {
        *damage = inner;
        describe(image, *source, &loss, damage);
    }
    if (name.length > 0) {
        unlink(mxp__strbuf_text(&name));
    }
    mxp__strbuf_fini(&name);
    return error;
}

int mxp__core_open(int fd, const char *path, mxp_source **source, mxp_damage *damage)
{
    mxp_memory_image image;
    int error = mxp__image_open_core(&image, fd, path);
    if (error == MXP_OK) {
        error = open_image(&image, 0, path, source, damage);
    }
    mxp__image_close(&image);
    return error;
}

int mxp__process_open(long pid, mxp_source **source, mxp_damage *damage)
{
    mxp_memory_image image;
    char path[32];
    snprintf(path, sizeof path, "process %ld", pid);
    int error = mxp__image_open_process(&image, pid);
    if (error == MXP_OK) {
        error = open_image(&image, pid, path, source, damage);
    }
    mxp__image_close(&image);
    return error;
}

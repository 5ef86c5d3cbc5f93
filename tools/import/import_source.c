// SPDX-License-Identifier: Apache-2.0
// Opening a trace of another profiler: it becomes a native file without a name, and that is opened.
#include <errno.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/temporary_file.h"
#include "import/import_state.h"

bool mxp__import_is_json(const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;
    size_t at = 0;
    if (size_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        return true;
    }
    if (size_bytes >= 2 &&
        ((bytes[0] == 0xff && bytes[1] == 0xfe) || (bytes[0] == 0xfe && bytes[1] == 0xff))) {
        return true;
    }
    at += size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size_bytes && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\n' ||
                               bytes[at] == '\r' || bytes[at] == '\0')) {
        at++;
    }
    return at < size_bytes && (bytes[at] == '{' || bytes[at] == '[');
}

// ---- the state ---------------------------------------------------------------------------------
static int begin(mxp_import *import, mxp_json_bytes *bytes, const mxp_import_options *options)
{
    import->options = *options;
    import->first_ns = INT64_MAX;
    mxp__import_rows_init(&import->rows);
    mxp__import_open_init(&import->open);
    mxp__import_open_init(&import->ends);
    int error = mxp__json_reader_open(&import->reader, bytes);
    return error == MXP_OK ? mxp__import_spool_open(&import->spool) : error;
}

static void end(mxp_import *import)
{
    mxp__import_spool_close(import->spool);
    mxp__import_open_fini(&import->open);
    mxp__import_open_fini(&import->ends);
    mxp__import_rows_fini(&import->rows);
    mxp__strbuf_fini(&import->event.args);
    mxp__json_reader_close(&import->reader);
    mxp__free(import, sizeof *import);
}

// ---- the file that it becomes ------------------------------------------------------------------
static int write_native(mxp_import *import, int fd, const char *name)
{
    int error = mxp__import_close_open(import);
    if (error == MXP_OK) {
        error = mxp__import_spool_finish(import->spool);
    }
    return error == MXP_OK ? mxp__import_write(import, fd, name) : error;
}

// `fd` has no name any more, so it is opened by its number.
static int open_native(int fd, const char *name, mxp_source **source)
{
    char path[64];
    mxp_damage damage = {0, NULL};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int error = mxp__native_open(path, source, &damage);
    return error == MXP_OK ? MXP_OK
                           : mxp__fail(error,
                                       "cannot read '%s', which an imported trace became "
                                       "(is /proc there?): %.128s",
                                       name, mxp_last_error());
}

static int make_native(mxp_import *import, mxp_source **source)
{
    mxp_strbuf name = {0};
    int fd = mxp__temporary_file_make(&name);
    if (fd < 0) {
        int error = mxp__fail(MXP_EIO, "cannot create '%s' to import into: %s",
                              mxp__strbuf_text(&name), strerror(errno));
        mxp__strbuf_fini(&name);
        return error;
    }
    unlink(name.data);
    int error = write_native(import, fd, name.data);
    if (error == MXP_OK) {
        error = open_native(fd, name.data, source);
    }
    close(fd);
    mxp__strbuf_fini(&name);
    return error;
}

// ---- opening -----------------------------------------------------------------------------------
static void tell_damage(mxp_import *import, mxp_damage *damage)
{
    if (import->reader.damage != NULL) {
        *damage = (mxp_damage){import->reader.damage_offset, import->reader.damage};
    } else if (import->notes.damaged > 0) {
        *damage = (mxp_damage){import->notes.first_damaged,
                               "an event whose fields are missing or of a wrong type"};
    }
}

// Takes `bytes` over.
static int import_bytes(mxp_json_bytes *bytes, const char *path, const mxp_import_options *options,
                        mxp_source **source, mxp_damage *damage, mxp_strbuf *notes)
{
    mxp_import *import = mxp__alloc(sizeof *import);
    if (import == NULL) {
        mxp__json_bytes_close(bytes);
        return mxp__fail_memory("an imported trace");
    }
    *damage = (mxp_damage){0, NULL};
    int error = begin(import, bytes, options);
    if (error == MXP_OK) {
        error = mxp__import_read(import);
        if (error == MXP_EFORMAT) {
            char line[256] = "";
            strncat(line, mxp_last_error(), sizeof line - 1);
            error = mxp__fail(error, "cannot read '%s': %s", path, line);
        }
    }
    if (error == MXP_OK) {
        error = make_native(import, source);
    }
    if (error == MXP_OK) {
        tell_damage(import, damage);
        mxp__import_notes_print(import, notes);
        if (import->notes.damaged > 1 || (import->notes.damaged == 1 && import->reader.damage)) {
            mxp__strbuf_printf(notes, "%" PRIu64 " events are damaged and left out\n",
                               import->notes.damaged);
        }
    }
    end(import);
    mxp__json_bytes_close(bytes);
    return error;
}

int mxp__import_open(int fd, const char *path, const mxp_import_options *options,
                     mxp_source **source, mxp_damage *damage, mxp_strbuf *notes)
{
    mxp_json_bytes *bytes;
    int error = mxp__json_bytes_open(fd, path, &bytes);
    return error == MXP_OK ? import_bytes(bytes, path, options, source, damage, notes) : error;
}

int mxp__import_open_memory(const void *data, size_t size_bytes, const mxp_import_options *options,
                            mxp_source **source, mxp_damage *damage, mxp_strbuf *notes)
{
    mxp_json_bytes *bytes;
    int error = mxp__json_bytes_open_memory(data, size_bytes, &bytes);
    return error == MXP_OK ? import_bytes(bytes, "memory", options, source, damage, notes) : error;
}

// SPDX-License-Identifier: Apache-2.0
// Files of symbols. A regular file is written beside its place and renamed, so that a failure
// leaves the old one; anything else is written in place.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/os/new_file.h"
#include "base/strbuf.h"
#include "runtime/graph/graph.h"

static int fail_file(const char *action, const char *path)
{
    return mxp__fail(MXP_EIO, "%s \"%s\": %s", action, path, mxp__descriptor_reason());
}

static int write_in_place(const char *path, const mxp_strbuf *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) {
        return mxp__fail(MXP_EIO, "Open \"%s\": %s", path, strerror(errno));
    }
    bool written = fwrite(text->data, 1, text->length, file) == text->length;
    written = fclose(file) == 0 && written;
    return written ? MXP_OK : mxp__fail(MXP_EIO, "Write \"%s\": %s", path, strerror(errno));
}

static int replace(const char *path, const mxp_strbuf *text)
{
    mxp_new_file file;
    if (!mxp__new_file_open(&file, path, 0666)) {
        return fail_file("Open", path);
    }
    if (mxp__descriptor_write(&file.descriptor, text->data, text->length) != text->length) {
        int error = fail_file("Write", path);
        mxp__new_file_discard(&file);
        return error;
    }
    if (mxp__new_file_finish(&file, path, MXP__PUBLISH_REPLACE) != MXP__PUBLISHED) {
        int error = fail_file("Replace", path);
        mxp__new_file_discard(&file);
        return error;
    }
    return MXP_OK;
}

int mxn_symbol_save(const mxn_symbol *symbol, const char *path)
{
    struct stat status;
    mxp_strbuf text = {0};
    int error = mxn_symbol_json(symbol, &text);
    if (error == MXP_OK) {
        bool special = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
        error = special ? write_in_place(path, &text) : replace(path, &text);
    }
    mxp__strbuf_fini(&text);
    return error;
}

static bool read_all(FILE *file, mxp_strbuf *text)
{
    enum { PART_BYTES = 65536 };
    size_t got = 1;
    while (got > 0 && !text->failed) {
        char *at = mxp__strbuf_reserve(text, PART_BYTES);
        got = at != NULL ? fread(at, 1, PART_BYTES, file) : 0;
        text->length += got;
    }
    return !text->failed && !ferror(file);
}

int mxn_symbol_load(const char *path, mxn_symbol **symbol)
{
    *symbol = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return mxp__fail(MXP_EIO, "Open \"%s\": %s", path, strerror(errno));
    }
    mxp_strbuf text = {0};
    errno = 0;
    int error = MXP_OK;
    if (!read_all(file, &text)) {
        error = text.failed ? mxp__fail_memory("the file of a symbol")
                            : mxp__fail(MXP_EIO, "Read \"%s\": %s", path, strerror(errno));
    }
    fclose(file);
    if (error == MXP_OK) {
        error = mxn_symbol_from_json(text.data != NULL ? text.data : "", text.length, symbol);
    }
    mxp__strbuf_fini(&text);
    return error;
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

static int fail_errno(const char *path, int reason)
{
    return mxp__fail(MXP_EIO, "Open \"%s\": %s", path, strerror(reason));
}

static int read_all(const char *path, FILE *file, char **bytes, uint64_t *count)
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || S_ISDIR(status.st_mode)) {
        return fail_errno(path, S_ISDIR(status.st_mode) ? EISDIR : errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return mxp__fail(MXP_EIO, "Open \"%s\": it is no regular file", path);
    }
    const uint64_t size = (uint64_t)status.st_size;
    char *made = mxp__alloc(size + 1);
    if (made == NULL) {
        return mxp__fail_memory(path);
    }
    const size_t is_read = fread(made, 1, size, file);
    if (is_read != size) {
        mxp__free(made, size + 1);
        return mxp__fail(MXP_EIO, "Reading \"%s\": %llu bytes of %llu came", path,
                         (unsigned long long)is_read, (unsigned long long)size);
    }
    *bytes = made;
    *count = size;
    return MXP_OK;
}

int mxn__file_read(const char *path, char **bytes, uint64_t *count)
{
    // Without O_NONBLOCK a pipe would be waited for here, before it can be told from a file.
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (file == NULL) {
        const int reason = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return fail_errno(path, reason);
    }
    int error = read_all(path, file, bytes, count);
    fclose(file);
    return error;
}

void mxn__file_free(char *bytes, uint64_t count)
{
    mxp__free(bytes, bytes == NULL ? 0 : count + 1);
}

// ---- IDX --------------------------------------------------------------------------------------
enum { MAGIC_IMAGES = 2051, MAGIC_LABELS = 2049, WORD = 4 };

static uint64_t word_at(const char *bytes, int word)
{
    const unsigned char *at = (const unsigned char *)bytes + WORD * word;
    return (uint64_t)at[0] << 24 | (uint64_t)at[1] << 16 | (uint64_t)at[2] << 8 | at[3];
}

static int fail_format(const char *path, uint64_t offset, const char *what, uint64_t expected,
                       uint64_t there)
{
    return mxp__fail(
        MXP_EFORMAT, "%s: invalid mnist format at byte %llu: %s expected %llu, is %llu", path,
        (unsigned long long)offset, what, (unsigned long long)expected, (unsigned long long)there);
}

static int check_header(const char *path, const char *bytes, uint64_t count, bool images,
                        uint64_t sizes[3])
{
    const uint64_t header = (images ? 4 : 2) * WORD, magic = images ? MAGIC_IMAGES : MAGIC_LABELS;
    if (count < header) {
        return fail_format(path, count, "the file ends in its header: bytes", header, count);
    }
    if (word_at(bytes, 0) != magic) {
        return fail_format(path, 0, "the number that says what it is:", magic, word_at(bytes, 0));
    }
    sizes[0] = word_at(bytes, 1);
    for (int i = 1; i < 3; i++) {
        sizes[i] = images ? word_at(bytes, 1 + i) : 1;
        if (sizes[i] == 0) {
            return fail_format(path, (uint64_t)(1 + i) * WORD, "an image's size: at least", 1, 0);
        }
    }
    // None of the three has more than 32 bits: two of them multiply without an overflow.
    const uint64_t image = sizes[1] * sizes[2], there = count - header;
    if (sizes[0] > 0 && (image > there || sizes[0] > there / image)) {
        return mxp__fail(MXP_EFORMAT,
                         "%s: invalid mnist format at byte %llu: its header says %llu of %llu x "
                         "%llu, and %llu bytes are there",
                         path, (unsigned long long)header, (unsigned long long)sizes[0],
                         (unsigned long long)sizes[1], (unsigned long long)sizes[2],
                         (unsigned long long)there);
    }
    return MXP_OK;
}

int mxn__idx_parse(const char *path, const char *bytes, uint64_t count, bool images,
                   mxn_rows **rows, uint64_t image_sizes[2])
{
    uint64_t sizes[3] = {0};
    int error = check_header(path, bytes, count, images, sizes);
    if (error != MXP_OK) {
        return error;
    }
    mxn_rows *made = mxn__rows_new(sizes[0], sizes[1] * sizes[2], true);
    if (made == NULL) {
        return MXP_ENOMEM;
    }
    memcpy(made->bytes, bytes + (images ? 4 : 2) * WORD, sizes[0] * sizes[1] * sizes[2]);
    *rows = made;
    if (image_sizes != NULL) {
        image_sizes[0] = sizes[1];
        image_sizes[1] = sizes[2];
    }
    return MXP_OK;
}

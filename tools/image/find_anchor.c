// SPDX-License-Identifier: Apache-2.0
// Looks through the data of a process for the recorder's anchor.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/recorder_image.h"
#include "profiler/trace/file/file_bytes.h"

enum { STRIDE = sizeof(uint64_t), BUFFER_BYTES = 1 << 20 };

static bool is_anchor(const mxp_memory_image *image, uint64_t address, mxp_image_anchor *anchor)
{
    return mxp__image_read(image, address, anchor, sizeof *anchor) && anchor->self == address;
}

static bool find_in(const mxp_memory_image *image, const mxp_memory_part *part, char *buffer,
                    mxp_image_anchor *anchor)
{
    static const char magic[MXP__IMAGE_MAGIC_BYTES] = MXP__IMAGE_MAGIC;
    for (uint64_t done = 0; done < part->size_bytes; done += BUFFER_BYTES - sizeof magic) {
        uint64_t left = part->size_bytes - done;
        size_t wanted = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
        size_t got = mxp__file_read_at(image->fd, buffer, wanted, part->offset + done);
        char *at = buffer, *end = buffer + got;
        while ((at = memmem(at, (size_t)(end - at), magic, sizeof magic)) != NULL) {
            if (is_anchor(image, part->address + done + (uint64_t)(at - buffer), anchor)) {
                return true;
            }
            at += STRIDE;
        }
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const mxp_memory_part *x = *(const mxp_memory_part *const *)a;
    const mxp_memory_part *y = *(const mxp_memory_part *const *)b;
    return (x->size_bytes > y->size_bytes) - (x->size_bytes < y->size_bytes);
}

// Small parts first: a library's data are small.
static size_t sort_parts(const mxp_memory_image *image, const mxp_memory_part **parts)
{
    size_t count = 0;
    for (size_t i = 0; i < image->count; i++) {
        if (image->parts[i].has_data) {
            parts[count++] = &image->parts[i];
        }
    }
    if (count > 1) {
        qsort(parts, count, sizeof *parts, compare);
    }
    return count;
}

int mxp__image_find_anchor(const mxp_memory_image *image, mxp_image_anchor *anchor)
{
    size_t room = image->count * sizeof(mxp_memory_part *);
    const mxp_memory_part **parts = mxp__alloc(room);
    char *buffer = mxp__alloc(BUFFER_BYTES);
    int error = (parts == NULL && room > 0) || buffer == NULL
                    ? mxp__fail_memory("looking for a recorder")
                    : MXP_EFORMAT;
    size_t count = error == MXP_EFORMAT ? sort_parts(image, parts) : 0;
    for (size_t i = 0; i < count && error == MXP_EFORMAT; i++) {
        error = find_in(image, parts[i], buffer, anchor) ? MXP_OK : error;
    }
    mxp__free(buffer, BUFFER_BYTES);
    mxp__free(parts, room);
    if (error == MXP_EFORMAT && image->missing_bytes > 0) {
        return mxp__fail(error,
                         "no recorder is in it; the core file is cut: %" PRIu64
                         " bytes of the process's memory are not in it",
                         image->missing_bytes);
    }
    return error == MXP_EFORMAT
               ? mxp__fail(error,
                           "no recorder is in it: the program has recorded nothing with mxprof, "
                           "or with a version that is not this command's, or its data "
                           "were left out; mxprof ls lists processes that record")
               : error;
}

// SPDX-License-Identifier: Apache-2.0
#include "image/memory_image.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "profiler/trace/file/file_bytes.h"

void mxp__image_close(mxp_memory_image *image)
{
    if (image->is_alive && image->fd >= 0) {
        close(image->fd);
    }
    mxp__free(image->parts, image->capacity * sizeof *image->parts);
    *image = (mxp_memory_image){.fd = -1};
}

// ---- reading -----------------------------------------------------------------------------------
static const mxp_memory_part *part_of(const mxp_memory_image *image, uint64_t address)
{
    size_t low = 0, high = image->count;
    while (low < high) {  // `low` becomes one after the last part that begins at or before it
        size_t middle = low + (high - low) / 2;
        if (image->parts[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const mxp_memory_part *part = low > 0 ? &image->parts[low - 1] : NULL;
    return part != NULL && address - part->address < part->size_bytes ? part : NULL;
}

bool mxp__image_read(const mxp_memory_image *image, uint64_t address, void *to, size_t size_bytes)
{
    char *at = to;
    while (size_bytes > 0) {
        const mxp_memory_part *part = part_of(image, address);
        uint64_t into = part != NULL ? address - part->address : 0;
        uint64_t left = part != NULL ? part->size_bytes - into : 0;
        size_t wanted = size_bytes < left ? size_bytes : (size_t)left;
        size_t got =
            part != NULL ? mxp__file_read_at(image->fd, at, wanted, part->offset + into) : 0;
        if (got < wanted || wanted == 0) {
            memset(at + got, 0, size_bytes - got);
            return false;
        }
        at += got;
        address += got;
        size_bytes -= got;
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// The recorder in a process's memory, as a native file that the process might have left: the same
// reader then reads both.
#ifndef MXP_TOOLS_RECORDER_IMAGE_H
#define MXP_TOOLS_RECORDER_IMAGE_H

#include "image/memory_image.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/image.h"

// MXP_EFORMAT with a line that says what is missing, MXP_ENOMEM.
int mxp__image_find_anchor(const mxp_memory_image *image, mxp_image_anchor *anchor);

// How much of what was recorded could not be copied.
typedef struct mxp_image_loss {
    uint64_t chunks;  // that are not in the image, and all before them of their threads
    bool in_file;  // they are in a recording file, which is not in a core file
} mxp_image_loss;

// Writes the file to a descriptor. MXP_EFORMAT, MXP_EIO, MXP_ENOMEM.
int mxp__image_write(const mxp_memory_image *image, const mxp_image_anchor *anchor, int fd,
                     const char *path, mxp_image_loss *loss);

// Opens a core file, or the memory of a process, as a source. `damage` as mxp__native_open has it;
// its text lives until the next call.
int mxp__core_open(int fd, const char *path, mxp_source **source, mxp_damage *damage);
int mxp__process_open(long pid, mxp_source **source, mxp_damage *damage);

#endif

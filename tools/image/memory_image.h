// SPDX-License-Identifier: Apache-2.0
// Folder tools/image: records that are in the memory of a process, dead (a core file) or alive.
//
// The memory of a process by its addresses. Nothing in a core file is trusted: each offset and size
// is compared with the file's own before anything is read.
#ifndef MXP_TOOLS_MEMORY_IMAGE_H
#define MXP_TOOLS_MEMORY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_memory_part {
    uint64_t address, size_bytes;
    uint64_t offset;  // in the file that `fd` is of
    bool has_data;  // of a program or library, or that cannot be told: the recorder may be in it
} mxp_memory_part;

typedef struct mxp_memory_image {
    int fd;
    bool is_alive;  // a process that runs: what is read now may be other the next time
    mxp_memory_part *parts;  // ascending addresses
    size_t count, capacity;
    uint64_t missing_bytes;  // of a core file: of memory that should be in it and is not
    uint32_t signal;  // that ended the process; 0: none, or unknown
    char command[80];  // of a core file: the command line, as far as the kernel kept it
} mxp_memory_image;

// Whether these first bytes are of a core file of this machine's kind.
bool mxp__core_is_one(const void *data, size_t size_bytes);

// The memory in a core file, and that of a process. The first leaves `fd` to the caller. MXP_EIO,
// MXP_EFORMAT, MXP_ENOMEM. The caller closes the image, also after an error.
int mxp__image_open_core(mxp_memory_image *image, int fd, const char *path);
int mxp__image_open_process(mxp_memory_image *image, long pid);
// What the process is called by itself: its number in its own namespace.
uint32_t mxp__process_own_number(long pid);
void mxp__image_close(mxp_memory_image *image);

// Copies memory. False: not all of it is there; then `to` is zeroed where it is not.
bool mxp__image_read(const mxp_memory_image *image, uint64_t address, void *to, size_t size_bytes);

#endif

// SPDX-License-Identifier: Apache-2.0
// A file descriptor together with the file that it was opened for. A program may close numbers that
// it did not open, and its next file then gets the same number. The functions here therefore check
// before each use that the number is still this file, and never close it if it is not. All
// functions but mxp__descriptor_reason are async-signal-safe.
#ifndef MXP_BASE_OS_DESCRIPTOR_H
#define MXP_BASE_OS_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxp_descriptor {
    int fd;  // -1: none
    int access;  // O_RDONLY, O_WRONLY or O_RDWR
    uint64_t device, inode;
} mxp_descriptor;

#define MXP__DESCRIPTOR_NONE ((mxp_descriptor){.fd = -1})

// Sets *descriptor to `fd`, which has just been opened for `path`. False:
// errno says why. EBADF: the program has closed the number; if it has opened another file under
// that number, that file stays open.
bool mxp__descriptor_take(mxp_descriptor *descriptor, int fd, const char *path);
// Opens `path` without O_CREAT, remembers which file it is and moves it to a high number. Tries
// again if the program closes the number meanwhile. False: errno says why; EBADF: the program
// closed every one of them.
bool mxp__descriptor_open(mxp_descriptor *descriptor, const char *path, int flags);
// Moves it to a high number, which programs are unlikely to get for a file of theirs or to close.
void mxp__descriptor_put_away(mxp_descriptor *descriptor);
// Whether the number is still this file, opened the same way. Leaves errno alone.
bool mxp__descriptor_is_ours(const mxp_descriptor *descriptor);
// Opens the file again through `path`, after its number was lost. False: the path is no longer this
// file or cannot be opened, and `descriptor` is unchanged.
bool mxp__descriptor_open_again(mxp_descriptor *descriptor, const char *path);
// Opens a pipe or device for writing. False: errno says why; a pipe without a reader is such an
// error. A later write fails if the reader takes nothing for two seconds.
bool mxp__descriptor_take_stream(mxp_descriptor *descriptor, const char *path);

// Like mxp__os_write and mxp__os_write_at. They write nothing if the number is no longer ours.
size_t mxp__descriptor_write(const mxp_descriptor *to, const void *data, size_t size_bytes);
size_t mxp__descriptor_write_at(const mxp_descriptor *to, const void *data, size_t size_bytes,
                                uint64_t offset);
// The same for a file at `path`. If the number is lost meanwhile, the file is opened again there.
size_t mxp__descriptor_put(mxp_descriptor *to, const char *path, const void *data,
                           size_t size_bytes);
size_t mxp__descriptor_put_at(mxp_descriptor *to, const char *path, const void *data,
                              size_t size_bytes, uint64_t offset);
// Truncates the file under an exclusive lock, because a reader that holds a shared lock may have
// the file mapped. EWOULDBLOCK: a reader kept its lock for a second.
bool mxp__descriptor_truncate(const mxp_descriptor *to, uint64_t size_bytes);
// errno in words, with what happened to the descriptor. Valid until the thread's next call.
const char *mxp__descriptor_reason(void);

// Closes it if it is ours, and sets it to MXP__DESCRIPTOR_NONE. False: written data did not reach
// the file (errno). A number that the program has closed is no error.
bool mxp__descriptor_close(mxp_descriptor *descriptor);

#endif

// SPDX-License-Identifier: Apache-2.0
// A descriptor's number and the file that it was opened for. A program may close numbers it does
// not know; its next file then gets them. So whoever keeps a number asks before each use whether it
// is still the file's, and never closes one that is not. All functions but
// mxp__descriptor_reason are async-signal-safe.
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

// Remembers which file `fd` is, that `path` has just been opened with. False: errno says why;
// EBADF: the program has closed it, and perhaps opened another file of that number, which is left
// alone.
bool mxp__descriptor_take(mxp_descriptor *descriptor, int fd, const char *path);
// Opens `path`, without O_CREAT, remembers which file it is and puts it away. A number that the
// program closes in between is had anew. False: errno says why; EBADF: the program goes on closing.
bool mxp__descriptor_open(mxp_descriptor *descriptor, const char *path, int flags);
// Gives it a number that a program is not likely to get for its next file, nor to expect there.
void mxp__descriptor_put_away(mxp_descriptor *descriptor);
// Whether the number is still this file, opened the same way. Leaves errno alone.
bool mxp__descriptor_is_ours(const mxp_descriptor *descriptor);
// Opens the file again through `path`, for a number that was lost. False: that name is no longer
// this file, or cannot be opened; `descriptor` is as before.
bool mxp__descriptor_open_again(mxp_descriptor *descriptor, const char *path);
// What is no regular file: a pipe that nobody reads is an error, and so is a reader that takes
// nothing for two seconds while something is written. False: errno says why.
bool mxp__descriptor_take_stream(mxp_descriptor *descriptor, const char *path);

// As mxp__os_write and mxp__os_write_at, as long as the number is ours.
size_t mxp__descriptor_write(const mxp_descriptor *to, const void *data, size_t size_bytes);
size_t mxp__descriptor_write_at(const mxp_descriptor *to, const void *data, size_t size_bytes,
                                uint64_t offset);
// The same to a file that is at `path`: if the number is lost meanwhile, it is opened again there.
size_t mxp__descriptor_put(mxp_descriptor *to, const char *path, const void *data,
                           size_t size_bytes);
size_t mxp__descriptor_put_at(mxp_descriptor *to, const char *path, const void *data,
                              size_t size_bytes, uint64_t offset);
// Shortens the file, which it locks for itself: what somebody reads under a shared lock, mapped as
// it may be, is not taken away. One that does not let go within a second is EWOULDBLOCK.
bool mxp__descriptor_cut(const mxp_descriptor *to, uint64_t size_bytes);
// errno in words that say what happened to a descriptor. Until the next call of the thread.
const char *mxp__descriptor_reason(void);

// Closes it if it is ours; then it is none. False: what was written did not arrive, see errno. That
// the program has closed it is no such error.
bool mxp__descriptor_close(mxp_descriptor *descriptor);

#endif

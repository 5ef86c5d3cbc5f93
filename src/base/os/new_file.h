// SPDX-License-Identifier: Apache-2.0
// Making an output file. It is written under a temporary name beside the one it will have, a hidden
// name with a random part that nobody else can have chosen, and gets its own when it is complete. A
// file that somebody else has is never opened, emptied or removed, whatever its name. What a
// process leaves behind when it is killed in between stays: nobody can know whose it is.
#ifndef MXP_BASE_OS_NEW_FILE_H
#define MXP_BASE_OS_NEW_FILE_H

#include "base/os/descriptor.h"

typedef struct mxp_new_file {
    mxp_descriptor descriptor;  // open for reading and writing
    char *temporary;  // null once it is published
} mxp_new_file;

#define MXP__NEW_FILE_NONE ((mxp_new_file){.descriptor = {.fd = -1}})

typedef enum mxp_publish {
    MXP__PUBLISH_REPLACE,  // in place of a file that has the name
    MXP__PUBLISH_KEEP,  // a file that has the name stays, and the new one is not published
} mxp_publish;

typedef enum mxp_published {
    MXP__PUBLISHED,
    MXP__PUBLISHED_TAKEN,  // MXP__PUBLISH_KEEP: there is something of that name
    MXP__PUBLISHED_FAILED,  // errno says why
} mxp_published;

// Makes an empty file in the folder of `path`; `mode` is cut by the process's mask. False: errno
// says why, and nothing was made.
bool mxp__new_file_open(mxp_new_file *file, const char *path, unsigned mode);
// The two halves of opening: planning takes memory and makes nothing, making is async-signal-safe.
bool mxp__new_file_plan(mxp_new_file *file, const char *path);
bool mxp__new_file_make(mxp_new_file *file, unsigned mode);
// Publishing in place of a file that has the name, async-signal-safe: frees nothing.
bool mxp__new_file_rename(const mxp_new_file *file, const char *path);
// Gives it its name. The descriptor stays as it is, open or closed.
mxp_published mxp__new_file_publish(mxp_new_file *file, const char *path, mxp_publish how);
// Closes the descriptor, then publishes: an error that shows only at closing leaves what was there.
mxp_published mxp__new_file_finish(mxp_new_file *file, const char *path, mxp_publish how);
// Closes it, if it is open, and removes it, if it was not published. Any number of times; leaves
// errno alone.
void mxp__new_file_discard(mxp_new_file *file);

#endif

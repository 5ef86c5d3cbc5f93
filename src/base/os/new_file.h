// SPDX-License-Identifier: Apache-2.0
// Making an output file. The file is written under a hidden temporary name with a random part, in
// the folder of its final name, and is renamed when it is complete. Files of other processes are
// never opened, emptied or removed. If the process is killed meanwhile, its temporary file stays,
// because no other process can tell whose it is.
#ifndef MXP_BASE_OS_NEW_FILE_H
#define MXP_BASE_OS_NEW_FILE_H

#include "base/os/descriptor.h"

typedef struct mxp_new_file {
    mxp_descriptor descriptor;  // open for reading and writing
    char *temporary;  // null once it is published
} mxp_new_file;

#define MXP__NEW_FILE_NONE ((mxp_new_file){.descriptor = {.fd = -1}})

typedef enum mxp_publish {
    MXP__PUBLISH_REPLACE,  // replaces an existing file
    MXP__PUBLISH_KEEP,  // keeps an existing file; the new one is then not published
} mxp_publish;

typedef enum mxp_published {
    MXP__PUBLISHED,
    MXP__PUBLISHED_TAKEN,  // MXP__PUBLISH_KEEP: there is something of that name
    MXP__PUBLISHED_FAILED,  // errno says why
} mxp_published;

// Makes an empty file in the folder of `path`, with `mode` less the process's umask. False: errno
// says why, and nothing was made.
bool mxp__new_file_open(mxp_new_file *file, const char *path, unsigned mode);
// The two halves of opening. Planning allocates and makes no file; making is async-signal-safe.
bool mxp__new_file_plan(mxp_new_file *file, const char *path);
bool mxp__new_file_make(mxp_new_file *file, unsigned mode);
// Publishes with MXP__PUBLISH_REPLACE. Async-signal-safe, so it does not free `temporary`.
bool mxp__new_file_rename(const mxp_new_file *file, const char *path);
// Renames the file to `path`. The descriptor stays as it is, open or closed.
mxp_published mxp__new_file_publish(mxp_new_file *file, const char *path, mxp_publish how);
// Closes the descriptor, then publishes. If closing fails, an existing file is kept.
mxp_published mxp__new_file_finish(mxp_new_file *file, const char *path, mxp_publish how);
// Closes the file if it is open, and removes it if it was not published. May be called again.
// Preserves errno.
void mxp__new_file_discard(mxp_new_file *file);

#endif

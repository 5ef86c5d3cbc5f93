// SPDX-License-Identifier: Apache-2.0
// The folder of a run: its name, its making with the folders that it lies in, and its removal where
// nothing was recorded. What was there before is never removed.
#ifndef MXP_TOOLS_RUN_FOLDER_H
#define MXP_TOOLS_RUN_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct mxp_run_folder {
    char name[PATH_MAX];  // as it was named, without slashes at its end
    char whole[PATH_MAX];  // from the root
    size_t kept_bytes;  // of the name: the part that was there before
} mxp_run_folder;

// Makes the folder `output`, or one named after the program and the time if that is null; or takes
// one that is there and empty, or with files by `force`. MXP_EIO, and then nothing has been made.
int mxp__run_folder_make(mxp_run_folder *folder, const char *output, const char *program,
                         bool force);

// Removes what make has made and is empty.
void mxp__run_folder_tidy(const mxp_run_folder *folder);

#endif

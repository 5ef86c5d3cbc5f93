// SPDX-License-Identifier: Apache-2.0
// A file in the folder for temporary ones: TMPDIR, or /tmp where that is unset or empty or the
// program runs with another user's rights.
#ifndef MXP_BASE_OS_TEMPORARY_FILE_H
#define MXP_BASE_OS_TEMPORARY_FILE_H

#include "base/strbuf.h"

// Makes an empty file that only this user can open, and opens it for reading and writing. `path` is
// empty before and gets the file's path, also on failure. The caller closes and removes the file.
// -1: errno says why.
int mxp__temporary_file_make(mxp_strbuf *path);

#endif

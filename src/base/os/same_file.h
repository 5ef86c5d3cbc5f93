// SPDX-License-Identifier: Apache-2.0
// Whether two paths name one file, which need not be there yet: two outputs of one name would
// destroy one another.
#ifndef MXP_BASE_OS_SAME_FILE_H
#define MXP_BASE_OS_SAME_FILE_H

#include <stdbool.h>

// Links are followed, also those that lead to nothing yet. Files that are there are compared by
// device and inode, others by their folder and their name in it. What is no regular file (a pipe,
// /dev/null) may be named twice: then false. A null path names nothing.
bool mxp__os_same_file(const char *a, const char *b);

#endif

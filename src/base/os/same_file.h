// SPDX-License-Identifier: Apache-2.0
// Whether two paths name the same file, which need not exist yet. Two outputs to one file would
// destroy each other.
#ifndef MXP_BASE_OS_SAME_FILE_H
#define MXP_BASE_OS_SAME_FILE_H

#include <stdbool.h>

// Follows links, dangling ones too. Existing files are compared by device and inode, others by
// their folder and their name in it. False for pipes and devices, which several outputs may share,
// and for null paths.
bool mxp__os_same_file(const char *a, const char *b);

#endif

// SPDX-License-Identifier: Apache-2.0
// Whole files in memory, and the two formats that iterators read. Private to io/.
#ifndef MXN_IO_FILE_TEXT_H
#define MXN_IO_FILE_TEXT_H

#include "runtime/io/rows.h"

// All bytes of a regular file, and a zero byte after them. MXP_EIO names the file and the reason.
int mxn__file_read(const char *path, char **bytes, uint64_t *count);
void mxn__file_free(char *bytes, uint64_t count);  // null does nothing

// An IDX file of bytes in memory: with images 3 dimensions, else 1. *rows: one for each image or
// label; `sizes`: rows and columns of an image. MXP_EFORMAT: file, offset, expected, there.
int mxn__idx_parse(const char *path, const char *bytes, uint64_t count, bool images,
                   mxn_rows **rows, uint64_t sizes[2]);

// Rows of `width` numbers separated by commas; empty lines are none. MXP_EFORMAT: file, row,
// column and text.
int mxn__csv_parse(const char *path, const char *text, uint64_t count, uint64_t width,
                   const char *shape, mxn_rows **rows);

#endif

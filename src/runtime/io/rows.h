// SPDX-License-Identifier: Apache-2.0
// The rows of an iterator's files in memory, and the operation that makes an array of some of them.
// Private to io/.
#ifndef MXN_IO_ROWS_H
#define MXN_IO_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/refs.h"
#include "runtime/tensor/tensor.h"

// Either numbers or bytes.
typedef struct mxn_rows {
    mxp_refs refs;
    uint64_t count;  // of rows
    uint64_t width;  // values of a row
    double *numbers;
    uint8_t *bytes;
    float scale;  // of bytes: a value is its byte times this
} mxn_rows;

// Null without memory, with the detail set; all zeros. The list is of numbers, or of bytes.
mxn_rows *mxn__rows_new(uint64_t count, uint64_t width, bool of_bytes);
void mxn__rows_release(mxn_rows *rows);  // null does nothing

#define MXN_ROW_OF_ZEROS UINT64_MAX

// Pushes what fills `array`, of count rows, with these rows, as an operation of this name.
int mxn__rows_fill(mxn_rows *rows, const uint64_t *which, uint32_t count, mxp_name name,
                   mxn_array *array);

#endif

// SPDX-License-Identifier: Apache-2.0
// Files of data iterators: any bytes, as images, labels, and rows of numbers; the first byte says
// as what. What is refused must say why and where; what is accepted has all the rows that it
// counts.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/io/file_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

// Reads every value, for the sanitizers.
static void ask(const mxn_rows *rows)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < rows->count * rows->width; i++) {
        sum += rows->bytes != NULL ? rows->bytes[i] : (uint64_t)(rows->numbers[i] > 0);
    }
    require(sum <= rows->count * rows->width * 255);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    // As the reader of files gives it: of its own size, with a zero byte behind.
    char *bytes = malloc(size);
    require(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    mxn_rows *rows = NULL;
    uint64_t sizes[2];
    const uint64_t width = data[0] / 4;
    int error = (data[0] & 1) != 0
                    ? mxn__idx_parse("f", bytes, size - 1, (data[0] & 2) != 0, &rows, sizes)
                    : mxn__csv_parse("f", bytes, size - 1, width, "(n)", &rows);
    if (error != 0) {
        require(rows == NULL && mxp_last_error()[0] != '\0');
    } else {
        ask(rows);
    }
    mxn__rows_release(rows);
    free(bytes);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/rows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static uint64_t list_bytes(const mxn_rows *rows)
{
    return rows->count * rows->width * (rows->bytes != NULL ? 1 : sizeof(double)) + 1;
}

mxn_rows *mxn__rows_new(uint64_t count, uint64_t width, bool of_bytes)
{
    const uint64_t each = of_bytes ? 1 : sizeof(double);
    mxn_rows *rows = mxp__alloc(sizeof *rows);
    uint64_t values;
    if (rows == NULL || __builtin_mul_overflow(count, width, &values) ||
        values > (UINT64_MAX >> 4)) {
        mxp__free(rows, sizeof *rows);
        mxp__fail_memory("the rows of a data iterator");
        return NULL;
    }
    void *list = mxp__alloc(values * each + 1);
    rows->count = count;
    rows->width = width;
    rows->scale = 1;
    rows->bytes = of_bytes ? list : NULL;
    rows->numbers = of_bytes ? NULL : list;
    mxp__refs_init(&rows->refs);
    if (list == NULL) {
        mxp__free(rows, sizeof *rows);
        mxp__fail_memory("the rows of a data iterator");
        return NULL;
    }
    return rows;
}

void mxn__rows_release(mxn_rows *rows)
{
    if (rows != NULL && mxp__refs_drop(&rows->refs)) {
        void *list = rows->bytes != NULL ? (void *)rows->bytes : (void *)rows->numbers;
        mxp__free(list, list_bytes(rows));
        mxp__free(rows, sizeof *rows);
    }
}

// ---- filling ----------------------------------------------------------------------------------
typedef struct filling {
    mxn_rows *rows;
    mxn_buffer_ref to;
    int32_t dtype;
    uint32_t count;
    uint64_t which[];
} filling;

static size_t filling_bytes(uint32_t count)
{
    return sizeof(filling) + count * sizeof(uint64_t);
}

static void filling_free(void *argument)
{
    filling *f = argument;
    mxn__rows_release(f->rows);
    mxp__free(f, filling_bytes(f->count));
}

static void fill_row(const filling *f, uint64_t row, char *to)
{
    const mxn_rows *rows = f->rows;
    const size_t first = row * rows->width, size = mxn_dtype_size(f->dtype);
    if (row == MXN_ROW_OF_ZEROS) {
        memset(to, 0, rows->width * size);
    } else if (rows->numbers != NULL) {
        mxn_cast(to, f->dtype, rows->numbers + first, MXN_FLOAT64, rows->width);
    } else if (f->dtype == MXN_FLOAT32) {
        for (uint64_t i = 0; i < rows->width; i++) {
            ((float *)(void *)to)[i] = (float)rows->bytes[first + i] * rows->scale;
        }
    } else {
        for (uint64_t i = 0; i < rows->width; i++) {
            const float value = (float)rows->bytes[first + i] * rows->scale;
            mxn_cast(to + i * size, f->dtype, &value, MXN_FLOAT32, 1);
        }
    }
}

static int fill(const mxn_run *run, void *argument)
{
    const filling *f = argument;
    void *data;
    (void)run;
    int error = mxn_buffer_data(&f->to, &data);
    const size_t row_bytes = f->rows->width * mxn_dtype_size(f->dtype);
    for (uint32_t i = 0; i < f->count && error == MXP_OK && data != NULL; i++) {
        fill_row(f, f->which[i], (char *)data + i * row_bytes);
    }
    return error;
}

int mxn__rows_fill(mxn_rows *rows, const uint64_t *which, uint32_t count, mxp_name name,
                   mxn_array *array)
{
    filling *f = mxp__alloc(filling_bytes(count));
    if (f == NULL) {
        return mxp__fail_memory("a batch of a data iterator");
    }
    mxp__refs_take(&rows->refs);
    f->rows = rows;
    f->to = mxn_array_memory(array);
    f->dtype = array->dtype;
    f->count = count;
    memcpy(f->which, which, count * sizeof *which);
    mxn_var *var = mxn_array_var(array);
    return mxn_push(&(mxn_work){.function.sync = fill,
                                .form = MXN_SYNC,
                                .argument = f,
                                .deleter = filling_free,
                                .writes = &var,
                                .write_count = 1,
                                .device = mxn_context_engine_device(mxn_array_context(array)),
                                .name = name});
}

// SPDX-License-Identifier: Apache-2.0
#include "runtime/io/data_iter.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/io/file_text.h"
#include "runtime/io/parameters.h"
#include "runtime/io/rows.h"
#include "runtime/io/shuffle.h"

struct mxn_data_iter {
    mxn_rows *data, *label;
    uint64_t *order;  // of the rows it reads
    uint64_t count;  // of these
    uint64_t next;  // place in the order
    uint64_t overflow;  // rows of the first ones that the last batch has taken
    uint32_t batch_size, pad;
    bool drops_rest;  // a last batch that is not full is none
    bool is_round;  // it is filled up with the first rows, which the next epoch leaves out
    bool gives_index;
    mxp_name name, span;  // of its operators, of the making of a batch
    int32_t dtype, label_dtype;
    mxn_shape data_shape, label_shape;  // of a batch
    mxn_array *batch_data, *batch_label;  // null: there is no current batch
    uint64_t *batch_rows, *index;  // of the current one
};

static void release_batch(mxn_data_iter *iter)
{
    mxn_array_release(iter->batch_data);
    mxn_array_release(iter->batch_label);
    iter->batch_data = iter->batch_label = NULL;
}

void mxn_data_iter_free(mxn_data_iter *iter)
{
    if (iter == NULL) {
        return;
    }
    release_batch(iter);
    mxn__rows_release(iter->data);
    mxn__rows_release(iter->label);
    mxp__free(iter->order, iter->count * sizeof *iter->order + 1);
    mxp__free(iter->batch_rows, iter->batch_size * sizeof *iter->batch_rows);
    mxp__free(iter->index, iter->batch_size * sizeof *iter->index);
    mxp__free(iter, sizeof *iter);
}

// ---- making -----------------------------------------------------------------------------------
static int read_idx(const char *path, bool images, mxn_rows **rows, uint64_t sizes[2])
{
    char *bytes = NULL;
    uint64_t count = 0;
    int error = mxn__file_read(path, &bytes, &count);
    if (error == MXP_OK) {
        error = mxn__idx_parse(path, bytes, count, images, rows, sizes);
        mxn__file_free(bytes, count);
    }
    return error;
}

static int read_csv(const char *path, const mxn_shape *shape, mxn_rows **rows)
{
    char *bytes = NULL, text[MXN_SHAPE_TEXT];
    uint64_t count = 0;
    int error = mxn__file_read(path, &bytes, &count);
    if (error == MXP_OK) {
        error = mxn__csv_parse(path, bytes, count, mxn_shape_size(shape),
                               mxn_shape_text(shape, text), rows);
        mxn__file_free(bytes, count);
    }
    return error;
}

// The shape of a batch: as many rows as it has, of shape `row`; a row of one number is a number.
static int shape_of(uint32_t batch_size, const mxn_shape *row, mxn_shape *shape)
{
    int64_t dims[MXN_DIMS_MAX + 1] = {batch_size};
    const bool is_number = row->ndim == 1 && row->dims[0] == 1;
    const int count = is_number ? 0 : row->ndim;
    memcpy(dims + 1, row->dims, (size_t)count * sizeof *dims);
    return count == MXN_DIMS_MAX
               ? mxp__fail(MXP_EINVAL, "data_shape has too many dimensions for a batch")
               : mxn_shape_set(shape, count + 1, dims, "a batch");
}

static int check_counts(const char *data, const mxn_rows *rows, const char *label,
                        const mxn_rows *labels)
{
    return rows->count == labels->count
               ? MXP_OK
               : mxp__fail(MXP_EFORMAT, "%s has %llu rows, and %s has %llu labels", data,
                           (unsigned long long)rows->count, label,
                           (unsigned long long)labels->count);
}

// Parts are cut before the shuffle. None is more than one row longer than another, and no row is
// left out.
static int make_order(mxn_data_iter *iter, const mxn_iter_settings *s, bool shuffles)
{
    const uint64_t all = iter->data->count, parts = (uint64_t)s->num_parts;
    const uint64_t part = (uint64_t)s->part_index, first = all * part / parts;
    iter->count = all * (part + 1) / parts - first;
    iter->order = mxp__alloc(iter->count * sizeof *iter->order + 1);
    if (iter->order == NULL) {
        return mxp__fail_memory("the order of a data iterator");
    }
    for (uint64_t i = 0; i < iter->count; i++) {
        iter->order[i] = first + i;
    }
    if (shuffles) {
        mxn__shuffle(iter->order, iter->count, (uint32_t)s->seed, s->order);
    }
    return MXP_OK;
}

static int make_mnist(mxn_data_iter *iter, const mxn_iter_settings *s)
{
    uint64_t sizes[2];
    int error = read_idx(s->image, true, &iter->data, sizes);
    if (error == MXP_OK) {
        error = read_idx(s->label, false, &iter->label, NULL);
    }
    if (error == MXP_OK) {
        error = check_counts(s->image, iter->data, s->label, iter->label);
    }
    if (error != MXP_OK) {
        return error;
    }
    const int64_t flat[] = {(int64_t)(sizes[0] * sizes[1])};
    const int64_t image[] = {1, (int64_t)sizes[0], (int64_t)sizes[1]}, one[] = {1};
    mxn_shape row, label;
    iter->data->scale = 1.0F / 256;
    iter->drops_rest = true;
    error = mxn_shape_set(&row, s->flat ? 1 : 3, s->flat ? flat : image, "an image");
    error = error != MXP_OK ? error : mxn_shape_set(&label, 1, one, "a label");
    error = error != MXP_OK ? error : shape_of(iter->batch_size, &row, &iter->data_shape);
    error = error != MXP_OK ? error : shape_of(iter->batch_size, &label, &iter->label_shape);
    error = error != MXP_OK ? error : make_order(iter, s, s->shuffle);
    if (error == MXP_OK && !s->silent) {
        char text[MXN_SHAPE_TEXT];
        const char *few = iter->count < iter->batch_size ? ": no batch" : "";
        fprintf(stderr, "MNISTIter: load %llu images, shuffle=%d, shape=%s%s\n",
                (unsigned long long)iter->count, s->shuffle,
                mxn_shape_tuple(&iter->data_shape, text), few);
    }
    return error;
}

static int make_csv(mxn_data_iter *iter, const mxn_iter_settings *s)
{
    const int64_t one[] = {1};
    mxn_shape label;
    int error = read_csv(s->data_csv, &s->data_shape, &iter->data);
    if (error != MXP_OK) {
        return error;
    }
    mxn_shape_copy(&label, &s->label_shape);
    error = label.ndim < 0 ? mxn_shape_set(&label, 1, one, "a label") : MXP_OK;
    if (error == MXP_OK && strcmp(s->label_csv, "NULL") != 0) {
        error = read_csv(s->label_csv, &label, &iter->label);
    } else if (error == MXP_OK) {
        iter->label = mxn__rows_new(iter->data->count, mxn_shape_size(&label), false);
        error = iter->label == NULL ? MXP_ENOMEM : MXP_OK;
    }
    error =
        error != MXP_OK ? error : check_counts(s->data_csv, iter->data, s->label_csv, iter->label);
    iter->is_round = s->round_batch;
    iter->gives_index = true;
    error = error != MXP_OK ? error : shape_of(iter->batch_size, &s->data_shape, &iter->data_shape);
    error = error != MXP_OK ? error : shape_of(iter->batch_size, &label, &iter->label_shape);
    error = error != MXP_OK ? error : make_order(iter, s, false);
    if (error == MXP_OK && iter->is_round && iter->count < iter->batch_size) {
        error = mxp__fail(MXP_EINVAL,
                          "number of input must be bigger than batch size: %s has %llu rows, and "
                          "batch_size is %u",
                          s->data_csv, (unsigned long long)iter->count, iter->batch_size);
    }
    return error;
}

int mxn_data_iter_new(const mxn_iter_kind *kind, uint32_t count, const char *const *keys,
                      const char *const *values, mxn_data_iter **iter)
{
    mxn_iter_settings settings;
    int error = mxn__iter_settings_parse(kind, count, keys, values, &settings);
    mxn_data_iter *made = error == MXP_OK ? mxp__alloc(sizeof *made) : NULL;
    if (made == NULL) {
        return error != MXP_OK ? error : mxp__fail_memory("a data iterator");
    }
    made->batch_size = (uint32_t)settings.batch_size;
    made->dtype = settings.dtype;
    made->label_dtype = kind == &mxn__iter_mnist ? MXN_FLOAT32 : settings.dtype;
    made->name = mxp_span_name("operator", kind->name);
    made->span = mxp_span_name("input", kind->name);
    made->batch_rows = mxp__alloc(made->batch_size * sizeof *made->batch_rows);
    made->index = mxp__alloc(made->batch_size * sizeof *made->index);
    error = made->batch_rows == NULL || made->index == NULL
                ? mxp__fail_memory("a data iterator")
                : (kind == &mxn__iter_mnist ? make_mnist : make_csv)(made, &settings);
    for (uint32_t i = 0; error == MXP_OK && i < made->batch_size; i++) {
        made->batch_rows[i] = MXN_ROW_OF_ZEROS;
    }
    if (error != MXP_OK) {
        mxn_data_iter_free(made);
        return error;
    }
    *iter = made;
    return MXP_OK;
}

// ---- batches ----------------------------------------------------------------------------------
void mxn_data_iter_rewind(mxn_data_iter *iter)
{
    iter->next = iter->overflow;
    iter->overflow = 0;
    release_batch(iter);
}

uint64_t mxn_data_iter_batches(const mxn_data_iter *iter)
{
    const uint64_t full = iter->count / iter->batch_size;
    return full + (!iter->drops_rest && iter->count % iter->batch_size != 0);
}

// Which rows are next; false: the epoch is over. Where there are not enough, and the first ones do
// not fill it up, the rows of the batch before stay.
static bool choose_rows(mxn_data_iter *iter)
{
    const uint64_t left = iter->count - iter->next;
    const uint32_t taken = left < iter->batch_size ? (uint32_t)left : iter->batch_size;
    if (iter->overflow != 0 || taken == 0 || (taken < iter->batch_size && iter->drops_rest)) {
        return false;
    }
    memcpy(iter->batch_rows, iter->order + iter->next, taken * sizeof *iter->order);
    iter->next += taken;
    iter->pad = iter->batch_size - taken;
    if (iter->pad > 0 && iter->is_round) {
        memcpy(iter->batch_rows + taken, iter->order, iter->pad * sizeof *iter->order);
        iter->overflow = iter->pad;
    }
    return true;
}

static int make_array(const mxn_data_iter *iter, const mxn_shape *shape, int32_t dtype,
                      mxn_rows *rows, mxn_array **made)
{
    const mxn_tag tag = {iter->name, mxp_scope_current(), MXN_MEMORY_INPUT};
    int error = mxn_array_new(shape, dtype, (mxn_context){MXN_CPU, 0}, &tag, true, made);
    return error != MXP_OK
               ? error
               : mxn__rows_fill(rows, iter->batch_rows, iter->batch_size, iter->name, *made);
}

static int make_batch(mxn_data_iter *iter, bool *has)
{
    *has = choose_rows(iter);
    if (!*has) {
        return MXP_OK;
    }
    release_batch(iter);
    int error = make_array(iter, &iter->data_shape, iter->dtype, iter->data, &iter->batch_data);
    if (error == MXP_OK) {
        error = make_array(iter, &iter->label_shape, iter->label_dtype, iter->label,
                           &iter->batch_label);
    }
    for (uint32_t i = 0; iter->gives_index && i < iter->batch_size; i++) {
        iter->index[i] = iter->batch_rows[i] == MXN_ROW_OF_ZEROS ? 0 : iter->batch_rows[i];
    }
    if (error != MXP_OK) {
        release_batch(iter);
    }
    return error;
}

int mxn_data_iter_next(mxn_data_iter *iter, bool *has)
{
    uint64_t token = mxp_span_begin(iter->span);
    int error = make_batch(iter, has);
    mxp_span_end(iter->span, token);
    return error;
}

int mxn_data_iter_check(const mxn_data_iter *iter)
{
    return iter->batch_data != NULL && iter->batch_label != NULL
               ? MXP_OK
               : mxp__fail(MXP_ESTATE, "The iterator has no current batch: call MXDataIterNext");
}

mxn_array *mxn_data_iter_data(const mxn_data_iter *iter)
{
    return iter->batch_data;
}

mxn_array *mxn_data_iter_label(const mxn_data_iter *iter)
{
    return iter->batch_label;
}

uint32_t mxn_data_iter_pad(const mxn_data_iter *iter)
{
    return iter->pad;
}

const uint64_t *mxn_data_iter_index(const mxn_data_iter *iter, uint64_t *count)
{
    *count = iter->batch_size;
    return iter->index;
}

// SPDX-License-Identifier: Apache-2.0
// Folder runtime/io: data iterators: batches of arrays made of files.
//
//   iterator kind   "MNISTIter", "CSVIter": its parameters and how its files are read
//   data iterator   a kind with parameters; all of its rows are in memory
//
// Whatever is wrong with a file is told when the iterator is made. A batch is filled by an
// operation of the engine, called after the kind, so the program's thread only pushes it.
//
// Thread rule: a data iterator belongs to one thread at a time. Ownership: batches are the
// caller's, and stay as they are when the iterator goes on or is freed. Errors: 0 or a negative
// MXP_E code with the detail set; MXP_EFORMAT names file, place and what was expected.
#ifndef MXN_IO_DATA_ITER_H
#define MXN_IO_DATA_ITER_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/tensor/tensor.h"

typedef struct mxn_iter_parameter {
    const char *name, *type_text, *description;
} mxn_iter_parameter;

// Read-only, lives forever.
typedef struct mxn_iter_kind {
    const char *name, *description;
    uint32_t count;
    const mxn_iter_parameter *parameters;
    const char *needs;  // files that are not read here, so none can be made; null: it is there
} mxn_iter_kind;

uint32_t mxn_iter_kinds(const mxn_iter_kind *const **kinds);  // all of them
int mxn_iter_kind_check(const void *kind);  // MXP_EHANDLE: it is none

typedef struct mxn_data_iter mxn_data_iter;

// MXP_EINVAL: an ill-typed value, a missing parameter, numbers that do not fit, a kind that is not
// there. Unknown keys are
// ignored, as MXNet's are. MXP_EIO, MXP_EFORMAT: of a file.
int mxn_data_iter_new(const mxn_iter_kind *kind, uint32_t count, const char *const *keys,
                      const char *const *values, mxn_data_iter **iter);
void mxn_data_iter_free(mxn_data_iter *iter);  // null does nothing

void mxn_data_iter_rewind(mxn_data_iter *iter);  // the next batch is the first of an epoch
// *has: whether there is one more batch, which is the current one from now on.
int mxn_data_iter_next(mxn_data_iter *iter, bool *has);
uint64_t mxn_data_iter_batches(const mxn_data_iter *iter);  // of an epoch that begins at row 0

// Of the current batch. MXP_ESTATE: there is none.
int mxn_data_iter_check(const mxn_data_iter *iter);
mxn_array *mxn_data_iter_data(const mxn_data_iter *iter);  // borrowed
mxn_array *mxn_data_iter_label(const mxn_data_iter *iter);
uint32_t mxn_data_iter_pad(const mxn_data_iter *iter);  // rows at its end that are filled up
const uint64_t *mxn_data_iter_index(const mxn_data_iter *iter, uint64_t *count);

#endif

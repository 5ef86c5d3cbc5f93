// SPDX-License-Identifier: Apache-2.0
// Parameters of data iterators: their list, and their values from texts. Private to io/.
#ifndef MXN_IO_PARAMETERS_H
#define MXN_IO_PARAMETERS_H

#include "runtime/io/data_iter.h"

typedef struct mxn_iter_settings {
    const char *image, *label, *data_csv, *label_csv;  // the caller's texts, or defaults
    int64_t batch_size, seed, num_parts, part_index, prefetch_buffer;
    bool shuffle, flat, silent, round_batch;
    int order;  // MXN_ORDER_*
    int32_t dtype;
    mxn_shape data_shape, label_shape;  // ndim -1: not given
} mxn_iter_settings;

extern const mxn_iter_kind mxn__iter_mnist, mxn__iter_csv;

// MXP_EINVAL names the parameter and the value.
int mxn__iter_settings_parse(const mxn_iter_kind *kind, uint32_t count, const char *const *keys,
                             const char *const *values, mxn_iter_settings *settings);

#endif

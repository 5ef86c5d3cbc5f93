// SPDX-License-Identifier: Apache-2.0
// Files of arrays of any bytes. What is refused says why; what is accepted comes back the same when
// it is saved and loaded again; nothing stays behind.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/tensor/tensor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void require_equal(const mxn_array *a, const mxn_array *b)
{
    require((a == NULL) == (b == NULL));
    if (a == NULL) {
        return;
    }
    void *left, *right;
    require(a->dtype == b->dtype && mxn_shape_equal(&a->shape, &b->shape));
    require(mxn_array_data(a, &left) == MXP_OK && mxn_array_data(b, &right) == MXP_OK);
    uint64_t bytes = mxn_array_size(a) * mxn_dtype_size(a->dtype);
    require(bytes == 0 || memcmp(left, right, bytes) == 0);
}

static void save_and_compare(mxn_array_list *list)
{
    static const char path[] = "tensor_file_fuzz.params";
    mxn_array_list again;
    mxn_array *none;
    require(mxn_array_new_none(&none) == MXP_OK);
    mxn_array **arrays = calloc(list->count + 1, sizeof *arrays);
    require(arrays != NULL);
    for (uint64_t i = 0; i < list->count; i++) {
        arrays[i] = list->arrays[i] != NULL ? list->arrays[i] : none;
    }
    require(mxn_arrays_save(path, list->count, arrays, (const char *const *)list->names, true) ==
            MXP_OK);
    require(mxn_arrays_load(path, &again) == MXP_OK);
    require(again.count == list->count && (again.names == NULL) == (list->names == NULL));
    for (uint64_t i = 0; i < list->count; i++) {
        require_equal(list->arrays[i], again.arrays[i]);
        require(list->names == NULL || strcmp(list->names[i], again.names[i]) == 0);
    }
    unlink(path);
    mxn_array_list_fini(&again);
    free(arrays);
    mxn_array_release(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mxn_array_list list;
    if (mxn_arrays_load_bytes(data, size, &list) == MXP_OK) {
        save_and_compare(&list);
    } else {
        require(mxp_last_error()[0] != '\0' && strlen(mxp_last_error()) < 1000);
        require(list.count == 0 && list.arrays == NULL && list.names == NULL);
    }
    mxn_array_list_fini(&list);
    uint64_t arrays, buffers;
    require(mxn_wait_all() == MXP_OK);
    mxn_array_counts(&arrays, &buffers);
    require(arrays == 0 && buffers == 0);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: data iterators, batches of arrays made of files. The rules of mxnet/c_api.h hold;
// an iterator belongs to one thread at a time.
#ifndef MXNET_C_API_DATA_ITER_H_
#define MXNET_C_API_DATA_ITER_H_

#include <mxnet/c_types.h>

typedef void *DataIterHandle;

// ---- kinds ------------------------------------------------------------------------------------
// MNISTIter and CSVIter. What is given out lives forever.
MXNET_DLL int MXListDataIters(uint32_t *out_size, DataIterCreator **out_array);
MXNET_DLL int MXDataIterGetIterInfo(DataIterCreator creator, const char **name,
                                    const char **description, uint32_t *num_args,
                                    const char ***arg_names, const char ***arg_type_infos,
                                    const char ***arg_descriptions);

// ---- iterators --------------------------------------------------------------------------------
// Reads the files: whatever is wrong with them is told here, with file and place. Unknown keys are
// ignored, as in MXNet.
MXNET_DLL int MXDataIterCreateIter(DataIterCreator handle, uint32_t num_param, const char **keys,
                                   const char **vals, DataIterHandle *out);
MXNET_DLL int MXDataIterFree(DataIterHandle handle);
MXNET_DLL int MXDataIterBeforeFirst(DataIterHandle handle);
// `out`: 1, and there is a new current batch, or 0.
MXNET_DLL int MXDataIterNext(DataIterHandle handle, int *out);
// Batches of an epoch.
MXNET_DLL int MXDataIterGetLenHint(DataIterHandle handle, int64_t *len);

// ---- the current batch ------------------------------------------------------------------------
// -1 if there is none. Arrays are new handles, to be freed; they stay as they are when the iterator
// goes on. A batch is filled by an operation of the engine.
MXNET_DLL int MXDataIterGetData(DataIterHandle handle, NDArrayHandle *out);
MXNET_DLL int MXDataIterGetLabel(DataIterHandle handle, NDArrayHandle *out);
// Data and label; the list lives until this thread asks for such a list again.
MXNET_DLL int MXDataIterGetItems(DataIterHandle handle, int *num_outputs, NDArrayHandle **outputs);
// How many rows at its end are filled up.
MXNET_DLL int MXDataIterGetPadNum(DataIterHandle handle, int *pad);
// Numbers of its rows; all 0 of MNISTIter. They live until the next batch.
MXNET_DLL int MXDataIterGetIndex(DataIterHandle handle, uint64_t **out_index, uint64_t *out_size);

#endif

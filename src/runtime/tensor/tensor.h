// SPDX-License-Identifier: Apache-2.0
// Folder runtime/tensor: arrays, views, types, files of arrays, workspaces, random generators.
//
// Arrays: typed views of reference-counted memory whose reads and writes the engine orders. Values
// are row-major and contiguous, always. Memory (mxn_buffer) belongs to one variable of the engine
// and may be allocated late, by whoever first needs the address.
//
//   mxn_array --buffer--> mxn_buffer --block--> memory of a device
//   (a handle)            (a variable)          (storage/)
//   views of one array are several mxn_array on one buffer
//
// Lifetime. An array lives while it has references. Its buffer outlives every operation pushed
// before the last array on it went: the end of the variable is itself an operation. So an operation
// keeps buffer references (mxn_buffer_ref), not arrays. Dead handles are recognised
// (mxn_array_check): the memory of an mxn_array is only ever used for others, which do not begin
// where it began.
//
// Any thread may call anything; one array's geometry must not be changed by two threads at a time.
// Functions that can fail return 0 or a negative MXP_E code with the detail set.
#ifndef MXN_TENSOR_TENSOR_H
#define MXN_TENSOR_TENSOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/refs.h"
#include "base/strbuf.h"
#include "runtime/engine/engine.h"
#include "runtime/storage/storage.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"

// ---- contexts ---------------------------------------------------------------------------------
enum { MXN_CPU = 1, MXN_GPU = 2, MXN_CPU_PINNED = 3, MXN_CPU_SHARED = 5 };

typedef struct mxn_context {
    int32_t type, id;  // 0, 0: none
} mxn_context;

// MXP_EINVAL: no such device. gpu(i) never exists; cpu(i) does for 0 <= i < 128.
int mxn_context_check(mxn_context context);
const char *mxn_context_text(mxn_context context, char buffer[32]);  // "cpu(0)"; returns buffer
static inline bool mxn_context_equal(mxn_context a, mxn_context b)
{
    return a.type == b.type && a.id == b.id;
}

// ---- arrays -----------------------------------------------------------------------------------
// Private to tensor/ but for `var`, `context` and `tag`, which are fixed once the buffer exists.
typedef struct mxn_buffer {
    mxn_var *var;
    MXP_ATOMIC(void *) data;  // null until allocated
    mxn_allocation *block;
    struct mxn_array *source;  // of an alias: whose memory it shows; a reference
    uint64_t bytes;  // to allocate
    mxp_refs refs;  // arrays on it
    mxp_atomic_u32 state;
    mxp_atomic_u32 host_writes;  // see mxn_buffer_host_writes
    mxp_atomic_u64 recorded;  // autograd's: see autograd/other_arrays.h
    mxn_context context;
    mxn_tag tag;
} mxn_buffer;

// Something another folder hangs on an array: it is released with it.
typedef struct mxn_attachment {
    void *data;
    void (*release)(void *data);
} mxn_attachment;
enum { MXN_ATTACHMENT_AUTOGRAD = 0, MXN_ATTACHMENT_DEFERRED = 1, MXN_ATTACHMENTS = 2 };

// Read-only outside tensor/, but for `attachments`.
typedef struct mxn_array {
    mxp_atomic_u64 check;  // private
    mxp_refs refs;
    uint32_t place;  // private
    mxn_buffer *buffer;  // null: a "none" array, shape.ndim is -1
    uint64_t offset_bytes;  // into the buffer
    int32_t dtype;
    mxn_buffer own;  // the buffer of an array that is no view
    mxn_shape shape;
    mxn_attachment attachments[MXN_ATTACHMENTS];
} mxn_array;

// A new array with one reference. The shape must be known. Unless `delay`, memory is allocated at
// once; contents are undefined. `tag` null: the current scope, name "unknown", category INPUT.
int mxn_array_new(const mxn_shape *shape, int dtype, mxn_context context, const mxn_tag *tag,
                  bool delay, mxn_array **array);
int mxn_array_new_none(mxn_array **array);
// Makes a none array one of delayed allocation. MXP_ESTATE: it is none no longer.
int mxn_array_init(mxn_array *array, const mxn_shape *shape, int dtype, mxn_context context,
                   const mxn_tag *tag);

// What its memory is called among the owners. MXP_ESTATE: it is a none array, or has memory
// already.
int mxn_array_name_memory(mxn_array *array, mxp_name name);

static inline void mxn_array_retain(mxn_array *array)
{
    mxp__refs_take(&array->refs);
}
// Null does nothing. With the last array on a buffer its memory goes, as "DeleteVariable".
void mxn_array_release(mxn_array *array);

// MXP_EHANDLE if `handle` is null, freed, or none of ours. `what` names it in the error. A freed
// one is told from the next MXN_ARRAY_PLACES - 1 arrays in its memory, not from the one after them.
enum { MXN_ARRAY_PLACES = 32 };
int mxn_array_check(const void *handle, const char *what);

static inline bool mxn_array_is_none(const mxn_array *array)
{
    return array->buffer == NULL;
}
static inline uint64_t mxn_array_size(const mxn_array *array)  // elements; 0 of a none array
{
    return array->shape.ndim < 0 ? 0 : mxn_shape_size(&array->shape);
}
static inline mxn_var *mxn_array_var(const mxn_array *array)
{
    return array->buffer->var;
}
mxn_context mxn_array_context(const mxn_array *array);  // 0, 0 of a none array
uint32_t mxn_context_engine_device(mxn_context context);  // mxn_work.device
// Whether it shows all of its memory.
static inline bool mxn_array_is_whole(const mxn_array *array)
{
    return array->buffer != NULL && array->offset_bytes == 0 &&
           mxn_array_size(array) * mxn_dtype_size(array->dtype) == array->buffer->bytes;
}
// Whether the two share memory.
static inline bool mxn_array_shares(const mxn_array *a, const mxn_array *b)
{
    return a->buffer != NULL && a->buffer == b->buffer;
}

// ---- addresses --------------------------------------------------------------------------------
// What an operation keeps of an array.
typedef struct mxn_buffer_ref {
    mxn_buffer *buffer;
    uint64_t offset_bytes;
} mxn_buffer_ref;

static inline mxn_buffer_ref mxn_array_memory(const mxn_array *array)
{
    return (mxn_buffer_ref){array->buffer, array->offset_bytes};
}

int mxn__buffer_allocate(mxn_buffer *buffer);

// The address of the values, allocating them if need be; null for an array without elements. Inside
// an operation on its variable, or after a wait. MXP_ENOMEM.
static inline int mxn_buffer_data(const mxn_buffer_ref *ref, void **data)
{
    assert(mxn_var_is_ours(ref->buffer->var, false) &&
           "an operation looks at memory of which it does not use the variable");
    char *base = (char *)mxp_atomic_load_acquire(&ref->buffer->data);
    if (__builtin_expect(base == NULL, 0)) {
        int error = mxn__buffer_allocate(ref->buffer);
        if (error != 0) {
            return error;
        }
        base = (char *)mxp_atomic_load_acquire(&ref->buffer->data);
    }
    *data = base == NULL ? NULL : base + ref->offset_bytes;
    return 0;
}
int mxn_array_data(const mxn_array *array, void **data);  // MXP_ESTATE of a none array

// Writes that the variable's version does not count: how often the program has copied values in, or
// MXN_HOST_WRITES_ANY once it has the address itself. For what is derived from values and kept.
#define MXN_HOST_WRITES_ANY UINT32_MAX
static inline uint32_t mxn_buffer_host_writes(const mxn_buffer *buffer)
{
    return mxp_atomic_load(&buffer->host_writes);
}
// Which values an array has once everything pushed so far is over. Any write to its memory changes
// it, also of another part; what the program writes to an address it has does not.
typedef struct mxn_values {
    uint32_t writes, host_writes;
} mxn_values;

static inline mxn_values mxn_array_values(const mxn_array *array)  // of an array that is not none
{
    return (mxn_values){mxn_var_pushed_version(array->buffer->var),
                        mxn_buffer_host_writes(array->buffer)};
}
static inline bool mxn_array_has_values(const mxn_array *array, mxn_values values)
{
    mxn_values now = mxn_array_values(array);
    bool exposed = now.host_writes == MXN_HOST_WRITES_ANY;
    return now.writes == values.writes && (exposed || now.host_writes == values.host_writes);
}
// mxn_array_data for the program, which may write there whenever it likes.
int mxn_array_data_exposed(const mxn_array *array, void **data);

// ---- views ------------------------------------------------------------------------------------
// All give a new array on the same memory. MXP_EINVAL names the shape and what was asked for.
int mxn_array_slice(mxn_array *array, uint64_t begin, uint64_t end, mxn_array **view);  // axis 0
// One dimension fewer. Of a vector: shape (1), or a scalar if `numpy`.
int mxn_array_at(mxn_array *array, uint64_t index, bool numpy, mxn_array **view);
// By the codes of mxn_shape_infer_reshape. The result may be smaller than the array, not larger.
int mxn_array_reshape(mxn_array *array, int count, const int64_t *codes, bool reverse,
                      mxn_array **view);
// The same memory under a known shape of at most the same size in bytes, and any type.
int mxn_array_view(mxn_array *array, const mxn_shape *shape, int dtype, mxn_array **view);
// The whole array again, without its attachments (Detach). Of a none array: another none array.
int mxn_array_detach(mxn_array *array, mxn_array **view);

// ---- aliases ----------------------------------------------------------------------------------
// The same memory under a variable of its own, which the engine does not order with the array's:
// for an operation that holds the array and has others work on it. Keeps the array alive. `beside`:
// an alias of an array that shares memory with this one, or null; both then share a variable.
int mxn_array_alias(mxn_array *array, mxn_array *beside, mxn_array **alias);
// Before anything uses the alias, inside an operation on the array. MXP_ENOMEM.
int mxn_array_alias_open(mxn_array *alias);

// ---- memory of others -------------------------------------------------------------------------
// An array of row-major values at `data`, which must be aligned to its type; null only if there are
// none. `owner` is released, on any thread, after the last operation on the memory; it is still the
// caller's if this fails. No pool and no record counts the memory.
int mxn_array_new_foreign(const mxn_shape *shape, int dtype, mxn_context context, void *data,
                          mxn_attachment owner, mxn_array **array);

// ---- values -----------------------------------------------------------------------------------
// Waits for pending writes, or for everything pending. They return the error of a failed writer.
// Nothing to do for a none array.
int mxn_array_wait_read(const mxn_array *array);
int mxn_array_wait_write(const mxn_array *array);

// Blocking. `count` in elements must be the array's: else "Memory size do not match". The caller's
// thread copies, after the wait; no operation of that name. Copying in waits for readers too, which
// inside an operation may be refused (MXP_ESTATE).
int mxn_array_copy_in(mxn_array *array, const void *data, uint64_t count);
int mxn_array_copy_out(const mxn_array *array, void *data, uint64_t count);

// How an operation of this folder is pushed. Null stands for zeros.
typedef struct mxn_push_options {
    int priority;
    uint32_t flags;  // MXP_PHASE_*, MXN_WORK_SYMBOLIC
    uint32_t scope;  // 0: the current one
} mxn_push_options;

// Pushes "CopyCPU2CPU" on the source's device, converting if the types differ. Shapes must be equal
// (a `to` that is none becomes like `from`, on the source's device). Of an array onto itself, or
// without elements, nothing.
int mxn_array_copy(mxn_array *from, mxn_array *to, const mxn_push_options *options);
// The same, blocking, as "SyncCopyFromNDArrayCPU2CPU".
int mxn_array_copy_wait(mxn_array *from, mxn_array *to);
// Pushes "SetValueOp".
int mxn_array_fill(mxn_array *array, double value, const mxn_push_options *options);

// ---- files ------------------------------------------------------------------------------------
// MXNet's list of arrays (array_file.h has the layout). Loaded arrays are on cpu(0); `names` is
// null or has as many entries as `arrays`.
typedef struct mxn_array_list {
    uint64_t count;
    mxn_array **arrays;  // null where the file has a none array
    char **names;
} mxn_array_list;

// `names` may be null. With `numpy` the file keeps scalars and empty arrays (version 3), without it
// an array of rank 0 is not possible (version 2). Waits for the arrays. A regular file is replaced
// only when all is written. MXP_EIO.
int mxn_arrays_save(const char *path, uint64_t count, mxn_array *const *arrays,
                    const char *const *names, bool numpy);
// MXP_EFORMAT: names the file, the place and what is wrong.
int mxn_arrays_load(const char *path, mxn_array_list *list);
int mxn_arrays_load_bytes(const void *data, uint64_t size_bytes, mxn_array_list *list);
// One array as it stands in such a file, after what `bytes` holds.
int mxn_array_save_bytes(mxn_array *array, bool numpy, mxp_strbuf *bytes);
// What follows the array is not looked at.
int mxn_array_load_bytes(const void *data, uint64_t size_bytes, mxn_array **array);
void mxn_array_list_fini(mxn_array_list *list);  // releases arrays that are still there

// Arrays alive (views included) and buffers alive, those whose deletion is pending included. Walks
// over all: for tests and reports.
void mxn_array_counts(uint64_t *arrays, uint64_t *buffers);

#endif

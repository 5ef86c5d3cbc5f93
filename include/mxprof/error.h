// SPDX-License-Identifier: Apache-2.0
// Errors, and the allocator hook. Every mxp_ function that can fail returns 0 or a negative MXP_E
// code; the detail line of the calling thread tells what was wrong and what to do. Only the two
// that signal handlers may call (mxp_async_end_id, mxp_module) leave that line as it was.
#ifndef MXPROF_ERROR_H
#define MXPROF_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The one list of errors: name, number, message when no detail is known.
#define MXP_ERRORS(X)                                           \
    X(EINVAL, -1, "invalid argument")                           \
    X(EHANDLE, -2, "null, destroyed or wrong-type handle")      \
    X(EKEY, -3, "unknown configuration key")                    \
    X(EVALUE, -4, "ill-formed configuration value")             \
    X(ESTATE, -5, "not possible in the current state")          \
    X(EIO, -6, "input or output failed")                        \
    X(ENOMEM, -7, "out of memory")                              \
    X(EFORMAT, -8, "the file is no mxprof trace or is damaged") \
    X(EVERSION, -9, "the file needs a newer mxprof")            \
    X(ENOTSUP, -10, "not supported in this build or on this machine")

enum {
    MXP_OK = 0,
#define MXP_ERROR_ENUM(name, number, text) MXP_##name = number,
    MXP_ERRORS(MXP_ERROR_ENUM)
#undef MXP_ERROR_ENUM
};

// The fixed message of an error code; "unknown error" for a number not in the list. Static.
const char *mxp_strerror(int error);

// The detail line of the last failing call on this thread, "" if none has failed. Success does not
// clear it. Owned by the library, valid until the next mxp_ call of this thread.
const char *mxp_last_error(void);

// Replaces the detail line of this thread; `text` is copied. Returns `error`, so that a caller can
// write `return mxp_set_last_error(MXP_EINVAL, "...")`. Never fails: without memory for the text
// the code's own message is used.
int mxp_set_last_error(int error, const char *text);

// Where the library takes its memory from. `reallocate` behaves like realloc (a null pointer
// allocates, size 0 frees and returns null) and also learns the old size. `map_pages` returns
// zeroed pages, or null; it runs when a thread needs room for records, possibly inside a signal
// handler, so it must be async-signal-safe (mmap is, malloc is not). Members left null keep the
// default. The hook must be set before the first session call and outlive the process. Members are
// added at the end.
typedef struct mxp_allocator {
    size_t size_bytes;  // sizeof(mxp_allocator)
    void *context;
    void *(*reallocate)(void *context, void *pointer, size_t old_size_bytes, size_t size_bytes);
    void *(*map_pages)(void *context, size_t size_bytes);
    void (*unmap_pages)(void *context, void *pages, size_t size_bytes);
} mxp_allocator;

// Installs `hook` (copied; null restores the default). MXP_ESTATE once memory has been taken
// through the previous one and is still held. MXP_EINVAL: size_bytes is not set. MXP_ENOTSUP: a
// member that this library does not know is set.
int mxp_set_allocator(const mxp_allocator *hook);

// Allocation through the hook, for libraries that share mxprof's allocator. Same rules as
// mxp_allocator.reallocate; thread-safe.
void *mxp_realloc(void *pointer, size_t old_size_bytes, size_t size_bytes);

#ifdef __cplusplus
}
#endif
#endif

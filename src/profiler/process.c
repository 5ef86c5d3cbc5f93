// SPDX-License-Identifier: Apache-2.0
// What both libraries and the command must agree on within a process, behind public mxp_ calls: the
// error line, the allocator hook, the version. src/base keeps no state and comes here for it.
#include <errno.h>
#include <mxprof/error.h>
#include <mxprof/version.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/grown_struct.h"
#include "base/os/os.h"
#include "base/thread_slot.h"
#include "profiler/fork_memory.h"
#include "profiler/pages.h"

// ---- allocator --------------------------------------------------------------------------------
static void *default_reallocate(void *context, void *pointer, size_t old_size, size_t size)
{
    (void)context;
    (void)old_size;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static void *default_map(void *context, size_t size)
{
    (void)context;
    return mxp__os_map_pages(size);
}

static void default_unmap(void *context, void *pages, size_t size)
{
    (void)context;
    mxp__os_unmap_pages(pages, size);
}

#define DEFAULT_ALLOCATOR                                                           \
    {                                                                               \
        sizeof(mxp_allocator), NULL, default_reallocate, default_map, default_unmap \
    }
static const mxp_allocator default_allocator = DEFAULT_ALLOCATOR;
static mxp_allocator allocator = DEFAULT_ALLOCATOR;
static mxp_atomic_u64 held_allocations;  // blocks and pages not yet given back

static int check_hook(const mxp_allocator *hook)
{
    if (hook->size_bytes < sizeof *hook || hook->size_bytes > MXP__STRUCT_BYTES_MAX) {
        return mxp_set_last_error(MXP_EINVAL, "mxp_set_allocator: set hook->size_bytes to "
                                              "sizeof(mxp_allocator) first");
    }
    if (mxp__struct_has_more(hook, hook->size_bytes, sizeof *hook)) {
        return mxp_set_last_error(MXP_ENOTSUP, "a member of mxp_allocator is set that this "
                                               "libmxprof does not know");
    }
    return MXP_OK;
}

int mxp_set_allocator(const mxp_allocator *hook)
{
    if (mxp_atomic_load_acquire(&held_allocations) != 0) {
        return mxp_set_last_error(MXP_ESTATE, "the allocator must be set before mxprof has taken "
                                              "any memory: call mxp_set_allocator first");
    }
    int error = hook == NULL ? MXP_OK : check_hook(hook);
    if (error != MXP_OK) {
        return error;
    }
    allocator = default_allocator;
    if (hook == NULL) {
        return MXP_OK;
    }
    allocator.context = hook->context;
    if (hook->reallocate != NULL) {
        allocator.reallocate = hook->reallocate;
    }
    if (hook->map_pages != NULL && hook->unmap_pages != NULL) {
        allocator.map_pages = hook->map_pages;
        allocator.unmap_pages = hook->unmap_pages;
    }
    return MXP_OK;
}

// A thread that allocates without holding a lock which a fork takes counts itself in `guarded`.
// While there are such threads, allocations take this lock for reading. A fork goes first where
// libc has such locks; else it waits for a moment without allocations.
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define FORK_LOCK_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define FORK_LOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif
static pthread_rwlock_t fork_lock = FORK_LOCK_INITIALIZER;
static mxp_atomic_u32 guarded;

void mxp__realloc_guard(bool on)
{
    mxp_atomic_add(&guarded, on ? 1 : UINT32_MAX);
}

void mxp__realloc_fork_prepare(void)
{
    pthread_rwlock_wrlock(&fork_lock);
}

void mxp__realloc_fork_parent(void)
{
    pthread_rwlock_unlock(&fork_lock);
}

// Makes the lock anew in the child: the threads that waited for it do not exist there, but are
// counted in it.
void mxp__realloc_fork_child(void)
{
    pthread_rwlock_unlock(&fork_lock);
    fork_lock = (pthread_rwlock_t)FORK_LOCK_INITIALIZER;
    mxp_atomic_set(&guarded, 0);
}

// A block from fork_memory.h is copied to a new one and never freed.
static void *move_from_fork(void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    if (size_bytes == 0) {
        return NULL;
    }
    void *moved = allocator.reallocate(allocator.context, NULL, 0, size_bytes);
    if (moved != NULL) {
        memcpy(moved, pointer, old_size_bytes < size_bytes ? old_size_bytes : size_bytes);
    }
    return moved;
}

static void give_back(void *pointer, size_t size_bytes)
{
    allocator.reallocate(allocator.context, pointer, size_bytes, 0);
}

static void *reallocate(void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    if (mxp__fork_memory_is_used()) {
        return mxp__fork_memory_realloc(pointer, old_size_bytes, size_bytes);
    }
    mxp__fork_memory_give_back(give_back);
    if (mxp__fork_memory_has(pointer)) {
        return move_from_fork(pointer, old_size_bytes, size_bytes);
    }
    return allocator.reallocate(allocator.context, pointer, old_size_bytes, size_bytes);
}

static void *reallocate_guarded(void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    if (mxp_atomic_load(&guarded) == 0) {
        return reallocate(pointer, old_size_bytes, size_bytes);
    }
    pthread_rwlock_rdlock(&fork_lock);
    void *moved = reallocate(pointer, old_size_bytes, size_bytes);
    pthread_rwlock_unlock(&fork_lock);
    return moved;
}

void *mxp_realloc(void *pointer, size_t old_size_bytes, size_t size_bytes)
{
    void *moved = reallocate_guarded(pointer, old_size_bytes, size_bytes);
    if (pointer == NULL && moved != NULL) {
        mxp_atomic_add(&held_allocations, 1);
    } else if (pointer != NULL && size_bytes == 0) {
        mxp_atomic_sub(&held_allocations, 1);
    }
    return moved;
}

void *mxp__pages_map(size_t size_bytes)
{
    void *pages = allocator.map_pages(allocator.context, size_bytes);
    if (pages != NULL) {
        mxp_atomic_add(&held_allocations, 1);
    }
    return pages;
}

void mxp__pages_unmap(void *pages, size_t size_bytes)
{
    if (pages != NULL) {
        allocator.unmap_pages(allocator.context, pages, size_bytes);
        mxp_atomic_sub(&held_allocations, 1);
    }
}

// ---- error line -------------------------------------------------------------------------------
// One heap block a thread, found through one thread-local pointer, freed when the thread ends. It
// comes from malloc and not from the hook: the line must outlive any failure of the hook.
typedef struct error_line {
    size_t capacity;
    char text[];
} error_line;

static __thread error_line *line __attribute__((tls_model("initial-exec")));
static __thread const char *fixed_line __attribute__((tls_model("initial-exec")));

static void line_free(void *block)
{
    free(block);
    line = NULL;
    fixed_line = NULL;
}

static mxp_thread_slot line_slot = MXP__THREAD_SLOT_INIT(line_free);

static error_line *line_with_space(size_t length)
{
    if (line != NULL && line->capacity > length) {
        return line;
    }
    if (mxp__fork_memory_is_used()) {
        return NULL;
    }
    size_t capacity = length < 256 ? 256 : length + 1;
    error_line *grown = realloc(line, sizeof(error_line) + capacity);
    if (grown == NULL) {
        return NULL;
    }
    grown->capacity = capacity;
    line = grown;
    if (!mxp__thread_slot_keep(&line_slot, grown)) {  // nobody would free it
        line_free(grown);
        return NULL;
    }
    return grown;
}

int mxp_set_last_error(int error, const char *text)
{
    int saved = errno;
    const char *source = text != NULL ? text : mxp_strerror(error);
    size_t length = strlen(source);
    error_line *into = line_with_space(length);
    if (into == NULL) {
        fixed_line = mxp_strerror(error);
    } else {
        memmove(into->text, source, length + 1);
        fixed_line = NULL;
    }
    errno = saved;
    return error;
}

const char *mxp_last_error(void)
{
    if (fixed_line != NULL) {
        return fixed_line;
    }
    return line != NULL ? line->text : "";
}

const char *mxp_strerror(int error)
{
    switch (error) {
    case MXP_OK:
        return "success";
#define MXP_ERROR_CASE(name, number, text) \
    case MXP_##name:                       \
        return text;
        MXP_ERRORS(MXP_ERROR_CASE)
#undef MXP_ERROR_CASE
    default:
        return "unknown error";
    }
}

const char *mxp_version(void)
{
    return MXP_VERSION_STRING;
}

// SPDX-License-Identifier: Apache-2.0
// A file that is written through memory: what a process has stored in it stays when the process
// dies, by whatever signal. Room is reserved before it is written to, so that a full disk is an
// error here and not a signal there. All functions leave errno alone and are async-signal-safe,
// except is_taken, open, publish and close.
#ifndef MXP_TRACE_MAPPED_FILE_H
#define MXP_TRACE_MAPPED_FILE_H

#include "base/atomic.h"
#include "base/os/new_file.h"

// The program may close the descriptor at any time, and get its number for a file of its own. So
// it is used only for what a mapping cannot do, after a look at whose it is, and opened again
// through the path if it was lost. A file that was renamed meanwhile goes on as long as the number
// is ours.
typedef struct mxp_mapped_file {
    mxp_new_file made;
    char *path;  // absolute
    char *base;  // address of the file's first byte
    uint64_t limit_bytes;  // of the mapping: the file never grows beyond it
    mxp_atomic_u64 reserved_bytes;  // the file's length; what lies beyond must not be touched
    mxp_atomic_u64 prepared_bytes;  // zeros were written up to here
    bool unlocked;  // opened again, and the lock is not had again yet
} mxp_mapped_file;

// Whether a living process records into the file that has this name.
bool mxp__mapped_file_is_taken(const char *path);
// Creates an empty file beside `path` that nobody sees yet, to be filled and published.
// `limit_bytes`: a multiple of the page size. 0, MXP_ENOMEM, or MXP_EIO with path and reason, also
// if a living process records into a file of that name.
int mxp__mapped_file_open(mxp_mapped_file *file, const char *path, uint64_t limit_bytes);
// The two halves of opening: planning takes memory and makes nothing, and does not look whether
// anybody records there. Making and the publishing that goes with it are async-signal-safe.
bool mxp__mapped_file_plan(mxp_mapped_file *file, const char *path, uint64_t limit_bytes);
bool mxp__mapped_file_make(mxp_mapped_file *file);
bool mxp__mapped_file_publish_made(mxp_mapped_file *file);
// Gives it its name, in place of a file that has it (whose content stays with those who have it
// open). MXP_EIO.
int mxp__mapped_file_publish(mxp_mapped_file *file);
// Unmaps and closes. The file stays as it is; one that was not published is removed.
void mxp__mapped_file_close(mxp_mapped_file *file);
// Whether there is a descriptor of the file, after an attempt to get a lost one again.
bool mxp__mapped_file_has_descriptor(mxp_mapped_file *file);
// From now on it is the caller's; the file does not grow any more. None: it was lost.
mxp_descriptor mxp__mapped_file_give_descriptor(mxp_mapped_file *file);
// Unlocks and closes what was given: the file may still be mapped, but nobody writes any more.
void mxp__mapped_file_unlock(mxp_descriptor *given);
// Makes room up to `size_bytes`, at most the limit. False: full disk, a limit of the process, or
// the limit of the mapping; what was there before stays usable.
bool mxp__mapped_file_reserve(mxp_mapped_file *file, uint64_t size_bytes);
// Writes zeros to room into which nobody has stored yet. Its pages then come in large pieces, and
// the first store to one costs less than half of what it would. Without success: they come one by
// one. What was prepared before is left alone.
void mxp__mapped_file_prepare(mxp_mapped_file *file, uint64_t from, uint64_t to);

// Puts pages of the file at an address where pages are already; what stands there is replaced by
// what the file holds. False: as before.
bool mxp__mapped_file_place(const mxp_mapped_file *file, void *pages, uint64_t offset,
                            uint64_t size_bytes);
// Moves pages to an address where pages are already: whoever uses it finds the old ones or the new
// ones. False: as before, and the pages are given back.
bool mxp__pages_move(void *made, uint64_t size_bytes, void *to);
// Puts anonymous memory that holds `content` there, from one moment to the next.
bool mxp__anonymous_place(void *pages, uint64_t size_bytes, const void *content);

#endif

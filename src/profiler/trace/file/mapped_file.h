// SPDX-License-Identifier: Apache-2.0
// A file that is written through mapped memory: stored bytes survive the death of the process by
// any signal. Space is reserved before it is written to, so that a full disk is an error here and
// not a SIGBUS at the store. All functions preserve errno and are async-signal-safe, except
// is_taken, open, plan, publish and close.
#ifndef MXP_TRACE_MAPPED_FILE_H
#define MXP_TRACE_MAPPED_FILE_H

#include "base/atomic.h"
#include "base/os/new_file.h"

// The program may close the descriptor at any time and reuse its number. The descriptor is
// therefore used only where a mapping does not suffice, is checked before each use
// (base/os/descriptor.h), and is opened again through the path if it was lost. A renamed file works
// until its number is lost.
typedef struct mxp_mapped_file {
    mxp_new_file made;
    char *path;  // absolute
    char *base;  // address of the file's first byte
    uint64_t limit_bytes;  // of the mapping: the file never grows beyond it
    mxp_atomic_u64 reserved_bytes;  // the file's length; what lies beyond must not be touched
    mxp_atomic_u64 prepared_bytes;  // zeros were written up to here
    mxp_atomic_u32 refusal;  // why the system did not reserve last, as errno has it: EFBIG is the
                             // process's limit; 0: it did, or the limit of the mapping was reached
    bool unlocked;  // opened again, and the lock is not had again yet
} mxp_mapped_file;

// Whether a living process records into the file that has this name.
bool mxp__mapped_file_is_taken(const char *path);
// Creates an empty file beside `path` that nobody sees yet, to be filled and published.
// `limit_bytes`: a multiple of the page size. 0, MXP_ENOMEM, or MXP_EIO with path and reason, also
// if a living process records into a file of that name.
int mxp__mapped_file_open(mxp_mapped_file *file, const char *path, uint64_t limit_bytes);
// The two halves of opening: planning takes memory and makes nothing; it fails as opening does.
// Making and the publishing that goes with it are async-signal-safe. Making looks again whether
// anybody records there, and is false then.
int mxp__mapped_file_plan(mxp_mapped_file *file, const char *path, uint64_t limit_bytes);
bool mxp__mapped_file_make(mxp_mapped_file *file);
bool mxp__mapped_file_publish_made(mxp_mapped_file *file);
// Renames the file to `path`, replacing an existing file; processes that have that one open keep
// its content. MXP_EIO.
int mxp__mapped_file_publish(mxp_mapped_file *file);
// Unmaps and closes. The file stays as it is; one that was not published is removed.
void mxp__mapped_file_close(mxp_mapped_file *file);
// Whether there is a descriptor of the file, after an attempt to get a lost one again.
bool mxp__mapped_file_has_descriptor(mxp_mapped_file *file);
// Hands the descriptor to the caller; the file can grow no more. MXP__DESCRIPTOR_NONE if it was
// lost.
mxp_descriptor mxp__mapped_file_give_descriptor(mxp_mapped_file *file);
// Unlocks and closes what was given: the file may still be mapped, but nobody writes any more.
void mxp__mapped_file_unlock(mxp_descriptor *given);
// Reserves space up to `size_bytes`. False: full disk, a limit of the process, or the limit of the
// mapping, as `refusal` tells; the space reserved before stays usable. Neither this nor preparing
// ends the program by SIGXFSZ, also where the limit is lowered meanwhile.
bool mxp__mapped_file_reserve(mxp_mapped_file *file, uint64_t size_bytes);
// Writes zeros to reserved space that is still unused. The system then allocates its pages in large
// pieces, which more than halves the cost of the first store to each page. A failure only means
// that this gain is missed. Space prepared before is left as it is.
void mxp__mapped_file_prepare(mxp_mapped_file *file, uint64_t from, uint64_t to);

// Maps pages of the file at `pages`, in place of the pages there, whose content is replaced by the
// file's. False: nothing changed.
bool mxp__mapped_file_place(const mxp_mapped_file *file, void *pages, uint64_t offset,
                            uint64_t size_bytes);
// Moves the pages `made` to `to`, in place of the pages there, atomically for threads that use
// them. False: `to` is unchanged, and `made` is unmapped.
bool mxp__pages_move(void *made, uint64_t size_bytes, void *to);
// Replaces pages by anonymous memory that holds `content`, atomically for threads that use them.
bool mxp__anonymous_place(void *pages, uint64_t size_bytes, const void *content);

#endif

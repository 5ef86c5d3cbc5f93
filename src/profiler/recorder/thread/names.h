// SPDX-License-Identifier: Apache-2.0
// The name table: append-only, ids are dense, entries never move. Looking up by id takes no lock;
// interning takes a spin lock and page memory only, so that it works in a signal handler.
#ifndef MXP_PROF_NAMES_H
#define MXP_PROF_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/recorder/recorder.h"
#include "profiler/trace/image.h"
#include "profiler/trace/source.h"

enum { MXP__NAMES_CAP_BYTES = 64 << 20, MXP__NAMES_CAP_LEAST_BYTES = 1 << 20 };

enum { MXP__NAMES_MOST = 1000000 };

// Names may take a sixteenth of what records may, at least and at most the two above, and there may
// be so many; 0: MXP__NAMES_MOST.
void mxp__names_limit(uint64_t memory_limit_bytes, uint32_t names);

uint32_t mxp__name_count(void);  // acquire: all entries below it are complete
mxp_name_view mxp__name_view(uint32_t id);
uint64_t mxp__name_bytes(void);
uint64_t mxp__name_losses(void);  // interns answered MXP_NAME_FULL
// The category with the most names, and how many those are; 0 names: there was no memory to find
// it.
uint32_t mxp__names_largest_category(uint32_t *names);
// Where the table is in memory, for the readers of core files.
void mxp__names_image(volatile mxp_image_anchor *to);
// Between the two no name is added: around a fork, so that the child finds the table in one piece
// (the names stay in it), and around a change of who is told of new names.
void mxp__names_lock(void);
bool mxp__names_try_lock(void);  // false: a handler has interrupted who holds it on this thread
void mxp__names_unlock(void);
// Calls `visit` for all names, and again for each one that is added later. Under the lock.
void mxp__names_each(void (*visit)(uint32_t id, const mxp_name_view *name));

#endif

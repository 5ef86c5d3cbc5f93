// SPDX-License-Identifier: Apache-2.0
// Waits for locks, barriers and the like, and how long they are held, as spans of category "sync".
// MXPROF_COLLECT_SYNC says which are recorded.
#ifndef MXP_COLLECT_WAITS_H
#define MXP_COLLECT_WAITS_H

#include <stdbool.h>
#include <stdint.h>

// Names what waits for `object` are about; null: nothing. What was said before of the object is
// replaced. 4096 objects have names at a time.
void mxp__sync_name(const void *object, const char *type, const char *name);
void mxp__sync_ignore(const void *object);  // nothing of it is recorded
void mxp__sync_forget(const void *object);

// A wait on this thread: it ends with the object, or without. Ends without a begin are none: tries
// that succeed at once often tell only that they did. Up to 64 waits and 64 held objects a thread;
// more are counted.
void mxp__sync_prepare(const void *object);
void mxp__sync_cancel(const void *object);
void mxp__sync_acquired(const void *object);
void mxp__sync_releasing(const void *object);

// Holding alone, of what is known by a number, under a name of its own; for MXP__SYNC_ALL.
void mxp__sync_hold(uint64_t object);
void mxp__sync_release(uint64_t object, const char *category, const char *name);

#endif

// SPDX-License-Identifier: Apache-2.0
// Folder profiler/recorder: recording, as the session sees it, and the state of it.
//
// The recorder as the session sees it: one a process. Sessions set classes and limits, take drains
// (what was recorded since the last one) and give back what they have read.
#ifndef MXP_PROF_RECORDER_H
#define MXP_PROF_RECORDER_H

#include <mxprof/profiler.h>
#include <mxprof/record.h>

#include "profiler/trace/source.h"

typedef struct mxp_recorder_limits {
    uint64_t memory_limit_bytes;  // of chunks
    int full_policy;  // MXP_FULL_*: DROP takes no chunk beyond those it was given
    int statistics_only;  // statistics and no trace
    int statistics_when_full;  // beyond the cap, continue with statistics
    uint32_t names;  // most names, 0: MXP__NAMES_MOST
    int step_cpu;  // each step has its CPU time and run delay
} mxp_recorder_limits;

int mxp__recorder_limits_set(const mxp_recorder_limits *limits);

// Begins or ends recording of `classes`. Ending waits until no thread is inside a record, so that
// afterwards everything recorded is readable. `close_open`: spans still open are written as closed
// now (stop); else they stay open and are clipped if they end before recording resumes (pause).
// Both write a MXP_META_STATE record. Returns the ticks of the change.
uint64_t mxp__recorder_start(uint32_t classes, int resumed);
uint64_t mxp__recorder_stop(int close_open);
int mxp__recorder_is_on(void);
// A new profile begins, while recording is off: no step continues, no counter has a value.
void mxp__recorder_begin_profile(void);

// mxp_span_emit for a span that began while recording was on and ends while it is paused: taken
// although the gate is off.
void mxp__span_emit_closed(const mxp_span *span);
// Closes the asynchronous spans that began up to this stop. Under the drain lock.
void mxp__async_close_open(uint64_t end_ticks);

// A sample of a user counter, stamped later than *last_ticks, which it updates. The clock is read
// unserialised: under a lock alone, samples of two threads could be in the wrong order.
void mxp__counter_emit(mxp_name name, uint64_t value, uint64_t *last_ticks);

// For the objects: when recording last began or resumed, when it last ended or paused.
uint64_t mxp__recorder_on_ticks(void);
uint64_t mxp__recorder_off_ticks(void);

// A drain: everything recorded since `reader`'s last consumed drain, up to now. Each consumer
// (file, statistics) has its own position; chunks are recycled when all active consumers have
// passed.
enum { MXP__CONSUMER_FILE = 0, MXP__CONSUMER_STATS = 1, MXP__CONSUMERS = 2 };
void mxp__consumer_set_active(int consumer, int active);  // inactive ones hold nothing back
// The source of the drain. Closing it consumes nothing; mxp__live_consume moves the consumer past
// it; where several are open, those of one consumer must be consumed one after the other.
// Reading one may last: see live.c. Preparing does most of the work of opening it, and needs no
// lock of the caller's: a fork would wait for it.
void mxp__live_prepare(void);
int mxp__live_open(int consumer, mxp_source **source);
void mxp__live_consume(int consumer, mxp_source *source);
// With a ring every drain is all that the ring holds, and consuming it changes nothing.
// Gives back what threads that are gone have left, when it is older than the ring.
void mxp__threads_reclaim(void);
// The same for a thread that registers, if a ring holds too many that have ended. Not if another
// thread is at it, or reads.
void mxp__threads_make_space(void);
// Whether there is anything new for the consumer.
int mxp__live_pending(int consumer);

// Statistics gathered by the recorder itself (statistics_only, or beyond the cap) come with every
// live source. Consuming one of MXP__CONSUMER_STATS empties them for that consumer, except that
// counters begin anew when it is opened; for MXP__CONSUMER_FILE they add up until the limits
// change.

// Adds a calibration point and returns the timebase; valid until the next call. Under the session's
// lock.
const mxp_timebase *mxp__recorder_timebase(int add_point);
// Measures what every output contains: the rate of the clock, before anything is converted, and
// what a record costs. Takes a millisecond the first time; a brief one takes a fifth of it, and the
// rate is known to 400 ppm instead of 30 until the next point. Under the session's lock.
void mxp__recorder_calibrate(bool brief);

double mxp__recorder_ns_per_tick(void);  // as far as it is known; by any thread

bool mxp__ring_is_on(void);  // the policy is MXP_FULL_RING; changes with the limits
// What is wrong with the size of a ring; false: nothing, up to now.
bool mxp__ring_is_small(void);
void mxp__ring_warning(char *text, size_t size);
const char *mxp__clock_warning(void);  // what is wrong with the clock that was asked for, or null
// INFO key `command`: MXP_COMMAND_NO, _NAME or _ALL.
void mxp__info_command_set(int told);
// INFO key `root`: whose profile this process belongs to, if another began it. `mark` stays valid.
void mxp__info_root_set(const char *mark);
void mxp__recorder_report(mxp_report *report);
// Records of threads for which there was no memory at all. Any thread.
uint64_t mxp__recorder_unregistered(void);

// As mxp_intern, with the category given by id (0: none; the enclosing scope for scopes). By any
// thread, in a signal handler too.
uint32_t mxp__name_intern(uint32_t category, const char *text, uint64_t length, int style,
                          int unit);
// Calls `call` once a thread records for the first time, outside of signal handlers, until it
// returns true. The thread may hold locks of the session's. Null: nothing is called any more.
void mxp__thread_at_first(bool (*call)(void));

// Fork. prepare/parent in the forking process, child in the child: forgets all threads and records,
// recording is off.
void mxp__recorder_fork_prepare(void);
void mxp__recorder_fork_parent(void);
void mxp__recorder_fork_child(void);

#endif

// SPDX-License-Identifier: Apache-2.0
// What the recorder tells about itself: threads, losses, totals, INFO lines. All under the drain
// lock.
#ifndef MXP_PROF_REPORT_H
#define MXP_PROF_REPORT_H

#include "profiler/recorder/thread/thread.h"
#include "profiler/trace/image.h"
#include "profiler/trace/source.h"

// With what others before it have left under its index.
mxp_thread_entry mxp__thread_entry_of(mxp_thread *thread);
uint64_t mxp__thread_lost(mxp_thread *thread);
// Fills at most MXP__LOSS_WINDOWS + 1 entries; the number filled.
size_t mxp__thread_losses(mxp_thread *thread, mxp_loss_entry *entries);
enum { MXP__PROCESS_LOSSES = 3 };
size_t mxp__process_losses(mxp_loss_entry *entries);  // at most MXP__PROCESS_LOSSES

void mxp__report_fill(mxp_report *report);  // mxp__recorder_report without the lock

// INFO pairs with the memory they point into. Keys: mxprof_version, host, system, cpu, command,
// pid, clock, ns_per_tick, clock_residual_ns, record_cost_ns, records, bytes, lost, names,
// names_bytes, threads, memory_bytes, estimated_overhead_ns, full_policy, memory_limit_bytes,
// machine.*; what there is of folded_threads, overwritten_records, left_out_of_statistics,
// arguments_left_out, root, unanswered, barrier_warning, clock_warning; and what was noted.
typedef struct mxp_info_list {
    mxp_info_pair *pairs;
    size_t count, capacity;
    char **owned;
    size_t owned_count, owned_capacity;
} mxp_info_list;
int mxp__info_build(mxp_info_list *list);
// A pair more; the value is copied. MXP_ENOMEM.
int mxp__info_add(mxp_info_list *list, const char *key, const char *value);
int mxp__info_add_machine(mxp_info_list *list);  // behind `cpu` and `system`
int mxp__info_add_noted(mxp_info_list *list);
void mxp__info_image(volatile mxp_image_anchor *to);  // where those are, for core files
void mxp__info_fini(mxp_info_list *list);

#endif

// SPDX-License-Identifier: Apache-2.0
// Tasks, regions and frames as spans. Each function is the one of ITT's interface whose
// name it ends with.
#ifndef MXP_COLLECT_ITT_TASKS_H
#define MXP_COLLECT_ITT_TASKS_H

#include "profiler/collect/itt/clocks.h"
#include "profiler/collect/itt/itt_abi.h"

void mxp__itt_task_begin(itt_domain *domain, itt_id id, itt_id parent, itt_string *name);
void mxp__itt_task_begin_fn(itt_domain *domain, itt_id id, itt_id parent, void *function);
void mxp__itt_task_end(itt_domain *domain);
void mxp__itt_task_begin_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                            itt_id id, itt_id parent, itt_string *name);
void mxp__itt_task_begin_fn_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                               itt_id id, itt_id parent, void *function);
void mxp__itt_task_end_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp);

void mxp__itt_task_begin_overlapped(itt_domain *domain, itt_id id, itt_id parent, itt_string *name);
void mxp__itt_task_end_overlapped(itt_domain *domain, itt_id id);
void mxp__itt_task_begin_overlapped_ex(itt_domain *domain, itt_clock *clock,
                                       unsigned long long stamp, itt_id id, itt_id parent,
                                       itt_string *name);
void mxp__itt_task_end_overlapped_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp,
                                     itt_id id);

void mxp__itt_task_group(itt_domain *domain, itt_id id, itt_id parent, itt_string *name);

void mxp__itt_frame_begin(itt_domain *domain, const itt_id *id);
void mxp__itt_frame_end(itt_domain *domain, const itt_id *id);
void mxp__itt_frame_submit(itt_domain *domain, const itt_id *id, unsigned long long begin,
                           unsigned long long end);
unsigned long long mxp__itt_get_timestamp(void);
void *mxp__itt_frame_create(const char *domain);
void mxp__itt_frame_begin_old(void *frame);
void mxp__itt_frame_end_old(void *frame);

// What marks refer to by this id, 0 for the null id.
unsigned long long mxp__itt_id_value(itt_id id);

#endif

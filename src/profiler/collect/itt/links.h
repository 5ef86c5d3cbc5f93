// SPDX-License-Identifier: Apache-2.0
// What belongs together: relations of tasks, stacks that are continued elsewhere, tracks on which
// tasks go. Each function is the one of ITT's interface whose name it ends with.
#ifndef MXP_COLLECT_ITT_LINKS_H
#define MXP_COLLECT_ITT_LINKS_H

#include <mxprof/gate.h>

#include "profiler/collect/itt/itt_abi.h"

enum { ITT_PARENT_OF = 3 };

// The name of arrows of this kind of relation.
mxp_name mxp__itt_relation_name(itt_domain *domain, int relation);

void mxp__itt_relation_add(itt_domain *domain, itt_id head, int relation, itt_id tail);
void mxp__itt_relation_add_to_current(itt_domain *domain, int relation, itt_id tail);

// An arrow from where the stack's handle was made to each place that enters it.
void *mxp__itt_stack_caller_create(void);
void mxp__itt_stack_caller_destroy(void *stack);
void mxp__itt_stack_callee_enter(void *stack);
void mxp__itt_stack_callee_leave(void *stack);

// Tracks are lanes, in the order in which they were made.
itt_track_group *mxp__itt_track_group_create(itt_string *name, int type);
itt_track *mxp__itt_track_create(itt_track_group *group, itt_string *name, int type);
void mxp__itt_set_track(itt_track *track);

#endif

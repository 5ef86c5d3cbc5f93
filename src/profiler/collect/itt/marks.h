// SPDX-License-Identifier: Apache-2.0
// Markers, metadata, counters, names of threads, pauses. Each function is the one of ITT's
// interface whose name it ends with.
#ifndef MXP_COLLECT_ITT_MARKS_H
#define MXP_COLLECT_ITT_MARKS_H

#include "profiler/collect/itt/itt_abi.h"

void mxp__itt_marker(itt_domain *domain, itt_id id, itt_string *name, int scope);
void mxp__itt_metadata_add(itt_domain *domain, itt_id id, itt_string *key, int type, size_t count,
                           void *data);
void mxp__itt_metadata_str_add(itt_domain *domain, itt_id id, itt_string *key, const char *data,
                               size_t length);
void mxp__itt_formatted_metadata_add(itt_domain *domain, itt_string *format, ...);

void *mxp__itt_counter_create(const char *name, const char *domain);
void *mxp__itt_counter_create_typed(const char *name, const char *domain, int type);
void *mxp__itt_counter_create_v3(itt_domain *domain, const char *name, int type);
void mxp__itt_counter_inc(void *counter);
void mxp__itt_counter_dec(void *counter);
void mxp__itt_counter_inc_delta(void *counter, unsigned long long by);
void mxp__itt_counter_dec_delta(void *counter, unsigned long long by);
void mxp__itt_counter_set_value(void *counter, void *value);

void mxp__itt_thread_set_name(const char *name);
int mxp__itt_thr_name_set(const char *name, int length);
void mxp__itt_pause(void);
void mxp__itt_resume(void);

#endif

// SPDX-License-Identifier: Apache-2.0
// Markers, metadata, counters, names of threads, pauses. Each function is the one of ITT's
// interface whose name it ends with.
#ifndef MXP_COLLECT_ITT_MARKS_H
#define MXP_COLLECT_ITT_MARKS_H

#include "profiler/collect/itt/clocks.h"
#include "profiler/collect/itt/itt_abi.h"

void mxp__itt_marker(itt_domain *domain, itt_id id, itt_string *name, int scope);
void mxp__itt_marker_ex(itt_domain *domain, itt_clock *clock, unsigned long long stamp, itt_id id,
                        itt_string *name, int scope);
void mxp__itt_metadata_add(itt_domain *domain, itt_id id, itt_string *key, int type, size_t count,
                           void *data);
void mxp__itt_metadata_str_add(itt_domain *domain, itt_id id, itt_string *key, const char *data,
                               size_t length);
void mxp__itt_metadata_add_with_scope(itt_domain *domain, int scope, itt_string *key, int type,
                                      size_t count, void *data);
void mxp__itt_metadata_str_add_with_scope(itt_domain *domain, int scope, itt_string *key,
                                          const char *data, size_t length);
void mxp__itt_formatted_metadata_add(itt_domain *domain, itt_string *format, ...);
void mxp__itt_formatted_metadata_add_overlapped(itt_domain *domain, itt_id id, itt_string *format,
                                                ...);

void *mxp__itt_counter_create(const char *name, const char *domain);
void *mxp__itt_counter_create_typed(const char *name, const char *domain, int type);
void *mxp__itt_counter_create_v3(itt_domain *domain, const char *name, int type);
void mxp__itt_counter_inc(void *counter);
void mxp__itt_counter_dec(void *counter);
void mxp__itt_counter_inc_delta(void *counter, unsigned long long by);
void mxp__itt_counter_dec_delta(void *counter, unsigned long long by);
void mxp__itt_counter_set_value(void *counter, void *value);
void mxp__itt_counter_set_value_ex(void *counter, itt_clock *clock, unsigned long long stamp,
                                   void *value);
void mxp__itt_counter_destroy(void *counter);
void mxp__itt_bind_context_metadata_to_counter(void *counter, size_t count,
                                               itt_context_metadata *metadata);
// Of a counter that is its domain's and name's alone.
void mxp__itt_counter_inc_v3(itt_domain *domain, itt_string *name);
void mxp__itt_counter_dec_v3(itt_domain *domain, itt_string *name);
void mxp__itt_counter_inc_delta_v3(itt_domain *domain, itt_string *name, unsigned long long by);
void mxp__itt_counter_dec_delta_v3(itt_domain *domain, itt_string *name, unsigned long long by);

itt_histogram *mxp__itt_histogram_create(itt_domain *domain, const char *name, int x_type,
                                         int y_type);
void mxp__itt_histogram_submit(itt_histogram *histogram, size_t count, void *x, void *y);

void mxp__itt_thread_set_name(const char *name);
int mxp__itt_thr_name_set(const char *name, int length);
void mxp__itt_pause(void);
void mxp__itt_resume(void);
void mxp__itt_pause_scoped(int scope);
void mxp__itt_resume_scoped(int scope);

#endif

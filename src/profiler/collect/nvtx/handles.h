// SPDX-License-Identifier: Apache-2.0
// Domains, registered strings and names of categories. A domain is made anew at each call, as
// Nvidia's tools do, but domains of one name are one category. Handles live as long as the process.
#ifndef MXP_COLLECT_NVTX_HANDLES_H
#define MXP_COLLECT_NVTX_HANDLES_H

#include <mxprof/gate.h>

#include "profiler/collect/nvtx/nvtx_abi.h"

typedef struct nvtx_domain nvtx_domain;
typedef struct nvtx_string nvtx_string;

// Null only without memory.
nvtx_domain *mxp__nvtx_domain_create(const char *name);
nvtx_string *mxp__nvtx_string_create(const char *text);

// What a program hands in: the default domain for null, and for what is none of ours.
nvtx_domain *mxp__nvtx_domain(void *handle);
mxp_name mxp__nvtx_domain_category(const nvtx_domain *domain);

// The name of a text, and of a registered string; "(null)" for null or what is none of ours.
mxp_name mxp__nvtx_name(const nvtx_domain *domain, const char *text, int style);
mxp_name mxp__nvtx_name_wide(const nvtx_domain *domain, const wchar_t *text, int style);
mxp_name mxp__nvtx_name_registered(const nvtx_domain *domain, const void *handle, int style);

// Numbers are a category's in their domain.
void mxp__nvtx_category_set(nvtx_domain *domain, uint32_t number, const char *name);
mxp_name mxp__nvtx_category(const nvtx_domain *domain, uint32_t number);  // MXP_NAME_NONE: unnamed

// As UTF-8; what does not fit is cut. `text` may be null.
void mxp__nvtx_narrow(const wchar_t *text, char *narrow, size_t size_bytes);

#endif

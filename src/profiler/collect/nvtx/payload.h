// SPDX-License-Identifier: Apache-2.0
// Extended payloads: data of the program's own structures, which schemas describe. Each entry is an
// argument, named by the schema.
#ifndef MXP_COLLECT_NVTX_PAYLOAD_H
#define MXP_COLLECT_NVTX_PAYLOAD_H

#include <mxprof/args.h>

#include "profiler/collect/nvtx/handles.h"

enum { MXP__NVTX_PAYLOAD_ARGS = 16 };

// Ids below 1 << 24 are predefined types; schemas without an id get one. 0: there is no memory, or
// nothing to register.
uint64_t mxp__nvtx_schema_register(const nvtx_domain *domain, const nvtx_schema *given);
uint64_t mxp__nvtx_enum_register(const nvtx_domain *domain, const nvtx_enum *given);

// The first MXP__NVTX_PAYLOAD_ARGS values of up to two levels, into `args`; how many there are.
// Texts are the program's: they are valid during the call that told them. What is unknown, or
// reaches beyond the data, is left out. *message, if wanted: the place + 1 of the text that the
// schema calls the event's message; 0: there is none.
uint32_t mxp__nvtx_payload_args(const nvtx_domain *domain, const nvtx_payload *payloads,
                                size_t count, mxp_arg *args, uint32_t *message);

#endif

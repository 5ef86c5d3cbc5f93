// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/ompt/target.h"

#include <mxprof/record.h>

#include "profiler/collect/open_stack.h"

static const char target_owner[] = "target", data_owner[] = "data", submit_owner[] = "submit";

static void begin(const char *owner, const char *name, const mxp_arg *args, uint32_t count)
{
    mxp__collect_begin(owner, mxp_span_name("OpenMP", name), 0, args, count);
}

// The forms that do not wait are 8 above those that do.
void mxp__ompt_target(int kind, int endpoint, int device, ompt_data *task, ompt_data *target_task,
                      ompt_data *target, const void *return_address)
{
    static const char *const texts[] = {"target", "target", "target enter data", "target exit data",
                                        "target update"};
    enum { TYPES = sizeof texts / sizeof texts[0], NOT_WAITING = 8 };
    (void)task, (void)target_task, (void)target, (void)return_address;
    if (endpoint == OMPT_BEGIN) {
        const int waiting = kind > NOT_WAITING ? kind - NOT_WAITING : kind;
        const mxp_arg arg = mxp_i64(mxp_string("device"), device);
        begin(target_owner, texts[waiting > 0 && waiting < TYPES ? waiting : 0], &arg, 1);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end(target_owner, 0);
    }
}

// The forms that do not wait are 16 above those that do.
void mxp__ompt_target_data(int endpoint, ompt_data *target_task, ompt_data *target,
                           uint64_t *operation, int kind, void *from, int from_device, void *to,
                           int to_device, size_t size_bytes, const void *return_address)
{
    static const char *const texts[] = {
        "data",        "data alloc",     "data to device",   "data from device",
        "data delete", "data associate", "data disassociate"};
    enum { TYPES = sizeof texts / sizeof texts[0], NOT_WAITING = 16 };
    (void)target_task, (void)target, (void)operation, (void)from, (void)to, (void)return_address;
    if (endpoint == OMPT_BEGIN) {
        const int waiting = kind > NOT_WAITING ? kind - NOT_WAITING : kind;
        const mxp_arg args[] = {mxp_u64(mxp_string("bytes"), size_bytes),
                                mxp_i64(mxp_string("from device"), from_device),
                                mxp_i64(mxp_string("to device"), to_device)};
        begin(data_owner, texts[waiting > 0 && waiting < TYPES ? waiting : 0], args, 3);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end(data_owner, 0);
    }
}

void mxp__ompt_target_submit(int endpoint, ompt_data *target, uint64_t *operation, unsigned teams)
{
    (void)target, (void)operation;
    if (endpoint == OMPT_BEGIN) {
        const mxp_arg arg = mxp_u64(mxp_string("teams"), teams);
        begin(submit_owner, "kernel submit", &arg, 1);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end(submit_owner, 0);
    }
}

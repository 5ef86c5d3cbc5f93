// SPDX-License-Identifier: Apache-2.0
// Contexts: which exist, what engine, storage and people call them.
#include <mxprof/format.h>
#include <stdio.h>

#include "base/fail.h"
#include "runtime/tensor/array_state.h"

const char *mxn_context_text(mxn_context context, char buffer[32])
{
    const char *type = context.type == MXN_CPU          ? "cpu"
                       : context.type == MXN_GPU        ? "gpu"
                       : context.type == MXN_CPU_PINNED ? "cpu_pinned"
                       : context.type == MXN_CPU_SHARED ? "cpu_shared"
                                                        : NULL;
    if (type != NULL) {
        snprintf(buffer, 32, "%s(%d)", type, (int)context.id);
    } else {
        snprintf(buffer, 32, "device type %d", (int)context.type);
    }
    return buffer;
}

static bool exists(mxn_context context)
{
    bool is_processor =
        context.type == MXN_CPU || context.type == MXN_CPU_PINNED || context.type == MXN_CPU_SHARED;
    return is_processor && context.id >= 0 && context.id < MXP_DEVICE_GPU;
}

static int refuse(mxn_context context)
{
    char text[32];
    mxn_context_text(context, text);
    switch (context.type) {
    case MXN_CPU:
    case MXN_CPU_PINNED:
    case MXN_CPU_SHARED:
        return mxp__fail(MXP_EINVAL, "%s: no such device: ids go from 0 to %d", text,
                         MXP_DEVICE_GPU - 1);
    case MXN_GPU:
        return mxp__fail(MXP_EINVAL, "%s: no such device: there are 0 GPUs; use cpu()", text);
    default:
        return mxp__fail(MXP_EINVAL,
                         "%s: no such device: valid types are 1 cpu, 2 gpu, 3 cpu_pinned, "
                         "5 cpu_shared",
                         text);
    }
}

// Every push and every array asks: the answer yes formats no text.
int mxn_context_check(mxn_context context)
{
    return exists(context) ? MXP_OK : refuse(context);
}

uint32_t mxn_context_engine_device(mxn_context context)
{
    return (uint32_t)context.id;
}

uint32_t mxn__context_storage_device(mxn_context context)
{
    return context.type == MXN_CPU_PINNED   ? (uint32_t)MXP_DEVICE_CPU_PINNED
           : context.type == MXN_CPU_SHARED ? (uint32_t)MXP_DEVICE_CPU_SHARED
                                            : (uint32_t)context.id;
}

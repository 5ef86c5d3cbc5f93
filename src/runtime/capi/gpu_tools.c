// SPDX-License-Identifier: Apache-2.0
// MXNet's functions for Nvidia's tools. Of a GPU there is nothing here; the tools follow what
// processors do as well, where they are there.
#include <dlfcn.h>
#include <mxnet/c_api.h>
#include <mxprof/range.h>
#include <string.h>

#include "base/fail.h"

static int answer(int error)
{
    return error == MXP_OK ? 0 : -1;
}

int MXNVTXRangePush(const char *name, uint32_t color)
{
    return answer(name != NULL ? mxp_range_push(name, color)
                               : mxp__fail(MXP_EINVAL, "Check  notnull: name"));
}

int MXNVTXRangePop(void)
{
    return answer(mxp_range_pop());
}

// A function of CUDA's runtime, if the program has it.
static int call_cuda(const char *name)
{
    int (*function)(void);
    void *found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        return mxp__fail(MXP_ENOTSUP,
                         "%s is not in this process: link or preload CUDA's runtime library "
                         "(libcudart), and start the program under a tool of Nvidia's, which the "
                         "variable NVTX_INJECTION64_PATH names",
                         name);
    }
    memcpy(&function, &found, sizeof function);
    int code = function();
    return code == 0 ? MXP_OK : mxp__fail(MXP_ESTATE, "%s answers %d", name, code);
}

int MXCUDAProfilerStart(void)
{
    return answer(call_cuda("cudaProfilerStart"));
}

int MXCUDAProfilerStop(void)
{
    return answer(call_cuda("cudaProfilerStop"));
}

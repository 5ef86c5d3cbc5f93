// SPDX-License-Identifier: Apache-2.0
// Loads libmxnet_mpi.so, which lies beside this library: nothing else needs MPI.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "runtime/kvstore/transport.h"

enum { PATH_BYTES = 4096 };
static const char *const ADVICE =
    "Debian has what is missing: apt install openmpi-bin libopenmpi-dev";

static const char mark = 0;  // lies in this library

// "/where/this/library/is/libmxnet_mpi.so"; false: longer than a path.
static bool find_plugin(char path[PATH_BYTES])
{
    Dl_info own;
    const char *slash = NULL;
    if (dladdr(&mark, &own) != 0 && own.dli_fname != NULL) {
        slash = strrchr(own.dli_fname, '/');
    }
    int length = slash == NULL ? 0 : (int)(slash - own.dli_fname + 1);
    int size = snprintf(path, PATH_BYTES, "%.*slibmxnet_mpi.so", length,
                        slash == NULL ? "" : own.dli_fname);
    return size < PATH_BYTES;
}

int mxn__transport_open_mpi(mxn_transport **transport)
{
    char path[PATH_BYTES];
    *transport = NULL;
    if (!find_plugin(path) || access(path, R_OK) != 0) {
        return mxp__fail(
            MXP_ENOTSUP,
            "this process was started by MPI, and libmxnet_mpi.so, which a store over "
            "processes needs for that, is not at %s: it is built where MPI is found. %s",
            path, ADVICE);
    }
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        const char *reason = dlerror();
        return mxp__fail(MXP_ENOTSUP, "libmxnet_mpi.so cannot be loaded: %s. %s",
                         reason == NULL ? "no reason given" : reason, ADVICE);
    }
    mxn_mpi_open open;
    void *found = dlsym(plugin, MXN_MPI_OPEN_NAME);
    if (found == NULL) {
        return mxp__fail(MXP_ENOTSUP, "%s is of another version: it has no %s", path,
                         MXN_MPI_OPEN_NAME);
    }
    memcpy(&open, &found, sizeof open);
    return open(transport);
}

// SPDX-License-Identifier: Apache-2.0
// Files under /dev/shm, named after the process.
#include "support/scratch.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/harness.h"

static const char folder[] = "/dev/shm";

bool bench_scratch_exists(void)
{
    return access(folder, W_OK) == 0;
}

const char *bench_scratch_path(const char *extension)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/mxprof-bench-%d%s", folder, (int)getpid(), extension);
    return path;
}

void bench_scratch_remove(const char *extension)
{
    unlink(bench_scratch_path(extension));
}

uint64_t bench_scratch_bytes(const char *extension)
{
    struct stat status;
    const char *path = bench_scratch_path(extension);
    bench_require(stat(path, &status) == 0, path);
    return (uint64_t)status.st_size;
}

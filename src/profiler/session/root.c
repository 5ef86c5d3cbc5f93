// SPDX-License-Identifier: Apache-2.0
// See root.h. The mark is the number of the process and when it was started, because numbers are
// used again. A process that replaces its program by exec stays the first.
#include "profiler/session/root.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/os/os.h"
#include "base/os/process.h"
#include "base/setting.h"
#include "profiler/recorder/recorder.h"

static const char variable[] = "MXPROF_ROOT_PID";
enum { MARK_BYTES = 48, ENVIRONMENT_BYTES_MAX = 8 << 20 };
static char own[MARK_BYTES], other[MARK_BYTES];
static bool has_copy;

// NUMBER-START: anything else was not written by us.
static bool is_mark(const char *text)
{
    size_t number = strspn(text, "0123456789");
    size_t start = text[number] == '-' ? strspn(text + number + 1, "0123456789") : 0;
    return number > 0 && start > 0 && text[number + 1 + start] == '\0' &&
           number + 1 + start < MARK_BYTES;
}

// A process finds its own mark where it was left before an exec: what a program begins with ends
// below the name of its file. Or where another copy of the library has just left it: in memory of
// its own.
void mxp__root_init(void)
{
    const char *found = mxp__setting_text(variable);
    snprintf(own, sizeof own, "%u-%llu", (unsigned)mxp__os_process_id(),
             (unsigned long long)mxp__os_process_start_ns());
    if (found != NULL && strcmp(found, own) == 0) {
        has_copy = getauxval(AT_EXECFN) - (uintptr_t)found > ENVIRONMENT_BYTES_MAX;
    } else if (found != NULL && is_mark(found)) {
        memcpy(other, found, strlen(found) + 1);
        mxp__info_root_set(other);
    }
}

bool mxp__root_has_copy(void)
{
    return has_copy;
}

bool mxp__root_is_other(void)
{
    return other[0] != '\0';
}

const char *mxp__root_mark(void)
{
    return mxp__root_is_other() ? other : own;
}

void mxp__root_leave(void)
{
    if (!mxp__root_is_other()) {
        setenv(variable, own, 1);
    }
}

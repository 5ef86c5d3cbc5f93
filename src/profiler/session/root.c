// SPDX-License-Identifier: Apache-2.0
// See root.h. The mark is the number of the process and when it was started, because numbers are
// used again. A process that replaces its program by exec stays the first.
#include "profiler/session/root.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/os/process.h"
#include "base/setting.h"
#include "profiler/recorder/recorder.h"

static const char variable[] = "MXPROF_ROOT_PID";
enum { MARK_BYTES = 48 };
static char own[MARK_BYTES], other[MARK_BYTES];

// NUMBER-START: anything else was not written by us.
static bool is_mark(const char *text)
{
    size_t number = strspn(text, "0123456789");
    size_t start = text[number] == '-' ? strspn(text + number + 1, "0123456789") : 0;
    return number > 0 && start > 0 && text[number + 1 + start] == '\0' &&
           number + 1 + start < MARK_BYTES;
}

void mxp__root_init(void)
{
    const char *found = mxp__setting_text(variable);
    snprintf(own, sizeof own, "%u-%llu", (unsigned)mxp__os_process_id(),
             (unsigned long long)mxp__os_process_start_ns());
    if (found != NULL && is_mark(found) && strcmp(found, own) != 0) {
        memcpy(other, found, strlen(found) + 1);
        mxp__info_root_set(other);
    }
}

// ---- another copy of the library in this process
// ------------------------------------------------- A program with the static library that loads a
// plugin with the shared one, for instance. The environment says where the first copy's seal is.
// After an exec nothing, or anything else, is there.
static const char copy_variable[] = "MXPROF_COPY";
static uint64_t seal[2];

static bool is_sealed(uint64_t address)
{
    uint64_t found[2] = {0, 0};
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (memory >= 0) {
        (void)!pread(memory, found, sizeof found, (off_t)address);
        close(memory);
    }
    return found[0] == address && found[1] == ~address;
}

bool mxp__root_has_copy(void)
{
    const char *text = mxp__setting_text(copy_variable);
    uint64_t address = text != NULL ? strtoull(text, NULL, 16) : 0;
    return address != 0 && address != (uintptr_t)seal && is_sealed(address);
}

static void leave_seal(void)
{
    char text[32];
    seal[0] = (uintptr_t)seal;
    seal[1] = ~seal[0];
    snprintf(text, sizeof text, "%" PRIx64, seal[0]);
    setenv(copy_variable, text, 1);
}

// -----------------------------------------------------------------------------------------------
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
    leave_seal();
    if (!mxp__root_is_other()) {
        setenv(variable, own, 1);
    }
}

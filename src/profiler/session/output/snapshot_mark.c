// SPDX-License-Identifier: Apache-2.0
// See snapshot_mark.h. Under the session's lock.
#include "profiler/session/output/snapshot_mark.h"

#include <assert.h>
#include <ctype.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/os/named_page.h"
#include "base/os/os.h"
#include "profiler/session/session.h"

static struct {
    void *page;  // null: not shown
    uint32_t pid;  // of the process that shows it: a child inherits all this but the page
    char name[MXP__PAGE_NAME_MAX];
} mark;

// A name that does not fit or cannot be read back is left out.
static void name_of(const char *pattern, int signal, char name[MXP__PAGE_NAME_MAX])
{
    char sign[32] = "mxprof-snapshot";
    if (signal != SIGUSR2) {
        snprintf(sign, sizeof sign, "mxprof-snapshot.%d", signal);
    }
    size_t length = strlen(pattern);
    int is_plain = strlen(sign) + 2 + length <= MXP__PAGE_NAME_MAX;
    for (size_t i = 0; i < length && is_plain; i++) {
        is_plain = isgraph((unsigned char)pattern[i]) || pattern[i] == ' ';
    }
    if (is_plain) {
        snprintf(name, MXP__PAGE_NAME_MAX, "%s:%s", sign, pattern);
    } else {
        snprintf(name, MXP__PAGE_NAME_MAX, "%s", sign);
    }
}

static void take_away(void)
{
    if (mark.page != NULL) {
        mxp__named_page_remove(mark.page);
        mark.page = NULL;
    }
}

void mxp__snapshot_mark(const char *pattern, int signal)
{
    assert(mxp__lock_is_held(&mxp__session_storage()->lock));
    char name[MXP__PAGE_NAME_MAX];
    if (mark.page != NULL && mark.pid != mxp__os_process_id()) {
        mark.page = NULL;
    }
    if (pattern == NULL) {
        take_away();
        return;
    }
    name_of(pattern, signal, name);
    if (mark.page == NULL || strcmp(name, mark.name) != 0) {
        take_away();
        mark.page = mxp__named_page(name);
        mark.pid = mxp__os_process_id();
        memcpy(mark.name, name, sizeof name);
    }
}

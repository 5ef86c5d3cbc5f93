// SPDX-License-Identifier: Apache-2.0
// The beginning and the end of the process: the library's only constructor and destructor. The
// environment may ask for a profile of the whole program; whatever profile is under way is written
// when the process ends (the destructor runs after the program's own atexit handlers).
#include <mxprof/gate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/setting.h"
#include "session/root.h"
#include "session/session.h"

enum { MODE_ALL = MXP_CLASS_SYMBOLIC | MXP_CLASS_IMPERATIVE | MXP_CLASS_API | MXP_CLASS_MEMORY };

static bool autostart_wanted(void)
{
    const char *text = mxp__setting_text("MXNET_PROFILER_AUTOSTART");
    if (text == NULL || strcmp(text, "0") == 0 || strcasecmp(text, "false") == 0) {
        return false;
    }
    if (strcmp(text, "1") == 0 || strcasecmp(text, "true") == 0) {
        return true;
    }
    fprintf(stderr,
            "mxprof: MXNET_PROFILER_AUTOSTART='%.40s' is ignored: set it to 0, 1, true or "
            "false\n",
            text);
    return false;
}

uint32_t mxp__autostart_classes(void)
{
    const char *text = mxp__setting_text("MXNET_PROFILER_MODE");
    if (text == NULL) {
        return MODE_ALL | MXP_CLASS_USER;
    }
    char *end;
    long mode = strtol(text, &end, 10);
    if (*end != '\0' || mode < 0 || mode > MODE_ALL) {
        fprintf(stderr,
                "mxprof: MXNET_PROFILER_MODE='%.40s' is ignored: set it to a sum of 1 "
                "(symbolic), 2 (imperative), 4 (API) and 8 (memory)\n",
                text);
        mode = MODE_ALL;
    }
    return (uint32_t)mode | MXP_CLASS_USER;
}

void mxp__autostart_link(void)
{
}

__attribute__((constructor)) static void begin_process(void)
{
    mxp__fork_install();
    if (!autostart_wanted()) {
        return;
    }
    mxp_session *session = mxp_session_get();
    mxp__root_leave();
    if (mxp_session_run(session) != MXP_OK) {
        fprintf(stderr, "mxprof: MXNET_PROFILER_AUTOSTART: %s\n", mxp_last_error());
    }
}

__attribute__((destructor)) static void end_process(void)
{
    mxp__session_finish();
}

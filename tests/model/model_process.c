// SPDX-License-Identifier: Apache-2.0
// What a program does beside the profiler: it has children, becomes a daemon, changes its folder.
#include <fcntl.h>
#include <mxprof/record.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model.h"

#define CLOSING_FUNCTION "model_close_all"
#include "tsan_closing.h"

static void live_as_child(unsigned count)
{
    mxp_name name = mxp_span_name("model", "child");
    for (unsigned i = 0; i < count; i++) {
        mxp_span_end(name, mxp_span_begin(name));
    }
    switch (model_below(4)) {
    case 0:
        _exit(0);
    case 1:
        raise(SIGKILL);
        break;
    case 2:
        if (count == 0) {
            execl("/bin/true", "true", (char *)NULL);
        }
        break;
    default:
        break;
    }
    exit(0);
}

void model_have_child(void)
{
    if (the.children == CHILDREN_MAX) {
        return;
    }
    unsigned count = model_below(3) == 0 ? 0 : (unsigned)model_below(50);
    bool records = model_is_on() && the.config.store == MXP_STORE_FILE;
    pid_t pid = fork();
    model_require(pid >= 0, "fork");
    if (pid == 0) {
        live_as_child(count);
    }
    model_require(waitpid(pid, NULL, 0) == pid, "waitpid");
    the.child[the.children++] =
        (child){.pid = pid, .count = records ? count : 0, .index = the.index, .in_chrome = -1};
}

// As daemons do; the next file gets the lowest number that was freed.
void model_close_all(void)
{
    if (the.precious >= 0) {
        return;
    }
    for (int fd = 3; fd < 256; fd++) {
        close(fd);
    }
    char path[PATH_BYTES];
    the.precious = open(model_path(path, "precious.txt"), O_RDWR | O_CREAT | O_TRUNC, 0644);
    model_require(the.precious >= 0, "the program's own file");
    for (int i = 0; i < 1000; i++) {
        model_require(dprintf(the.precious, "line %d\n", i) > 0, "the program's own file");
    }
}

void model_change_folder(void)
{
    model_require(chdir(the.in_sub ? ".." : "sub") == 0, "chdir");
    the.in_sub = !the.in_sub;
}

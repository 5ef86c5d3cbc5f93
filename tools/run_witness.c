// SPDX-License-Identifier: Apache-2.0
#include "run_witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

// The call that sends a signal to a group gives it to one process after the other, so the witness
// is asked twice. An answer needs a core.
enum { ASKED = 2, BETWEEN_MS = 20, ANSWER_MS = 5000 };

// By which the witness is asked: of several signals it takes those with lower numbers first.
static int question(void)
{
    return SIGRTMAX;
}

// All signals are blocked in it.
static _Noreturn void watch(const sigset_t *of_group, int seen, pid_t parent)
{
    sigset_t set = *of_group;
    sigaddset(&set, question());
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "run-witness");  // who ends commands by their names does not mean it
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (stream != seen) {
            close(stream);
        }
    }
    while (getppid() == parent) {
        int signal;
        if (sigwait(&set, &signal) == 0) {
            const unsigned char number = (unsigned char)signal;
            if (write(seen, &number, 1) != 1) {
                break;
            }
        }
    }
    _exit(0);
}

void mxp__witness_start(mxp_witness *witness, const sigset_t *of_group)
{
    int seen[2];
    *witness = (mxp_witness){.seen = -1};
    if (pipe2(seen, O_CLOEXEC | O_NONBLOCK) != 0) {
        return;
    }
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t parent = getpid();
    const pid_t made = fork();
    if (made == 0) {
        close(seen[0]);
        watch(of_group, seen[1], parent);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(seen[1]);
    if (made < 0) {
        close(seen[0]);
        return;
    }
    *witness = (mxp_witness){.process = made, .seen = seen[0]};
}

// Reads what it saw, up to its answer. One that somebody has ended saw everything, for all we know.
static bool ask(const mxp_witness *witness, int signal)
{
    struct pollfd source = {.fd = witness->seen, .events = POLLIN};
    unsigned char number = 0;
    bool saw = kill(witness->process, question()) != 0;
    while (number != question() && poll(&source, 1, ANSWER_MS) > 0) {
        if (read(witness->seen, &number, 1) != 1) {
            return true;
        }
        saw |= number == signal;
    }
    return saw;
}

bool mxp__witness_saw(const mxp_witness *witness, int signal)
{
    bool saw = witness->process == 0;
    for (int i = 0; i < ASKED && !saw; i++) {
        if (i > 0) {
            poll(NULL, 0, BETWEEN_MS);
        }
        saw = ask(witness, signal);
    }
    return saw;
}

void mxp__witness_stop(mxp_witness *witness)
{
    if (witness->process == 0) {
        return;
    }
    kill(witness->process, SIGKILL);
    while (waitpid(witness->process, NULL, 0) < 0 && errno == EINTR) {
    }
    close(witness->seen);
    *witness = (mxp_witness){.seen = -1};
}

// SPDX-License-Identifier: Apache-2.0
#include "run_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_witness.h"

static const int handed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
// Of a terminal they come to the program as well; of a process that sends them to this one alone
// they are handed on.
static const int of_group[] = {SIGINT, SIGQUIT};
enum {
    HANDED_ON = sizeof handed_on / sizeof handed_on[0],
    OF_GROUP = sizeof of_group / sizeof of_group[0]
};

static volatile pid_t child;
static mxp_witness witness;

static void hand_on(int signal)
{
    int saved = errno;
    if (child > 0) {
        kill(child, signal);
    }
    errno = saved;
}

static void hand_on_alone(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    (void)context;
    const bool is_groups = mxp__witness_saw(&witness, signal) || info->si_code == SI_KERNEL;
    if (child > 0 && !is_groups) {
        kill(child, signal);
    }
    errno = saved;
}

// What this process did with the signals before, for the program to inherit.
typedef struct signal_actions {
    struct sigaction handed_on[HANDED_ON], of_group[OF_GROUP], child_ends;
    sigset_t mask;
} signal_actions;

// Signals that come before the child is known wait for it.
static void take_signals(signal_actions *before)
{
    sigset_t wait;
    sigemptyset(&wait);
    for (int i = 0; i < HANDED_ON; i++) {
        sigaddset(&wait, handed_on[i]);
    }
    for (int i = 0; i < OF_GROUP; i++) {
        sigaddset(&wait, of_group[i]);
    }
    sigprocmask(SIG_BLOCK, &wait, &before->mask);
    for (int i = 0; i < HANDED_ON; i++) {
        struct sigaction action = {.sa_handler = hand_on, .sa_flags = SA_RESTART};
        sigaction(handed_on[i], &action, &before->handed_on[i]);
    }
    for (int i = 0; i < OF_GROUP; i++) {
        struct sigaction action = {
            .sa_sigaction = hand_on_alone, .sa_flags = SA_RESTART | SA_SIGINFO, .sa_mask = wait};
        sigaction(of_group[i], &action, &before->of_group[i]);
    }
    // Where it is ignored, as some who start programs have it, nobody is told how a child ended.
    const struct sigaction told = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &told, &before->child_ends);
}

// This command ignores SIGPIPE; whoever started it did not, as a rule, and says so by the default.
static void give_signals_back(const signal_actions *before)
{
    for (int i = 0; i < HANDED_ON; i++) {
        sigaction(handed_on[i], &before->handed_on[i], NULL);
    }
    for (int i = 0; i < OF_GROUP; i++) {
        sigaction(of_group[i], &before->of_group[i], NULL);
    }
    sigaction(SIGCHLD, &before->child_ends, NULL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

// MXPROF_RUN_PROCESS of this process, whose number is known from now on.
static void name_process(void)
{
    char number[16];
    snprintf(number, sizeof number, "%ld", (long)getpid());
    setenv("MXPROF_RUN_PROCESS", number, 1);
}

// As execvp, which however hands a file that is no program to a shell: what runs then is not what
// was named. A folder that may not be searched counts only if no other one has the program.
static int execute(char *const *arguments)
{
    char path[PATH_MAX];
    int error = ENOENT;
    if (strchr(arguments[0], '/') != NULL) {
        execv(arguments[0], arguments);
        return errno;
    }
    const char *folders = getenv("PATH");
    for (const char *at = folders != NULL ? folders : "/bin:/usr/bin"; at != NULL;) {
        const int length = (int)strcspn(at, ":");
        const int written = snprintf(path, sizeof path, "%.*s/%s", length > 0 ? length : 1,
                                     length > 0 ? at : ".", arguments[0]);
        if (written > 0 && written < PATH_MAX) {
            execv(path, arguments);
            if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
                return errno;
            }
            error = errno == EACCES ? EACCES : error;
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return error;
}

static _Noreturn void become(char *const *arguments, const signal_actions *before, int report)
{
    give_signals_back(before);
    int error = execute(arguments);
    ssize_t told = write(report, &error, sizeof error);
    _exit(told == sizeof error ? 127 : 126);
}

// The errno of a start that failed, which comes through the pipe; 0: the pipe was closed by exec.
static int read_report(int report)
{
    int error = 0;
    ssize_t got;
    do {
        got = read(report, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    close(report);
    return got == sizeof error ? error : 0;
}

// A program that is stopped stops us, so that the shell's job control sees one job.
static void wait_for_end(int *status)
{
    for (;;) {
        pid_t ended = waitpid(child, status, WUNTRACED);
        if (ended < 0 && errno != EINTR) {
            return;
        }
        if (ended == child && !WIFSTOPPED(*status)) {
            return;
        }
        if (ended == child && WSTOPSIG(*status) == SIGTSTP) {
            raise(SIGSTOP);
        }
    }
}

// After the program, so that the program is the first child of ours, and after the pipe's end is
// closed, which it would keep open.
static void start_witness(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    for (int i = 0; i < OF_GROUP; i++) {
        sigaddset(&signals, of_group[i]);
    }
    mxp__witness_start(&witness, &signals);
}

int mxp__run_process(char *const *arguments, bool is_alone, int *status)
{
    int report[2];
    signal_actions before;
    *status = 0;
    if (pipe2(report, O_CLOEXEC) != 0) {
        return errno;
    }
    take_signals(&before);
    pid_t made = fork();
    if (made == 0) {
        close(report[0]);
        if (is_alone) {
            name_process();
        }
        become(arguments, &before, report[1]);
    }
    int error = made < 0 ? errno : 0;
    child = made;
    close(report[1]);
    if (made > 0) {
        start_witness();
    }
    sigprocmask(SIG_SETMASK, &before.mask, NULL);
    int start_error = read_report(report[0]);
    if (made > 0) {
        wait_for_end(status);
    }
    child = 0;
    mxp__witness_stop(&witness);
    return error != 0 ? error : start_error;
}

void mxp__end_like(int status)
{
    if (WIFSIGNALED(status)) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        sigset_t all;
        sigfillset(&all);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        exit(128 + WTERMSIG(status));
    }
    exit(WEXITSTATUS(status));
}

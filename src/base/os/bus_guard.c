// SPDX-License-Identifier: Apache-2.0
#include "base/os/bus_guard.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "base/atomic.h"

static struct {
    unsigned count;
    MXP_ATOMIC(mxp_bus_rescue *) rescue;
    struct sigaction
        before;  // set before ours is installed; kept, for a program may call ours later
    bool covered;  // the program has installed a handler after ours, which may call ours
} guard;

// ---- what would have happened ------------------------------------------------------------------
// Lets the default action happen: an access is repeated when the handler returns, and a signal that
// was sent is raised again.
static void act_by_default(const siginfo_t *info)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigemptyset(&plain.sa_mask);
    sigaction(SIGBUS, &plain, NULL);
    bool is_access = info->si_code == BUS_ADRALN || info->si_code == BUS_ADRERR ||
                     info->si_code == BUS_OBJERR || info->si_code == BUS_MCEERR_AR;
    if (!is_access) {
        raise(SIGBUS);
    }
}

static bool was_sent(const siginfo_t *info)
{
    return info->si_code <= 0;
}

// Sets the mask under which the system would have called the program's handler.
static void set_mask(const struct sigaction *action, const ucontext_t *context)
{
    sigset_t mask = context->uc_sigmask;
    for (int number = 1; number < NSIG; number++) {
        if (sigismember(&action->sa_mask, number) == 1) {
            sigaddset(&mask, number);
        }
    }
    if ((action->sa_flags & SA_NODEFER) == 0) {
        sigaddset(&mask, SIGBUS);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction action = guard.before;
    if (action.sa_handler == SIG_DFL || (action.sa_handler == SIG_IGN && !was_sent(info))) {
        act_by_default(info);
        return;
    }
    if (action.sa_handler == SIG_IGN) {
        return;
    }
    if ((action.sa_flags & SA_RESETHAND) != 0) {
        guard.before.sa_handler = SIG_DFL;
        guard.before.sa_flags = 0;
    }
    set_mask(&action, context);
    if ((action.sa_flags & SA_SIGINFO) != 0) {
        action.sa_sigaction(number, info, context);
    } else {
        action.sa_handler(number);
    }
}

// ---- ours --------------------------------------------------------------------------------------
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    mxp_bus_rescue *rescue = mxp_atomic_load_acquire(&guard.rescue);
    bool rescued = info->si_code == BUS_ADRERR && rescue != NULL && rescue(info->si_addr);
    errno = saved;
    if (!rescued) {
        pass_on(number, info, context);
    }
}

// On the stack that the program's handler asked for; without such a handler on the alternate stack.
static void install(void)
{
    bool handles = guard.before.sa_handler != SIG_DFL && guard.before.sa_handler != SIG_IGN;
    int kept = handles ? guard.before.sa_flags & (SA_ONSTACK | SA_RESTART) : SA_ONSTACK;
    struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | kept};
    sigfillset(&ours.sa_mask);
    sigaction(SIGBUS, &ours, NULL);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_bus_error;
}

void mxp__bus_guard_begin(mxp_bus_rescue *rescue)
{
    struct sigaction found;
    if (guard.count++ != 0 || sigaction(SIGBUS, NULL, &found) != 0) {
        return;
    }
    mxp_atomic_store_release(&guard.rescue, rescue);
    if (!is_ours(&found) && !guard.covered) {
        guard.before = found;
        install();
    }
}

void mxp__bus_guard_end(void)
{
    struct sigaction found;
    if (guard.count == 0 || --guard.count != 0) {
        return;
    }
    guard.covered = sigaction(SIGBUS, NULL, &found) != 0 || !is_ours(&found);
    if (!guard.covered) {
        sigaction(SIGBUS, &guard.before, NULL);
    }
}

void mxp__bus_guard_end_all(void)
{
    guard.count = guard.count > 1 ? 1 : guard.count;
    mxp__bus_guard_end();
}

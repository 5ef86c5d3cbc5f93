// SPDX-License-Identifier: Apache-2.0
// The handler wakes the liveness thread and does nothing else. All processes of a job are told to
// end together, and end one after another: so each tells the others that it was told, and who was
// told himself takes the end of such a one for no death.
#include "runtime/kvstore/liveness_terminated.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "runtime/kvstore/liveness_words.h"

static const uint64_t TERMINATED_NS = 500000000;

static mxp_atomic_u32 process;  // whose thread is woken, 0: none; a forked child's is another
static mxp_atomic_u32 is_asked;
static int wake_fd;  // stored before `process`

static void terminate(int number)
{
    const int kept = errno;
    const uint64_t one = 1;
    if (mxp_atomic_load_acquire(&process) == mxp__os_process_id()) {
        mxp_atomic_store(&is_asked, 1u);
        (void)!write(wake_fd, &one, sizeof one);
    } else {
        raise(number);  // by its default, once this handler has returned
    }
    errno = kept;
}

void mxn__live_terminated_begin(mxn_liveness *liveness)
{
    struct sigaction before,
        action = {.sa_handler = terminate, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    if (!liveness->setup.head_ends_all || sigaction(SIGTERM, NULL, &before) != 0 ||
        (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) {
        return;
    }
    wake_fd = liveness->wake_fd;
    mxp_atomic_store(&is_asked, 0u);
    mxp_atomic_store_release(&process, mxp__os_process_id());  // pairs with terminate
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
}

void mxn__live_terminated_end(void)
{
    struct sigaction now;
    if (sigaction(SIGTERM, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == terminate) {
        signal(SIGTERM, SIG_DFL);
    }
    mxp_atomic_store(&process, 0u);
    if (mxp_atomic_exchange_acquire(&is_asked, 0u) != 0) {
        kill((pid_t)mxp__os_process_id(), SIGTERM);  // nothing is left that would end it later
    }
}

// Whoever has ended since is not the one: all wait for somebody, and for that they are ended.
static void say_who_is_missing(mxn_liveness *liveness)
{
    char text[MXN_LIVENESS_LINE_BYTES], line[MXN_LIVENESS_LINE_BYTES];
    mxp__lock(&liveness->lock);
    liveness->suspected_ns = 0;
    mxp__unlock(&liveness->lock);
    mxn__live_missing(liveness, "told to end while it waited for", text);
    mxn__live_line(text, &liveness->setup.self, "", line);
    mxn__live_say(line);
}

static void take_notice(mxn_liveness *liveness, uint64_t now_ns)
{
    liveness->is_terminated = true;
    if (liveness->awaited > 0 && !mxp_atomic_load(&liveness->has_failed)) {
        say_who_is_missing(liveness);
    }
    liveness->terminated_ns = now_ns + TERMINATED_NS;
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        if (liveness->others[i].is_here) {
            mxn__live_link_send(&liveness->others[i].link, MXN_LIVE_TERMINATED, NULL, 0);
        }
    }
}

void mxn__live_terminated_turn(mxn_liveness *liveness, uint64_t now_ns)
{
    if (mxp_atomic_load(&is_asked) != 0 && !liveness->is_terminated &&
        mxp_atomic_load(&process) == liveness->process_id) {
        take_notice(liveness, now_ns);
    }
    if (liveness->terminated_ns == 0) {
        return;
    }
    if (liveness->end_ns != 0) {  // nobody waits for the head: who ends the job is at it already
        const uint64_t grace_ns = liveness->failed_ns + (uint64_t)(liveness->setup.grace_s * 1e9);
        liveness->end_ns = grace_ns < liveness->end_ns ? grace_ns : liveness->end_ns;
    } else if (now_ns >= liveness->terminated_ns) {
        liveness->terminated_ns = 0;
        mxp_atomic_store(&is_asked, 0u);
        kill((pid_t)liveness->process_id, SIGTERM);  // by its default now
    }
}

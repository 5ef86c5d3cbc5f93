// SPDX-License-Identifier: Apache-2.0
// What a survivor does: tells the others, prints one line, fails what waits, and ends when the
// grace is over. It needs no other thread to go on, and takes no lock that another may hold for
// long.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "runtime/kvstore/liveness_core.h"
#include "runtime/kvstore/liveness_words.h"

// Others wait so much longer for the head, which ends them.
static const double HEAD_S = 2;

static mxp_atomic_bool process_has_failed;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

// A program may have caught the error and come to its end by itself: its work is not done all the
// same. What else runs at exit still does.
static void change_exit_code(void)
{
    if (mxp_atomic_load(&process_has_failed)) {
        exit(MXN_LIVENESS_EXIT);
    }
}

static void register_exit(void)
{
    (void)atexit(change_exit_code);
}

void mxn__live_text(char *text, uint32_t size, const char *body, uint32_t body_bytes)
{
    assert(size > 0);
    uint32_t length = body_bytes < size - 1 ? body_bytes : size - 1;
    if (length > 0) {
        memcpy(text, body, length);
    }
    text[length] = '\0';
}

// One call, so that lines of several processes do not mix.
void mxn__live_say(const char *line)
{
    char text[MXN_LIVENESS_LINE_BYTES + 16];
    int length = snprintf(text, sizeof text, "mxnet: %s\n", line);
    mxp__os_write(STDERR_FILENO, text, (size_t)length);
}

void mxn__live_doing(const mxn_liveness *liveness, char text[MXN_LIVENESS_TEXT_BYTES])
{
    text[0] = '\0';
    if (liveness->setup.doing != NULL) {
        liveness->setup.doing(liveness->setup.context, text, MXN_LIVENESS_TEXT_BYTES);
        text[MXN_LIVENESS_TEXT_BYTES - 1] = '\0';
    }
}

void mxn__live_settle(mxn_liveness *liveness)
{
    mxp_atomic_store_release(&liveness->is_settled, 1);  // pairs with mxn__liveness_wait
    mxp__os_word_wake(&liveness->is_settled, true);
}

static void tell_others(mxn_liveness *liveness, const char *text, const mxn_live_other *teller)
{
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        mxn_live_other *other = &liveness->others[i];
        if (other != teller && other->is_here) {
            mxn__live_link_send(&other->link, MXN_LIVE_FAILED, text, (uint32_t)strlen(text));
        }
    }
}

void mxn__live_fail(mxn_liveness *liveness, const char *text, const mxn_live_other *teller)
{
    if (mxp_atomic_load(&liveness->has_failed)) {
        return;
    }
    mxp_atomic_store(&liveness->has_failed, true);
    mxp_atomic_store(&process_has_failed, true);
    pthread_once(&exit_once, register_exit);
    tell_others(liveness, text, teller);
    char doing[MXN_LIVENESS_TEXT_BYTES], line[MXN_LIVENESS_LINE_BYTES];
    mxn__live_doing(liveness, doing);
    mxn__live_line(text, &liveness->setup.self, doing, line);
    mxn__live_say(line);
    bool waits_for_head =
        liveness->setup.head_ends_all && !liveness->is_head && !liveness->head_is_gone;
    double wait_s = liveness->setup.grace_s + (waits_for_head ? HEAD_S : 0);
    liveness->failed_ns = mxp__os_monotonic_ns();
    liveness->end_ns = liveness->failed_ns + (uint64_t)(wait_s * 1e9);
    if (liveness->setup.failed != NULL) {
        liveness->setup.failed(liveness->setup.context, line);
    }
    mxn__live_settle(liveness);
}

void mxn__live_end(mxn_liveness *liveness)
{
    bool ends_all = liveness->is_head || liveness->head_is_gone;
    if (liveness->setup.end != NULL && ends_all) {
        liveness->setup.end(liveness->setup.context, MXN_LIVENESS_EXIT);
    }
    _exit(MXN_LIVENESS_EXIT);
}

// SPDX-License-Identifier: Apache-2.0
// Trainings of real processes on this machine, which find each other by DMLC_* and talk over
// sockets.
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "dist_world.h"

enum { LONG = 300000, PROCESSES_MAX = 8 };

// ---- starting ----------------------------------------------------------------------------------
typedef struct started {
    pid_t pid;
    int text;  // what it wrote
} started;

static int port;

static void set_number(const char *variable, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(variable, text, 1);
}

static void pick_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    port = ntohs(at.sin_port);
    close(fd);
}

// A process of this role, which exits with what `run` returns; what it writes to fd 1 is kept.
static started start(const char *role, int workers, int servers, int (*run)(void))
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        close(pipes[1]);
        setenv("DMLC_ROLE", role, 1);
        setenv("DMLC_PS_ROOT_URI", "127.0.0.1", 0);
        set_number("DMLC_PS_ROOT_PORT", port);
        set_number("DMLC_NUM_WORKER", workers);
        set_number("DMLC_NUM_SERVER", servers);
        const int code = run();
        fflush(stdout);
        _exit(code);
    }
    close(pipes[1]);
    return (started){pid, pipes[0]};
}

// Its exit code, or 128 + signal; it is killed after 30 s.
static int end(const started *of, char *text, size_t size)
{
    int status = 0;
    const uint64_t until_ns = mxp__os_monotonic_ns() + UINT64_C(30000000000);
    while (waitpid(of->pid, &status, WNOHANG) == 0) {
        if (mxp__os_monotonic_ns() > until_ns) {
            kill(of->pid, SIGKILL);
        }
        mxp__os_sleep_us(1000);
    }
    const ssize_t got = read(of->text, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    close(of->text);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static mxn_dist *open_node(void)
{
    mxn_dist_config config;
    mxn_dist *dist = NULL;
    if (mxn_dist_config_read(&config) != MXP_OK ||
        mxn_dist_open(&config, NULL, NULL, &dist) != MXP_OK) {
        printf("%s", mxp_last_error());
        return NULL;
    }
    return dist;
}

static int serve(void)
{
    mxn_dist *dist = open_node();
    if (dist == NULL) {
        return 1;
    }
    int error = mxn_dist_serve(dist);
    if (error != MXP_OK) {
        printf("%s", mxp_last_error());
    }
    mxn_dist_free(dist);
    return error == MXP_OK ? 0 : 70;
}

// ---- a training --------------------------------------------------------------------------------
static int waited(dist_outcome *of, int submitted)
{
    if (submitted != MXP_OK) {
        printf("%s", mxp_last_error());
        return submitted;
    }
    dist_outcome_wait(of);
    if (of->error != MXP_OK) {
        printf("%s", of->text);
    }
    return of->error;
}

static float in[LONG], out[LONG];

static bool inits(mxn_dist *dist, uint64_t small, uint64_t large)
{
    static float zeros[LONG];
    uint16_t store = 0;
    dist_outcome done;
    return mxn_dist_store_open(dist, false, &store) == MXP_OK &&
           waited(&done, dist_world_init(dist, store, 0, "small", zeros, small, &done)) == MXP_OK &&
           waited(&done, dist_world_init(dist, store, 1, "large", zeros, large, &done)) == MXP_OK;
}

static bool trains(mxn_dist *dist, uint64_t count, uint32_t key)
{
    dist_outcome done;
    const float rank = (float)mxn_dist_rank(dist);
    for (int round = 1; round <= 20; round++) {
        for (uint64_t i = 0; i < count; i++) {
            in[i] = rank + (float)round * (float)(i % 7);
        }
        if (waited(&done, dist_world_do(dist, MXN_DIST_PUSH, 0, key, in, NULL, count, &done)) !=
                MXP_OK ||
            waited(&done, dist_world_do(dist, MXN_DIST_PULL, 0, key, NULL, out, count, &done)) !=
                MXP_OK) {
            return false;
        }
        for (uint64_t i = 0; i < count; i++) {
            if (out[i] != 1.0f + 2.0f * (float)round * (float)(i % 7)) {
                printf("round %d: %g at %d", round, (double)out[i], (int)i);
                return false;
            }
        }
    }
    return waited(&done, dist_world_do(dist, MXN_DIST_BARRIER, 0, 0, NULL, NULL, 0, &done)) ==
           MXP_OK;
}

static int work(void)
{
    setenv("MXNET_KVSTORE_BIGARRAY_BOUND", "100000", 1);
    mxn_dist *dist = open_node();
    const bool is_good = dist != NULL && inits(dist, 400, LONG) && trains(dist, 400, 0) &&
                         trains(dist, LONG, 1) && mxn_dist_close(dist) == MXP_OK;
    mxn_dist_free(dist);
    return is_good ? 0 : 1;
}

static void processes_train_together(void **state)
{
    (void)state;
    char text[512];
    pick_port();
    const started all[] = {start("worker", 2, 2, work), start("server", 2, 2, serve),
                           start("scheduler", 2, 2, serve), start("server", 2, 2, serve),
                           start("worker", 2, 2, work)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const int code = end(&all[i], text, sizeof text);
        assert_string_equal(text, "");
        assert_int_equal(code, 0);
    }
}

// ---- what goes wrong at the start --------------------------------------------------------------
static void nobody_waits_longer_than_the_limit(void **state)
{
    (void)state;
    char text[512], wanted[512], host[64];
    pick_port();
    mxp__os_host_name(host, sizeof host);
    setenv("MXNET_KVSTORE_START_TIMEOUT", "1", 1);
    const started all[] = {start("scheduler", 1, 2, serve), start("worker", 1, 2, work),
                           start("server", 1, 2, serve)};
    unsetenv("MXNET_KVSTORE_START_TIMEOUT");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(end(&all[i], text, sizeof text), 1);
        assert_non_null(strstr(text, "waited 1 s for 1 of 2 servers; have: "));
        snprintf(wanted, sizeof wanted, "worker 0 (%s, %d)", host, (int)all[1].pid);
        assert_non_null(strstr(text, wanted));
        snprintf(wanted, sizeof wanted, "server 0 (%s, %d)", host, (int)all[2].pid);
        assert_non_null(strstr(text, wanted));
    }
}

static void a_scheduler_that_is_not_there_is_named(void **state)
{
    (void)state;
    char text[512], wanted[64];
    pick_port();
    setenv("MXNET_KVSTORE_START_TIMEOUT", "1", 1);
    const started worker = start("worker", 1, 1, work);
    unsetenv("MXNET_KVSTORE_START_TIMEOUT");
    assert_int_equal(end(&worker, text, sizeof text), 1);
    snprintf(wanted, sizeof wanted, "waited 1 s for the scheduler at 127.0.0.1:%d", port);
    assert_string_equal(text, wanted);
}

static void another_machine_is_refused(void **state)
{
    (void)state;
    char text[512];
    setenv("DMLC_PS_ROOT_URI", "192.0.2.1", 1);
    const started worker = start("worker", 1, 1, work);
    unsetenv("DMLC_PS_ROOT_URI");
    assert_int_equal(end(&worker, text, sizeof text), 1);
    assert_non_null(strstr(text, "another machine: start these with mxnet-launch or mpirun"));
}

static void counts_that_differ_are_told_to_all(void **state)
{
    (void)state;
    char text[512];
    pick_port();
    const started all[] = {start("scheduler", 1, 1, serve), start("worker", 1, 2, work)};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(end(&all[i], text, sizeof text), 1);
        assert_non_null(strstr(text, "has DMLC_NUM_WORKER=1 and DMLC_NUM_SERVER=2, the scheduler "
                                     "1 and 1"));
    }
}

static void variables_are_checked(void **state)
{
    (void)state;
    char text[512];
    pick_port();
    const started lord = start("lord", 1, 1, work), none = start("worker", 0, 1, work);
    assert_int_equal(end(&lord, text, sizeof text), 1);
    assert_string_equal(text, "DMLC_ROLE='lord': set it to worker, server or scheduler");
    assert_int_equal(end(&none, text, sizeof text), 1);
    assert_non_null(strstr(text, "DMLC_NUM_WORKER='0': set it to a number from 1"));
}

// Somebody else's connections, silent ones and such that send anything, are none of the training's.
static void strangers_disturb_nobody(void **state)
{
    (void)state;
    char text[512];
    pick_port();
    const started scheduler = start("scheduler", 1, 1, serve);
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int strangers[8];
    for (int i = 0; i < 8; i++) {
        strangers[i] = socket(AF_INET, SOCK_STREAM, 0);
        while (connect(strangers[i], (const struct sockaddr *)&at, sizeof at) != 0) {
            close(strangers[i]);
            strangers[i] = socket(AF_INET, SOCK_STREAM, 0);
            mxp__os_sleep_us(1000);
        }
        const char *words = i % 2 == 0 ? "GET / HTTP/1.0\r\n\r\n" : "MXKV";
        assert_true(send(strangers[i], words, strlen(words), MSG_NOSIGNAL) > 0);
    }
    const started server = start("server", 1, 1, serve), worker = start("worker", 1, 1, serve);
    mxp__os_sleep_us(300000);
    kill(worker.pid, SIGKILL);
    end(&worker, text, sizeof text);
    assert_int_equal(end(&server, text, sizeof text), 70);  // they had found each other
    assert_non_null(strstr(text, "worker 0"));
    assert_int_equal(end(&scheduler, text, sizeof text), 70);
    for (int i = 0; i < 8; i++) {
        close(strangers[i]);
    }
}

// ---- what goes wrong later ---------------------------------------------------------------------
static int die_after_init(void)
{
    mxn_dist *dist = open_node();
    if (dist == NULL || !inits(dist, 400, 1000)) {
        return 1;
    }
    if (mxn_dist_rank(dist) == 1) {
        if (fork() == 0) {  // as a loader's worker, which outlives it
            close(1);
            mxp__os_sleep_us(3000000);
            _exit(0);
        }
        kill(getpid(), SIGKILL);
    }
    dist_outcome done;
    waited(&done, dist_world_do(dist, MXN_DIST_PUSH, 0, 0, in, NULL, 400, &done));
    mxn_dist_free(dist);
    return 70;
}

static void a_death_is_named_by_the_survivors(void **state)
{
    (void)state;
    char wanted[64];
    pick_port();
    const started all[] = {start("scheduler", 2, 1, serve), start("server", 2, 1, serve),
                           start("worker", 2, 1, die_after_init),
                           start("worker", 2, 1, die_after_init)};
    int killed = 0;
    char said[4][512];
    const uint64_t begin_ns = mxp__os_monotonic_ns();
    for (int i = 0; i < 4; i++) {
        const int code = end(&all[i], said[i], sizeof said[i]);
        killed = code == 128 + SIGKILL ? (int)all[i].pid : killed;
        assert_true(code == 70 || code == 128 + SIGKILL);
    }
    assert_true(mxp__os_monotonic_ns() - begin_ns <
                UINT64_C(2500000000));  // not when its child ended
    snprintf(wanted, sizeof wanted, "pid %d): it ended without a word", killed);
    for (int i = 0; i < 4; i++) {
        if ((int)all[i].pid != killed) {
            assert_non_null(strstr(said[i], "worker 1 (rank "));
            assert_non_null(strstr(said[i], wanted));
        }
    }
}

static int use_after_end(void)
{
    mxn_dist *dist = open_node();
    dist_outcome done;
    if (dist == NULL || !inits(dist, 10, 10)) {
        return 1;
    }
    const pid_t child = fork();
    if (child == 0) {
        const int error = dist_world_do(dist, MXN_DIST_PUSH, 0, 0, in, NULL, 10, &done);
        printf("%d %s; ", error == MXP_ESTATE, mxp_last_error());
        mxn_dist_free(dist);  // does nothing
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    mxn_dist_close(dist);
    const int error = dist_world_do(dist, MXN_DIST_PUSH, 0, 0, in, NULL, 10, &done);
    printf("%d %s; %d", error == MXP_ESTATE, mxp_last_error(), mxn_dist_close(dist));
    mxn_dist_free(dist);
    return 0;
}

static void a_store_is_of_its_process_and_ends(void **state)
{
    (void)state;
    char text[512], wanted[128];
    pick_port();
    const started all[] = {start("scheduler", 1, 1, serve), start("server", 1, 1, serve),
                           start("worker", 1, 1, use_after_end)};
    assert_int_equal(end(&all[2], text, sizeof text), 0);
    snprintf(wanted, sizeof wanted,
             "1 this store belongs to process %d; 1 this store was closed; 0", (int)all[2].pid);
    assert_string_equal(text, wanted);
    for (int i = 0; i < 2; i++) {
        const int code = end(&all[i], text, sizeof text);
        assert_string_equal(text, "");
        assert_int_equal(code, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_train_together),
        cmocka_unit_test(nobody_waits_longer_than_the_limit),
        cmocka_unit_test(a_scheduler_that_is_not_there_is_named),
        cmocka_unit_test(another_machine_is_refused),
        cmocka_unit_test(counts_that_differ_are_told_to_all),
        cmocka_unit_test(variables_are_checked),
        cmocka_unit_test(strangers_disturb_nobody),
        cmocka_unit_test(a_death_is_named_by_the_survivors),
        cmocka_unit_test(a_store_is_of_its_process_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Deaths among processes that watch each other: who says what, with which exit code. Every process
// is a child of the test; the head's address goes through pipes. What a process prints is kept in a
// file of its own, unnamed.
#include "cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <mxprof/error.h>

#include "base/os/os.h"
#include "runtime/kvstore/liveness.h"

enum { RANKS = 4, LIMIT_S = 30, STOPPED = -1, SAFE = -2 };

typedef struct process {
    pid_t pid;
    int code;  // of its end; STOPPED
    char said[4096];
} process;

typedef struct drama {
    void (*act)(mxn_liveness *liveness, int rank, const struct drama *scene);
    const char *how;
    int victim;
    double silence_s, grace_s;
    uint32_t missing;  // so many of the last ranks never come
    bool has_strangers;
    bool in_mpirun;  // which ends all: the head says when, and SIGTERM comes
} drama;

static void nap_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// ---- one process -------------------------------------------------------------------------------
static void doing(void *context, char *buffer, uint32_t size)
{
    snprintf(buffer, size, "push of key 'w%d', round 812", *(int *)context);
}

static void failed(void *context, const char *text)
{
    char line[MXN_LIVENESS_LINE_BYTES + 16];
    int length = snprintf(line, sizeof line, "failed: %s\n", text);
    (void)context;
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

static void snapshot(void *context, const char *path, double last_ms)
{
    char line[256];
    int length = snprintf(line, sizeof line, "snapshot %d: %s %.1f\n", *(int *)context,
                          path == NULL ? "unnamed" : path, last_ms);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

static void slow_step(void *context, const char *path, double last_ms)
{
    char line[256];
    int length =
        snprintf(line, sizeof line, "slow step %d: %s %.1f\n", *(int *)context, path, last_ms);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

static mxn_liveness_setup setup_of(int *rank, const drama *scene)
{
    mxn_liveness_setup setup = {
        .self = {.role_rank = *rank, .rank = *rank, .pid = (uint32_t)getpid()},
        .ranks = RANKS,
        .one_host = true,
        .head_ends_all = scene->in_mpirun,
        .context = rank,
        .doing = doing,
        .failed = failed,
        .snapshot = snapshot,
        .slow_step = slow_step,
        .beat_s = 0.05,
        .silence_s = scene->silence_s,
        .grace_s = scene->grace_s > 0 ? scene->grace_s : 0.3,
        .start_s = 1};
    strcpy(setup.self.role, "worker");
    strcpy(setup.self.host, "here");
    return setup;
}

static void *flood(void *argument);

static void live(int rank, int pipes[RANKS][2], const drama *scene)
{
    mxn_live_address address;
    mxn_liveness *liveness;
    mxn_liveness_setup setup = setup_of(&rank, scene);
    int error;
    if (rank == 0) {
        error = mxn__liveness_open_head(&setup, &address, &liveness);
        assert_int_equal(error, 0);
        if (scene->has_strangers) {
            flood(&address);
        }
        for (int i = 1; i < RANKS; i++) {
            assert_int_equal(write(pipes[i][1], &address, sizeof address), sizeof address);
        }
        error = mxn__liveness_wait(liveness);
    } else {
        assert_int_equal(read(pipes[rank][0], &address, sizeof address), sizeof address);
        if (rank >= RANKS - (int)scene->missing) {
            _exit(0);
        }
        error = mxn__liveness_open_peer(&setup, &address, &liveness);
    }
    if (error != 0) {
        failed(NULL, mxp_last_error());
        nap_ms(rank == 0 ? 10000 : 0);
        _exit(5);
    }
    scene->act(liveness, rank, scene);
    mxn__liveness_close(liveness);
    exit(0);
}

// ---- all of them -------------------------------------------------------------------------------
static void collect(process *one, int file, uint64_t until_ns)
{
    int status = 0;
    pid_t ended = 0;
    while (ended == 0 && mxp__os_monotonic_ns() < until_ns) {
        ended = waitpid(one->pid, &status, WNOHANG);
        nap_ms(ended == 0 ? 5 : 0);
    }
    one->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended == 0) {
        one->code = STOPPED;
    }
    ssize_t length = pread(file, one->said, sizeof one->said - 1, 0);
    one->said[length < 0 ? 0 : length] = '\0';
    close(file);
}

static void play(const drama *scene, process processes[RANKS])
{
    int pipes[RANKS][2], files[RANKS];
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(pipe(pipes[i]), 0);
        files[i] = memfd_create("said", 0);
    }
    for (int i = 0; i < RANKS; i++) {
        processes[i].pid = fork();
        if (processes[i].pid == 0) {
            alarm(LIMIT_S);
            dup2(files[i], STDERR_FILENO);
            live(i, pipes, scene);
        }
    }
    uint64_t until_ns = mxp__os_monotonic_ns() + LIMIT_S * 1000000000ull;
    for (int i = 0; i < RANKS; i++) {
        bool stops = i == scene->victim && strcmp(scene->how, "stop") == 0;
        collect(&processes[i], files[i], stops ? 0 : until_ns);
    }
    for (int i = 0; i < RANKS; i++) {
        close(pipes[i][0]);
        close(pipes[i][1]);
        if (processes[i].code == STOPPED) {
            kill(processes[i].pid, SIGKILL);
            waitpid(processes[i].pid, NULL, 0);
        }
    }
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    while ((text = strstr(text, part)) != NULL) {
        count++;
        text++;
    }
    return count;
}

// Each survivor: one line, the right one; the same text to those that wait; the exit code.
static void check_survivors(const drama *scene, const process processes[RANKS], const char *how)
{
    for (int i = 0; i < RANKS; i++) {
        char line[512], told[512];
        if (i == scene->victim) {
            continue;
        }
        int length =
            snprintf(line, sizeof line,
                     "worker %d (rank %d, host here, pid %d) %s; this was worker %d in "
                     "push of key 'w%d', round 812\n",
                     scene->victim, scene->victim, processes[scene->victim].pid, how, i, i);
        assert_true(length > 0 && length < (int)sizeof line - 8);
        snprintf(told, sizeof told, "mxnet: %.500s", line);
        if (count_of(processes[i].said, told) != 1 || count_of(processes[i].said, "mxnet:") != 1) {
            fail_msg("worker %d said '%s', not '%s'", i, processes[i].said, told);
        }
        snprintf(told, sizeof told, "failed: %.500s", line);
        assert_int_equal(count_of(processes[i].said, told), 1);
        assert_int_equal(processes[i].code, MXN_LIVENESS_EXIT);
    }
}

static void die(const char *how)
{
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    if (strcmp(how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(how, "exit0") == 0) {
        _exit(0);
    } else if (strcmp(how, "exit1") == 0) {
        _exit(1);
    } else if (strcmp(how, "abort") == 0) {
        raise(SIGABRT);
    } else if (strcmp(how, "fault") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(how, "terminate") == 0) {
        raise(SIGTERM);
    } else if (strcmp(how, "stop") == 0) {
        raise(SIGSTOP);
    } else if (strcmp(how, "wait for SIGTERM") == 0) {
        raise(SIGTERM);
        nap_ms(LIMIT_S * 1000);
    }
}

static void victim_dies(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)liveness;
    nap_ms(50);
    if (rank == scene->victim) {
        die(scene->how);
    }
    nap_ms(LIMIT_S * 1000);
}

static void death_is_named_by_every_survivor_whatever_it_was(void **state)
{
    static const char *const ways[] = {"kill", "exit0", "exit1", "abort", "fault", "terminate"};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        for (int victim = 0; victim < RANKS; victim += 2) {
            process processes[RANKS];
            drama scene = {.act = victim_dies, .how = ways[i], .victim = victim};
            play(&scene, processes);
            check_survivors(&scene, processes, "died");
        }
    }
}

// mpirun's SIGTERM comes before the death is known.
static void is_told_to_end_and_then_dies(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)liveness;
    nap_ms(50);
    if (rank == scene->victim) {
        nap_ms(150);
        die(scene->how);
    }
    raise(SIGTERM);
    nap_ms(LIMIT_S * 1000);
}

static void death_is_named_though_all_are_told_to_end(void **state)
{
    (void)state;
    for (int victim = 0; victim < RANKS; victim += 2) {
        process processes[RANKS];
        drama scene = {.act = is_told_to_end_and_then_dies,
                       .how = "kill",
                       .victim = victim,
                       .in_mpirun = true};
        play(&scene, processes);
        check_survivors(&scene, processes, "died");
    }
}

static void those_who_are_told_to_end_do_so_by_the_signal_and_name_nobody(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = is_told_to_end_and_then_dies, .victim = SAFE, .in_mpirun = true};
    play(&scene, processes);
    for (int i = 0; i < RANKS; i++) {
        assert_string_equal(processes[i].said, "");
        assert_int_equal(processes[i].code, 128 + SIGTERM);
    }
}

// A signal to one process alone is a death like others.
static void one_that_is_ended_by_the_signal_is_named(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = victim_dies, .how = "wait for SIGTERM", .victim = 1, .in_mpirun = true};
    play(&scene, processes);
    check_survivors(&scene, processes, "died");
    assert_int_equal(processes[1].code, 128 + SIGTERM);
}

static void handles_it(int number)
{
    (void)number;
    _exit(9);
}

static void handles_it_before(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)rank;
    (void)scene;
    signal(SIGTERM, handles_it);
    mxn__liveness_close(liveness);
    raise(SIGTERM);
}

static void closed_store_leaves_the_signal_as_it_was(mxn_liveness *liveness, int rank,
                                                     const drama *scene)
{
    (void)rank;
    (void)scene;
    mxn__liveness_close(liveness);
    raise(SIGTERM);
}

static void the_signal_is_the_programs(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = handles_it_before, .victim = SAFE, .in_mpirun = true};
    play(&scene, processes);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(processes[i].code, 9);
    }
    scene.act = closed_store_leaves_the_signal_as_it_was;
    play(&scene, processes);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(processes[i].code, 128 + SIGTERM);
        assert_string_equal(processes[i].said, "");
    }
}

static void silent_process_is_named_within_the_limit(void **state)
{
    (void)state;
    for (int victim = 0; victim < RANKS; victim += 3) {
        process processes[RANKS];
        drama scene = {.act = victim_dies, .how = "stop", .victim = victim, .silence_s = 1};
        play(&scene, processes);
        check_survivors(&scene, processes, "has been silent for 1 s");
    }
}

static void goes_home(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)liveness;
    (void)scene;
    nap_ms(rank * 30);
}

static void orderly_end_says_nothing_in_any_order(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = goes_home, .victim = SAFE};
    play(&scene, processes);
    for (int i = 0; i < RANKS; i++) {
        assert_string_equal(processes[i].said, "");
        assert_int_equal(processes[i].code, 0);
    }
}

// A forked child that lives on holds a copy of each descriptor.
static void forks_and_dies(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)liveness;
    nap_ms(50);
    if (rank == scene->victim) {
        if (fork() == 0) {
            nap_ms(3000);
            _exit(0);
        }
        raise(SIGKILL);
    }
    nap_ms(LIMIT_S * 1000);
}

static void death_is_noticed_though_a_forked_child_lives(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = forks_and_dies, .how = "kill", .victim = 2};
    uint64_t begin_ns = mxp__os_monotonic_ns();
    play(&scene, processes);
    assert_true(mxp__os_monotonic_ns() - begin_ns < 2500000000ull);
    check_survivors(&scene, processes, "died");
}

// One who catches the error and ends by himself, before the grace is over.
static void ends_at_once(mxn_liveness *liveness, int rank, const drama *scene)
{
    nap_ms(50);
    if (rank == scene->victim) {
        raise(SIGKILL);
    }
    while (!mxn__liveness_has_failed(liveness)) {
        nap_ms(5);
    }
    nap_ms(50);
    mxn__liveness_close(liveness);
    exit(rank == 1 ? 0 : 3);
}

static void nobody_exits_with_0_after_a_death(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = ends_at_once, .how = "kill", .victim = 3, .grace_s = 20};
    play(&scene, processes);
    check_survivors(&scene, processes, "died");
}

static void stalls_and_asks(mxn_liveness *liveness, int rank, const drama *scene)
{
    (void)scene;
    nap_ms(200);
    if (rank == 2) {
        mxn__liveness_stall(liveness, "key 'w1' round 12", (int32_t[]){1, 3}, 2);
        mxn__liveness_stall(liveness, "key 'w2' round 12", (int32_t[]){0}, 1);
    }
    nap_ms(100);
    if (rank == 1) {
        mxn__liveness_snapshot(liveness, "all.mxp", 250);
    }
    nap_ms(200);
    if (rank == 3) {
        mxn__liveness_end_job(liveness, "key 'w1' has waited 5 s");
    }
    nap_ms(LIMIT_S * 1000);
}

static void head_tells_of_stalls_and_all_take_snapshots_and_end(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = stalls_and_asks, .victim = SAFE};
    play(&scene, processes);
    const char *said = processes[0].said;
    if (count_of(said, "mxnet: key 'w1' round 12 waits for workers 1 (last heard 0.") != 1 ||
        count_of(said, "last did: push of key 'w1', round 812), 3 (last heard 0.") != 1 ||
        count_of(said, "last did: push of key 'w3', round 812)\n") != 1 ||
        count_of(said, "mxnet: key 'w2' round 12 waits for worker 0 (this process, last did: push "
                       "of key 'w0', round 812)\n") != 1) {
        fail_msg("the head said '%s'", said);
    }
    for (int i = 0; i < RANKS; i++) {
        char line[128];
        snprintf(line, sizeof line, "snapshot %d: all.mxp 250.0\n", i);
        assert_int_equal(count_of(processes[i].said, line), 1);
        snprintf(line, sizeof line, "mxnet: key 'w1' has waited 5 s; this was worker %d in", i);
        assert_int_equal(count_of(processes[i].said, line), 1);
        assert_int_equal(processes[i].code, MXN_LIVENESS_EXIT);
        assert_int_equal(count_of(processes[i].said, "waits for"), i == 0 ? 2 : 0);
    }
}

// Whoever has waited in a slow step finds it slow. Worker 0 is the head.
static void all_have_a_slow_step(mxn_liveness *liveness, int rank, const drama *scene)
{
    char path[32], too_long[600];
    (void)scene;
    snprintf(path, sizeof path, "of%d/slow.mxp", rank);
    memset(too_long, 'a', sizeof too_long);
    too_long[sizeof too_long - 1] = '\0';
    assert_false(mxn__liveness_slow_step(liveness, too_long, 1500));
    nap_ms(200);
    assert_true(mxn__liveness_slow_step(liveness, path, 1500));
    nap_ms(200);
    if (rank == 2) {
        assert_true(mxn__liveness_slow_step(liveness, "soon/slow.mxp", 1500));
    }
    nap_ms(2000);
    if (rank == 3) {
        assert_true(mxn__liveness_slow_step(liveness, "later/slow.mxp", 1500));
    }
    nap_ms(500);
}

static void slow_step_of_all_is_one_in_every_process(void **state)
{
    (void)state;
    process processes[RANKS];
    char first[64] = "";
    drama scene = {.act = all_have_a_slow_step, .victim = SAFE};
    play(&scene, processes);
    for (int i = 0; i < RANKS; i++) {
        char line[96];
        assert_int_equal(processes[i].code, 0);
        assert_int_equal(count_of(processes[i].said, "slow step "), 2);
        snprintf(line, sizeof line, "slow step %d: later/slow.mxp 1500.0\n", i);
        assert_int_equal(count_of(processes[i].said, line), 1);
        const char *of = strstr(processes[i].said, ": of");
        assert_non_null(of);
        snprintf(line, sizeof line, "%.18s", of);
        if (i == 0) {
            memcpy(first, line, sizeof first);
        }
        assert_string_equal(line, first);  // everybody's is of the same one
    }
}

static void who_does_not_come_is_named_at_start(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = goes_home, .victim = SAFE, .missing = 1};
    play(&scene, processes);
    for (int i = 0; i < RANKS - 1; i++) {
        assert_int_equal(count_of(processes[i].said, "waited 1 s for the process of rank 3"),
                         i == 0 ? 2 : 1);  // the head prints it, too
        assert_int_not_equal(processes[i].code, 0);
        assert_int_not_equal(processes[i].code, STOPPED);
    }
}

// ---- strangers ---------------------------------------------------------------------------------
static int stranger(const mxn_live_address *address)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET, .sin_addr.s_addr = address->ip, .sin_port = address->port};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(fd, (struct sockaddr *)&place, sizeof place) == 0 ? fd : -1;
}

// Everything but the key: silence, other protocols, half a hello, a wrong key, lengths that lie.
// Some stay connected for as long as the head lets them.
static void *flood(void *argument)
{
    const mxn_live_address *address = argument;
    unsigned char bytes[2048];
    unsigned seed = 7;
    for (int i = 0; i < 100; i++) {
        int fd = stranger(address);
        assert_true(fd >= 0);
        size_t length = (size_t)(rand_r(&seed) % (int)sizeof bytes);
        for (size_t k = 0; k < length; k++) {
            bytes[k] = (unsigned char)rand_r(&seed);
        }
        if (i % 4 != 0) {
            memcpy(bytes, "MXLV\1\1\x70\0", 8);  // the head of a hello
        }
        if (i % 4 == 3) {
            memcpy(bytes, "MXLV\1\5\x04\0died", 12);  // a failure, by nobody
        }
        (void)!send(fd, bytes, i % 5 == 0 ? 0 : length, MSG_NOSIGNAL);
        if (i % 2 == 0) {
            close(fd);
        }
    }
    return NULL;
}

static void strangers_are_dropped_and_change_nothing(void **state)
{
    (void)state;
    process processes[RANKS];
    drama scene = {.act = victim_dies, .how = "kill", .victim = 3, .has_strangers = true};
    scene.grace_s = 0.3;
    play(&scene, processes);
    check_survivors(&scene, processes, "died");
}

static void *wait_for_all(void *liveness)
{
    return mxn__liveness_wait(liveness) == 0 ? liveness : NULL;
}

// In this process: the key alone lets in, once a rank, and nobody once all are there.
static void key_lets_in_once(void **state)
{
    (void)state;
    int rank = 0, other = 1;
    drama scene = {0};
    mxn_liveness_setup setup = setup_of(&rank, &scene), peer = setup_of(&other, &scene);
    mxn_live_address address, wrong;
    mxn_liveness *head, *first, *second;
    setup.ranks = 2;
    assert_int_equal(mxn__liveness_open_head(&setup, &address, &head), 0);
    assert_int_equal(address.ip, htonl(INADDR_LOOPBACK));
    wrong = address;
    wrong.key[15] ^= 1;
    assert_int_equal(mxn__liveness_open_peer(&peer, &wrong, &second), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "worker 0 on here"));
    peer.self.rank = 7;
    assert_int_equal(mxn__liveness_open_peer(&peer, &address, &second), MXP_EIO);
    peer.self.rank = 1;
    pthread_t thread;
    void *waited = NULL;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_all, head), 0);
    assert_int_equal(mxn__liveness_open_peer(&peer, &address, &first), 0);
    assert_int_equal(pthread_join(thread, &waited), 0);
    assert_ptr_equal(waited, head);
    assert_int_equal(mxn__liveness_open_peer(&peer, &address, &second), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "127.0.0.1:"));
    assert_false(mxn__liveness_has_failed(head));
    mxn__liveness_close(first);
    mxn__liveness_close(head);
}

static void times_from_the_environment_are_checked(void **state)
{
    (void)state;
    int rank = 0;
    drama scene = {0};
    mxn_liveness_setup setup = setup_of(&rank, &scene);
    mxn_live_address address;
    mxn_liveness *head;
    setup.ranks = 1;
    setup.grace_s = 0;
    setenv("MXNET_KVSTORE_GRACE", "soon", 1);
    assert_int_equal(mxn__liveness_open_head(&setup, &address, &head), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "MXNET_KVSTORE_GRACE='soon'"));
    setenv("MXNET_KVSTORE_GRACE", "-1", 1);
    assert_int_equal(mxn__liveness_open_head(&setup, &address, &head), MXP_EVALUE);
    setenv("MXNET_KVSTORE_GRACE", "0.25", 1);
    assert_int_equal(mxn__liveness_open_head(&setup, &address, &head), 0);
    assert_int_equal(mxn__liveness_wait(head), 0);
    mxn__liveness_close(head);
    unsetenv("MXNET_KVSTORE_GRACE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death_is_named_by_every_survivor_whatever_it_was),
        cmocka_unit_test(death_is_named_though_all_are_told_to_end),
        cmocka_unit_test(those_who_are_told_to_end_do_so_by_the_signal_and_name_nobody),
        cmocka_unit_test(one_that_is_ended_by_the_signal_is_named),
        cmocka_unit_test(the_signal_is_the_programs),
        cmocka_unit_test(silent_process_is_named_within_the_limit),
        cmocka_unit_test(orderly_end_says_nothing_in_any_order),
        cmocka_unit_test(death_is_noticed_though_a_forked_child_lives),
        cmocka_unit_test(nobody_exits_with_0_after_a_death),
        cmocka_unit_test(head_tells_of_stalls_and_all_take_snapshots_and_end),
        cmocka_unit_test(slow_step_of_all_is_one_in_every_process),
        cmocka_unit_test(who_does_not_come_is_named_at_start),
        cmocka_unit_test(strangers_are_dropped_and_change_nothing),
        cmocka_unit_test(key_lets_in_once),
        cmocka_unit_test(times_from_the_environment_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

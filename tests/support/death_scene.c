// SPDX-License-Identifier: Apache-2.0
// The processes run some rounds of push, pull and barrier with every record in a file; then the
// others stay in one operation, in which the victim ends.
#include "death_scene.h"

#include "cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "runtime/kvstore/dist_watch.h"

enum {
    ROUNDS = 5,
    KEYS = 2,
    ELEMENTS = 300000,
    NAMED_MS = 5000,
    SILENT_MS = 30000,
    PATH_BYTES = 1200
};

static const char *const ways[] = {"kill", "exit0", "exit1", "abort", "fault", "end", "stop"};
static const char *const victims[] = {"worker", "server", "head"};
static const char *const moments[] = {"push", "pull", "barrier", "start"};
static death_scene all_scenes[7 * 3 * 4], some_scenes[3 * 4];

uint32_t death_scenes(const death_scene **scenes)
{
    uint32_t all = 0, some = 0;
    for (uint32_t v = 0; v < 3; v++) {
        for (uint32_t m = 0; m < 4; m++) {
            for (uint32_t w = 0; w < 7; w++) {
                all_scenes[all++] = (death_scene){ways[w], victims[v], moments[m]};
            }
            some_scenes[some] = (death_scene){ways[some % 7], victims[v], moments[m]};
            some++;
        }
    }
    bool is_long = getenv("MXPROF_TEST_LONG") != NULL;
    *scenes = is_long ? all_scenes : some_scenes;
    return is_long ? all : some;
}

// ---- a process ---------------------------------------------------------------------------------
static death_scene own;
static char folder[1024], role_name[64];
static bool is_victim;
static mxn_transport *own_transport;

static void path_of(char path[PATH_BYTES], const char *name)
{
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
}

static void die(void)
{
    char path[PATH_BYTES];
    while (strcmp(own.how, "stall") == 0) {
        pause();
    }
    path_of(path, "died");
    FILE *file = fopen(path, "w");
    fprintf(file, "%llu", (unsigned long long)mxp__os_monotonic_ns());
    fclose(file);
    // At the start it is the communication thread that dies, which blocks all signals.
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGTERM};
    sigset_t open;
    sigemptyset(&open);
    for (int i = 0; i < 3; i++) {
        signal(numbers[i], SIG_DFL);
        sigaddset(&open, numbers[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &open, NULL);
    if (strcmp(own.how, "kill") == 0) {
        raise(SIGKILL);
    } else if (strcmp(own.how, "exit0") == 0) {
        _exit(0);
    } else if (strcmp(own.how, "exit1") == 0) {
        _exit(1);
    } else if (strcmp(own.how, "abort") == 0) {
        raise(SIGABRT);
    } else if (strcmp(own.how, "fault") == 0) {
        raise(SIGSEGV);
    } else if (strcmp(own.how, "end") == 0 && own_transport->ops->end_job != NULL) {
        own_transport->ops->end_job(own_transport, 7);
    } else if (strcmp(own.how, "end") == 0) {
        raise(SIGTERM);
    } else {
        raise(SIGSTOP);
    }
}

static int open_transport(void *context, mxn_transport **transport)
{
    (void)context;
    int error = mxn__transport_open(transport);
    if (error != MXP_OK) {
        return error;
    }
    const mxn_peer *self = &(*transport)->peers[(*transport)->rank];
    bool works = (self->roles & MXN_ROLE_WORKER) != 0, owns = (self->roles & MXN_ROLE_OWNER) != 0;
    own_transport = *transport;
    snprintf(role_name, sizeof role_name, "%s%u",
             works  ? "worker"
             : owns ? "server"
                    : "scheduler",
             works ? self->worker : self->owner);
    is_victim = strcmp(role_name, strcmp(own.victim, "head") == 0     ? "worker0"
                                  : strcmp(own.victim, "worker") == 0 ? "worker1"
                                                                      : "server0") == 0;
    if (is_victim && strcmp(own.moment, "start") == 0) {
        die();
    }
    return MXP_OK;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int pending, failed_with;
static char failure[1024];

static void on_done(void *context, int error, const char *text, const void *answer, uint64_t bytes)
{
    (void)context;
    (void)answer;
    (void)bytes;
    pthread_mutex_lock(&mutex);
    pending--;
    if (error != MXP_OK && failed_with == MXP_OK) {
        failed_with = error;
        snprintf(failure, sizeof failure, "%s", text);
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
}

static unsigned long long died_ns(void)
{
    char path[PATH_BYTES];
    unsigned long long ns = 0;
    path_of(path, "died");
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%llu", &ns) != 1) {
            ns = 0;
        }
        fclose(file);
    }
    return ns;
}

// What a program does that catches the error: says it, and comes to its end.
static void give_up(const char *text)
{
    char line[1300];
    double ms = ((double)mxp__os_monotonic_ns() - (double)died_ns()) * 1e-6;
    int length = snprintf(line, sizeof line, "%s told after %.1f ms: %s\n", role_name, ms, text);
    (void)!write(STDERR_FILENO, line, (size_t)length);
    exit(0);
}

static float values[KEYS][ELEMENTS];
static float results[KEYS][ELEMENTS];

static void run(mxn_dist *dist, int kind, uint16_t store, uint32_t key)
{
    const char *const names[KEYS] = {"w0", "w1"};
    const uint64_t elements = key == 0 ? 100 : ELEMENTS;
    mxn_shape shape = {.ndim = 1};
    shape.dims[0] = (int64_t)elements;
    bool has_value = kind != MXN_DIST_BARRIER;
    mxn_dist_operation operation = {.kind = kind,
                                    .store = store,
                                    .key = key,
                                    .in = values[key],
                                    .out = results[key],
                                    .bytes = has_value ? elements * sizeof(float) : 0,
                                    .dtype = 0,
                                    .name = names[key],
                                    .shape = &shape,
                                    .done = on_done};
    pthread_mutex_lock(&mutex);
    pending++;
    pthread_mutex_unlock(&mutex);
    if (mxn_dist_submit(dist, &operation) != MXP_OK) {
        give_up(mxp_last_error());
    }
    pthread_mutex_lock(&mutex);
    while (pending > 0) {
        pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    if (failed_with != MXP_OK) {
        give_up(failure);
    }
}

static void record(void)
{
    char path[PATH_BYTES], name[80];
    snprintf(name, sizeof name, "%s.mxp", role_name);
    path_of(path, name);
    const char *const keys[] = {"store", "native_filename", "profile_all", "filename"};
    const char *const texts[] = {"file", path, "1", "none"};
    if (mxp_session_configure_pairs(mxp_session_get(), 4, keys, texts) != MXP_OK ||
        mxp_session_run(mxp_session_get()) != MXP_OK) {
        give_up(mxp_last_error());
    }
}

static bool is_there(const char *name)
{
    char path[PATH_BYTES];
    path_of(path, name);
    return access(path, F_OK) == 0;
}

static void put(const char *name)
{
    char path[PATH_BYTES];
    path_of(path, name);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
}

// Both workers have come to the moment, or are about to.
static void *die_soon(void *unused)
{
    while (!is_there("worker0.now") || !is_there("worker1.now")) {
        mxp__os_sleep_us(5000);
    }
    mxp__os_sleep_us(100000);
    die();
    return unused;
}

static void work(mxn_dist *dist)
{
    uint16_t store;
    pthread_t thread;
    if (mxn_dist_store_open(dist, false, &store) != MXP_OK) {
        give_up(mxp_last_error());
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        run(dist, MXN_DIST_INIT, store, key);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t key = 0; key < KEYS; key++) {
            run(dist, MXN_DIST_PUSH, store, key);
            run(dist, MXN_DIST_PULL, store, key);
        }
        run(dist, MXN_DIST_BARRIER, store, 0);
    }
    char now[80];
    snprintf(now, sizeof now, "%s.now", role_name);
    put(now);
    if (is_victim) {
        pthread_create(&thread, NULL, die_soon, NULL);
        pthread_join(thread, NULL);
    }
    int kind = strcmp(own.moment, "pull") == 0      ? MXN_DIST_PULL
               : strcmp(own.moment, "barrier") == 0 ? MXN_DIST_BARRIER
                                                    : MXN_DIST_PUSH;
    for (;;) {
        run(dist, kind, store, 1);
    }
}

static void part(void)
{
    mxn_dist_config config;
    mxn_dist *dist;
    alarm(DEATH_LIMIT_S + 30);
    if (mxn_dist_config_read(&config) != MXP_OK ||
        mxn__watch_open(&config, open_transport, NULL, &dist) != MXP_OK) {
        fprintf(stderr, "%s not opened: %s\n", role_name, mxp_last_error());
        exit(1);
    }
    record();
    if ((mxn_dist_roles(dist) & MXN_ROLE_WORKER) != 0) {
        work(dist);
    }
    pthread_t thread;
    if (is_victim) {
        pthread_create(&thread, NULL, die_soon, NULL);
    }
    int error = mxn_dist_serve(dist);
    give_up(error == MXP_OK ? "served to the end" : mxp_last_error());
}

void death_set_part(const death_scene *scene, const char *where)
{
    char text[1400];
    snprintf(text, sizeof text, "%s %s %s %s", scene->how, scene->victim, scene->moment, where);
    setenv("DEATH_PART", text, 1);
    setenv("MXNET_KVSTORE_GRACE", "0.3", 1);
    setenv("MXNET_KVSTORE_START_TIMEOUT", "3", 1);
    setenv("MXNET_KVSTORE_SILENCE_S", "2", 1);
    bool stalls = strcmp(scene->how, "stall") == 0;
    setenv("MXNET_KVSTORE_STALL_S", stalls ? "1" : "60", 1);
    setenv("MXNET_KVSTORE_TIMEOUT_S", stalls ? "1" : "0", 1);
}

void death_take_part(void)
{
    static char text[1400];
    const char *given = getenv("DEATH_PART");
    if (given == NULL) {
        return;
    }
    snprintf(text, sizeof text, "%s", given);
    // What goes through mpirun is lost where it comes just before its end.
    const int said = open(getenv("DEATH_SAID"), O_WRONLY | O_APPEND);
    assert_true(said >= 0 && dup2(said, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0);
    close(said);
    own.how = strtok(text, " ");
    own.victim = strtok(NULL, " ");
    own.moment = strtok(NULL, " ");
    snprintf(folder, sizeof folder, "%s", strtok(NULL, " "));
    assert_int_equal(chdir(folder), 0);
    part();
}

// ---- those who look at it ----------------------------------------------------------------------
static int count_of(const char *text, const char *piece)
{
    int count = 0;
    while ((text = strstr(text, piece)) != NULL) {
        count++;
        text++;
    }
    return count;
}

// Whether a line says that this process is dead, and not only that it was waited for.
static bool is_blamed(const char *said, const char *name)
{
    for (const char *at = said; (at = strstr(at, name)) != NULL; at++) {
        const char *line = at;
        while (line > said && line[-1] != '\n') {
            line--;
        }
        const char *waited = strstr(line, "waited for");
        if (waited == NULL || waited > at) {
            return true;
        }
    }
    return false;
}

static const char *role_of(const char *victim)
{
    return strcmp(victim, "head") == 0     ? "worker 0"
           : strcmp(victim, "worker") == 0 ? "worker 1"
                                           : "server 0";
}

// The line of one survivor, once, and how long it took.
static void check_survivor(const death_scene *scene, const char *said, const char *survivor)
{
    char line[256], told[64];
    bool stops = strcmp(scene->how, "stop") == 0;
    snprintf(line, sizeof line, "mxnet: %s (rank ", role_of(scene->victim));
    int count = 0;
    for (const char *at = said; (at = strstr(at, line)) != NULL; at++) {
        const char *end = strchr(at, '\n');
        char one[700];
        snprintf(one, sizeof one, "%.*s", end == NULL ? 600 : (int)(end - at), at);
        char self[64];
        snprintf(self, sizeof self, "; this was %s", survivor);
        if (strstr(one, self) != NULL) {
            if (strstr(one, stops ? "has been silent for 2 s" : "died") == NULL) {
                fail_msg("%s, %s in %s: '%s'", scene->how, scene->victim, scene->moment, one);
            }
            count++;
        }
    }
    if (count != 1) {
        fail_msg("%s, %s in %s: %s said %d lines of it: '%s'", scene->how, scene->victim,
                 scene->moment, survivor, count, said);
    }
    snprintf(told, sizeof told, "%.6s%c told after ", survivor, survivor[7]);
    const char *at = strstr(said, told);
    if (at != NULL) {
        double ms = strtod(at + strlen(told), NULL);
        assert_true(ms < (stops ? SILENT_MS : NAMED_MS));
    }
}

static void check_file(const char *where, const char *name)
{
    char command[3000];
    snprintf(command, sizeof command, "'%s/mxprof' info '%s/%s' >/dev/null 2>&1",
             getenv("MXPROF_BUILD"), where, name);
    int status = system(command);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("%s cannot be read", name);
    }
}

// Every record is in a file that outlives its process: nothing has to be written as it ends.
static void check_nothing_else(const char *where)
{
    char pattern[4300];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/*.died.mxp", where);
    if (glob(pattern, 0, NULL, &found) == 0) {
        fail_msg("%s was written, too", found.gl_pathv[0]);
    }
    globfree(&found);
}

void death_remove(const char *where)
{
    char command[4300];
    snprintf(command, sizeof command, "rm -r '%s'", where);
    assert_int_equal(system(command), 0);
}

static const char *const all[DEATH_PROCESSES] = {"worker 0", "worker 1", "server 0"};

// Nobody watched the others yet: whoever is named is the victim, and the head says who did not come
// in, if it lives. mpirun ends it some milliseconds after the death, by a signal or through
// MPI_Abort, maybe before it has heard of it: then mpirun says whom it ends the job for.
static void check_start(const death_scene *scene, const char *said)
{
    const bool ends_at_once = strcmp(scene->how, "end") == 0 || count_of(said, "mpirun ") != 0;
    for (int i = 0; i < DEATH_PROCESSES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s (rank ", all[i]);
        const bool is_it = strcmp(all[i], role_of(scene->victim)) == 0;
        const bool must = is_it && strcmp(scene->victim, "head") != 0 && !ends_at_once;
        if ((must && count_of(said, name) == 0) || (!is_it && is_blamed(said, name))) {
            fail_msg("%s, %s at start: %s is%s named: '%s'", scene->how, scene->victim, all[i],
                     must ? " not" : "", said);
        }
    }
}

void death_check(const death_scene *scene, const char *where, const char *said)
{
    static const char *const files[DEATH_PROCESSES] = {"worker0.mxp", "worker1.mxp", "server0.mxp"};
    if (strcmp(scene->moment, "start") == 0) {
        check_start(scene, said);
        return;
    }
    for (int i = 0; i < DEATH_PROCESSES; i++) {
        if (strcmp(all[i], role_of(scene->victim)) != 0) {
            check_survivor(scene, said, all[i]);
        }
        check_file(where, files[i]);
    }
    check_nothing_else(where);
    // Pulls need no victim: they go on and on, and may be in between.
    if (strcmp(scene->victim, "server") != 0 && strcmp(scene->moment, "pull") != 0) {
        const char *does = strcmp(scene->moment, "barrier") == 0 ? "in barrier" : "of key 'w1'";
        if (count_of(said, does) == 0) {
            fail_msg("nobody says '%s': '%s'", does, said);
        }
    }
}

void death_check_stall(const char *said)
{
    const char *line = strstr(said, "mxnet: key 'w1' round ");
    if (line == NULL || count_of(said, " waits for worker 1 (last heard 0.") != 1) {
        fail_msg("no word of what waits: '%s'", said);
    }
    for (int i = 0; i < DEATH_PROCESSES; i++) {
        char end[128];
        snprintf(end, sizeof end, "(MXNET_KVSTORE_TIMEOUT_S); this was %s", all[i]);
        if (count_of(said, end) == 0) {
            fail_msg("%s does not say why it ends: '%s'", all[i], said);
        }
    }
}

static char *read_all(int fd)
{
    struct stat status;
    fstat(fd, &status);
    char *text = calloc(1, (size_t)status.st_size + 1);
    ssize_t length = pread(fd, text, (size_t)status.st_size, 0);
    text[length < 0 ? 0 : length] = '\0';
    return text;
}

int death_run(void (*start)(void *context), void *context, char **said)
{
    char name[] = "death-XXXXXX", path[4200];
    close(mkstemp(name));
    assert_non_null(realpath(name, path));
    const int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    int status = 0;
    setenv("DEATH_SAID", path, 1);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        start(context);
        _exit(127);
    }
    setpgid(child, child);
    uint64_t until_ns = mxp__os_monotonic_ns() + DEATH_LIMIT_S * 1000000000ull;
    pid_t ended = 0;
    while (ended == 0 && mxp__os_monotonic_ns() < until_ns) {
        ended = waitpid(child, &status, WNOHANG);
        mxp__os_sleep_us(ended == 0 ? 5000 : 0);
    }
    kill(-child, SIGKILL);
    if (ended == 0) {
        waitpid(child, &status, 0);
    }
    *said = read_all(fd);
    close(fd);
    unlink(path);
    return ended == 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// SPDX-License-Identifier: Apache-2.0
// Deaths in trainings whose processes were started one by one, on the store's own sockets: each
// survivor names the victim and exits with 70 by itself, and every profile can be read.
#include "cmocka_all.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "death_scene.h"

enum { STARTED = 4 };

static const char *self;

static int free_port(void)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&place, sizeof place) != 0 ||
        getsockname(fd, (struct sockaddr *)&place, &size) != 0) {
        return 0;
    }
    close(fd);
    return ntohs(place.sin_port);
}

// In a process of its own: starts the four and tells how each ended.
static void start(void *context)
{
    static const char *const roles[STARTED] = {"scheduler", "server", "worker", "worker"};
    char port[16];
    pid_t processes[STARTED];
    (void)context;
    snprintf(port, sizeof port, "%d", free_port());
    setenv("DMLC_PS_ROOT_URI", "127.0.0.1", 1);
    setenv("DMLC_PS_ROOT_PORT", port, 1);
    setenv("DMLC_NUM_WORKER", "2", 1);
    setenv("DMLC_NUM_SERVER", "1", 1);
    for (int i = 0; i < STARTED; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            setenv("DMLC_ROLE", roles[i], 1);
            execl(self, self, (char *)NULL);
            _exit(127);
        }
    }
    for (int left = STARTED; left > 0; left--) {
        int status = 0;
        pid_t ended = waitpid(-1, &status, WUNTRACED);
        int code = WIFEXITED(status)     ? WEXITSTATUS(status)
                   : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : -1;
        for (int i = 0; i < STARTED; i++) {
            if (processes[i] == ended) {
                printf("ended with %d: %s\n", code, roles[i]);
                processes[i] = WIFSTOPPED(status) ? ended : 0;
            }
        }
    }
    // Our end would wake who is stopped (SIGHUP and SIGCONT, as nobody is left to), perhaps for
    // long enough to tell of those who have given it up.
    for (int i = 0; i < STARTED; i++) {
        if (processes[i] != 0) {
            kill(processes[i], SIGKILL);
            waitpid(processes[i], NULL, 0);
        }
    }
    fflush(stdout);
    _exit(0);
}

static int count_of(const char *text, const char *piece)
{
    int count = 0;
    while ((text = strstr(text, piece)) != NULL) {
        count++;
        text++;
    }
    return count;
}

static char *play(const death_scene *scene)
{
    char folder[] = "deaths-XXXXXX", where[4200], *said;
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath(folder, where));
    death_set_part(scene, where);
    int code = death_run(start, NULL, &said);
    if (code != 0 || count_of(said, "ended with ") != STARTED) {
        fail_msg("%s, %s in %s: ended with %d: %s", scene->how, scene->victim, scene->moment, code,
                 said);
    }
    if (strstr(said, "Sanitizer") != NULL) {
        fail_msg("%s", said);
    }
    if (strcmp(scene->how, "stall") != 0) {
        death_check(scene, where, said);
    }
    death_remove(where);
    return said;
}

static void survivors_name_the_dead_and_exit_with_70(void **state)
{
    const death_scene *scenes;
    uint32_t count = death_scenes(&scenes);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        char *said = play(&scenes[i]);
        bool is_late = strcmp(scenes[i].moment, "start") != 0;
        int of_70 = count_of(said, "ended with 70:"), of_0 = count_of(said, "ended with 0:");
        int own_0 = strcmp(scenes[i].how, "exit0") == 0 ? 1 : 0;
        if ((is_late && of_70 != STARTED - 1) || of_0 != own_0) {
            fail_msg("%s, %s in %s: %s", scenes[i].how, scenes[i].victim, scenes[i].moment, said);
        }
        free(said);
    }
}

static void stall_is_told_and_ends_the_job_after_its_limit(void **state)
{
    (void)state;
    char *said = play(&(death_scene){"stall", "worker", "push"});
    death_check_stall(said);
    assert_int_equal(count_of(said, "ended with 70:"), STARTED);
    free(said);
}

int main(int argument_count, char **arguments)
{
    static char path[4096];
    (void)argument_count;
    death_take_part();
    self = realpath(arguments[0], path);
    assert_non_null(self);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survivors_name_the_dead_and_exit_with_70),
        cmocka_unit_test(stall_is_told_and_ends_the_job_after_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

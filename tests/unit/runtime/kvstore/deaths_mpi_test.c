// SPDX-License-Identifier: Apache-2.0
// Deaths in trainings that mpirun has started: each survivor names the victim before mpirun ends
// it, nothing hangs, mpirun does not return 0, and every profile can be read. Skipped without
// mpirun.
#include "cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "death_scene.h"

enum { SKIPPED = 77 };

static const char *self;

static void start(void *context)
{
    (void)context;
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    execlp("mpirun", "mpirun", "--oversubscribe", "--bind-to", "none", "--mca",
           "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo", "--mca", "opal_signal",
           "", "-n", "1", "-x", "DMLC_ROLE=server", self, ":", "-n", "2", "-x", "DMLC_ROLE=worker",
           self, (char *)NULL);
}

static int play(death_scene *scene, char where[4200], char **said)
{
    char folder[] = "deaths-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath(folder, where));
    death_set_part(scene, where);
    return death_run(start, scene, said);
}

// mpirun's is that of the process whose end it sees first: of the dead one, of a survivor, which
// ends with 70, or, before all are there, of who gives up.
static bool is_code_of(const death_scene *scene, int code)
{
    static const struct {
        const char *how;
        int code;
    } codes[] = {{"kill", 128 + SIGKILL},  {"exit0", 1}, {"exit1", 1}, {"abort", 128 + SIGABRT},
                 {"fault", 128 + SIGSEGV}, {"end", 7},   {"stop", 70}};
    const bool is_early = strcmp(scene->moment, "start") == 0;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strcmp(scene->how, codes[i].how) == 0) {
            return code == codes[i].code || code == 70 || (is_early && code == 1);
        }
    }
    return false;
}

static void survivors_name_the_dead_and_nothing_hangs(void **state)
{
    const death_scene *scenes;
    uint32_t count = death_scenes(&scenes);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        death_scene scene = scenes[i];
        char where[4200], *said;
        int code = play(&scene, where, &said);
        if (!is_code_of(&scene, code)) {
            fail_msg("%s, %s in %s: mpirun ended with %d: %s", scene.how, scene.victim,
                     scene.moment, code, said);
        }
        death_check(&scene, where, said);
        death_remove(where);
        free(said);
    }
}

static void stall_is_told_and_ends_the_job_after_its_limit(void **state)
{
    (void)state;
    death_scene scene = {"stall", "worker", "push"};
    char folder[] = "deaths-XXXXXX", where[4200], *said;
    assert_non_null(mkdtemp(folder));
    assert_non_null(realpath(folder, where));
    death_set_part(&scene, where);
    assert_int_equal(death_run(start, &scene, &said), 70);
    death_check_stall(said);
    death_remove(where);
    free(said);
}

// The plug-in lies beside the library that asks for it, here beside this program.
static bool link_beside(const char *name)
{
    char from[4096], to[4096];
    snprintf(from, sizeof from, "%s/%s", getenv("MXPROF_BUILD"), name);
    snprintf(to, sizeof to, "%.*s%s", (int)(strrchr(self, '/') - self + 1), self, name);
    return access(from, R_OK) == 0 && (symlink(from, to) == 0 || access(to, R_OK) == 0);
}

int main(int argument_count, char **arguments)
{
    static char path[4096];
    (void)argument_count;
    death_take_part();
    self = realpath(arguments[0], path);
    if (self == NULL || !link_beside("libmxnet_mpi.so") || !link_beside("libmxprof.so.0") ||
        system("mpirun --version >/dev/null 2>&1") != 0) {
        puts("skipped: no libmxnet_mpi.so or no mpirun (Debian: libopenmpi-dev openmpi-bin)");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survivors_name_the_dead_and_nothing_hangs),
        cmocka_unit_test(stall_is_told_and_ends_the_job_after_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

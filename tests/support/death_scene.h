// SPDX-License-Identifier: Apache-2.0
// A small training of three processes, two workers and a server, of which one dies: the processes'
// side, and what every survivor must have said and left. Test programs start themselves as these.
#ifndef DEATH_SCENE_H
#define DEATH_SCENE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct death_scene {
    const char *how;  // kill exit0 exit1 abort fault end stop; stall: see below
    const char *victim;  // "head" (worker 0), "worker" (worker 1), "server"
    const char *moment;  // what the others do: push pull barrier start
} death_scene;

enum { DEATH_LIMIT_S = 30, DEATH_PROCESSES = 3 };

// Some scenes, so that each way, victim and moment comes and each victim meets each moment; all of
// them with MXPROF_TEST_LONG. How many.
uint32_t death_scenes(const death_scene **scenes);

// Whether this process was started for a scene, of which it then plays its part and does not
// return.
void death_take_part(void);
// For a process that is to take part: sets its environment. `folder` has the files.
void death_set_part(const death_scene *scene, const char *folder);

// Fails the test unless every survivor has said one line of the victim within the time, and every
// profile can be read and is the only file of its process. `said`: what all have printed.
void death_check(const death_scene *scene, const char *folder, const char *said);

// Removes the folder of a scene whose test went well.
void death_remove(const char *folder);

// The scene {"stall", "worker", "push"}: worker 1 lives and pushes no more. Worker 0 says so after
// a second, which is the limit of the job, too.
void death_check_stall(const char *said);

// Runs `start` in a new process group with stdout and stderr into *said (free it), and ends the
// group after the limit. The exit code, -1 after the limit.
int death_run(void (*start)(void *context), void *context, char **said);

#endif

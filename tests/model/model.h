// SPDX-License-Identifier: Apache-2.0
// The one random program of this process, as its files share it.
#ifndef MODEL_H
#define MODEL_H

#include <mxprof/profiler.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "crew.h"

enum { CHILDREN_MAX = 64, TABLES_MAX = 64, ROUNDS_MAX = 14, NAME_BYTES = 32, PATH_BYTES = 512 };

typedef struct child {
    int pid;
    unsigned count;  // spans it has recorded; 0: it does not record
    int index;  // of the files its parent wrote then
    int in_chrome;  // how often it must be in the parent's Chrome traces; -1: 0 or 1
} child;

typedef struct model {
    uint64_t random;
    mxp_session *session;
    mxp_config config;
    char folder[PATH_BYTES];  // where everything is written
    bool in_sub;  // of it the program is in `sub`
    char filename[NAME_BYTES], native_filename[NAME_BYTES];
    int index, kept, snapshots;
    bool ring, statistics_only;
    bool switches;  // between memory and file
    bool running, paused, output;
    crew crew;
    truth all, table;
    truth table_then[TABLES_MAX];
    int tables, children;
    child child[CHILDREN_MAX];
    int precious;  // a file of the program's own under a number that was ours
} model;

extern model the;

uint64_t model_below(uint64_t limit);
// Ends the program with the library's last error unless `fine`.
void model_require(bool fine, const char *what);
// The path of a file in the folder of the run, wherever the program is.
const char *model_path(char *path, const char *name);
bool model_is_on(void);

// What a program does beside the profiler, model_process.c: each takes one step.
void model_have_child(void);
void model_close_all(void);
void model_change_folder(void);

#endif

// SPDX-License-Identifier: Apache-2.0
// A random program: threads record in bursts while the session is configured, renamed, started,
// stopped, paused, dumped, forked and more, in an order that the seed decides. It counts what it
// records and writes that beside the profiles, for test_session_model.py to compare.
//
//   session_model SEED        in an empty folder, where everything is written
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model.h"
#include "random.h"

model the;

uint64_t model_below(uint64_t limit)
{
    return random_below(&the.random, limit);
}

void model_require(bool fine, const char *what)
{
    if (!fine) {
        fprintf(stderr, "%s: %s\n", what, mxp_last_error());
        exit(3);
    }
}

const char *model_path(char *path, const char *name)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s", the.folder, name);
    model_require(length < PATH_BYTES, "a path that is too long");
    return path;
}

static FILE *create(const char *name)
{
    char path[PATH_BYTES];
    FILE *out = fopen(model_path(path, name), "w");
    model_require(out != NULL, name);
    return out;
}

bool model_is_on(void)
{
    return the.running && !the.paused;
}

// What the threads have recorded belongs to the run and to the table.
static void settle(void)
{
    truth_add_all(&the.all, &the.crew.recorded);
    truth_add_all(&the.table, &the.crew.recorded);
    the.crew.recorded.rows = 0;
}

// ---- configuration -----------------------------------------------------------------------------
static void configure(bool new_names)
{
    bool had_table = the.config.aggregate_stats != 0 || the.config.statistics_only != 0;
    int store = the.config.store;
    the.index += new_names;
    snprintf(the.filename, sizeof the.filename, "c%d.json", the.index);
    snprintf(the.native_filename, sizeof the.native_filename, "n%d.mxp", the.index);
    char up[2][NAME_BYTES + 3];  // names are relative, and stay what they were when they were given
    snprintf(up[0], sizeof up[0], "%s%s", the.in_sub ? "../" : "", the.filename);
    snprintf(up[1], sizeof up[1], "%s%s", the.in_sub ? "../" : "", the.native_filename);
    mxp_config_init(&the.config);
    the.config.filename = up[0];
    the.config.native_filename = up[1];
    the.config.continuous_dump = the.ring || model_below(2) != 0;
    the.config.dump_period_s = 0.002;
    the.config.memory_limit_bytes = the.ring ? 1 << 20 : 64 << 20;
    the.config.full_policy = the.ring ? MXP_FULL_RING : MXP_FULL_GROW;
    // Under one name there is one kind of file.
    bool other = new_names && (the.switches || the.index == 1) && model_below(2) != 0;
    bool file = other ? store == MXP_STORE_MEMORY && !the.statistics_only : store == MXP_STORE_FILE;
    the.config.store = file ? MXP_STORE_FILE : MXP_STORE_MEMORY;
    the.config.aggregate_stats = !the.ring && model_below(4) != 0;
    the.config.statistics_only = the.statistics_only;
    model_require(mxp_session_configure(the.session, &the.config) == 0, "configure");
    bool has_table = the.config.aggregate_stats != 0 || the.config.statistics_only != 0;
    if (!had_table || !has_table) {
        the.table.rows = 0;
    }
}

// ---- output ------------------------------------------------------------------------------------
// A finished file makes room for the next of its name.
static void keep_files(void)
{
    static const char *const endings[] = {"json", "mxp"};
    const char *names[] = {the.filename, the.native_filename};
    for (int i = 0; i < 2; i++) {
        char kept[NAME_BYTES], from[PATH_BYTES], to[PATH_BYTES];
        snprintf(kept, sizeof kept, "kept%d.%s", the.kept, endings[i]);
        rename(model_path(from, names[i]), model_path(to, kept));
    }
    the.kept++;
}

static void children_are_in(void)
{
    for (int i = 0; i < the.children; i++) {
        child *each = &the.child[i];
        bool here = each->index == the.index && each->count != 0;
        each->in_chrome = here && each->in_chrome < 0 ? 1 : each->in_chrome;
    }
}

static void dump(bool finished)
{
    int error = mxp_session_dump(the.session, finished);
    model_require((error == 0) == the.output, "dump");
    if (error == 0 && (finished || the.config.continuous_dump == 0)) {
        the.output = false;
        children_are_in();
        if (!the.ring) {
            keep_files();
        }
    }
}

static void snapshot(void)
{
    char name[NAME_BYTES], path[PATH_BYTES];
    snprintf(name, sizeof name, "s%d.mxp", the.snapshots++);
    model_require(mxp_session_snapshot(the.session, model_path(path, name), 0) == 0, "snapshot");
}

// The table as it is now, with what it must hold.
static void table(void)
{
    const char *text;
    bool has = the.config.aggregate_stats != 0 || the.config.statistics_only != 0;
    bool reset = model_below(3) == 0;
    model_require(mxp_session_dumps(the.session, MXP_FORMAT_JSON, 0, 0, reset, &text) == 0,
                  "dumps");
    if (has && the.tables < TABLES_MAX) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "table%d.json", the.tables);
        FILE *out = create(name);
        model_require(fputs(text, out) >= 0 && fclose(out) == 0, name);
        the.table_then[the.tables++] = the.table;
    }
    if (reset) {
        the.table.rows = 0;
    }
}

// ---- state -------------------------------------------------------------------------------------
static void run(void)
{
    model_require(mxp_session_run(the.session) == 0, "run");
    the.running = the.output = true;
    the.paused = false;
}

static void stop(void)
{
    model_require(mxp_session_stop(the.session) == 0, "stop");
    if (the.running) {
        crew_stopped(&the.crew);
    }
    the.running = the.paused = false;
}

static void pause_or_resume(bool paused)
{
    model_require(mxp_session_pause(the.session, paused) == 0, "pause");
    the.paused = the.running && paused;
}

// ---- the program -------------------------------------------------------------------------------
static void pause_session(void)
{
    pause_or_resume(true);
}

static void resume_session(void)
{
    pause_or_resume(false);
}

static void dump_any(void)
{
    dump(!the.ring && model_below(2) != 0);
}

static void rename_files(void)
{
    configure(true);
}

// Files of the same names begin afresh: what was written to them is put away before.
static void configure_again(void)
{
    if (the.output) {
        dump(true);
    }
    configure(false);
}

static void act_at_rest(void)
{
    static void (*const acts[])(void) = {run,
                                         run,
                                         stop,
                                         pause_session,
                                         resume_session,
                                         snapshot,
                                         model_have_child,
                                         model_close_all,
                                         model_change_folder,
                                         dump_any,
                                         table,
                                         rename_files,
                                         configure_again,
                                         table};
    enum { ALL = sizeof acts / sizeof acts[0], OF_A_RING = ALL - 4 };
    acts[model_below(the.ring ? OF_A_RING : ALL)]();
}

static void dump_on(void)
{
    dump(false);
}

static void print_table(void)
{
    const char *text;
    mxp_session_dumps(the.session, MXP_FORMAT_TABLE, 0, 0, 0, &text);
}

static void report(void)
{
    mxp_report now = {.size_bytes = sizeof now};
    model_require(mxp_session_report(the.session, &now) == 0, "report");
}

static void wait_a_little(void)
{
    usleep(500);
}

static void act_in_burst(void)
{
    static void (*const acts[])(void) = {dump_on, snapshot,         print_table,
                                         report,  model_have_child, wait_a_little};
    acts[model_below(sizeof acts / sizeof acts[0])]();
}

static void play(void)
{
    int rounds = 2 + (int)model_below(ROUNDS_MAX - 2);
    for (int i = 0; i < rounds; i++) {
        for (uint64_t acts = model_below(4); acts > 0; acts--) {
            act_at_rest();
            settle();
        }
        crew_burst(&the.crew, model_is_on());
        for (uint64_t acts = model_below(3); acts > 0; acts--) {
            act_in_burst();
        }
        crew_rest(&the.crew);
        settle();
    }
    the.crew.leaves_open = false;
    crew_burst(&the.crew, model_is_on());
    crew_rest(&the.crew);
    run();
    stop();
    settle();
    if (!the.ring) {
        table();
    }
    dump(true);
}

static void write_truth(void)
{
    FILE *out = create("truth.json");
    fprintf(out, "{\"ring\": %d, \"switches\": %d, \"statistics_only\": %d, \"precious\": %d, ",
            the.ring, the.switches, the.statistics_only, the.precious >= 0);
    fputs("\"all\": ", out);
    truth_print(&the.all, out);
    fputs(", \"tables\": [", out);
    for (int i = 0; i < the.tables; i++) {
        fputs(i == 0 ? "" : ", ", out);
        truth_print(&the.table_then[i], out);
    }
    fputs("], \"children\": [", out);
    for (int i = 0; i < the.children; i++) {
        const child *each = &the.child[i];
        fprintf(out, "%s{\"pid\": %d, \"count\": %u, \"in_chrome\": %d}", i == 0 ? "" : ", ",
                each->pid, each->count, each->in_chrome);
    }
    fputs("]}\n", out);
    model_require(fclose(out) == 0, "truth.json");
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    the.random = seed;
    the.precious = -1;
    model_require(getcwd(the.folder, sizeof the.folder) != NULL && mkdir("sub", 0755) == 0,
                  "folders");
    the.session = mxp_session_get();
    the.ring = seed % 4 == 3;
    the.statistics_only = seed % 16 == 5;
    the.switches = seed % 8 == 6;
    the.crew.size = 1 + (int)model_below(CREW_MAX);
    the.crew.most = model_below(16) == 0 || seed % 16 == 7 ? 1000 : 60;
    the.crew.leaves_open = true;
    configure(true);
    crew_start(&the.crew, seed << 8);
    run();
    play();
    crew_end(&the.crew);
    write_truth();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// The tables of `mxprof report` that are made from single instances: by thread, by the value of an
// argument, and the histogram of a name's durations. What they print is exact.
#ifndef MXP_TOOLS_INSTANCE_TABLES_H
#define MXP_TOOLS_INSTANCE_TABLES_H

#include "instances/durations.h"
#include "instances/selected.h"

typedef struct mxp_instance_wish {
    const char *arg;  // key of which each value is a row; null: not asked for
    const char *sum;  // key whose numbers are added up a row, or null
    const char *histogram;  // glob of names, or null
    bool by_thread, json;
    mxp_option_list idle;  // globs of names that wait
    mxp_percentiles percentiles;
    size_t top;  // rows, 0: as it is usual
    mxp_selection selection;
    mxp_screen screen;
} mxp_instance_wish;

// Whether the words of a command line ask for one of these tables, and the whole command then.
bool mxp__instance_table_is_wanted(int count, char *const *arguments);
int mxp__instance_table_run(const mxp_command *command, int count, char **arguments);

// The lines of the report's help about them.
#define MXP_INSTANCE_TABLES_HELP                                                                \
    "  --by thread     how busy each thread was, and with what; --idle GLOB: names that wait\n" \
    "  --by arg:KEY    a row for each value of an argument; --sum KEY adds another one up\n"    \
    "  --histogram GLOB  how the durations of these names are distributed\n"                    \
    "  --percentiles LIST  with the two above: which, such as 50,99,99.9; they are exact\n"

// What each of them knows. -1, or the exit code after an error line.
typedef struct mxp_instance_table {
    const mxp_command *command;
    const mxp_instance_wish *wish;
    mxp_input *input;
    mxp_strbuf *out;
    bool is_damaged;
} mxp_instance_table;

int mxp__put_by_thread(mxp_instance_table *table);
int mxp__put_by_arg(mxp_instance_table *table);
int mxp__put_histogram(mxp_instance_table *table);

// Reads the instances of all processes: `begin` is called before those of each one, `end` behind
// them, if it is not null. What is chosen is for `visit` to ask. -1, or the exit code after an
// error line.
typedef struct mxp_table_reader {
    int (*begin)(void *context, mxp_source *process, const mxp_selected *selected);
    mxp_instance_visit visit;
    int (*end)(void *context);
    void *context;
} mxp_table_reader;
int mxp__table_read(mxp_instance_table *table, const mxp_table_reader *reader);

#endif

// SPDX-License-Identifier: Apache-2.0
// A subcommand, and what all of them share: the table of options, the exit codes, the opened trace,
// and the output. Each subcommand is one file; MXP_COMMANDS lists them.
#ifndef MXP_TOOLS_COMMAND_H
#define MXP_TOOLS_COMMAND_H

#include <mxprof/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/os/new_file.h"
#include "profiler/export/sink.h"
#include "profiler/trace/file/native.h"
#include "symbols/symbols.h"

#define MXP_COMMANDS(X) \
    X(run)              \
    X(info)             \
    X(report)           \
    X(explain)          \
    X(view)             \
    X(memory)           \
    X(roof)             \
    X(path)             \
    X(whatif)           \
    X(diff)             \
    X(show)             \
    X(top)              \
    X(at)               \
    X(convert)          \
    X(merge)            \
    X(recover)          \
    X(symbolize)        \
    X(ls)               \
    X(snapshot)

// UNKNOWN: what was asked cannot be answered from this trace.
enum { MXP_EXIT_FINE = 0, MXP_EXIT_ERROR = 1, MXP_EXIT_USAGE = 2, MXP_EXIT_UNKNOWN = 3 };

typedef struct mxp_command {
    const char *name;
    const char *summary;  // one line for `mxprof --help`
    const char *help;  // what `mxprof NAME --help` prints
    void (*help_list)(FILE *stream);  // prints a list after `help`; may be null
    const char *help_end;  // printed after the list; set where help_list is
    const char *wants, *example;  // its argument in words, and an example; null: a file
    int (*run)(const struct mxp_command *self, int count, char **arguments);
    // Of a command with a second table of options: what runs it. `run` calls it; may be null.
    int (*run_also)(const struct mxp_command *self, int count, char **arguments);
} mxp_command;

#define MXP_COMMAND_DECLARE(name) extern const mxp_command mxp__command_##name;
MXP_COMMANDS(MXP_COMMAND_DECLARE)
#undef MXP_COMMAND_DECLARE

// ---- options (option.c) -----------------------------------------------------------------------
// The values of an option that may be given several times, in their order.
enum { MXP_OPTION_LIST_MAX = 32 };
typedef struct mxp_option_list {
    const char *words[MXP_OPTION_LIST_MAX];
    size_t count;
} mxp_option_list;

// One option: a switch sets *number to 1; a choice sets it to the place of the word in `words`;
// else the value goes to *text, or behind those of *list. Where the first word is "", the option
// may stand without "=WORD", and means the second one then.
typedef struct mxp_option {
    const char *name;  // "--sort"; null ends the table
    char letter;  // "-o", or 0
    const char *const *words;  // null-terminated list of valid values, or null
    int *number;
    const char **text;
    mxp_option_list *list;
} mxp_option;

// Takes `arguments` apart: options anywhere, `--` ends them, exactly one file. Returns -1 to
// continue, or the exit code after an error line or the help (asked for by --help).
int mxp__options_parse(const mxp_command *command, const mxp_option *options, int count,
                       char **arguments, const char **file);

// The same for any number of files, at least one: they are at the front of `arguments` then.
int mxp__options_parse_all(const mxp_command *command, const mxp_option *options, int count,
                           char **arguments, int *file_count);

// The same, where none is fine as well.
int mxp__options_parse_any(const mxp_command *command, const mxp_option *options, int count,
                           char **arguments, int *file_count);

// The same where options end at the first word that is none, or behind `--`: its place goes to
// *first. What comes from there on belongs to that word.
int mxp__options_parse_first(const mxp_command *command, const mxp_option *options, int count,
                             char **arguments, int *first);

int mxp__command_help(const mxp_command *command);  // prints all of it; the exit code
void mxp__command_help_text(const mxp_command *command, mxp_strbuf *out);

// While there is a listener, the functions above hand their tables to it and return MXP_EXIT_FINE:
// a command that is run then does nothing else. Null: nobody listens.
void mxp__options_listen(void (*listener)(const mxp_command *command, const mxp_option *options));

// Error line on stderr, `mxprof COMMAND: ...`, and the exit code of a wrong call.
int mxp__usage_error(const mxp_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// ---- input (input.c) --------------------------------------------------------------------------
// What stands in the place of a source's own (anonymous.h).
typedef struct mxp_owned_info {
    mxp_info_pair *pairs;
    size_t count;  // that there is room for
    mxp_clock_owner *owner;  // with its cuts; null: the source has none
    size_t owner_bytes;
    char host[sizeof((mxp_clock_owner *)0)->host];  // in its place
} mxp_owned_info;

// One or several files as one source: native ones, and those of other profilers (import/import.h).
typedef struct mxp_input {
    const char *path;  // as given; of several the first
    uint64_t file_bytes;
    mxp_source *source;
    bool damaged;
    bool is_imported;  // one of the files is another profiler's
    bool told_unread;  // how much of its records cannot be read
    size_t left_out;  // files of directories
    char ring[192];  // of a ring: what it holds, and from when on it is counted
    bool made_room;  // of a ring: older records were overwritten
    mxp_symbols symbols;  // names of functions that were recorded by address
    struct mxp_one_clock *clocks;  // of a job's processes; null: it is none, or one alone
    char **names;  // of the files in directories
    size_t name_count, name_capacity;
    mxp_owned_info *infos;  // of processes without who and where
    size_t info_count, info_capacity;
} mxp_input;

// Opens files, and all *.mxp and *.mxpz of directories. A file of a directory that cannot be read
// at all is left out with a warning. Of x.mxp and x.mxpz of one process the first is used, with a
// warning.
int mxp__input_open_all(const mxp_command *command, char *const *paths, size_t count,
                        mxp_input *input);
// Opens these files of a directory, as if no others were in it.
int mxp__input_open_entries(const mxp_command *command, const char *folder, char *const *names,
                            size_t count, mxp_input *input);
// Opens `path`, a file or a directory. A file that is damaged but partly readable is opened, and a
// warning with the offset goes to stderr. 0, or a negative error with the line already printed.
int mxp__input_open(const mxp_command *command, const char *path, mxp_input *input);
void mxp__input_close(mxp_input *input);
// From now on spans of other profilers' files keep their arguments.
void mxp__input_take_args(void);
// From now on inputs say neither host, command nor paths, and `path` is without its folders.
void mxp__input_take_anonymous(void);
// From now on files of different jobs are refused, unless `force`; and with `messages` clocks are
// also found by what messages prove, which reads all records once.
void mxp__input_take_jobs(bool force, bool messages);
// Warns once how much of the records cannot be read, and why the first of them cannot.
void mxp__input_cut_short(const mxp_command *command, mxp_input *input);
// The same for what a reading has left out.
struct mxp_recovery_loss;
void mxp__input_unread(const mxp_command *command, mxp_input *input,
                       const struct mxp_recovery_loss *lost);
// The exit code of a command whose work went well: a damaged file makes it MXP_EXIT_ERROR.
int mxp__input_exit_code(const mxp_input *input);
// The same of one that ended in `code`: MXP_EXIT_UNKNOWN of a damaged file is MXP_EXIT_ERROR, since
// what was asked may have been in what is damaged.
int mxp__input_end(const mxp_input *input, int code);

// Error line on stderr from the last error's detail; returns MXP_EXIT_ERROR. Null: of none of them.
int mxp__command_failed(const mxp_command *command);

// ---- output (output.c) ------------------------------------------------------------------------
// Where a result goes: standard output ("-"), or a file. A regular file appears under its name only
// when it is complete; anything else is written in place.
typedef struct mxp_output {
    mxp_sink sink;
    char *path;  // where it ends up; null for standard output
    mxp_new_file file;  // where it is being written; without a temporary name: in place
    bool reader_gone;  // a pipe was closed by its reader: not an error, and nothing more to do
} mxp_output;

int mxp__output_open(const char *path, mxp_output *output);
// Puts the file in its place; `keep` false removes the unfinished one. 0 or MXP_EIO.
int mxp__output_close(mxp_output *output, bool keep);

// Writes `text` to standard output; returns the exit code, after an error line if there is an
// error. `command` as in mxp__command_failed.
int mxp__output_print(const mxp_command *command, const mxp_strbuf *text);

#endif

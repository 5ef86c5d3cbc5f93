// SPDX-License-Identifier: Apache-2.0
// The mxprof command: finds the subcommand and runs it. Subcommands are known here only through the
// table, so that a new one is one file and one line in MXP_COMMANDS.
#include <mxprof/version.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/lost_pages.h"
#include "command.h"
#include "completion.h"
#include "manual.h"
#include "profiler/trace/file/file_bytes.h"

static const mxp_command *const commands[] = {
#define MXP_COMMAND_ENTRY(name) &mxp__command_##name,
    MXP_COMMANDS(MXP_COMMAND_ENTRY)
#undef MXP_COMMAND_ENTRY
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void put_help(mxp_strbuf *out)
{
    mxp__strbuf_puts(
        out, "mxprof runs programs and records them, and reads the profiles that programs leave "
             "behind.\n"
             "\n"
             "usage: mxprof COMMAND [OPTIONS] FILE\n"
             "\n"
             "commands\n");
    for (int i = 0; i < COMMANDS; i++) {
        mxp__strbuf_printf(out, "  %-9s  %s\n", commands[i]->name, commands[i]->summary);
    }
    mxp__strbuf_puts(
        out,
        "\n"
        "  mxprof COMMAND --help   explains one of them, with examples\n"
        "  mxprof --version        prints the version\n"
        "\n"
        "FILE is a native trace (*.mxp). 'mxprof run PROGRAM' writes it, and so does a program "
        "that\n"
        "records, where native_filename or MXPROF_NATIVE_FILENAME says. It may also be JSON of\n"
        "torch.profiler, MXNet, viztracer or whatever writes Chrome's format, plain or gzip; the\n"
        "core file of a process that recorded into memory; - for standard input; or the number of\n"
        "a process that records now.\n"
        "\n"
        "first steps\n"
        "  mxprof run python train.py                   any program: what took its time?\n"
        "  mxprof info profile.mxp                      what is in it, and is it complete?\n"
        "  mxprof report profile.mxp                    where did the time go?\n"
        "  mxprof convert profile.mxp -o profile.json   then open it in ui.perfetto.dev\n"
        "\n"
        "exit code: 0 fine, 1 the file or the system made it fail (what could be read of a\n"
        "damaged file is printed), 2 the command line is wrong, or names what is not there, 3 "
        "what\n"
        "was asked cannot be told from such a trace. Those of run and diff are in their own "
        "help.\n");
}

// What the command was built without is said where one looks first.
static void put_version(mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "mxprof " MXP_VERSION_STRING "\n");
#ifndef MXP_WITH_ZLIB
    mxp__strbuf_puts(out, "built without zlib: it neither writes nor reads *.gz\n");
#endif
#ifndef MXP_WITH_SQLITE
    mxp__strbuf_puts(out, "built without SQLite: it writes no databases\n");
#endif
#ifndef MXP_WITH_ZSTD
    mxp__strbuf_puts(
        out, "built without zstd: it neither writes nor reads compressed traces (*.mxpz)\n");
#endif
}

static int print(void (*put)(mxp_strbuf *out))
{
    mxp_strbuf text = {0};
    put(&text);
    int code = mxp__output_print(NULL, &text);
    mxp__strbuf_fini(&text);
    return code;
}

static int no_command(void)
{
    mxp_strbuf text = {0};
    put_help(&text);
    fputs(mxp__strbuf_text(&text), stderr);
    mxp__strbuf_fini(&text);
    return MXP_EXIT_USAGE;
}

static const mxp_command *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

// What the same is called elsewhere.
static const char *own_word(const char *name)
{
    static const char *const words[][2] = {
        {"record", "run"},       {"exec", "run"},    {"trace", "run"},    {"start", "run"},
        {"list", "ls"},          {"ps", "ls"},       {"compare", "diff"}, {"export", "convert"},
        {"open", "view"},        {"stat", "report"}, {"stats", "report"}, {"summary", "report"},
        {"version", "--version"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i][0], name) == 0) {
            return words[i][1];
        }
    }
    return NULL;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length > end && strcmp(text + length - end, ending) == 0;
}

// A file in the place of the command: false where it is none.
static bool tell_of_file(const char *name)
{
    struct stat status;
    bool is_there = stat(name, &status) == 0;
    bool is_trace = ends_with(name, ".mxp") || ends_with(name, ".mxpz") || ends_with(name, ".json");
    bool runs = is_there && S_ISREG(status.st_mode) && access(name, X_OK) == 0;
    bool is_script = ends_with(name, ".py");
    if (!is_trace && !runs && !is_script && !is_there) {
        return false;
    }
    fprintf(stderr, "mxprof: which command? For example: mxprof %s%s%s\n",
            is_script           ? "run python "
            : runs && !is_trace ? "run "
                                : "report ",
            runs && !is_script && strchr(name, '/') == NULL ? "./" : "", name);
    return true;
}

static int unknown_command(const char *name)
{
    if (tell_of_file(name)) {
        return MXP_EXIT_USAGE;
    }
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
    }
    const char *closest = own_word(name) != NULL ? own_word(name) : mxp__closest(name, names);
    fprintf(stderr, "mxprof: there is no command '%s'", name);
    if (closest != NULL) {
        fprintf(stderr, "; did you mean '%s'?", closest);
    }
    fputs("\nThe commands are:", stderr);
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(stderr, " %s", commands[i]->name);
    }
    fputs(". 'mxprof --help' explains them.\n", stderr);
    return MXP_EXIT_USAGE;
}

// `mxprof help [COMMAND]`, for those who type it that way.
static int help_about(const char *name)
{
    const mxp_command *command = name == NULL ? NULL : find_command(name);
    if (name != NULL && command == NULL) {
        return unknown_command(name);
    }
    return command != NULL ? mxp__command_help(command) : print(put_help);
}

// What `make install` makes of the commands' own words: completion of shells, the manual. Not told
// in the help, because nobody else needs them. -1: it is none of these.
static int make_of_help(int count, char **arguments)
{
    const bool is_completion = strcmp(arguments[1], "--completion") == 0;
    if (!is_completion && strcmp(arguments[1], "--manual") != 0) {
        return -1;
    }
    if (count != 3) {
        fprintf(stderr, "mxprof: %s needs %s after it\n", arguments[1],
                is_completion ? "bash, zsh or fish" : "a folder");
        return MXP_EXIT_USAGE;
    }
    mxp_strbuf text = {0};
    int code = MXP_EXIT_FINE;
    if (is_completion && !mxp__completion_put(arguments[2], commands, COMMANDS, &text)) {
        fprintf(stderr, "mxprof: --completion knows bash, zsh and fish, not '%s'\n", arguments[2]);
        code = MXP_EXIT_USAGE;
    } else if (is_completion) {
        code = mxp__output_print(NULL, &text);
    } else {
        put_help(&text);
        code = mxp__manual_write(arguments[2], commands, COMMANDS, &text);
    }
    mxp__strbuf_fini(&text);
    return code;
}

static int unknown_option(const char *name)
{
    const char *const own[] = {"--help", "--version", NULL};
    const char *closest = mxp__closest(name, own);
    if (closest != NULL) {
        fprintf(stderr, "mxprof: unknown option '%s'; did you mean '%s'?\n", name, closest);
    } else {
        fprintf(stderr,
                "mxprof: unknown option '%s'; options come after the command, as in\n"
                "  mxprof report %s FILE\n",
                name, name);
    }
    return MXP_EXIT_USAGE;
}

int main(int count, char **arguments)
{
    // A reader that has seen enough (`| head`) is no error: writes then fail with EPIPE, which
    // output.c takes as the end.
    signal(SIGPIPE, SIG_IGN);
    mxp__lost_pages_replace();
    mxp__file_bytes_may_map = true;
    if (count < 2) {
        return no_command();
    }
    const char *first = arguments[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        return help_about(count > 2 ? arguments[2] : NULL);
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        return print(put_version);
    }
    int made = make_of_help(count, arguments);
    if (made >= 0) {
        return made;
    }
    if (first[0] == '-') {
        return unknown_option(first);
    }
    const mxp_command *command = find_command(first);
    return command == NULL ? unknown_command(first)
                           : command->run(command, count - 2, arguments + 2);
}

// SPDX-License-Identifier: Apache-2.0
// The mxprof command: finds the subcommand and runs it. Subcommands are known here only through the
// table, so that a new one is one file and one line in MXP_COMMANDS.
#include <mxprof/version.h>
#include <signal.h>
#include <string.h>

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
        "FILE is a native trace (*.mxp). 'mxprof run PROGRAM' writes it, and so does a program that\n"
        "records, where native_filename or MXPROF_NATIVE_FILENAME says. It may also be JSON of\n"
        "torch.profiler, MXNet, viztracer or whatever writes Chrome's format, plain or gzip; the\n"
        "core file of a process that recorded into memory; - for standard input; or the number of\n"
        "a process that records now.\n"
        "\n"
        "first steps\n"
        "  mxprof info profile.mxp                      what is in it, and is it complete?\n"
        "  mxprof report profile.mxp                    where did the time go?\n"
        "  mxprof convert profile.mxp -o profile.json   then open it in ui.perfetto.dev\n"
        "\n"
        "exit code: 0 fine, 1 the file or the system made it fail (what could be read of a\n"
        "damaged file is printed), 2 the command line is wrong, 3 what was asked is not in the\n"
        "trace.\n");
}

static void print_help(FILE *stream)
{
    mxp_strbuf text = {0};
    put_help(&text);
    fputs(mxp__strbuf_text(&text), stream);
    mxp__strbuf_fini(&text);
}

// What the command was built without is said where one looks first.
static void print_version(void)
{
    puts("mxprof " MXP_VERSION_STRING);
#ifndef MXP_WITH_ZLIB
    puts("built without zlib: it neither writes nor reads *.gz");
#endif
#ifndef MXP_WITH_SQLITE
    puts("built without SQLite: it writes no databases");
#endif
#ifndef MXP_WITH_ZSTD
    puts("built without zstd: it neither writes nor reads compressed traces (*.mxpz)");
#endif
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

static int unknown_command(const char *name)
{
    const char *names[COMMANDS + 1] = {NULL};
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
    }
    const char *closest = mxp__closest(name, names);
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
    if (command != NULL) {
        mxp__command_help(command);
    } else {
        print_help(stdout);
    }
    return MXP_EXIT_FINE;
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
        code = fputs(mxp__strbuf_text(&text), stdout) < 0 || fflush(stdout) != 0 ? MXP_EXIT_ERROR
                                                                                 : code;
    } else {
        put_help(&text);
        code = mxp__manual_write(arguments[2], commands, COMMANDS, &text);
    }
    mxp__strbuf_fini(&text);
    return code;
}

int main(int count, char **arguments)
{
    // A reader that has seen enough (`| head`) is no error: writes then fail with EPIPE, which
    // output.c takes as the end.
    signal(SIGPIPE, SIG_IGN);
    mxp__lost_pages_replace();
    mxp__file_bytes_may_map = true;
    if (count < 2) {
        print_help(stderr);
        return MXP_EXIT_USAGE;
    }
    const char *first = arguments[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        return help_about(count > 2 ? arguments[2] : NULL);
    }
    if (strcmp(first, "--version") == 0) {
        print_version();
        return MXP_EXIT_FINE;
    }
    int made = make_of_help(count, arguments);
    if (made >= 0) {
        return made;
    }
    if (first[0] == '-') {
        fprintf(stderr,
                "mxprof: unknown option '%s'; options come after the command, as in\n"
                "  mxprof report %s FILE\n",
                first, first);
        return MXP_EXIT_USAGE;
    }
    const mxp_command *command = find_command(first);
    return command == NULL ? unknown_command(first)
                           : command->run(command, count - 2, arguments + 2);
}

// SPDX-License-Identifier: Apache-2.0
// See completion.h. Each command is run with a listener for its options in the place of arguments:
// mxp__options_parse and its like hand their table over and go no further.
#include "completion.h"

#include <string.h>

// ---- the options of a command ------------------------------------------------------------------
// Appends one option to a script.
typedef void (*option_writer)(const mxp_command *command, const mxp_option *option,
                              mxp_strbuf *out);

static struct {
    option_writer write;
    mxp_strbuf *out;
    const char *seen[128];  // a command may have two tables, which share options
    size_t seen_count;
} listening;

static bool is_new(const char *name)
{
    for (size_t i = 0; i < listening.seen_count; i++) {
        if (strcmp(listening.seen[i], name) == 0) {
            return false;
        }
    }
    if (listening.seen_count < sizeof listening.seen / sizeof listening.seen[0]) {
        listening.seen[listening.seen_count++] = name;
    }
    return true;
}

static void listen(const mxp_command *command, const mxp_option *options)
{
    for (; options->name != NULL; options++) {
        if (is_new(options->name)) {
            listening.write(command, options, listening.out);
        }
    }
}

static void each_option(const mxp_command *command, option_writer write, mxp_strbuf *out)
{
    static const mxp_option help = {.name = "--help"};
    char *none[1] = {NULL};
    listening.write = write;
    listening.out = out;
    listening.seen_count = 0;
    mxp__options_listen(listen);
    command->run(command, 0, none);
    if (command->run_also != NULL) {
        command->run_also(command, 0, none);
    }
    mxp__options_listen(NULL);
    write(command, &help, out);
}

static bool takes_value(const mxp_option *option)
{
    bool may_stand_alone = option->words != NULL && option->words[0][0] == '\0';
    return option->text != NULL || option->list != NULL ||
           (option->words != NULL && !may_stand_alone);
}

static void put_words(const mxp_option *option, const char *between, mxp_strbuf *out)
{
    size_t put = 0;
    for (size_t i = 0; option->words[i] != NULL; i++) {
        if (option->words[i][0] != '\0') {
            mxp__strbuf_printf(out, "%s%s", put++ > 0 ? between : "", option->words[i]);
        }
    }
}

static void put_commands(const mxp_command *const *commands, size_t count, mxp_strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "%s%s", i > 0 ? " " : "", commands[i]->name);
    }
}

// ---- bash --------------------------------------------------------------------------------------
static void bash_name(const mxp_command *command, const mxp_option *option, mxp_strbuf *out)
{
    (void)command;
    mxp__strbuf_printf(out, "%s ", option->name);
    if (option->letter != 0) {
        mxp__strbuf_printf(out, "-%c ", option->letter);
    }
}

static void bash_words(const mxp_command *command, const mxp_option *option, mxp_strbuf *out)
{
    if (option->words != NULL) {
        mxp__strbuf_printf(out, "        %s:%s) COMPREPLY=($(compgen -W \"", command->name,
                           option->name);
        put_words(option, " ", out);
        mxp__strbuf_puts(out, "\" -- \"$word\")); return ;;\n");
    }
}

static void put_bash(const mxp_command *const *commands, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "# Completion of mxprof for bash; made by mxprof --completion bash.\n"
                          "_mxprof() {\n"
                          "    local word=$2 before=$3 command=${COMP_WORDS[1]} options\n"
                          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                          "        COMPREPLY=($(compgen -W \"");
    put_commands(commands, count, out);
    mxp__strbuf_puts(out,
                     " help --help --version\" -- \"$word\"))\n"
                     "        return\n"
                     "    fi\n"
                     "    if [ \"$before\" = \"=\" ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                     "    if [ \"$word\" = \"=\" ]; then word=; fi\n"
                     "    case $command:$before in\n");
    for (size_t i = 0; i < count; i++) {
        each_option(commands[i], bash_words, out);
    }
    mxp__strbuf_puts(out, "    esac\n"
                          "    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "        %s) options=\"", commands[i]->name);
        each_option(commands[i], bash_name, out);
        mxp__strbuf_puts(out, "\" ;;\n");
    }
    mxp__strbuf_puts(out, "        help) COMPREPLY=($(compgen -W \"");
    put_commands(commands, count, out);
    mxp__strbuf_puts(out, "\" -- \"$word\")); return ;;\n"
                          "    esac\n"
                          "    case $word in\n"
                          "        -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
                          "        *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
                          "    esac\n"
                          "}\n"
                          "complete -o filenames -o bashdefault -F _mxprof mxprof\n");
}

// ---- zsh ---------------------------------------------------------------------------------------
static void zsh_option(const mxp_command *command, const mxp_option *option, mxp_strbuf *out)
{
    (void)command;
    const char *plus = takes_value(option) ? "=" : option->words != NULL ? "=-" : "";
    bool repeats = option->list != NULL;
    for (int letter = option->letter != 0; letter >= 0; letter--) {
        mxp__strbuf_puts(out, "                ");
        if (letter) {
            mxp__strbuf_printf(out, "'%s-%c%s", repeats ? "*" : "", option->letter,
                               takes_value(option) ? "+" : "");
        } else {
            mxp__strbuf_printf(out, "'%s%s%s", repeats ? "*" : "", option->name, plus);
        }
        if (option->words != NULL) {
            mxp__strbuf_puts(out, takes_value(option) ? ":word:(" : "::word:(");
            put_words(option, " ", out);
            mxp__strbuf_putc(out, ')');
        } else if (takes_value(option)) {
            mxp__strbuf_puts(out, ":value:_files");
        }
        mxp__strbuf_puts(out, "' \\\n");
    }
}

// Within single quotes.
static void zsh_text(const char *text, mxp_strbuf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            mxp__strbuf_puts(out, "'\\''");
        } else {
            mxp__strbuf_puts(out, *text == ':' ? "\\" : "");
            mxp__strbuf_putc(out, *text);
        }
    }
}

static void put_zsh(const mxp_command *const *commands, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "#compdef mxprof\n"
                          "# Completion of mxprof for zsh; made by mxprof --completion zsh.\n"
                          "_mxprof() {\n"
                          "    local -a commands\n"
                          "    commands=(\n");
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "        '%s:", commands[i]->name);
        zsh_text(commands[i]->summary, out);
        mxp__strbuf_puts(out, "'\n");
    }
    mxp__strbuf_puts(out, "    )\n"
                          "    if (( CURRENT == 2 )); then\n"
                          "        _describe command commands\n"
                          "        return\n"
                          "    fi\n"
                          "    local command=$words[2]\n"
                          "    shift words\n"
                          "    (( CURRENT-- ))\n"
                          "    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "        %s)\n            _arguments \\\n", commands[i]->name);
        each_option(commands[i], zsh_option, out);
        mxp__strbuf_puts(out, "                '*:file:_files' ;;\n");
    }
    mxp__strbuf_puts(out, "    esac\n"
                          "}\n"
                          "_mxprof \"$@\"\n");
}

// ---- fish --------------------------------------------------------------------------------------
static void fish_option(const mxp_command *command, const mxp_option *option, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "complete -c mxprof -n '__fish_seen_subcommand_from %s' -l %s",
                       command->name, option->name + 2);
    if (option->letter != 0) {
        mxp__strbuf_printf(out, " -s %c", option->letter);
    }
    if (option->words != NULL) {
        mxp__strbuf_printf(out, "%s -a '", takes_value(option) ? " -x" : "");
        put_words(option, " ", out);
        mxp__strbuf_putc(out, '\'');
    } else if (takes_value(option)) {
        mxp__strbuf_puts(out, " -r");
    }
    mxp__strbuf_putc(out, '\n');
}

static void fish_text(const char *text, mxp_strbuf *out)
{
    for (; *text != '\0'; text++) {
        mxp__strbuf_puts(out, *text == '\'' || *text == '\\' ? "\\" : "");
        mxp__strbuf_putc(out, *text);
    }
}

static void put_fish(const mxp_command *const *commands, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "# Completion of mxprof for fish; made by mxprof --completion fish.\n");
    for (size_t i = 0; i < count; i++) {
        mxp__strbuf_printf(out, "complete -c mxprof -f -n '__fish_use_subcommand' -a %s -d '",
                           commands[i]->name);
        fish_text(commands[i]->summary, out);
        mxp__strbuf_puts(out, "'\n");
    }
    for (size_t i = 0; i < count; i++) {
        each_option(commands[i], fish_option, out);
    }
}

bool mxp__completion_put(const char *shell, const mxp_command *const *commands, size_t count,
                         mxp_strbuf *out)
{
    static const struct {
        const char *name;
        void (*put)(const mxp_command *const *commands, size_t count, mxp_strbuf *out);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].put(commands, count, out);
            return true;
        }
    }
    return false;
}

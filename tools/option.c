// SPDX-License-Identifier: Apache-2.0
// The command line of a subcommand: a table of options, and a file. Each error message says what
// would be right.
#include <mxprof/error.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/strbuf.h"
#include "command.h"

enum { OPTIONS_MAX = 40 };

int mxp__usage_error(const mxp_command *command, const char *format, ...)
{
    fprintf(stderr, "mxprof %s: ", command->name);
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n'mxprof %s --help' explains it.\n", command->name);
    return MXP_EXIT_USAGE;
}

int mxp__command_failed(const mxp_command *command)
{
    fprintf(stderr, "mxprof%s%s: %s\n", command != NULL ? " " : "",
            command != NULL ? command->name : "", mxp_last_error());
    return MXP_EXIT_ERROR;
}

// Whether `argument` is `option`; *value points after a "=" or at what follows a letter
// ("-oFILE").
static bool matches(const mxp_option *option, const char *argument, const char **value)
{
    *value = NULL;
    size_t length = strlen(option->name);
    if (strncmp(argument, option->name, length) == 0) {
        if (argument[length] == '=') {
            *value = argument + length + 1;
        }
        return argument[length] == '\0' || argument[length] == '=';
    }
    if (option->letter != 0 && argument[0] == '-' && argument[1] == option->letter) {
        *value = argument[2] == '\0' ? NULL : argument + 2;
        return true;
    }
    return false;
}

static int unknown_option(const mxp_command *command, const mxp_option *options,
                          const char *argument)
{
    const char *names[OPTIONS_MAX + 2] = {NULL};
    size_t known = 0;
    for (; options[known].name != NULL && known < OPTIONS_MAX; known++) {
        names[known] = options[known].name;
    }
    names[known] = "--help";
    char word[64];  // "--srot=avg" is looked for as "--srot"
    size_t length = strcspn(argument, "=");
    length = length < sizeof word ? length : sizeof word - 1;
    memcpy(word, argument, length);
    word[length] = '\0';
    const char *closest = mxp__closest(word, names);
    if (closest != NULL) {
        return mxp__usage_error(command, "unknown option '%s'; did you mean '%s'?", word, closest);
    }
    mxp_strbuf list = {0};
    for (size_t i = 0; i <= known; i++) {
        mxp__strbuf_printf(&list, " %s", names[i]);
    }
    int code = mxp__usage_error(command, "unknown option '%s'; the options are%s", word,
                                mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return code;
}

static int wrong_word(const mxp_command *command, const mxp_option *option, const char *value)
{
    mxp_strbuf list = {0};
    for (size_t i = option->words[0][0] == '\0' ? 1 : 0; option->words[i] != NULL; i++) {
        mxp__strbuf_printf(&list, "%s%s", list.length == 0 ? "" : ", ", option->words[i]);
    }
    int code = mxp__usage_error(command, "%s does not know '%s'; it takes one of: %s", option->name,
                                value, mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return code;
}

static int set_value(const mxp_command *command, const mxp_option *option, const char *value)
{
    if (option->list != NULL) {
        if (option->list->count == MXP_OPTION_LIST_MAX) {
            return mxp__usage_error(command, "%s can be given %d times", option->name,
                                    MXP_OPTION_LIST_MAX);
        }
        option->list->words[option->list->count++] = value;
        return -1;
    }
    if (option->text != NULL) {
        *option->text = value;
        return -1;
    }
    for (int i = 0; option->words[i] != NULL; i++) {
        if (strcmp(option->words[i], value) == 0) {
            *option->number = i;
            return -1;
        }
    }
    return wrong_word(command, option, value);
}

// Takes arguments[*at], and the one after it if that is its value.
static int take_option(const mxp_command *command, const mxp_option *options, int count,
                       char **arguments, int *at)
{
    const char *argument = arguments[*at];
    const char *value;
    const mxp_option *option = options;
    while (option->name != NULL && !matches(option, argument, &value)) {
        option++;
    }
    if (option->name == NULL) {
        return unknown_option(command, options, argument);
    }
    if (option->words == NULL && option->text == NULL && option->list == NULL) {
        *option->number = 1;
        return value == NULL
                   ? -1
                   : mxp__usage_error(command, "%s takes no value ('%s')", option->name, value);
    }
    if (value == NULL && option->words != NULL && option->words[0][0] == '\0') {
        *option->number = 1;
        return -1;
    }
    if (value == NULL && *at + 1 < count) {
        value = arguments[++*at];
    }
    if (value == NULL) {
        return mxp__usage_error(command, "%s needs a value after it", option->name);
    }
    return set_value(command, option, value);
}

void mxp__command_help_text(const mxp_command *command, mxp_strbuf *out)
{
    char *list = NULL;
    size_t length = 0;
    mxp__strbuf_puts(out, command->help);
    FILE *stream = command->help_list != NULL ? open_memstream(&list, &length) : NULL;
    if (stream != NULL) {
        command->help_list(stream);
        fclose(stream);
        mxp__strbuf_append(out, list, length);
        free(list);
    }
    if (command->help_list != NULL) {
        mxp__strbuf_puts(out, command->help_end);
    }
}

int mxp__command_help(const mxp_command *command)
{
    mxp_strbuf text = {0};
    mxp__command_help_text(command, &text);
    int code = mxp__output_print(command, &text);
    mxp__strbuf_fini(&text);
    return code;
}

static void (*listener)(const mxp_command *command, const mxp_option *options);

void mxp__options_listen(void (*chosen)(const mxp_command *command, const mxp_option *options))
{
    listener = chosen;
}

static bool asks_for_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static int no_file(const mxp_command *command)
{
    return mxp__usage_error(command, "which %s? For example: mxprof %s %s",
                            command->wants != NULL ? command->wants : "file", command->name,
                            command->example != NULL ? command->example : "profile.mxp");
}

int mxp__options_parse_any(const mxp_command *command, const mxp_option *options, int count,
                           char **arguments, int *file_count)
{
    bool only_files = false;
    *file_count = 0;
    if (listener != NULL) {
        listener(command, options);
        return MXP_EXIT_FINE;
    }
    for (int i = 0; i < count; i++) {
        char *argument = arguments[i];
        if (!only_files && asks_for_help(argument)) {
            return mxp__command_help(command);
        }
        if (!only_files && strcmp(argument, "--") == 0) {
            only_files = true;
        } else if (!only_files && argument[0] == '-' && argument[1] != '\0') {
            int code = take_option(command, options, count, arguments, &i);
            if (code >= 0) {
                return code;
            }
        } else {
            arguments[(*file_count)++] = argument;
        }
    }
    return -1;
}

int mxp__options_parse_all(const mxp_command *command, const mxp_option *options, int count,
                           char **arguments, int *file_count)
{
    int code = mxp__options_parse_any(command, options, count, arguments, file_count);
    return code < 0 && *file_count == 0 ? no_file(command) : code;
}

int mxp__options_parse_first(const mxp_command *command, const mxp_option *options, int count,
                             char **arguments, int *first)
{
    int i = 0;
    if (listener != NULL) {
        listener(command, options);
        return MXP_EXIT_FINE;
    }
    for (; i < count && arguments[i][0] == '-' && arguments[i][1] != '\0'; i++) {
        if (asks_for_help(arguments[i])) {
            return mxp__command_help(command);
        }
        if (strcmp(arguments[i], "--") == 0) {
            i++;
            break;
        }
        int code = take_option(command, options, count, arguments, &i);
        if (code >= 0) {
            return code;
        }
    }
    *first = i;
    return i < count ? -1 : no_file(command);
}

int mxp__options_parse(const mxp_command *command, const mxp_option *options, int count,
                       char **arguments, const char **file)
{
    int files;
    *file = NULL;
    int code = mxp__options_parse_all(command, options, count, arguments, &files);
    if (code < 0 && files > 1) {
        return mxp__usage_error(command, "one file at a time, but there are '%s' and '%s'",
                                arguments[0], arguments[1]);
    }
    *file = arguments[0];
    return code;
}

// SPDX-License-Identifier: Apache-2.0
// See instance_tables.h: their options, and reading for all of them.
#include "instances/instance_tables.h"

#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

#include "profiler/trace/merge.h"

// ---- reading -----------------------------------------------------------------------------------
static int read_one(mxp_instance_table *table, const mxp_table_reader *reader, mxp_source *process,
                    const mxp_selected *selected)
{
    int error = reader->begin(reader->context, process, selected);
    if (error == MXP_OK) {
        error = mxp__instances_read(process, reader->visit, reader->context, &table->is_damaged);
    }
    if (error == MXP_OK && reader->end != NULL) {
        error = reader->end(reader->context);
    }
    return error == MXP_OK ? -1 : mxp__command_failed(table->command);
}

int mxp__table_read(mxp_instance_table *table, const mxp_table_reader *reader)
{
    mxp_source *source = table->input->source, *process;
    mxp_selection selection = table->wish->selection;
    int code = mxp__selection_share(table->command, &selection, source);
    for (size_t i = 0; code < 0 && (process = mxp__source_process(source, i)) != NULL; i++) {
        mxp_selected selected;
        code = mxp__selected_make(table->command, &selection, process, &selected);
        if (code < 0) {
            code = read_one(table, reader, process, &selected);
        }
        mxp__selected_fini(&selected);
    }
    return code;
}

// ---- the command -------------------------------------------------------------------------------
static const char by_arg[] = "arg:";

static bool is_by(const char *word)
{
    return strcmp(word, "thread") == 0 || strncmp(word, by_arg, sizeof by_arg - 1) == 0;
}

bool mxp__instance_table_is_wanted(int count, char *const *arguments)
{
    static const char by[] = "--by=", histogram[] = "--histogram";
    for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i++) {
        const char *word = arguments[i];
        if (strncmp(word, histogram, sizeof histogram - 1) == 0 ||
            (strncmp(word, by, sizeof by - 1) == 0 && is_by(word + sizeof by - 1)) ||
            (strcmp(word, "--by") == 0 && i + 1 < count && is_by(arguments[i + 1]))) {
            return true;
        }
    }
    return false;
}

static int print(const mxp_command *command, const char *file, mxp_instance_wish *wish)
{
    mxp_input input;
    mxp_strbuf out = {0};
    if (mxp__input_open(command, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp_instance_table table = {.command = command, .wish = wish, .input = &input, .out = &out};
    int code = wish->histogram != NULL ? mxp__put_histogram(&table)
               : wish->by_thread       ? mxp__put_by_thread(&table)
                                       : mxp__put_by_arg(&table);
    if (table.is_damaged) {
        mxp__input_cut_short(command, &input);
    }
    code = code < 0 ? mxp__output_print(command, &out) : code;
    code = mxp__input_end(&input, code);
    mxp__strbuf_fini(&out);
    mxp__input_close(&input);
    return code;
}

// An option that the table would take in silence, or null.
static const char *not_of_table(const mxp_instance_wish *wish, const char *percentiles)
{
    const mxp_selection *selection = &wish->selection;
    const bool is_histogram = wish->histogram != NULL, is_arg = wish->arg != NULL;
    const mxp_given_option options[] = {
        {"--top", selection->top != NULL && !is_arg},
        {"--sum", wish->sum != NULL && !is_arg},
        {"--idle", wish->idle.count > 0 && !wish->by_thread},
        {"--percentiles", percentiles != NULL && wish->by_thread},
        {"--name", selection->names.count > 0 && (wish->by_thread || is_histogram)},
        {"--scope", selection->scopes.count > 0 && wish->by_thread},
        {"--phase", selection->phases.count > 0 && wish->by_thread}};
    return mxp__first_given(options, sizeof options / sizeof options[0]);
}

static int check(const mxp_command *command, mxp_instance_wish *wish, const char *by,
                 const char *percentiles)
{
    if (by != NULL && wish->histogram != NULL) {
        return mxp__usage_error(command, "--by and --histogram are two tables; give one of them");
    }
    if (by != NULL && !is_by(by)) {
        return mxp__usage_error(command, "--histogram and --by %s do not go together", by);
    }
    wish->by_thread = by != NULL && strcmp(by, "thread") == 0;
    wish->arg = by != NULL && !wish->by_thread ? by + sizeof by_arg - 1 : NULL;
    if (wish->arg != NULL && wish->arg[0] == '\0') {
        return mxp__usage_error(command, "--by arg: needs a key, such as --by arg:request");
    }
    const char *other = not_of_table(wish, percentiles);
    if (other != NULL) {
        return mxp__usage_error(command, "%s does not belong to %s%s", other,
                                wish->histogram != NULL ? "--histogram" : "--by ",
                                wish->histogram != NULL ? "" : by);
    }
    if (!mxp__percentiles_parse(percentiles, &wish->percentiles)) {
        return mxp__usage_error(command,
                                "--percentiles takes numbers above 0 up to 100, such as "
                                "50,99,99.9, at most %d, not '%s'",
                                MXP__PERCENTILES_MOST, percentiles);
    }
    if (wish->histogram != NULL) {
        wish->selection.names = (mxp_option_list){.words = {wish->histogram}, .count = 1};
    }
    return mxp__selection_check(command, &wish->selection);
}

int mxp__instance_table_run(const mxp_command *command, int count, char **arguments)
{
    const char *by = NULL, *percentiles = NULL, *file;
    int json = 0, unit = 0;
    mxp_instance_wish wish = {.arg = NULL};
    const mxp_option options[] = {
        MXP_SELECTION_OPTIONS(&wish.selection),
        {.name = "--by", .text = &by},
        {.name = "--histogram", .text = &wish.histogram},
        {.name = "--sum", .text = &wish.sum},
        {.name = "--idle", .list = &wish.idle},
        {.name = "--percentiles", .text = &percentiles},
        {.name = "--unit", .words = mxp__unit_words, .number = &unit},
        {.name = "--json", .number = &json},
        {.name = NULL},
    };
    int code = mxp__options_parse(command, options, count, arguments, &file);
    code = code < 0 ? check(command, &wish, by, percentiles) : code;
    if (code >= 0) {
        return code;
    }
    wish.json = json;
    wish.top = wish.selection.top_count;
    mxp__screen_look(STDOUT_FILENO, &wish.screen);
    wish.screen.unit = unit;
    mxp__input_take_args();
    return print(command, file, &wish);
}

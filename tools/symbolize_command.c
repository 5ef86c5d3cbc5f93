// SPDX-License-Identifier: Apache-2.0
// mxprof symbolize: names of functions that were recorded by address, written into the file, so
// that it tells them where the program is not.
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "command.h"
#include "output_format.h"
#include "profiler/trace/recovered_source.h"

static const char help[] =
    "mxprof symbolize writes names of functions into a profile.\n"
    "\n"
    "usage: mxprof symbolize FILE [-o OUT]\n"
    "\n"
    "  -o, --output OUT   the native trace to write; without it FILE is replaced when the new one "
    "is\n"
    "                     complete\n"
    "\n"
    "Functions of C and C++ programs are recorded by their addresses. Every subcommand looks "
    "their\n"
    "names up, in the program's own files and their debug files (/usr/lib/debug, .gnu_debuglink),\n"
    "which must be those that were recorded, by their build id. After this one a file has the "
    "names\n"
    "itself, for another machine, or before the program is built anew. What is not found stays\n"
    "an address, and can be found later.\n"
    "\n"
    "example\n"
    "  mxprof symbolize profile.mxp\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or written or is damaged, 2 wrong call\n";

static bool is_native(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && strcmp(ending, ".mxp") == 0;
}

static int write_names(const mxp_command *self, mxp_input *input, const char *out_path)
{
    mxp_recovery_loss lost = {0};
    mxp_source *readable = NULL;
    int error = mxp__recovered_open(input->source, &readable, &lost);
    mxp__input_unread(self, input, &lost);
    if (error == MXP_OK && input->damaged && out_path == input->path) {
        error = mxp__fail(MXP_EFORMAT, "'%s' is damaged and stays as it is; give -o OUT", out_path);
    } else if (error == MXP_OK) {
        error = mxp__native_write(out_path, readable);
    }
    mxp__source_close(readable);
    return error;
}

static int symbolize(const mxp_command *self, const char *file, const char *out_path)
{
    mxp_input input;
    if (mxp__input_open(self, file, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    int code = MXP_EXIT_ERROR;
    if (write_names(self, &input, out_path) != MXP_OK) {
        mxp__command_failed(self);
    } else {
        mxp_strbuf out = {0};
        mxp__strbuf_printf(&out, "%" PRIu64 " functions have names", input.symbols.named);
        if (input.symbols.unnamed != 0) {
            mxp__strbuf_printf(&out, ", %" PRIu64 " have none", input.symbols.unnamed);
        }
        mxp__strbuf_printf(&out, "; written to %s\n", out_path);
        code = mxp__output_print(self, &out);
        mxp__strbuf_fini(&out);
        code = code == MXP_EXIT_FINE ? mxp__input_exit_code(&input) : code;
    }
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    const char *out_path = NULL;
    const char *file;
    const mxp_option options[] = {
        {.name = "--output", .letter = 'o', .text = &out_path},
        {.name = NULL},
    };
    int code = mxp__options_parse(self, options, count, arguments, &file);
    if (code >= 0) {
        return code;
    }
    if (out_path == NULL ? !is_native(file) : strcmp(out_path, "-") == 0) {
        return mxp__usage_error(self, "where to? For example: mxprof symbolize %s -o named.mxp",
                                file);
    }
    code = out_path != NULL ? mxp__check_native_name(self, out_path) : -1;
    return code >= 0 ? code : symbolize(self, file, out_path != NULL ? out_path : file);
}

const mxp_command mxp__command_symbolize = {
    .name = "symbolize",
    .summary = "writes names of functions into a profile that has their addresses",
    .help = help,
    .example = "profile.mxp",
    .run = run,
};

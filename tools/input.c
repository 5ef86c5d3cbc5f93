// SPDX-License-Identifier: Apache-2.0
// Opening the trace a subcommand works on. Everything of a damaged file that can be read is worked
// on; that it is damaged is always said on stderr and in the exit code.
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "command.h"

// What cannot be a native file is better said before the reader looks at its bytes.
static int check_path(const char *path, uint64_t *file_bytes)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO, "'%s' is a directory; name the native trace in it (*.mxp)", path);
    }
    *file_bytes = (uint64_t)status.st_size;
    return MXP_OK;
}

int mxp__input_open(const mxp_command *command, const char *path, mxp_input *input)
{
    *input = (mxp_input){.path = path};
    mxp_damage damage = {0, NULL};
    int error = check_path(path, &input->file_bytes);
    if (error == MXP_OK) {
        error = mxp__native_open(path, &input->source, &damage);
    }
    if (error != MXP_OK) {
        mxp__command_failed(command);
        return error;
    }
    if (damage.text != NULL) {
        input->damaged = true;
        fprintf(stderr,
                "mxprof %s: warning: '%s' is damaged at offset %" PRIu64 ": %s\n"
                "What could be read of it follows.\n",
                command->name, path, damage.offset, damage.text);
    }
    return MXP_OK;
}

void mxp__input_cut_short(const mxp_command *command, mxp_input *input)
{
    if (!input->damaged) {
        fprintf(stderr,
                "mxprof %s: warning: '%s' is damaged: %s\n"
                "What could be read of it follows.\n",
                command->name, input->path, mxp_last_error());
    }
    input->damaged = true;
}

void mxp__input_close(mxp_input *input)
{
    mxp__source_close(input->source);
    input->source = NULL;
}

int mxp__input_exit_code(const mxp_input *input)
{
    return input->damaged ? MXP_EXIT_ERROR : MXP_EXIT_FINE;
}

const char *mxp__input_info(const mxp_input *input, const char *key)
{
    for (size_t i = 0; i < input->source->info_count; i++) {
        if (strcmp(input->source->info[i].key, key) == 0) {
            return input->source->info[i].value;
        }
    }
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
// Where a subcommand's result goes. A regular file is written under a temporary name beside it and
// renamed when it is complete, so that a failure leaves what was there before.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "command.h"

static int write_all(mxp_sink *sink, const char *data, size_t size_bytes)
{
    mxp_output *output = sink->target;
    size_t written = mxp__os_write(sink->fd, data, size_bytes);
    sink->written_bytes += written;
    if (written < size_bytes) {
        output->reader_gone = errno == EPIPE;
        return mxp__fail(MXP_EIO, "cannot write to %s: %s", sink->path, strerror(errno));
    }
    return MXP_OK;
}

// The name the result gets in the end: links are followed, so that the file they point to is
// replaced and not the link.
static char *final_path(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *copy = mxp__strdup(resolved == NULL ? path : resolved);
    free(resolved);
    return copy;
}

static int open_new(mxp_output *output, const char *path)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    output->path = final_path(path);
    if (output->path == NULL) {
        return mxp__fail_memory("the name of the output file");
    }
    bool in_place = exists && !S_ISREG(status.st_mode);
    bool opened = in_place ? mxp__descriptor_take(&output->file.descriptor,
                                                  open(path, O_WRONLY | O_CLOEXEC), path)
                           : mxp__new_file_open(&output->file, output->path,
                                                exists ? status.st_mode & 0777 : 0666);
    if (!opened) {
        return mxp__fail(MXP_EIO, "cannot write '%s': %s; choose another place with -o", path,
                         strerror(errno));
    }
    output->sink.fd = output->file.descriptor.fd;
    return MXP_OK;
}

int mxp__output_open(const char *path, mxp_output *output)
{
    *output = (mxp_output){.sink = {.write = write_all, .target = output, .path = path, .fd = -1},
                           .file = MXP__NEW_FILE_NONE};
    if (strcmp(path, "-") == 0) {
        output->sink.fd = STDOUT_FILENO;
        output->sink.path = "standard output";
        return MXP_OK;
    }
    int error = open_new(output, path);
    if (error != MXP_OK) {
        mxp__output_close(output, false);
    }
    return error;
}

// A part that lacked memory is missing in the middle, where nobody would see it.
static int check_whole(void)
{
    return mxp__strbuf_any_failed() ? mxp__fail_memory("the text of the output") : MXP_OK;
}

static int put_in_place(mxp_output *output)
{
    if (output->file.temporary == NULL) {
        return mxp__descriptor_close(&output->file.descriptor)  // a full disk may show only here
                   ? MXP_OK
                   : mxp__fail(MXP_EIO, "cannot write '%s': %s", output->path, strerror(errno));
    }
    return mxp__new_file_finish(&output->file, output->path, MXP__PUBLISH_REPLACE) == MXP__PUBLISHED
               ? MXP_OK
               : mxp__fail(MXP_EIO, "cannot put the result at '%s': %s", output->path,
                           strerror(errno));
}

int mxp__output_close(mxp_output *output, bool keep)
{
    int error = keep ? check_whole() : MXP_OK;
    if (output->path == NULL) {
        return error;  // standard output stays open
    }
    if (error == MXP_OK && keep) {
        error = put_in_place(output);
    }
    mxp__new_file_discard(&output->file);
    mxp__strfree(output->path);
    output->path = NULL;
    output->sink.fd = -1;
    return error;
}

int mxp__output_print(const mxp_command *command, const mxp_strbuf *text)
{
    mxp_output output;
    int error = text->failed ? mxp__fail_memory("the text to print") : check_whole();
    if (error == MXP_OK) {
        mxp__output_open("-", &output);
        error = output.sink.write(&output.sink, mxp__strbuf_text(text), text->length);
        if (error != MXP_OK && output.reader_gone) {
            return MXP_EXIT_FINE;
        }
    }
    return error == MXP_OK ? MXP_EXIT_FINE : mxp__command_failed(command);
}

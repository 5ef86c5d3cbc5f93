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

static char *path_with_suffix(const char *path)
{
    mxp_strbuf name = {0};
    mxp__strbuf_printf(&name, "%s.part-%ld", path, (long)getpid());
    char *copy = name.failed ? NULL : mxp__strdup(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    return copy;
}

static int open_file(mxp_output *output, const char *path)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    output->path = final_path(path);
    if (output->path == NULL) {
        return mxp__fail_memory("the name of the output file");
    }
    if (exists && !S_ISREG(status.st_mode)) {
        output->sink.fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        output->part_path = path_with_suffix(output->path);
        if (output->part_path == NULL) {
            return mxp__fail_memory("the name of the output file");
        }
        output->sink.fd = open(output->part_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                               exists ? status.st_mode & 0777 : 0666);
    }
    if (output->sink.fd < 0) {
        return mxp__fail(MXP_EIO, "cannot write '%s': %s; choose another place with -o", path,
                         strerror(errno));
    }
    return MXP_OK;
}

bool mxp__same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

int mxp__output_open(const char *path, mxp_output *output)
{
    *output = (mxp_output){.sink = {.write = write_all, .target = output, .path = path, .fd = -1}};
    if (strcmp(path, "-") == 0) {
        output->sink.fd = STDOUT_FILENO;
        output->sink.path = "standard output";
        return MXP_OK;
    }
    int error = open_file(output, path);
    if (error != MXP_OK) {
        mxp__output_close(output, false);
    }
    return error;
}

static int put_in_place(mxp_output *output, bool keep)
{
    bool opened = output->sink.fd >= 0;
    if (opened && close(output->sink.fd) != 0 && keep) {
        int number = errno;  // a full disk may show only here
        if (output->part_path != NULL) {
            unlink(output->part_path);
        }
        return mxp__fail(MXP_EIO, "cannot write '%s': %s", output->path, strerror(number));
    }
    if (output->part_path == NULL || !opened) {
        return MXP_OK;
    }
    if (!keep) {
        unlink(output->part_path);
        return MXP_OK;
    }
    if (rename(output->part_path, output->path) != 0) {
        int number = errno;
        unlink(output->part_path);
        return mxp__fail(MXP_EIO, "cannot put the result at '%s': %s", output->path,
                         strerror(number));
    }
    return MXP_OK;
}

int mxp__output_close(mxp_output *output, bool keep)
{
    if (output->path == NULL) {
        return MXP_OK;  // standard output stays open
    }
    int error = put_in_place(output, keep);
    mxp__strfree(output->part_path);
    mxp__strfree(output->path);
    output->part_path = output->path = NULL;
    output->sink.fd = -1;
    return error;
}

int mxp__output_print(const mxp_command *command, const mxp_strbuf *text)
{
    mxp_output output;
    int error = text->failed ? mxp__fail_memory("the text to print") : MXP_OK;
    if (error == MXP_OK) {
        mxp__output_open("-", &output);
        error = output.sink.write(&output.sink, mxp__strbuf_text(text), text->length);
        if (error != MXP_OK && output.reader_gone) {
            return MXP_EXIT_FINE;
        }
    }
    return error == MXP_OK ? MXP_EXIT_FINE : mxp__command_failed(command);
}

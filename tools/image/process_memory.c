// SPDX-License-Identifier: Apache-2.0
// The memory of a process that runs, read as a debugger reads it, but without stopping it.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/memory_image.h"

// Whether this may be the data of a program or a library: mapped from its file, or the zeros right
// behind it. All the rest is not looked through: it may be terabytes, as the sanitizers' is.
static bool is_data(const mxp_memory_image *image, uint64_t from, const char *rights,
                    const char *name)
{
    const mxp_memory_part *before = image->count > 0 ? &image->parts[image->count - 1] : NULL;
    bool goes_on =
        before != NULL && before->has_data && before->address + before->size_bytes == from;
    return rights[1] == 'w' && rights[3] == 'p' && (name[0] == '/' || (name[0] == '\0' && goes_on));
}

// A line of /proc/PID/maps: ADDRESS-END rwxp OFFSET DEVICE INODE NAME. Memory of the kernel's own
// ([vvar]) cannot be read, and devices must not be.
static int take_line(mxp_memory_image *image, const char *line)
{
    uint64_t from, to;
    char rights[8], name[16] = "";
    int fields =
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %15s", &from, &to, rights, name);
    bool is_device = strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/zero", 9) != 0 &&
                     strncmp(name, "/dev/shm", 8) != 0;
    if (fields < 3 || rights[0] != 'r' || to <= from || strncmp(name, "[v", 2) == 0 || is_device) {
        return MXP_OK;
    }
    bool has_data = is_data(image, from, rights, name);
    if (mxp__grow(&image->parts, &image->capacity, image->count + 1, sizeof *image->parts) !=
        MXP_OK) {
        return mxp__fail_memory("the memory of a process");
    }
    image->parts[image->count++] = (mxp_memory_part){
        .address = from, .size_bytes = to - from, .offset = from, .has_data = has_data};
    return MXP_OK;
}

static int read_maps(mxp_memory_image *image, long pid)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    FILE *maps = fopen(path, "re");
    if (maps == NULL) {
        return mxp__fail(MXP_EIO, "cannot look into process %ld: %s", pid,
                         errno == ENOENT ? "it has ended" : strerror(errno));
    }
    int error = MXP_OK;
    while (error == MXP_OK && getline(&line, &room, maps) > 0) {
        error = take_line(image, line);
    }
    free(line);
    fclose(maps);
    return error;
}

uint32_t mxp__process_own_number(long pid)
{
    static const char field[] = "NSpid:";
    char path[64], *line = NULL;
    size_t room = 0;
    unsigned long number = (unsigned long)pid;
    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    FILE *status = fopen(path, "re");
    while (status != NULL && getline(&line, &room, status) > 0) {
        const char *last = strrchr(line, '\t');
        if (strncmp(line, field, sizeof field - 1) == 0 && last != NULL) {
            number = strtoul(last, NULL, 10);
        }
    }
    free(line);
    if (status != NULL) {
        fclose(status);
    }
    return (uint32_t)number;
}

int mxp__image_open_process(mxp_memory_image *image, long pid)
{
    *image = (mxp_memory_image){.fd = -1, .is_alive = true};
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/mem", pid);
    int error = read_maps(image, pid);
    if (error == MXP_OK) {
        image->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (image->fd < 0) {
            error = mxp__fail(MXP_EIO,
                              "cannot read the memory of process %ld: %s (its owner, or root, may "
                              "where kernel.yama.ptrace_scope is 0)",
                              pid, strerror(errno));
        }
    }
    return error;
}

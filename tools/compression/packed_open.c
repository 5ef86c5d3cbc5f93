// SPDX-License-Identifier: Apache-2.0
// Opening a native file of either kind. All readers want records in memory that stays where it is;
// for a compressed trace of any size that is a mapped file, so it is written out as one first.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/temporary_file.h"
#include "compression/packed_file.h"
#include "profiler/trace/file/file_bytes.h"
#include "profiler/trace/file/section.h"

bool mxp__is_packed(const void *data, size_t size_bytes)
{
    mxp_file_header header;
    if (size_bytes < sizeof header) {
        return false;
    }
    memcpy(&header, data, sizeof header);
    return memcmp(header.magic, MXP_FILE_MAGIC, sizeof header.magic) == 0 &&
           header.byte_order == MXP_BYTE_ORDER_MARK && header.min_reader == MXP_FORMAT_PACKED &&
           (header.flags & MXP_FILE_PACKED) != 0 && header.header_bytes == sizeof header &&
           header.checksum == mxp__file_header_checksum(&header);
}

static bool is_packed_file(const char *path)
{
    mxp_file_header header;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    // Reading a pipe would take its bytes away from the next reader.
    bool packed = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                  pread(fd, &header, sizeof header, 0) == sizeof header &&
                  mxp__is_packed(&header, sizeof header);
    if (fd >= 0) {
        close(fd);
    }
    return packed;
}

static int accept_all(const void *data, size_t size_bytes)
{
    (void)data;
    (void)size_bytes;
    return MXP_OK;
}

// A new file to decompress into; `name` gets its path.
static int create_temporary(mxp_strbuf *name)
{
    int fd = mxp__temporary_file_make(name);
    return fd >= 0 ? fd
                   : mxp__fail(MXP_EIO, "cannot create '%s' to decompress into: %s",
                               mxp__strbuf_text(name), strerror(errno));
}

static int unpack_file(const char *path, int fd, const char *name, mxp_damage *damage)
{
    mxp_file_bytes bytes;
    mxp_sink sink;
    int error = mxp__file_bytes_open(path, sizeof(mxp_file_header), accept_all, &bytes);
    if (error != MXP_OK) {
        return error;
    }
    mxp__sink_fd(&sink, fd, name);
    error = mxp__unpack(bytes.data, bytes.size_bytes, &sink, damage);
    mxp__file_bytes_close(&bytes);
    return error;
}

static int open_packed(const char *path, mxp_source **source, mxp_damage *damage)
{
    mxp_strbuf name = {0};
    mxp_damage inner = {0, NULL};
    int fd = create_temporary(&name);
    int error = fd < 0 ? fd : unpack_file(path, fd, name.data, damage);
    if (fd >= 0 && close(fd) != 0 && error == MXP_OK) {
        error = mxp__fail(MXP_EIO, "cannot write '%s': %s", name.data, strerror(errno));
    }
    if (error == MXP_OK) {
        error = mxp__native_open(name.data, source, &inner);
    }
    if (error == MXP_OK && damage->text == NULL) {
        *damage = inner;
    } else if (error == MXP_EFORMAT && damage->text != NULL) {
        error = mxp__fail(error, "cannot read '%s': damaged at offset %" PRIu64 ": %s", path,
                          damage->offset, damage->text);
    }
    if (fd >= 0) {
        unlink(name.data);  // the mapping keeps it
    }
    mxp__strbuf_fini(&name);
    return error;
}

int mxp__packed_open(const char *path, mxp_source **source, mxp_damage *damage)
{
    mxp_damage own = {0, NULL};
    damage = damage != NULL ? damage : &own;
    return is_packed_file(path) ? open_packed(path, source, damage)
                                : mxp__native_open(path, source, damage);
}

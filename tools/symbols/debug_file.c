// SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "compression/gunzip.h"

static const char root[] = "/usr/lib/debug";

static bool has_id(const mxp_elf *elf, const uint8_t *id, uint32_t id_bytes)
{
    const uint32_t kept = id_bytes < MXP__ELF_ID_BYTES ? id_bytes : MXP__ELF_ID_BYTES;
    return id_bytes != 0 && elf->id_bytes == id_bytes && memcmp(elf->id, id, kept) == 0;
}

bool mxp__debug_open_by_id(const uint8_t *id, uint32_t id_bytes, mxp_elf *debug)
{
    char path[sizeof root + 32 + 2 * MXP__ELF_ID_BYTES];
    if (id_bytes < 2 || id_bytes > MXP__ELF_ID_BYTES) {
        return false;
    }
    int length = snprintf(path, sizeof path, "%s/.build-id/%02x/", root, (unsigned)id[0]);
    for (uint32_t i = 1; i < id_bytes; i++) {
        length += snprintf(path + length, sizeof path - (size_t)length, "%02x", (unsigned)id[i]);
    }
    snprintf(path + length, sizeof path - (size_t)length, ".debug");
    if (!mxp__elf_open(debug, path)) {
        return false;
    }
    if (has_id(debug, id, id_bytes)) {
        return true;
    }
    mxp__elf_close(debug);
    return false;
}

// ---- by the link -------------------------------------------------------------------------------
typedef struct debug_link {
    char name[NAME_MAX + 1];
    uint32_t checksum;
} debug_link;

// The checksum stands at the next multiple of four behind the name.
static bool read_link(const mxp_elf *elf, debug_link *link)
{
    const Elf64_Shdr *section = mxp__elf_section(elf, ".gnu_debuglink");
    if (section == NULL || !mxp__elf_text(elf, section, 0, link->name, sizeof link->name) ||
        strchr(link->name, '/') != NULL) {
        return false;
    }
    const uint64_t at = (strlen(link->name) + 1 + 3) & ~UINT64_C(3);
    return mxp__elf_read(elf, section, at, &link->checksum, sizeof link->checksum) ==
           sizeof link->checksum;
}

static bool has_checksum(const mxp_elf *elf, uint32_t checksum)
{
    enum { PIECE = 1 << 20 };
    unsigned char *piece = mxp__alloc(PIECE);
    uint32_t found = 0;
    uint64_t offset = 0;
    ssize_t part = piece != NULL ? 1 : 0;
    while (part > 0 && (part = pread(elf->fd, piece, PIECE, (off_t)offset)) > 0) {
        found = mxp__gzip_checksum(found, piece, (size_t)part);
        offset += (uint64_t)part;
    }
    mxp__free(piece, PIECE);
    return offset == elf->size_bytes && found == checksum;
}

static bool open_linked(const mxp_elf *elf, const debug_link *link, const char *path,
                        mxp_elf *debug)
{
    if (!mxp__elf_open(debug, path)) {
        return false;
    }
    if (has_id(debug, elf->id, elf->id_bytes) || has_checksum(debug, link->checksum)) {
        return true;
    }
    mxp__elf_close(debug);
    return false;
}

bool mxp__debug_open_by_link(const mxp_elf *elf, const char *path, mxp_elf *debug)
{
    static const char *const forms[][2] = {{"", ""}, {"", "/.debug"}, {root, ""}};
    debug_link link;
    char folder[PATH_MAX] = "", tried[2 * PATH_MAX];
    if (!read_link(elf, &link)) {
        return false;
    }
    strncat(folder, path, sizeof folder - 1);
    char *slash = strrchr(folder, '/');
    *(slash != NULL ? slash : folder) = '\0';
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(tried, sizeof tried, "%s%s%s/%s", forms[i][0], folder, forms[i][1], link.name);
        if (open_linked(elf, &link, tried, debug)) {
            return true;
        }
    }
    return false;
}

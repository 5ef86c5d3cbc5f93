// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum { SECTIONS_MOST = 65535, NOTES_MOST = 65536 };

// ---- bytes -------------------------------------------------------------------------------------
static size_t read_at(const mxp_elf *elf, uint64_t offset, void *to, size_t size)
{
    size_t done = 0;
    while (done < size && offset < elf->size_bytes) {
        const ssize_t part = pread(elf->fd, (char *)to + done, size - done, (off_t)(offset + done));
        if (part <= 0 && errno != EINTR) {
            break;
        }
        done += part > 0 ? (size_t)part : 0;
        if (part == 0) {
            break;
        }
    }
    return done;
}

// What of the section lies within the file; SHT_NOBITS has nothing there.
static uint64_t bytes_of(const mxp_elf *elf, const Elf64_Shdr *section)
{
    if (section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) != 0 ||
        section->sh_offset >= elf->size_bytes) {
        return 0;
    }
    const uint64_t left = elf->size_bytes - section->sh_offset;
    return section->sh_size < left ? section->sh_size : left;
}

size_t mxp__elf_read(const mxp_elf *elf, const Elf64_Shdr *section, uint64_t offset, void *to,
                     size_t size)
{
    const uint64_t bytes = bytes_of(elf, section);
    if (offset >= bytes) {
        return 0;
    }
    const uint64_t left = bytes - offset;
    return read_at(elf, section->sh_offset + offset, to, size < left ? size : (size_t)left);
}

bool mxp__elf_text(const mxp_elf *elf, const Elf64_Shdr *section, uint64_t offset, char *text,
                   size_t size)
{
    const size_t length = mxp__elf_read(elf, section, offset, text, size - 1);
    text[length] = '\0';
    return text[0] != '\0';
}

// ---- the header --------------------------------------------------------------------------------
static bool is_readable(const Elf64_Ehdr *header)
{
    static const uint16_t one = 1;
    const unsigned char order = *(const char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == order &&
           header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shoff != 0;
}

// Where there are very many sections their number stands in the first one.
static bool read_sections(mxp_elf *elf)
{
    Elf64_Ehdr header;
    Elf64_Shdr first;
    if (read_at(elf, 0, &header, sizeof header) != sizeof header || !is_readable(&header) ||
        read_at(elf, header.e_shoff, &first, sizeof first) != sizeof first) {
        return false;
    }
    const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
    if (count == 0 || count > SECTIONS_MOST) {
        return false;
    }
    elf->names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
    elf->sections = mxp__alloc(count * sizeof first);
    elf->section_count = (uint32_t)count;
    return elf->sections != NULL && elf->names < count &&
           read_at(elf, header.e_shoff, elf->sections, count * sizeof first) ==
               count * sizeof first;
}

// ---- the build id ------------------------------------------------------------------------------
static bool take_id(mxp_elf *elf, const char *notes, size_t bytes)
{
    size_t at = 0;
    while (bytes - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        const uint64_t name = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        const uint64_t content = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name > bytes - at || note.n_descsz > bytes - at - name) {
            return false;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes + at, "GNU", sizeof "GNU") == 0) {
            elf->id_bytes = note.n_descsz;
            memcpy(elf->id, notes + at + name,
                   note.n_descsz < sizeof elf->id ? note.n_descsz : sizeof elf->id);
            return true;
        }
        if (content > bytes - at - name) {
            return false;
        }
        at += name + content;
    }
    return false;
}

static void read_id(mxp_elf *elf)
{
    char *notes = mxp__alloc(NOTES_MOST);
    bool found = notes == NULL;
    for (uint32_t i = 0; i < elf->section_count && !found; i++) {
        if (elf->sections[i].sh_type == SHT_NOTE) {
            const size_t bytes = mxp__elf_read(elf, &elf->sections[i], 0, notes, NOTES_MOST);
            found = take_id(elf, notes, bytes);
        }
    }
    mxp__free(notes, NOTES_MOST);
}

// ---- opening -----------------------------------------------------------------------------------
bool mxp__elf_open_fd(mxp_elf *elf, int fd)
{
    struct stat status;
    *elf = (mxp_elf){.fd = fd};
    if (fd < 0) {
        return false;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        elf->size_bytes = (uint64_t)status.st_size;
        elf->changed_s = status.st_mtime;
        if (read_sections(elf)) {
            read_id(elf);
            return true;
        }
    }
    mxp__elf_close(elf);
    return false;
}

bool mxp__elf_open(mxp_elf *elf, const char *path)
{
    return mxp__elf_open_fd(elf, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

void mxp__elf_close(mxp_elf *elf)
{
    if (elf->fd >= 0) {
        close(elf->fd);
    }
    mxp__free(elf->sections, elf->section_count * sizeof *elf->sections);
    *elf = (mxp_elf){.fd = -1};
}

const Elf64_Shdr *mxp__elf_section(const mxp_elf *elf, const char *name)
{
    char found[64];
    for (uint32_t i = 0; i < elf->section_count; i++) {
        if (mxp__elf_text(elf, &elf->sections[elf->names], elf->sections[i].sh_name, found,
                          sizeof found) &&
            strcmp(found, name) == 0) {
            return &elf->sections[i];
        }
    }
    return NULL;
}

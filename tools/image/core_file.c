// SPDX-License-Identifier: Apache-2.0
// A core file as the memory of its process: the loadable segments of an ELF file, and of its notes
// the signal and the command.
#include <elf.h>
#include <errno.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/memory_image.h"
#include "profiler/trace/file/file_bytes.h"

enum { NOTES_MOST = 1 << 20 };

bool mxp__core_is_one(const void *data, size_t size_bytes)
{
    static const uint16_t one = 1;
    const unsigned char order = *(const char *)&one == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr header;
    if (size_bytes < sizeof header) {
        return false;
    }
    memcpy(&header, data, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == order && header.e_type == ET_CORE &&
           header.e_phentsize == sizeof(Elf64_Phdr);
}

// ---- notes -------------------------------------------------------------------------------------
// The first thread's status is that of the one that got the signal.
static void take_note(mxp_memory_image *image, const Elf64_Nhdr *note, const char *content)
{
    struct elf_prstatus status;
    struct elf_prpsinfo info;
    if (note->n_type == NT_PRSTATUS && note->n_descsz >= sizeof status && image->signal == 0) {
        memcpy(&status, content, sizeof status);
        image->signal = status.pr_cursig > 0 ? (uint32_t)status.pr_cursig : 0;
    } else if (note->n_type == NT_PRPSINFO && note->n_descsz >= sizeof info) {
        memcpy(&info, content, sizeof info);
        size_t length = strnlen(info.pr_psargs, sizeof info.pr_psargs);
        length = length < sizeof image->command ? length : sizeof image->command - 1;
        memcpy(image->command, info.pr_psargs, length);
        image->command[length] = '\0';
    }
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 3) & ~UINT64_C(3);
}

static void take_notes(mxp_memory_image *image, const char *notes, size_t bytes)
{
    Elf64_Nhdr note;
    for (size_t at = 0; bytes - at >= sizeof note;) {
        memcpy(&note, notes + at, sizeof note);
        at += sizeof note;
        uint64_t name = aligned(note.n_namesz), content = aligned(note.n_descsz);
        if (name > bytes - at || content > bytes - at - name) {
            return;
        }
        take_note(image, &note, notes + at + name);
        at += name + content;
    }
}

static void read_notes(mxp_memory_image *image, const Elf64_Phdr *segment)
{
    size_t bytes = segment->p_filesz < NOTES_MOST ? (size_t)segment->p_filesz : NOTES_MOST;
    char *notes = mxp__alloc(bytes);
    if (notes != NULL) {
        take_notes(image, notes, mxp__file_read_at(image->fd, notes, bytes, segment->p_offset));
    }
    mxp__free(notes, bytes);
}

// ---- segments ----------------------------------------------------------------------------------
static int add_part(mxp_memory_image *image, const Elf64_Phdr *segment, uint64_t file_bytes)
{
    uint64_t left = segment->p_offset < file_bytes ? file_bytes - segment->p_offset : 0;
    uint64_t there = segment->p_filesz < left ? segment->p_filesz : left;
    image->missing_bytes += segment->p_filesz - there;
    if (there == 0 || segment->p_vaddr + there < segment->p_vaddr) {
        return MXP_OK;
    }
    if (mxp__grow(&image->parts, &image->capacity, image->count + 1, sizeof *image->parts) !=
        MXP_OK) {
        return mxp__fail_memory("the segments of a core file");
    }
    image->parts[image->count++] = (mxp_memory_part){.address = segment->p_vaddr,
                                                     .size_bytes = there,
                                                     .offset = segment->p_offset,
                                                     .has_data = (segment->p_flags & PF_W) != 0};
    return MXP_OK;
}

static int compare(const void *a, const void *b)
{
    const mxp_memory_part *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

// Of more segments than the header can count the number stands in the first section.
static uint64_t segments_of(const mxp_memory_image *image, const Elf64_Ehdr *header)
{
    Elf64_Shdr first;
    if (header->e_phnum != PN_XNUM) {
        return header->e_phnum;
    }
    bool whole =
        mxp__file_read_at(image->fd, &first, sizeof first, header->e_shoff) == sizeof first;
    return whole ? first.sh_info : 0;
}

static int read_segments(mxp_memory_image *image, const Elf64_Ehdr *header, uint64_t file_bytes)
{
    uint64_t count = segments_of(image, header);
    int error = MXP_OK;
    for (uint64_t i = 0; i < count && error == MXP_OK; i++) {
        Elf64_Phdr segment;
        uint64_t at = header->e_phoff + i * sizeof segment;
        if (mxp__file_read_at(image->fd, &segment, sizeof segment, at) != sizeof segment) {
            break;
        }
        if (segment.p_type == PT_NOTE) {
            read_notes(image, &segment);
        } else if (segment.p_type == PT_LOAD) {
            error = add_part(image, &segment, file_bytes);
        }
    }
    return error;
}

int mxp__image_open_core(mxp_memory_image *image, int fd, const char *path)
{
    *image = (mxp_memory_image){.fd = fd};
    struct stat status;
    Elf64_Ehdr header;
    if (fstat(fd, &status) != 0 ||
        mxp__file_read_at(fd, &header, sizeof header, 0) != sizeof header ||
        !mxp__core_is_one(&header, sizeof header)) {
        return mxp__fail(MXP_EFORMAT, "cannot read '%s': it is no core file", path);
    }
    int error = read_segments(image, &header, (uint64_t)status.st_size);
    if (error == MXP_OK && image->count > 1) {
        qsort(image->parts, image->count, sizeof *image->parts, compare);
    }
    return error;
}

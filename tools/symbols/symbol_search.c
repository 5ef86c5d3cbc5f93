// SPDX-License-Identifier: Apache-2.0
// See symbol_search.h. A symbol reaches as far as its size says: the one before an address need not
// be the function that is there. Of several at one place the global one counts, then the weak one.
#include "symbols/symbol_search.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { PIECE = 4096, NAME_MOST = 65536 };

typedef struct search {
    const mxp_elf *elf;
    const Elf64_Shdr *texts;
    mxp_symbol_wanted *wanted;
    size_t count;
    char *text;  // NAME_MOST
} search;

static uint32_t rank_of(const Elf64_Sym *symbol)
{
    const unsigned binding = ELF64_ST_BIND(symbol->st_info);
    return binding == STB_GLOBAL ? 3 : binding == STB_WEAK ? 2 : 1;
}

static bool is_function(const Elf64_Sym *symbol)
{
    const unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

static size_t first_from(const search *look, uint64_t address)
{
    size_t low = 0, high = look->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (look->wanted[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int put(const search *look, const Elf64_Sym *symbol, mxp_symbol_wanted *found)
{
    // A name that begins where the function does is better than one that reaches over it.
    const uint32_t rank = rank_of(symbol) + (found->address == symbol->st_value ? 3 : 0);
    if (rank <= found->rank ||
        !mxp__elf_text(look->elf, look->texts, symbol->st_name, look->text, NAME_MOST)) {
        return MXP_OK;
    }
    char *text = mxp__strdup(look->text);
    if (text == NULL) {
        return mxp__fail_memory("the names of functions");
    }
    mxp__strfree(found->text);
    found->text = text;
    found->rank = rank;
    return MXP_OK;
}

static int try_symbol(const search *look, const Elf64_Sym *symbol)
{
    int error = MXP_OK;
    for (size_t i = first_from(look, symbol->st_value); i < look->count && error == MXP_OK; i++) {
        const uint64_t behind = look->wanted[i].address - symbol->st_value;
        if (behind != 0 && behind >= symbol->st_size) {
            break;
        }
        error = put(look, symbol, &look->wanted[i]);
    }
    return error;
}

static int walk(const search *look, const Elf64_Shdr *table, Elf64_Sym *piece)
{
    uint64_t offset = 0;
    size_t bytes;
    int error = MXP_OK;
    while (error == MXP_OK && (bytes = mxp__elf_read(look->elf, table, offset, piece,
                                                     PIECE * sizeof *piece)) >= sizeof *piece) {
        for (size_t i = 0; i < bytes / sizeof *piece && error == MXP_OK; i++) {
            error = is_function(&piece[i]) ? try_symbol(look, &piece[i]) : MXP_OK;
        }
        offset += bytes / sizeof *piece * sizeof *piece;
    }
    return error;
}

int mxp__symbols_search(const mxp_elf *elf, const char *table, mxp_symbol_wanted *wanted,
                        size_t count)
{
    const Elf64_Shdr *section = mxp__elf_section(elf, table);
    if (section == NULL || section->sh_entsize != sizeof(Elf64_Sym) ||
        section->sh_link >= elf->section_count) {
        return MXP_OK;
    }
    Elf64_Sym *piece = mxp__alloc(PIECE * sizeof *piece);
    char *text = mxp__alloc(NAME_MOST);
    int error = piece != NULL && text != NULL ? MXP_OK : mxp__fail_memory("the names of functions");
    if (error == MXP_OK) {
        const search look = {elf, &elf->sections[section->sh_link], wanted, count, text};
        error = walk(&look, section, piece);
    }
    mxp__free(piece, PIECE * sizeof *piece);
    mxp__free(text, NAME_MOST);
    return error;
}

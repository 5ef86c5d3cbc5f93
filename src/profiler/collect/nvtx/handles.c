// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/handles.h"

#include <mxprof/record.h>
#include <stdbool.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/names.h"
#include "profiler/spin.h"

// First in every handle: programs hand in what they like.
enum { DOMAIN_MAGIC = 0x6e767464, STRING_MAGIC = 0x6e767473 };

typedef struct category {
    struct category *next;
    uint32_t number;
    mxp_atomic_u32 name;
} category;

struct nvtx_domain {
    uint32_t magic;
    mxp_atomic_u32 id;  // the category of its names, 0: not asked for yet
    const char *name;
    MXP_ATOMIC(category *) categories;
};

struct nvtx_string {
    uint32_t magic;
    mxp_atomic_u32 name;  // of a range in the domain that asked first
    MXP_ATOMIC(const nvtx_domain *) owner;
    char text[];
};

static nvtx_domain default_domain = {.magic = DOMAIN_MAGIC, .name = "NVTX"};
static mxp_spin lock;

// ---- domains -----------------------------------------------------------------------------------
nvtx_domain *mxp__nvtx_domain_create(const char *name)
{
    const char *text = name != NULL ? name : "(null)";
    nvtx_domain *domain = mxp__arena_take(sizeof *domain);
    if (domain != NULL) {
        domain->magic = DOMAIN_MAGIC;
        mxp_atomic_set(&domain->id, mxp_string(text));
        domain->name = mxp_name_text(mxp_atomic_own(&domain->id));
    }
    return domain;
}

nvtx_domain *mxp__nvtx_domain(void *handle)
{
    nvtx_domain *domain = handle;
    return domain != NULL && domain->magic == DOMAIN_MAGIC ? domain : &default_domain;
}

mxp_name mxp__nvtx_domain_category(const nvtx_domain *domain)
{
    mxp_name id = mxp_atomic_load(&domain->id);
    if (id == 0) {  // the default one; several threads write the same
        id = mxp_string(domain->name);
        mxp_atomic_store(&default_domain.id, id);
    }
    return id;
}

// ---- names -------------------------------------------------------------------------------------
mxp_name mxp__nvtx_name(const nvtx_domain *domain, const char *text, int style)
{
    return mxp__collect_name(mxp__nvtx_domain_category(domain), text, style);
}

// UTF-8 of one character. Returns its bytes.
static size_t encode(uint32_t character, char *to)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    const size_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(first[more] | character >> 6 * more);
    for (size_t i = 1; i <= more; i++) {
        to[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
    }
    return more + 1;
}

void mxp__nvtx_narrow(const wchar_t *text, char *narrow, size_t size_bytes)
{
    enum { LONGEST = 4, REPLACEMENT = 0xfffd };
    size_t used = 0;
    for (; text != NULL && *text != 0 && used + LONGEST < size_bytes; text++) {
        const uint32_t character = (uint32_t)*text;
        const bool is_valid = character < 0x110000 && (character < 0xd800 || character > 0xdfff);
        used += encode(is_valid ? character : REPLACEMENT, narrow + used);
    }
    narrow[used] = '\0';
}

mxp_name mxp__nvtx_name_wide(const nvtx_domain *domain, const wchar_t *text, int style)
{
    char narrow[1024];
    mxp__nvtx_narrow(text, narrow, sizeof narrow);
    return mxp__nvtx_name(domain, text != NULL ? narrow : NULL, style);
}

// ---- registered strings ------------------------------------------------------------------------
nvtx_string *mxp__nvtx_string_create(const char *text)
{
    char cut[MXP__COLLECT_CUT_BYTES];
    size_t length;
    const char *given = mxp__collect_cut(text != NULL ? text : "(null)", cut, &length);
    nvtx_string *string = mxp__arena_take(sizeof *string + length + 1);
    if (string != NULL) {
        string->magic = STRING_MAGIC;
        memcpy(string->text, given, length);  // the arena gives zeros
    }
    return string;
}

// The name of a range of the domain that asked first is kept in the string.
static mxp_name kept_name(const nvtx_domain *domain, nvtx_string *string)
{
    const nvtx_domain *owner = mxp_atomic_load_acquire(&string->owner);
    if (owner == domain) {
        return mxp_atomic_load(&string->name);
    }
    mxp_name name = mxp__nvtx_name(domain, string->text, MXP_STYLE_SPAN);
    if (owner == NULL && mxp__spin_lock(&lock)) {
        if (mxp_atomic_load(&string->owner) == NULL) {
            mxp_atomic_store(&string->name, name);
            mxp_atomic_store_release(&string->owner, domain);
        }
        mxp__spin_unlock(&lock);
    }
    return name;
}

mxp_name mxp__nvtx_name_registered(const nvtx_domain *domain, const void *handle, int style)
{
    nvtx_string *string = (nvtx_string *)(uintptr_t)handle;
    if (string == NULL || string->magic != STRING_MAGIC) {
        return mxp__nvtx_name(domain, NULL, style);
    }
    return style == MXP_STYLE_SPAN ? kept_name(domain, string)
                                   : mxp__nvtx_name(domain, string->text, style);
}

// ---- categories --------------------------------------------------------------------------------
static category *find(const nvtx_domain *domain, uint32_t number)
{
    category *at = mxp_atomic_load_acquire(&domain->categories);
    while (at != NULL && at->number != number) {
        at = at->next;
    }
    return at;
}

void mxp__nvtx_category_set(nvtx_domain *domain, uint32_t number, const char *name)
{
    const mxp_name id = mxp_string(name != NULL ? name : "(null)");
    if (!mxp__spin_lock(&lock)) {
        return;
    }
    category *found = find(domain, number);
    if (found != NULL) {
        mxp_atomic_store(&found->name, id);
    } else if ((found = mxp__arena_take(sizeof *found)) != NULL) {
        found->next = mxp_atomic_load(&domain->categories);
        found->number = number;
        mxp_atomic_set(&found->name, id);
        mxp_atomic_store_release(&domain->categories, found);  // pairs with find
    }
    mxp__spin_unlock(&lock);
}

mxp_name mxp__nvtx_category(const nvtx_domain *domain, uint32_t number)
{
    const category *found = find(domain, number);
    return found != NULL ? mxp_atomic_load(&found->name) : MXP_NAME_NONE;
}

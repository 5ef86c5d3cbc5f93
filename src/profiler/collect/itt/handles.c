// SPDX-License-Identifier: Apache-2.0
// Two tables with chains: readers follow pointers that only grow, writers take a lock. PyTorch asks
// for a string at every range.
#include "profiler/collect/itt/handles.h"

#include <mxprof/record.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/ompt/ompt.h"
#include "profiler/spin.h"

enum { DOMAIN_BUCKETS = 256, STRING_BUCKETS = 1 << 16 };

// Beside the handle, because a foreign one has no space for it.
typedef struct node {
    struct node *next;
    const char *text;
    uint64_t hash;
    void *handle;
} node;

typedef MXP_ATOMIC(node *) bucket;

// FNV-1a.
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash ^ hash >> 32;
}

static bucket domains[DOMAIN_BUCKETS], strings[STRING_BUCKETS];
static mxp_spin lock;

static void *find(bucket *in, const char *text, uint64_t hash)
{
    const node *at = mxp_atomic_load_acquire(in);  // pairs with put
    while (at != NULL && (at->hash != hash || strcmp(at->text, text) != 0)) {
        at = at->next;
    }
    return at != NULL ? at->handle : NULL;
}

// The caller holds the lock. False: there is no memory.
static bool put(bucket *in, const char *text, uint64_t hash, void *handle)
{
    node *made = mxp__arena_take(sizeof *made);
    if (made == NULL) {
        return false;
    }
    *made = (node){mxp_atomic_load(in), text, hash, handle};
    mxp_atomic_store_release(in, made);
    return true;
}

static char *copy_text(const char *text)
{
    const size_t size_bytes = strlen(text) + 1;
    char *copy = mxp__arena_take(size_bytes);
    return copy != NULL ? memcpy(copy, text, size_bytes) : NULL;
}

static mxp_atomic_bool is_detached;

bool mxp__itt_is_detached(void)
{
    return mxp_atomic_load(&is_detached);
}

void mxp__itt_detach(void)
{
    mxp_atomic_store(&is_detached, true);
    for (uint32_t i = 0; i < DOMAIN_BUCKETS; i++) {
        for (node *at = mxp_atomic_load_acquire(&domains[i]); at != NULL; at = at->next) {
            ((itt_domain *)at->handle)->flags = 0;
        }
    }
}

// An OpenMP runtime's own regions and barriers, which come through its tool interface, too.
static bool is_told_twice(const char *name)
{
    return mxp__ompt_is_on() &&
           (strstr(name, "$omp$") != NULL || strcmp(name, "OMP Metadata") == 0);
}

static void *make_domain(const char *name)
{
    itt_domain *domain = mxp__arena_take(sizeof *domain);
    if (domain != NULL) {
        *domain = (itt_domain){.flags = !mxp_atomic_load(&is_detached) && !is_told_twice(name),
                               .name = copy_text(name)};
    }
    return domain != NULL && domain->name != NULL ? domain : NULL;
}

static void *make_string(const char *text)
{
    itt_string *string = mxp__arena_take(sizeof *string);
    if (string != NULL) {
        *string = (itt_string){.text = copy_text(text)};
    }
    return string != NULL && string->text != NULL ? string : NULL;
}

// A handler that has interrupted the holder of the lock, on its thread, gets no handle.
static void *find_or_make(bucket *in, const char *text, uint64_t hash, void *(*make)(const char *))
{
    void *handle = find(in, text, hash);
    if (handle != NULL || !mxp__spin_lock(&lock)) {
        return handle;
    }
    handle = find(in, text, hash);
    if (handle == NULL && (handle = make(text)) != NULL) {
        const char *kept =
            make == make_domain ? ((itt_domain *)handle)->name : ((itt_string *)handle)->text;
        handle = put(in, kept, hash, handle) ? handle : NULL;
    }
    mxp__spin_unlock(&lock);
    return handle;
}

itt_domain *mxp__itt_domain(const char *name)
{
    const char *text = name != NULL ? name : "(null)";
    const uint64_t hash = hash_of(text);
    return find_or_make(&domains[hash % DOMAIN_BUCKETS], text, hash, make_domain);
}

itt_string *mxp__itt_string(const char *text)
{
    const char *given = text != NULL ? text : "(null)";
    const uint64_t hash = hash_of(given);
    return find_or_make(&strings[hash % STRING_BUCKETS], given, hash, make_string);
}

static void adopt(bucket *table, uint64_t buckets, const char *text, void *handle)
{
    const uint64_t hash = text != NULL ? hash_of(text) : 0;
    bucket *in = &table[hash % buckets];
    if (text != NULL && mxp__spin_lock(&lock)) {
        if (find(in, text, hash) == NULL) {
            put(in, text, hash, handle);
        }
        mxp__spin_unlock(&lock);
    }
}

void mxp__itt_adopt(const itt_global *global)
{
    for (itt_domain *each = global->domains; each != NULL; each = each->next) {
        adopt(domains, DOMAIN_BUCKETS, each->name, each);
    }
    for (itt_string *each = global->strings; each != NULL; each = each->next) {
        adopt(strings, STRING_BUCKETS, each->text, each);
    }
}

// ---- names -------------------------------------------------------------------------------------
// Several threads write a handle, all of them the same.
mxp_name mxp__itt_category(itt_domain *domain)
{
    if (domain == NULL) {
        return mxp_string("ITT");
    }
    mxp_name category = mxp_atomic_load(&domain->category);
    if (category == 0) {
        category = mxp_string(domain->name);
        mxp_atomic_store(&domain->category, category);
    }
    return category;
}

static mxp_name intern(itt_domain *domain, const itt_string *string, int style)
{
    const char *text = string != NULL && string->text != NULL ? string->text : "(null)";
    text = text[0] != '\0' ? text : "(empty)";
    return mxp_intern_in(mxp__itt_category(domain), text, strlen(text), style, MXP_UNIT_NONE);
}

// Keeps the name in the string, if no domain has yet.
static void keep(itt_string *string, const itt_domain *domain, mxp_name name)
{
    static const char writing;
    const void *nobody = NULL;
    if (mxp_atomic_cas_acquire(&string->owner, &nobody, &writing)) {
        mxp_atomic_store(&string->name, name);
        mxp_atomic_store_release(&string->owner, domain);  // pairs with mxp__itt_name
    }
}

// What most marks want, the name of a task of the domain that asked first, is kept in the string.
mxp_name mxp__itt_name(itt_domain *domain, itt_string *string, int style)
{
    if (string == NULL || domain == NULL || style != MXP_STYLE_SPAN) {
        return intern(domain, string, style);
    }
    const void *owner = mxp_atomic_load_acquire(&string->owner);
    if (owner == domain) {
        return mxp_atomic_load(&string->name);
    }
    mxp_name name = intern(domain, string, style);
    if (owner == NULL) {
        keep(string, domain, name);
    }
    return name;
}

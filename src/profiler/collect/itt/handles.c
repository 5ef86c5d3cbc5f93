// SPDX-License-Identifier: Apache-2.0
// Two tables with chains: readers follow pointers that only grow, writers take a lock. PyTorch asks
// for a string at every range, as a rule at the address where it was before.
#include "profiler/collect/itt/handles.h"

#include <mxprof/record.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/collect/arena.h"
#include "profiler/collect/names.h"
#include "profiler/collect/ompt/ompt.h"
#include "profiler/spin.h"

enum { DOMAIN_BUCKETS = 256, STRING_BUCKETS = 1 << 16, LATEST_BITS = 10 };

// Beside the handle, because a foreign one has no space for it.
typedef struct node {
    const struct node *next;
    const char *text;  // ours: a foreign handle's own goes when its library is closed
    size_t length;
    uint64_t hash;
    void *handle;
} node;

typedef MXP_ATOMIC(const node *) bucket;

static bucket domains[DOMAIN_BUCKETS], strings[STRING_BUCKETS];
static bucket latest[1 << LATEST_BITS];  // of strings, by where they lay
static mxp_spin lock;

// What is asked for: a text of at most MXP__COLLECT_TEXT_MAX bytes.
typedef struct wanted {
    const char *text;
    size_t length;
    uint64_t hash;
} wanted;

static wanted wanted_of(const char *text, char cut[MXP__COLLECT_CUT_BYTES])
{
    wanted made;
    made.text = mxp__collect_cut(text != NULL ? text : "(null)", cut, &made.length);
    made.hash = mxp__collect_hash(made.text, made.length);
    return made;
}

static const node *find(bucket *in, const wanted *of)
{
    const node *at = mxp_atomic_load_acquire(in);  // pairs with put
    while (at != NULL && (at->hash != of->hash || at->length != of->length ||
                          memcmp(at->text, of->text, of->length) != 0)) {
        at = at->next;
    }
    return at;
}

// The caller holds the lock. Null: there is no memory.
static const node *put(bucket *in, const char *text, const wanted *of, void *handle)
{
    node *made = mxp__arena_take(sizeof *made);
    if (made != NULL) {
        *made = (node){mxp_atomic_load(in), text, of->length, of->hash, handle};
        mxp_atomic_store_release(in, made);
    }
    return made;
}

static char *copy_text(const wanted *of)
{
    char *copy = mxp__arena_take(of->length + 1);
    return copy != NULL ? memcpy(copy, of->text, of->length) : NULL;
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
        for (const node *at = mxp_atomic_load_acquire(&domains[i]); at != NULL; at = at->next) {
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

static void *make_domain(const wanted *of)
{
    itt_domain *domain = mxp__arena_take(sizeof *domain);
    if (domain != NULL) {
        domain->name = copy_text(of);
        domain->flags =
            domain->name != NULL && !mxp_atomic_load(&is_detached) && !is_told_twice(domain->name);
    }
    return domain != NULL && domain->name != NULL ? domain : NULL;
}

static void *make_string(const wanted *of)
{
    itt_string *string = mxp__arena_take(sizeof *string);
    if (string != NULL) {
        string->text = copy_text(of);
    }
    return string != NULL && string->text != NULL ? string : NULL;
}

// Null: there is no more memory for handles, or a handler has interrupted the holder of the lock,
// on its thread.
static const node *find_or_make(bucket *in, const wanted *of, void *(*make)(const wanted *))
{
    void *handle;
    const node *found = find(in, of);
    if (found != NULL || !mxp__spin_lock(&lock)) {
        return found;
    }
    found = find(in, of);
    if (found == NULL && (handle = make(of)) != NULL) {
        const char *kept =
            make == make_domain ? ((itt_domain *)handle)->name : ((itt_string *)handle)->text;
        found = put(in, kept, of, handle);
    }
    mxp__spin_unlock(&lock);
    return found;
}

// For all that finds no memory: a program takes what it gets.
static itt_domain full_domain = {.flags = 1, .name = "<names full>"};
static itt_string full_string = {.text = "<names full>"};

itt_domain *mxp__itt_domain(const char *name)
{
    char cut[MXP__COLLECT_CUT_BYTES];
    const wanted of = wanted_of(name, cut);
    const node *found = find_or_make(&domains[of.hash % DOMAIN_BUCKETS], &of, make_domain);
    return found != NULL ? found->handle : &full_domain;
}

// What was found last for a text at this address, or at another that shares its place.
static bucket *latest_place(const char *text)
{
    const uint32_t factor = 0x9e3779b1;
    return &latest[(uint32_t)(uintptr_t)text * factor >> (32 - LATEST_BITS)];
}

static __attribute__((noinline)) itt_string *string_by_hash(const char *text, bucket *place)
{
    char cut[MXP__COLLECT_CUT_BYTES];
    const wanted of = wanted_of(text, cut);
    const node *found = find_or_make(&strings[of.hash % STRING_BUCKETS], &of, make_string);
    if (found != NULL) {
        mxp_atomic_store_release(place, found);  // pairs with mxp__itt_string
    }
    return found != NULL ? found->handle : &full_string;
}

// There may be another text at the address by now, so the address alone proves nothing.
itt_string *mxp__itt_string(const char *text)
{
    bucket *place = latest_place(text);
    const node *found = mxp_atomic_load_acquire(place);
    return found != NULL && text != NULL && strcmp(found->text, text) == 0
               ? found->handle
               : string_by_hash(text, place);
}

static void adopt(bucket *table, uint64_t buckets, const char *text, void *handle)
{
    const size_t length = text != NULL ? strnlen(text, MXP__COLLECT_TEXT_MAX + 1) : 0;
    const wanted of = {text, length, text != NULL ? mxp__collect_hash(text, length) : 0};
    bucket *in = &table[of.hash % buckets];
    if (text != NULL && length <= MXP__COLLECT_TEXT_MAX && mxp__spin_lock(&lock)) {
        const char *copy = find(in, &of) == NULL ? copy_text(&of) : NULL;
        if (copy != NULL) {
            put(in, copy, &of, handle);
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
    if (string == &full_string) {
        return MXP_NAME_FULL;
    }
    return mxp__collect_name(mxp__itt_category(domain), string != NULL ? string->text : NULL,
                             style);
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

// SPDX-License-Identifier: Apache-2.0
// What a program's NVTX header loads us for: InitializeInjectionNvtx2 fills its tables of
// functions. It is called once by every shared object that has a copy of the header; headers up
// to 3.1 may call it several times at once.
#include <mxprof/args.h>
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

#include "profiler/collect/first_copy.h"
#include "profiler/collect/nvtx/handles.h"
#include "profiler/collect/nvtx/objects.h"
#include "profiler/collect/nvtx/payload.h"
#include "profiler/collect/nvtx/ranges.h"
#include "profiler/collect/settings.h"

int InitializeInjectionNvtx2(nvtx_get_table get_table);

// ---- attributes --------------------------------------------------------------------------------
static mxp_name message_name(const nvtx_domain *domain, const nvtx_attributes *attributes,
                             int style)
{
    switch (attributes->message_type) {
    case NVTX_TEXT_NARROW:
        return mxp__nvtx_name(domain, attributes->message.narrow, style);
    case NVTX_TEXT_WIDE:
        return mxp__nvtx_name_wide(domain, attributes->message.wide, style);
    case NVTX_TEXT_REGISTERED:
        return mxp__nvtx_name_registered(domain, attributes->message.registered, style);
    default:
        return mxp__nvtx_name(domain, "(no message)", style);
    }
}

static bool payload_arg(const nvtx_attributes *attributes, mxp_arg *arg)
{
    const mxp_name key = mxp_string("payload");
    switch (attributes->payload_type) {
    case NVTX_PAYLOAD_U64:
        *arg = mxp_u64(key, attributes->payload.u64);
        return true;
    case NVTX_PAYLOAD_I64:
        *arg = mxp_i64(key, attributes->payload.i64);
        return true;
    case NVTX_PAYLOAD_F64:
        *arg = mxp_f64(key, attributes->payload.f64);
        return true;
    case NVTX_PAYLOAD_U32:
        *arg = mxp_u64(key, attributes->payload.u32);
        return true;
    case NVTX_PAYLOAD_I32:
        *arg = mxp_i64(key, attributes->payload.i32);
        return true;
    case NVTX_PAYLOAD_F32:
        *arg = mxp_f64(key, (double)attributes->payload.f32);
        return true;
    default:
        return false;
    }
}

enum { ARGS_MAX = 3 + MXP__NVTX_PAYLOAD_ARGS };

static uint32_t attribute_args(const nvtx_domain *domain, const nvtx_attributes *attributes,
                               mxp_arg *args)
{
    uint32_t count = 0;
    if (attributes->category != 0) {
        const mxp_name key = mxp_string("category");
        const mxp_name name = mxp__nvtx_category(domain, attributes->category);
        args[count++] =
            name != MXP_NAME_NONE ? mxp_name_arg(key, name) : mxp_u64(key, attributes->category);
    }
    if (attributes->color_type == NVTX_COLOR_ARGB) {
        args[count++] = mxp_u64(mxp_string("argb"), attributes->color);
    }
    if (attributes->payload_type == NVTX_PAYLOAD_EXTENDED) {
        const size_t payloads = attributes->reserved > 0 ? (size_t)attributes->reserved : 0;
        count += mxp__nvtx_payload_args(domain, attributes->payload.extended, payloads,
                                        &args[count], NULL);
    } else {
        count += payload_arg(attributes, &args[count]);
    }
    return count;
}

// A copy of what the program's structure has; what an older one lacks is zero.
static nvtx_attributes read_attributes(const nvtx_attributes *given)
{
    nvtx_attributes read = {0};
    if (given != NULL && given->size_bytes >= 2 * sizeof(uint16_t)) {
        memcpy(&read, given, given->size_bytes < sizeof read ? given->size_bytes : sizeof read);
    }
    return read;
}

// ---- ranges ------------------------------------------------------------------------------------
static void mark_in(void *handle, const nvtx_attributes *given)
{
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    const nvtx_attributes attributes = read_attributes(given);
    if (attributes.category == 0 && attributes.payload_type == 0) {  // at most a colour
        mxp_instant(MXP_CLASS_USER, message_name(domain, &attributes, MXP_STYLE_INSTANT),
                    MXP_INSTANT_THREAD);
        return;
    }
    mxp_arg args[ARGS_MAX];
    const uint32_t count = attribute_args(domain, &attributes, args);
    mxp__nvtx_moment(message_name(domain, &attributes, MXP_STYLE_SPAN), args, count);
}

static uint64_t start_in(void *handle, const nvtx_attributes *given)
{
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    const nvtx_attributes attributes = read_attributes(given);
    mxp_arg args[ARGS_MAX];
    const uint32_t count = attribute_args(domain, &attributes, args);
    return mxp__nvtx_start(message_name(domain, &attributes, MXP_STYLE_ASYNC), args, count);
}

static void end_in(void *handle, uint64_t id)
{
    (void)handle;
    mxp__nvtx_end(id, NULL, 0);
}

// Whether there is only a text, as in most ranges, which then need no copy.
static bool is_plain(const nvtx_attributes *given)
{
    return given != NULL && given->size_bytes >= sizeof *given &&
           (given->category | (uint32_t)given->color_type | (uint32_t)given->payload_type) == 0;
}

static __attribute__((noinline)) int push_told(const nvtx_domain *domain,
                                               const nvtx_attributes *given)
{
    const nvtx_attributes attributes = read_attributes(given);
    mxp_arg args[ARGS_MAX];
    const uint32_t count = attribute_args(domain, &attributes, args);
    return mxp__nvtx_push(domain, message_name(domain, &attributes, MXP_STYLE_SPAN), args, count);
}

static int push_in(void *handle, const nvtx_attributes *given)
{
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    return is_plain(given)
               ? mxp__nvtx_push(domain, message_name(domain, given, MXP_STYLE_SPAN), NULL, 0)
               : push_told(domain, given);
}

static int pop_in(void *handle)
{
    return mxp__nvtx_pop(mxp__nvtx_domain(handle), NULL, 0);
}

// ---- the default domain ------------------------------------------------------------------------
static void mark_ex(const nvtx_attributes *given)
{
    mark_in(NULL, given);
}

static void mark_narrow(const char *text)
{
    mxp_instant(MXP_CLASS_USER, mxp__nvtx_name(mxp__nvtx_domain(NULL), text, MXP_STYLE_INSTANT),
                MXP_INSTANT_THREAD);
}

static void mark_wide(const wchar_t *text)
{
    mxp_instant(MXP_CLASS_USER,
                mxp__nvtx_name_wide(mxp__nvtx_domain(NULL), text, MXP_STYLE_INSTANT),
                MXP_INSTANT_THREAD);
}

static uint64_t start_ex(const nvtx_attributes *given)
{
    return start_in(NULL, given);
}

static uint64_t start_narrow(const char *text)
{
    return mxp__nvtx_start(mxp__nvtx_name(mxp__nvtx_domain(NULL), text, MXP_STYLE_ASYNC), NULL, 0);
}

static uint64_t start_wide(const wchar_t *text)
{
    return mxp__nvtx_start(mxp__nvtx_name_wide(mxp__nvtx_domain(NULL), text, MXP_STYLE_ASYNC), NULL,
                           0);
}

static void end(uint64_t id)
{
    end_in(NULL, id);
}

static int push_ex(const nvtx_attributes *given)
{
    return push_in(NULL, given);
}

static int push_narrow(const char *text)
{
    const nvtx_domain *domain = mxp__nvtx_domain(NULL);
    return mxp__nvtx_push(domain, mxp__nvtx_name(domain, text, MXP_STYLE_SPAN), NULL, 0);
}

static int push_wide(const wchar_t *text)
{
    const nvtx_domain *domain = mxp__nvtx_domain(NULL);
    return mxp__nvtx_push(domain, mxp__nvtx_name_wide(domain, text, MXP_STYLE_SPAN), NULL, 0);
}

static int pop_default(void)
{
    return mxp__nvtx_pop(mxp__nvtx_domain(NULL), NULL, 0);
}

// ---- names and handles -------------------------------------------------------------------------
static void name_category_in(void *handle, uint32_t number, const char *name)
{
    mxp__nvtx_category_set(mxp__nvtx_domain(handle), number, name);
}

static void name_category_wide_in(void *handle, uint32_t number, const wchar_t *name)
{
    char narrow[256];
    mxp__nvtx_narrow(name, narrow, sizeof narrow);
    name_category_in(handle, number, narrow);
}

static void name_category(uint32_t number, const char *name)
{
    name_category_in(NULL, number, name);
}

static void name_category_wide(uint32_t number, const wchar_t *name)
{
    name_category_wide_in(NULL, number, name);
}

static void name_thread(uint32_t tid, const char *name)
{
    mxp_thread_name_of(tid, name != NULL ? name : "(null)");
}

static void name_thread_wide(uint32_t tid, const wchar_t *name)
{
    char narrow[256];
    mxp__nvtx_narrow(name, narrow, sizeof narrow);
    mxp_thread_name_of(tid, narrow);
}

static void *register_string(void *handle, const char *text)
{
    (void)handle;
    return mxp__nvtx_string_create(text);
}

static void *register_string_wide(void *handle, const wchar_t *text)
{
    char narrow[1024];
    mxp__nvtx_narrow(text, narrow, sizeof narrow);
    return register_string(handle, text != NULL ? narrow : NULL);
}

static void *create_domain(const char *name)
{
    return mxp__nvtx_domain_create(name);
}

static void *create_domain_wide(const wchar_t *name)
{
    char narrow[256];
    mxp__nvtx_narrow(name, narrow, sizeof narrow);
    return mxp__nvtx_domain_create(narrow);
}

// Ranges of it may be open, and other threads may still use it.
static void destroy_domain(void *handle)
{
    (void)handle;
}

static void initialize(const void *reserved)
{
    (void)reserved;
}

// ---- tables ------------------------------------------------------------------------------------
typedef void (*nvtx_function)(void);
#define AT(number, function) [number] = (nvtx_function)(function)

static const nvtx_function core[] = {
    AT(1, mark_ex),
    AT(2, mark_narrow),
    AT(3, mark_wide),
    AT(4, start_ex),
    AT(5, start_narrow),
    AT(6, start_wide),
    AT(7, end),
    AT(8, push_ex),
    AT(9, push_narrow),
    AT(10, push_wide),
    AT(11, pop_default),
    AT(12, name_category),
    AT(13, name_category_wide),
    AT(14, name_thread),
    AT(15, name_thread_wide),
};
static const nvtx_function core2[] = {
    AT(1, mark_in),
    AT(2, start_in),
    AT(3, end_in),
    AT(4, push_in),
    AT(5, pop_in),
    AT(6, mxp__nvtx_resource_create),
    AT(7, mxp__nvtx_resource_destroy),
    AT(8, name_category_in),
    AT(9, name_category_wide_in),
    AT(10, register_string),
    AT(11, register_string_wide),
    AT(12, create_domain),
    AT(13, create_domain_wide),
    AT(14, destroy_domain),
    AT(15, initialize),
};

static const nvtx_function sync[] = {
    AT(1, mxp__nvtx_sync_create),        AT(2, mxp__nvtx_sync_destroy),
    AT(3, mxp__nvtx_sync_acquire_start), AT(4, mxp__nvtx_sync_acquire_failed),
    AT(5, mxp__nvtx_sync_acquired),      AT(6, mxp__nvtx_sync_releasing),
};

static void fill(const nvtx_callbacks *callbacks, int module, const nvtx_function *functions,
                 unsigned count)
{
    void **table = NULL;
    unsigned size = 0;
    if (callbacks->get_module(module, &table, &size) == 0 || table == NULL) {
        return;
    }
    for (unsigned i = 1; i < count && i < size; i++) {
        if (functions[i] != NULL && table[i] != NULL) {
            memcpy(table[i], &functions[i], sizeof functions[i]);
        }
    }
}

static void tell_version(const nvtx_version *known)
{
    enum { OURS = 3 };
    if (known != NULL && known->size_bytes >= sizeof *known && known->set != NULL) {
        known->set(OURS);
    }
}

// What stays empty the program takes as switched off.
int InitializeInjectionNvtx2(nvtx_get_table get_table)
{
    const void *own;
    int (*init)(nvtx_get_table) = InitializeInjectionNvtx2;
    memcpy(&own, &init, sizeof own);
    void *first = mxp__collect_in_first_copy("InitializeInjectionNvtx2", own);
    if (first != NULL) {
        memcpy(&init, &first, sizeof init);
        return init(get_table);
    }
    const nvtx_callbacks *callbacks =
        getauxval(AT_SECURE) == 0 && get_table != NULL ? get_table(NVTX_TABLE_CALLBACKS) : NULL;
    if (callbacks == NULL || callbacks->size_bytes < sizeof *callbacks) {
        return 0;
    }
    fill(callbacks, NVTX_MODULE_CORE, core, sizeof core / sizeof core[0]);
    fill(callbacks, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
    if (mxp__collect_sync() != MXP__SYNC_NONE) {
        fill(callbacks, NVTX_MODULE_SYNC, sync, sizeof sync / sizeof sync[0]);
    }
    tell_version(get_table(NVTX_TABLE_VERSION));
    return 1;
}

// SPDX-License-Identifier: Apache-2.0
// What a program's NVTX headers of extensions load us for: InitializeInjectionNvtxExtension fills
// the functions of one extension, in each shared object that uses it.
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <string.h>
#include <sys/auxv.h>

#include "profiler/collect/first_copy.h"
#include "profiler/collect/nvtx/counters.h"
#include "profiler/collect/nvtx/handles.h"
#include "profiler/collect/nvtx/payload.h"
#include "profiler/collect/nvtx/ranges.h"

int InitializeInjectionNvtxExtension(nvtx_extension *extension);

// ---- payloads ----------------------------------------------------------------------------------
typedef struct told {
    mxp_arg args[MXP__NVTX_PAYLOAD_ARGS];
    uint32_t count;
    mxp_name name;  // the text that the schema calls the message, else "payload"
} told;

static void read_told(told *to, const nvtx_domain *domain, const nvtx_payload *payloads,
                      size_t count, int style)
{
    uint32_t message = 0;
    to->count = mxp__nvtx_payload_args(domain, payloads, count, to->args, &message);
    const mxp_arg *arg = message != 0 ? &to->args[message - 1] : NULL;
    if (arg != NULL && (arg->type & 0xff) == MXP_ARG_TEXT) {
        to->name = mxp_intern_in(mxp__nvtx_domain_category(domain), arg->value.text, arg->type >> 8,
                                 style, MXP_UNIT_NONE);
    } else {
        to->name = mxp__nvtx_name(domain,
                                  arg != NULL && arg->type == MXP_ARG_NAME
                                      ? mxp_name_text((mxp_name)arg->value.u64)
                                      : "payload",
                                  style);
    }
}

static uint64_t register_schema(void *handle, const nvtx_schema *given)
{
    return mxp__nvtx_schema_register(mxp__nvtx_domain(handle), given);
}

static uint64_t register_enum(void *handle, const nvtx_enum *given)
{
    return mxp__nvtx_enum_register(mxp__nvtx_domain(handle), given);
}

static void mark_payload(void *handle, const nvtx_payload *payloads, size_t count)
{
    told read;
    read_told(&read, mxp__nvtx_domain(handle), payloads, count, MXP_STYLE_SPAN);
    mxp__nvtx_moment(read.name, read.args, read.count);
}

static int push_payload(void *handle, const nvtx_payload *payloads, size_t count)
{
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    told read;
    read_told(&read, domain, payloads, count, MXP_STYLE_SPAN);
    return mxp__nvtx_push(domain, read.name, read.args, read.count);
}

static int pop_payload(void *handle, const nvtx_payload *payloads, size_t count)
{
    const nvtx_domain *domain = mxp__nvtx_domain(handle);
    mxp_arg args[MXP__NVTX_PAYLOAD_ARGS];
    return mxp__nvtx_pop(domain, args, mxp__nvtx_payload_args(domain, payloads, count, args, NULL));
}

static uint64_t start_payload(void *handle, const nvtx_payload *payloads, size_t count)
{
    told read;
    read_told(&read, mxp__nvtx_domain(handle), payloads, count, MXP_STYLE_ASYNC);
    return mxp__nvtx_start(read.name, read.args, read.count);
}

static void end_payload(void *handle, uint64_t id, const nvtx_payload *payloads, size_t count)
{
    mxp_arg args[MXP__NVTX_PAYLOAD_ARGS];
    mxp__nvtx_end(id, args,
                  mxp__nvtx_payload_args(mxp__nvtx_domain(handle), payloads, count, args, NULL));
}

static uint8_t is_enabled(void *handle)
{
    (void)handle;
    return mxp_enabled(MXP_CLASS_USER);
}

// ---- tables ------------------------------------------------------------------------------------
typedef void (*nvtx_function)(void);
#define AT(number, function) [number] = (nvtx_function)(function)

static const nvtx_function payload_functions[] = {
    AT(0, register_schema), AT(1, register_enum), AT(2, mark_payload), AT(3, push_payload),
    AT(4, pop_payload),     AT(5, start_payload), AT(6, end_payload),  AT(7, is_enabled),
};
static const nvtx_function counter_functions[] = {
    AT(0, mxp__nvtx_counter_register),
    AT(1, mxp__nvtx_counter_sample_i64),
    AT(2, mxp__nvtx_counter_sample_f64),
    AT(3, mxp__nvtx_counter_sample),
};

// What is not in the table is switched off.
static void fill(const nvtx_segment *segment, const nvtx_function *functions, size_t count)
{
    enum { DISABLED = 1 };
    for (size_t i = 0; i < segment->slot_count; i++) {
        intptr_t slot = DISABLED;
        if (i < count) {
            memcpy(&slot, &functions[i], sizeof slot);
        }
        segment->slots[i] = slot;
    }
}

int InitializeInjectionNvtxExtension(nvtx_extension *extension)
{
    const void *own;
    int (*init)(nvtx_extension *) = InitializeInjectionNvtxExtension;
    memcpy(&own, &init, sizeof own);
    void *first = mxp__collect_in_first_copy("InitializeInjectionNvtxExtension", own);
    if (first != NULL) {
        memcpy(&init, &first, sizeof init);
        return init(extension);
    }
    if (getauxval(AT_SECURE) != 0 || extension == NULL || extension->segment_count == 0 ||
        extension->size_bytes < sizeof *extension) {
        return 0;
    }
    switch (extension->module) {
    case NVTX_EXTENSION_PAYLOAD:
        fill(extension->segments, payload_functions,
             sizeof payload_functions / sizeof payload_functions[0]);
        return 1;
    case NVTX_EXTENSION_COUNTERS:
        fill(extension->segments, counter_functions,
             sizeof counter_functions / sizeof counter_functions[0]);
        return 1;
    default:
        return 0;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Who wrote a trace, and what is special about each.
#include <string.h>

#include "import/import_state.h"

const char *mxp__import_kind_name(mxp_import_kind kind)
{
    static const char *const names[MXP__IMPORT_KINDS] = {
        [MXP__IMPORT_CHROME] = "Chrome JSON",    [MXP__IMPORT_TORCH] = "torch.profiler",
        [MXP__IMPORT_MXNET] = "MXNet",           [MXP__IMPORT_VIZTRACER] = "viztracer",
        [MXP__IMPORT_OWN] = "mxprof's own JSON",
    };
    return names[kind];
}

void mxp__import_kind_key(mxp_import *import, const char *key, size_t length)
{
    static const struct {
        const char *key;
        mxp_import_kind kind;
    } keys[] = {{"schemaVersion", MXP__IMPORT_TORCH},
                {"deviceProperties", MXP__IMPORT_TORCH},
                {"viztracer_metadata", MXP__IMPORT_VIZTRACER}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (length == strlen(keys[i].key) && memcmp(key, keys[i].key, length) == 0) {
            import->kind = keys[i].kind;
        }
    }
    import->notes.frames |= length == 11 && memcmp(key, "stackFrames", length) == 0;
    import->notes.samples |= length == 7 && memcmp(key, "samples", length) == 0;
}

// MXNet's file begins with its devices, which it calls processes.
void mxp__import_kind_first(mxp_import *import)
{
    static const char device[] = "\"cpu/0\"";
    const mxp_strbuf *args = &import->event.args;
    bool is_name = mxp__field_is(mxp__field(&import->event, MXP__FIELD_name), "process_name");
    if (is_name && args->length > 0 && import->kind == MXP__IMPORT_CHROME &&
        memmem(args->data, args->length, device, sizeof device - 1) != NULL) {
        import->kind = MXP__IMPORT_MXNET;
        import->rows.is_one = true;
    }
}

static bool is_one_of(const mxp_json_field *category, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (mxp__field_is(category, *names)) {
            return true;
        }
    }
    return false;
}

// MXNet writes each operator as a span of its device and once more as a task.
static bool is_task_of_operator(const mxp_import *import)
{
    const mxp_json_field *phase = mxp__field(&import->event, MXP__FIELD_ph);
    bool is_task = mxp__field_is(phase, "b") || mxp__field_is(phase, "e");
    return import->kind == MXP__IMPORT_MXNET && is_task &&
           mxp__field_is(mxp__field(&import->event, MXP__FIELD_cat), "operator");
}

// Readers count the calls of MXNet's C functions from their spans.
static bool is_count_of_calls(const mxp_import *import)
{
    const mxp_json_field *name = mxp__field(&import->event, MXP__FIELD_name);
    return mxp__field_is(mxp__field(&import->event, MXP__FIELD_ph), "C") &&
           mxp__field_is(mxp__field(&import->event, MXP__FIELD_cat), "MXNET_C_API") &&
           (mxp__field_is(name, "MXNet C API Calls") ||
            mxp__field_is(name, "MXNet C API Concurrency"));
}

mxp_import_place mxp__import_place(const mxp_import *import)
{
    static const char *const of_device[] = {
        "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", NULL};
    const mxp_json_field *category = mxp__field(&import->event, MXP__FIELD_cat);
    if (is_task_of_operator(import) || is_count_of_calls(import)) {
        return (mxp_import_place){.is_copy = true};
    }
    if (import->kind != MXP__IMPORT_TORCH) {
        return (mxp_import_place){.is_device = false};
    }
    bool is_end = mxp__field_is(mxp__field(&import->event, MXP__FIELD_ph), "f");
    return (mxp_import_place){.is_device = is_one_of(category, of_device) ||
                                           (is_end && mxp__field_is(category, "ac2g")),
                              .is_beside = mxp__field_is(category, "python_function"),
                              .category = mxp__field_is(category, "cpu_op") ? "operator" : NULL};
}

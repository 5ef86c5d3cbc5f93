// SPDX-License-Identifier: Apache-2.0
// See modules.h, and mxp_module in <mxprof/module.h>. Under the names' lock, which a fork takes
// and a recording file that begins or ends.
#include "profiler/recorder/thread/modules.h"

#include <mxprof/error.h>
#include <mxprof/gate.h>
#include <string.h>

#include "base/alloc.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/thread/names.h"

static mxp_module_entry modules[MXP__MODULES_MOST];
static uint32_t module_count;

int mxp_module(const mxp_module_entry *module)
{
    const uint64_t now = mxp_ticks();
    if (module == NULL) {
        return MXP_EINVAL;
    }
    if (!mxp__names_try_lock()) {
        return MXP_ENOMEM;
    }
    uint32_t i = 0;
    while (i < module_count &&
           (modules[i].name != module->name || modules[i].bias != module->bias)) {
        i++;
    }
    const bool fits = i < MXP__MODULES_MOST;
    if (fits) {
        const uint64_t before = i < module_count ? modules[i].from_ticks : now;
        modules[i] = *module;
        modules[i].from_ticks = module->from_ticks != 0 ? module->from_ticks : before;
        module_count += i == module_count;
        mxp__modules_store();
    }
    mxp__names_unlock();
    return fits ? MXP_OK : MXP_ENOMEM;
}

void mxp__modules_store(void)
{
    mxp__store_put_table(MXP_SECTION_MODULES, modules, module_count * sizeof *modules);
}

void mxp__modules_image(volatile mxp_image_anchor *to)
{
    to->modules = (uintptr_t)modules;
    to->module_count = (uintptr_t)&module_count;
}

int mxp__modules_copy(mxp_module_entry **entries, size_t *count)
{
    mxp__names_lock();
    const size_t size_bytes = module_count * sizeof *modules;
    *count = module_count;
    *entries = mxp__alloc(size_bytes);
    if (*entries != NULL) {
        memcpy(*entries, modules, size_bytes);
    }
    mxp__names_unlock();
    return *entries != NULL || size_bytes == 0 ? MXP_OK : MXP_ENOMEM;
}

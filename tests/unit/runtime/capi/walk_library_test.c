// SPDX-License-Identifier: Apache-2.0
// Every function of the library as a whole, of the registries and of the profiler, with good and
// with bad arguments; and no exported function is without such a row somewhere.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

enum { CPU = 1, GPU = 2, NO_DEVICE = 99 };

// ---- the library ------------------------------------------------------------------------------
static void library(void **state)
{
    (void)state;
    int number = -1, second = -1;
    uint64_t bytes = 0, more = 0;
    size_t count = 0;
    const struct LibFeature *features = NULL;
    walk_forget();
    walk_good("MXGetLastError", "()", MXGetLastError()[0] == '\0', __LINE__);
    NEVER_FAILS(MXGetLastError);
    GOOD(MXGetVersion, (&number), number == 20000);
    BAD(MXGetVersion, (NULL));
    GOOD(MXLibInfoFeatures, (&features, &count), count > 20 && features[0].name != NULL);
    BAD(MXLibInfoFeatures, (NULL, &count));
    BAD(MXLibInfoFeatures, (&features, NULL));
    GOOD(MXRandomSeed, (7), true);
    NEVER_FAILS(MXRandomSeed);
    GOOD(MXRandomSeedContext, (7, CPU, 0), true);
    BAD(MXRandomSeedContext, (7, GPU, 0));
    BAD(MXRandomSeedContext, (7, NO_DEVICE, 0));
    BAD(MXRandomSeedContext, (7, CPU, -1));
    GOOD(MXSetNumOMPThreads, (1), true);
    BAD(MXSetNumOMPThreads, (-1));
    GOOD(MXEngineSetBulkSize, (0, &number), number >= 0);
    GOOD(MXEngineSetBulkSize, (number, &second), second == 0);
    NEVER_FAILS(MXEngineSetBulkSize);
    GOOD(MXGetGPUCount, (&number), number == 0);
    BAD(MXGetGPUCount, (NULL));
    GOOD(MXStorageEmptyCache, (CPU, 0), true);
    BAD(MXStorageEmptyCache, (GPU, 0));
    BAD(MXStorageEmptyCache, (NO_DEVICE, 0));
    ONLY_BAD(MXGetGPUMemoryInformation, (0, &number, &second));
    BAD(MXGetGPUMemoryInformation, (0, NULL, NULL));
    ONLY_BAD(MXGetGPUMemoryInformation64, (0, &bytes, &more));
    BAD(MXGetGPUMemoryInformation64, (-1, NULL, NULL));
}

static void environment(void **state)
{
    (void)state;
    const char *value = NULL;
    GOOD(MXSetEnv, ("MXNET_WALK", "3"), true);
    GOOD(MXGetEnv, ("MXNET_WALK", &value), strcmp(value, "3") == 0);
    GOOD(MXSetEnv, ("MXNET_WALK", NULL), true);
    GOOD(MXGetEnv, ("MXNET_WALK", &value), value == NULL);
    BAD(MXSetEnv, (NULL, "3"));
    BAD(MXSetEnv, ("a=b", "3"));
    BAD(MXSetEnv, ("", NULL));
    BAD(MXGetEnv, (NULL, &value));
    BAD(MXGetEnv, ("MXNET_WALK", NULL));
}

static void numpy(void **state)
{
    (void)state;
    int mode = -1;
    bool wide = true;
    GOOD(MXSetIsNumpyShape, (1, &mode), mode == 0);
    GOOD(MXIsNumpyShape, (&mode), mode == 1);
    GOOD(MXSetIsNumpyShape, (0, NULL), true);
    BAD(MXSetIsNumpyShape, (3, &mode));
    BAD(MXSetIsNumpyShape, (-1, &mode));
    BAD(MXIsNumpyShape, (NULL));
    GOOD(MXSetIsNumpyDefaultDtype, (true, &wide), !wide);
    GOOD(MXIsNumpyDefaultDtype, (&wide), wide);
    GOOD(MXSetIsNumpyDefaultDtype, (false, &wide), wide);
    NEVER_FAILS(MXSetIsNumpyDefaultDtype);
    BAD(MXIsNumpyDefaultDtype, (NULL));
}

// ---- registries -------------------------------------------------------------------------------
#define EMPTY_LIST(function, type)                             \
    do {                                                       \
        uint32_t length = 7;                                   \
        type *list = NULL;                                     \
        GOOD(function, (&length, &list), length == 0 && list); \
        BAD(function, (NULL, &list));                          \
        BAD(function, (&length, NULL));                        \
    } while (0)

#define NO_ENTRY(function)                                                          \
    do {                                                                            \
        const char *word, *about, **words, **types, **texts;                        \
        uint32_t length;                                                            \
        ONLY_BAD(function, (NULL, &word, &about, &length, &words, &types, &texts)); \
        BAD(function, (&length, &word, &about, &length, &words, &types, &texts));   \
        BAD(function, (NULL, NULL, NULL, NULL, NULL, NULL, NULL));                  \
    } while (0)

static void registries(void **state)
{
    (void)state;
    const char **names = NULL;
    MXNetFunctionHandle packed = &names;
    int count = 7;
    EMPTY_LIST(MXListDatasets, DatasetCreator);
    NO_ENTRY(MXDatasetGetDatasetInfo);
    EMPTY_LIST(MXListBatchifyFunctions, BatchifyFunctionCreator);
    NO_ENTRY(MXBatchifyFunctionGetFunctionInfo);
    GOOD(MXNetFuncListGlobalNames, (&count, &names), count == 0 && names != NULL);
    BAD(MXNetFuncListGlobalNames, (NULL, &names));
    BAD(MXNetFuncListGlobalNames, (&count, NULL));
    GOOD(MXNetFuncGetGlobal, ("nobody", &packed), packed == NULL);
    BAD(MXNetFuncGetGlobal, (NULL, &packed));
    BAD(MXNetFuncGetGlobal, ("nobody", NULL));
    GOOD(MXKVStoreIsWorkerNode, (&count), count == 1);
    BAD(MXKVStoreIsWorkerNode, (NULL));
    GOOD(MXKVStoreIsServerNode, (&count), count == 0);
    BAD(MXKVStoreIsServerNode, (NULL));
    GOOD(MXKVStoreIsSchedulerNode, (&count), count == 0);
    BAD(MXKVStoreIsSchedulerNode, (NULL));
}

#define INVOKE(invoke)                                                                     \
    do {                                                                                   \
        GOOD(invoke, (filler, NULL, &seven, &array, 0, NULL, NULL), first_of(array) == 7); \
        BAD_HANDLES(invoke, NULL, (bad, NULL, &seven, &array, 0, NULL, NULL));             \
        BAD_HANDLES(invoke, NULL, (filler, NULL, &seven, &bad, 0, NULL, NULL));            \
        BAD(invoke, (filler, NULL, NULL, &array, 0, NULL, NULL));                          \
        BAD(invoke, (filler, NULL, &seven, NULL, 0, NULL, NULL));                          \
    } while (0)

static float first_of(NDArrayHandle array)
{
    float values[4] = {0};
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 4), 0);
    return values[0];
}

static void functions(void **state)
{
    (void)state;
    const char *name, *about, **names, **types, **texts, *returned;
    uint32_t inputs = 9, scalars = 9, outputs = 9;
    int mask = -1;
    FunctionHandle filler = NULL, *all = NULL;
    float seven = 7;
    NDArrayHandle array = NULL;
    const int64_t shape[] = {2, 2};
    assert_int_equal(MXNDArrayCreate64(shape, 2, CPU, 0, 0, 0, &array), 0);
    GOOD(MXListFunctions, (&inputs, &all), inputs == 3);
    BAD(MXListFunctions, (NULL, &all));
    BAD(MXListFunctions, (&inputs, NULL));
    GOOD(MXGetFunction, ("_set_value", &filler), filler == all[0]);
    BAD(MXGetFunction, ("nobody", &filler));
    BAD(MXGetFunction, (NULL, &filler));
    BAD(MXGetFunction, ("_set_value", NULL));
    GOOD(MXFuncGetInfo, (filler, &name, &about, &inputs, &names, &types, &texts, &returned),
         inputs == 1 && strcmp(names[0], "src") == 0 && strcmp(types[0], "real_t") == 0);
    BAD_HANDLES(MXFuncGetInfo, NULL, (bad, &name, &about, &inputs, &names, &types, &texts, NULL));
    BAD(MXFuncGetInfo, (filler, &name, &about, NULL, &names, &types, &texts, NULL));
    GOOD(MXFuncDescribe, (filler, &inputs, &scalars, &outputs, &mask),
         inputs == 0 && scalars == 1 && outputs == 1 && mask == 0);
    BAD_HANDLES(MXFuncDescribe, NULL, (bad, &inputs, &scalars, &outputs, &mask));
    BAD(MXFuncDescribe, (filler, &inputs, NULL, &outputs, &mask));
    INVOKE(MXFuncInvoke);
    INVOKE(MXFuncInvokeEx);
    assert_int_equal(MXNDArrayFree(array), 0);
}

// ---- the profiler -----------------------------------------------------------------------------
static const char *const keys[] = {"profile_all", "aggregate_stats", "filename"};
static const char *const values[] = {"1", "1", "walk_profile.json"};
static const char *const wrong_keys[] = {"profile_some"};
static const char *const wrong_values[] = {"perhaps"};

static void configuring(void **state)
{
    (void)state;
    const char *text = NULL;
    GOOD(MXSetProcessProfilerConfig, (3, keys, values, NULL), true);
    BAD(MXSetProcessProfilerConfig, (1, wrong_keys, values, NULL));
    BAD(MXSetProcessProfilerConfig, (1, keys, wrong_values, NULL));
    BAD(MXSetProcessProfilerConfig, (1, NULL, values, NULL));
    BAD(MXSetProcessProfilerConfig, (-1, keys, values, NULL));
    GOOD(MXSetProfilerConfig, (3, keys, values), true);
    BAD(MXSetProfilerConfig, (1, wrong_keys, values));
    BAD(MXSetProfilerConfig, (1, keys, NULL));
    GOOD(MXSetProcessProfilerState, (1, 0, NULL), true);
    BAD(MXSetProcessProfilerState, (2, 0, NULL));
    BAD(MXSetProcessProfilerState, (1, 1, NULL));
    GOOD(MXSetProfilerState, (1), true);
    BAD(MXSetProfilerState, (-1));
    GOOD(MXProcessProfilePause, (1, 0, NULL), true);
    BAD(MXProcessProfilePause, (1, 1, NULL));
    GOOD(MXProfilePause, (0), true);
    NEVER_FAILS(MXProfilePause);
    BAD(MXNVTXRangePush, ("no tool is here", 0xFFFFA500u));
    BAD(MXNVTXRangePop, ());
    BAD(MXCUDAProfilerStart, ());
    BAD(MXCUDAProfilerStop, ());
    NEVER_SUCCEEDS(MXNVTXRangePush);
    NEVER_SUCCEEDS(MXNVTXRangePop);
    NEVER_SUCCEEDS(MXCUDAProfilerStart);
    NEVER_SUCCEEDS(MXCUDAProfilerStop);
    GOOD(MXSetProfilerScope, ("walk:"), true);
    GOOD(MXSetProfilerScope, ("<unk>:"), true);
    BAD(MXSetProfilerScope, (NULL));
    GOOD(MXAggregateProfileStatsPrint, (&text, 0, 0, 0, 0), strlen(text) > 0);
    BAD(MXAggregateProfileStatsPrint, (NULL, 0, 0, 0, 0));
    BAD(MXAggregateProfileStatsPrint, (&text, 0, 2, 0, 0));
    BAD(MXAggregateProfileStatsPrint, (&text, 0, 0, 5, 0));
    GOOD(MXAggregateProfileStatsPrintEx, (&text, 1, 1, 4, 1), text[0] == '{');
    BAD(MXAggregateProfileStatsPrintEx, (NULL, 0, 0, 0, 0));
    BAD(MXAggregateProfileStatsPrintEx, (&text, 0, -1, 0, 0));
    BAD(MXAggregateProfileStatsPrintEx, (&text, 0, 0, -1, 0));
}

// Of objects made with a domain; without one if it is null.
#define OBJECT(function)                                       \
    do {                                                       \
        ProfileHandle made = NULL;                             \
        GOOD(function, (domain, "walk", &made), made != NULL); \
        GOOD(MXProfileDestroyHandle, (made), true);            \
        BAD_HANDLES(function, made, (bad, "walk", &made));     \
        BAD(function, (domain, NULL, &made));                  \
        BAD(function, (domain, "walk", NULL));                 \
    } while (0)

static void objects(void **state)
{
    (void)state;
    ProfileHandle domain = NULL, event = NULL, counter = NULL, gone = NULL;
    GOOD(MXProfileCreateDomain, ("walk", &domain), domain != NULL);
    BAD(MXProfileCreateDomain, (NULL, &domain));
    BAD(MXProfileCreateDomain, ("walk", NULL));
    OBJECT(MXProfileCreateTask);
    OBJECT(MXProfileCreateFrame);
    OBJECT(MXProfileCreateCounter);
    GOOD(MXProfileCreateEvent, ("walk", &gone), gone != NULL);
    BAD(MXProfileCreateEvent, (NULL, &event));
    BAD(MXProfileCreateEvent, ("walk", NULL));
    GOOD(MXProfileDestroyHandle, (gone), true);
    BAD_HANDLES(MXProfileDestroyHandle, gone, (bad));
    assert_int_equal(MXProfileCreateEvent("walk", &event), 0);
    GOOD(MXProfileDurationStart, (event), true);
    BAD_HANDLES(MXProfileDurationStart, gone, (bad));
    GOOD(MXProfileDurationStop, (event), true);
    BAD(MXProfileDurationStop, (event));
    BAD_HANDLES(MXProfileDurationStop, gone, (bad));
    assert_int_equal(MXProfileCreateCounter(domain, "walk", &counter), 0);
    BAD(MXProfileDurationStart, (counter));
    GOOD(MXProfileSetCounter, (counter, 1), true);
    BAD_HANDLES(MXProfileSetCounter, gone, (bad, 1));
    BAD(MXProfileSetCounter, (event, 1));
    GOOD(MXProfileAdjustCounter, (counter, -1), true);
    BAD(MXProfileAdjustCounter, (counter, -1));
    BAD_HANDLES(MXProfileAdjustCounter, gone, (bad, 1));
    GOOD(MXProfileSetMarker, (domain, "walk", "process"), true);
    BAD_HANDLES(MXProfileSetMarker, gone, (bad, "walk", "process"));
    BAD(MXProfileSetMarker, (domain, NULL, "process"));
    BAD(MXProfileSetMarker, (domain, "walk", NULL));
    BAD(MXProfileSetMarker, (domain, "walk", "planet"));
    assert_int_equal(MXProfileDestroyHandle(event), 0);
    assert_int_equal(MXProfileDestroyHandle(counter), 0);
}

static void dumping(void **state)
{
    (void)state;
    BAD(MXDumpProcessProfile, (1, 1, NULL));
    GOOD(MXDumpProcessProfile, (0, 0, NULL), access(values[2], R_OK) == 0);
    GOOD(MXDumpProfile, (1), true);
    BAD(MXDumpProfile, (1));
    GOOD(MXSetProfilerState, (0), unlink(values[2]) == 0);
}

// ---- the end ----------------------------------------------------------------------------------
// Nothing runs afterwards.
static void shutdown(void **state)
{
    (void)state;
    GOOD(MXNotifyShutdown, (), MXNotifyShutdown() == 0);
    NEVER_FAILS(MXNotifyShutdown);
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_library.h");
    walk_complete("mxnet/c_api_registry.h");
    walk_complete("mxnet/c_api_profile.h");
}

static void every_exported_function_has_rows(void **state)
{
    (void)state;
    walk_map_is_walked();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library),
        cmocka_unit_test(numpy),
        cmocka_unit_test(environment),
        cmocka_unit_test(registries),
        cmocka_unit_test(functions),
        cmocka_unit_test(configuring),
        cmocka_unit_test(objects),
        cmocka_unit_test(dumping),
        cmocka_unit_test(shutdown),
        cmocka_unit_test(all_were_called),
        cmocka_unit_test(every_exported_function_has_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

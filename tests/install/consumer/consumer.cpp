// SPDX-License-Identifier: Apache-2.0
// A user's first C++ program: a span with an argument, recorded, counted in the table.
#include <mxprof/mxprof.hpp>
#include <mxprof/profiler.h>
#include <mxprof/version.h>

#include <cstdio>
#include <cstring>

static void work(int number)
{
    MXP_SPAN("consumer", "work", MXP_ARG("number", number));
}

int main()
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "consumer.json";
    config.aggregate_stats = 1;
    if (mxp_session_configure(session, &config) != MXP_OK || mxp_session_run(session) != MXP_OK) {
        return 1;
    }
    work(1);
    mxp_session_stop(session);
    const char *table = "";
    mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &table);
    if (std::strstr(table, "work") == nullptr) {
        return 1;
    }
    std::puts(mxp_version());
    return mxp_session_dump(session, 1) == MXP_OK ? 0 : 1;
}

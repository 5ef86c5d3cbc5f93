// SPDX-License-Identifier: Apache-2.0
// The smallest program with a profiler inside: prints a table, leaves the trace hello.json.
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdio.h>

static double harmonic(int n)
{
    MXP_SPAN_SCOPE("hello", "harmonic");  // until the end of this function
    double sum = 0;
    for (int i = 1; i <= n; i++) {
        sum += 1.0 / i;
    }
    return sum;
}

int main(void)
{
    mxp_session *session = mxp_session_get();
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "hello.json";
    config.aggregate_stats = 1;
    if (mxp_session_configure(session, &config) != 0 || mxp_session_run(session) != 0) {
        fprintf(stderr, "%s\n", mxp_last_error());
        return 1;
    }
    double sum = 0;
    for (int i = 1; i <= 100; i++) {
        sum += harmonic(1000 * i);
    }
    mxp_session_stop(session);
    const char *table;
    mxp_session_dumps(session, MXP_FORMAT_TABLE, MXP_SORT_TOTAL, 0, 0, &table);
    printf("%.3f\n%s", sum, table);
    if (mxp_session_dump(session, 1) != 0) {
        fprintf(stderr, "%s\n", mxp_last_error());
        return 1;
    }
    return 0;
}

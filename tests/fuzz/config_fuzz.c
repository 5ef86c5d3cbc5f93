// SPDX-License-Identifier: Apache-2.0
// The configuration's parser: lines KEY=VALUE of any bytes. Whatever it accepts must be in range,
// whatever it refuses must say why.
#include <mxprof/gate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/session/config/config.h"

enum { PAIRS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

// Cuts the text at its line ends and at the first '=' of each line; returns the number of pairs.
static int split(char *text, const char **keys, const char **values)
{
    static const char none[] = "";
    int count = 0;
    for (char *line = text; line != NULL && count < PAIRS_MAX; count++) {
        char *next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        char *equals = strchr(line, '=');
        if (equals != NULL) {
            *equals++ = '\0';
        }
        keys[count] = line;
        values[count] = equals != NULL ? equals : none;
        line = next;
    }
    return count;
}

static void check_accepted(const mxp_config *config)
{
    require(config->filename != NULL && config->filename[0] != '\0');
    require(config->memory_csv_prefix != NULL);
    require(config->native_filename == NULL || config->native_filename[0] != '\0');
    require(!config->continuous_dump || config->dump_period_s > 0);
    require((config->classes & MXP_CLASS_USER) != 0 && config->classes <= MXP_CLASS_ALL);
    require(config->memory_limit_bytes >= 1 << 20);
    require(config->store == MXP_STORE_MEMORY || config->store == MXP_STORE_FILE);
    require(config->full_policy >= MXP_FULL_GROW && config->full_policy <= MXP_FULL_RING);
    require(config->full_policy != MXP_FULL_RING ||
            (config->aggregate_stats == 0 && config->statistics_only == 0));
    require(config->snapshot_filename != NULL && config->snapshot_filename[0] != '\0');
    require(config->snapshot_ms > 0 && config->snapshot_counter != NULL);
    require(config->snapshot_step_factor == 0 || config->snapshot_step_factor > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    const char *keys[PAIRS_MAX], *values[PAIRS_MAX];
    int count = split(text, keys, values);
    mxp_config parsed, config;
    int server = 0;
    int error = mxp__config_parse(count, keys, values, &parsed, &server);
    if (error == MXP_OK) {
        error = mxp__config_check(&parsed, &config);
    }
    if (error == MXP_OK) {
        check_accepted(&config);
    } else {
        require(error == MXP_EKEY || error == MXP_EVALUE);
        require(mxp_last_error()[0] != '\0' && strlen(mxp_last_error()) < 10000);
    }
    free(text);
    return 0;
}

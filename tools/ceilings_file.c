// SPDX-License-Identifier: Apache-2.0
// See ceilings_file.h. Numbers are written so that they read back as they were.
#include "ceilings_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

static const char heading[] = "mxprof-ceilings 1";
enum { FILE_BYTES_MAX = 1 << 16 };

static const char *const ceiling_keys[MXP__CEILINGS] = {"f32", "f64", "l1", "l2", "l3", "memory"};

// ---- writing -----------------------------------------------------------------------------------
static void put_rates(const char *which, const mxp_ceiling_rate *rates, mxp_strbuf *out)
{
    for (int i = 0; i < MXP__CEILINGS; i++) {
        if (rates[i].rate > 0) {
            mxp__strbuf_printf(out, "%s.%s %.17g %.17g %.17g\n", which, ceiling_keys[i],
                               rates[i].rate, rates[i].best, rates[i].median);
        }
    }
}

void mxp__ceilings_write(const mxp_ceilings *ceilings, mxp_strbuf *out)
{
    const mxp_machine *machine = &ceilings->machine;
    mxp__strbuf_printf(out, "%s\ncpu %s\nkernel %s\nversion %s\ncores %" PRIu32 "\n", heading,
                       machine->cpu, machine->kernel, machine->version, machine->cores);
    for (int i = 0; i < MXP__CEILING_LEVELS; i++) {
        mxp__strbuf_printf(out, "l%d_bytes %" PRIu64 "\n", i + 1, machine->cache_bytes[i]);
    }
    mxp__strbuf_printf(out, "vector_bytes %" PRIu32 "\n", ceilings->vector_bytes);
    put_rates("one", ceilings->one, out);
    put_rates("all", ceilings->all, out);
}

// ---- reading -----------------------------------------------------------------------------------
static bool take_text(char *field, size_t size, const char *value)
{
    return snprintf(field, size, "%s", value) < (int)size;
}

static bool take_number(uint64_t *number, const char *value)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return end != value && *end == '\0' && errno == 0 && value[0] != '-';
}

static bool take_cores(uint32_t *cores, const char *value)
{
    uint64_t number;
    bool taken = take_number(&number, value) && number <= UINT32_MAX;
    *cores = taken ? (uint32_t)number : 0;
    return taken;
}

static bool take_rate(mxp_ceiling_rate *rate, const char *value)
{
    char behind;
    return sscanf(value, "%lf %lf %lf%c", &rate->rate, &rate->best, &rate->median, &behind) == 3 &&
           isfinite(rate->rate) && rate->rate > 0;
}

// Whether the line is understood; what later versions add is.
static bool take_line(mxp_ceilings *ceilings, const char *key, const char *value)
{
    mxp_machine *machine = &ceilings->machine;
    if (strcmp(key, "cpu") == 0) {
        return take_text(machine->cpu, sizeof machine->cpu, value);
    }
    if (strcmp(key, "kernel") == 0) {
        return take_text(machine->kernel, sizeof machine->kernel, value);
    }
    if (strcmp(key, "version") == 0) {
        return take_text(machine->version, sizeof machine->version, value);
    }
    if (strcmp(key, "cores") == 0) {
        return take_cores(&machine->cores, value) && machine->cores > 0;
    }
    if (strcmp(key, "vector_bytes") == 0) {
        return take_cores(&ceilings->vector_bytes, value);
    }
    if (key[0] == 'l' && key[1] >= '1' && key[1] <= '3' && strcmp(key + 2, "_bytes") == 0) {
        return take_number(&machine->cache_bytes[key[1] - '1'], value);
    }
    bool is_one = strncmp(key, "one.", 4) == 0, is_all = strncmp(key, "all.", 4) == 0;
    for (int i = 0; (is_one || is_all) && i < MXP__CEILINGS; i++) {
        if (strcmp(key + 4, ceiling_keys[i]) == 0) {
            return take_rate(is_one ? &ceilings->one[i] : &ceilings->all[i], value);
        }
    }
    return true;
}

static int bad_line(const char *path, unsigned line)
{
    return mxp__fail(MXP_EFORMAT,
                     "%s: line %u is none of measured ceilings ('mxprof roof --measure' "
                     "writes them)",
                     path, line);
}

int mxp__ceilings_parse(const char *text, const char *path, mxp_ceilings *ceilings)
{
    *ceilings = (mxp_ceilings){0};
    for (unsigned number = 1; *text != '\0'; number++) {
        char line[512];
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line) {
            return bad_line(path, number);
        }
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + (text[length] == '\n');
        char *value = line + strcspn(line, " ");
        if (number == 1 ? strcmp(line, heading) != 0 : *value == '\0') {
            return bad_line(path, number);
        }
        if (number > 1) {
            *value++ = '\0';
            if (!take_line(ceilings, line, value)) {
                return bad_line(path, number);
            }
        }
    }
    bool is_whole = ceilings->machine.cores > 0 && ceilings->all[MXP__CEILING_F32].rate > 0 &&
                    ceilings->all[MXP__CEILING_MEMORY].rate > 0;
    return is_whole ? MXP_OK
                    : mxp__fail(MXP_EFORMAT,
                                "%s: no measured ceilings, or not all of them ('mxprof roof "
                                "--measure' writes them)",
                                path);
}

int mxp__ceilings_read(const char *path, mxp_ceilings *ceilings)
{
    char text[FILE_BYTES_MAX];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return mxp__fail(MXP_EIO, "%s: %s", path, strerror(errno));
    }
    size_t length = fread(text, 1, sizeof text - 1, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed) {
        return mxp__fail(MXP_EIO, "%s: %s", path, strerror(reason));
    }
    text[length] = '\0';
    return mxp__ceilings_parse(text, path, ceilings);
}

// ---- where they are kept -----------------------------------------------------------------------
static int make_folders(const char *path)
{
    char folder[4096];
    if (snprintf(folder, sizeof folder, "%s", path) >= (int)sizeof folder) {
        return mxp__fail(MXP_EIO, "%s: the name is too long", path);
    }
    for (char *at = folder + 1; *at != '\0'; at++) {
        if (*at == '/') {
            *at = '\0';
            if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
                return mxp__fail(MXP_EIO, "%s: %s", folder, strerror(errno));
            }
            *at = '/';
        }
    }
    return MXP_OK;
}

static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

int mxp__ceilings_path(const mxp_machine *machine, bool make, mxp_strbuf *path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_cache = cache != NULL && cache[0] == '/';  // as the standard says: else it is ignored
    if (!has_cache && (home == NULL || home[0] == '\0')) {
        return mxp__fail(MXP_ENOTSUP, "there is no place to keep ceilings: neither XDG_CACHE_HOME "
                                      "nor HOME is set; --ceilings FILE tells one");
    }
    uint64_t hash = hash_of(UINT64_C(0xcbf29ce484222325), machine->cpu);
    hash = hash_of(hash_of(hash, machine->kernel), machine->version);
    mxp__strbuf_printf(path, "%s%s/mxprof/ceilings-%016" PRIx64 "-%" PRIu32 ".txt",
                       has_cache ? cache : home, has_cache ? "" : "/.cache", hash, machine->cores);
    if (path->failed) {
        return mxp__fail_memory("a file's name");
    }
    return make ? make_folders(path->data) : MXP_OK;
}

bool mxp__machine_of_trace(const mxp_source *source, mxp_machine *machine)
{
    *machine = (mxp_machine){0};
    const char *cpu = mxp__source_info(source, "machine.cpu");
    const char *kernel = mxp__source_info(source, "machine.kernel");
    const char *cores = mxp__source_info(source, "machine.cores");
    const char *version = mxp__source_info(source, "mxprof_version");
    if (cpu == NULL || kernel == NULL || cores == NULL || version == NULL) {
        return false;
    }
    return take_text(machine->cpu, sizeof machine->cpu, cpu) &&
           take_text(machine->kernel, sizeof machine->kernel, kernel) &&
           take_text(machine->version, sizeof machine->version, version) &&
           take_cores(&machine->cores, cores);
}

// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: once with no input, then once with every file of the
// directories (or with every file) named on the command line. Each input lies in a block of exactly
// its size, so that a sanitizer sees a read beyond it.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1);
    int result = -1;
    if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        goto out;
    }
    // Said before and not after, so that a crash names its input.
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    replayed++;
    result = 0;
out:
    free(data);
    if (file != NULL) {
        fclose(file);
    }
    return result;
}

static int replay_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        perror(path);
        return -1;
    }
    if (!S_ISDIR(status.st_mode)) {
        return replay_file(path, (size_t)status.st_size);
    }
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        perror(path);
        return -1;
    }
    int result = 0;
    for (int i = 0; i < count; i++) {
        char inner[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
            result |= replay_path(inner);
        }
        free(entries[i]);
    }
    free(entries);
    return result;
}

int main(int argc, char **argv)
{
    const uint8_t nothing = 0;
    LLVMFuzzerTestOneInput(&nothing, 0);
    int result = 0;
    for (int i = 1; i < argc; i++) {
        result |= replay_path(argv[i]);
    }
    printf("replayed %u inputs\n", replayed);
    return result == 0 ? 0 : 1;
}

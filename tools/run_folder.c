// SPDX-License-Identifier: Apache-2.0
// The folder of a run.
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "run_job.h"

static int name_folder(mxp_run_folder *folder, const char *output, const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *job = mxp__job_join() ? getenv("MXPROF_RUN_JOB") : NULL;  // one folder for all
    time_t now = time(NULL);
    struct tm local;
    char moment[32];
    localtime_r(&now, &local);
    strftime(moment, sizeof moment, "%Y%m%d-%H%M%S", &local);
    const int length =
        output != NULL ? snprintf(folder->name, sizeof folder->name, "%s", output)
                       : snprintf(folder->name, sizeof folder->name, "mxprof-%s-%s",
                                  slash != NULL ? slash + 1 : program, job != NULL ? job : moment);
    for (int i = length - 1; i > 0 && i < (int)sizeof folder->name && folder->name[i] == '/'; i--) {
        folder->name[i] = '\0';
    }
    return length < (int)sizeof folder->name ? MXP_OK
                                             : mxp__fail(MXP_EIO, "cannot make the folder '%s': %s",
                                                         folder->name, strerror(ENAMETOOLONG));
}

static bool has_files(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        found = found || (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0);
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return found;
}

// Makes the folders that it lies in. What cannot be made is told by the folder's own mkdir.
static void make_parents(mxp_run_folder *folder)
{
    char path[sizeof folder->name];
    memcpy(path, folder->name, sizeof path);
    folder->kept_bytes = 0;
    bool made = false;
    for (char *at = path[0] != '\0' ? strchr(path + 1, '/') : NULL; at != NULL;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        made = mkdir(path, 0777) == 0 || made;
        *at = '/';
        folder->kept_bytes = made ? folder->kept_bytes : (size_t)(at - path);
    }
}

// A folder that no other run has, of two in one second either: the later one's name has a number
// behind it.
static bool make_own(mxp_run_folder *folder)
{
    enum { SAME_SECOND_MAX = 10000 };
    const size_t length = strlen(folder->name);
    for (int i = 2; mkdir(folder->name, 0777) != 0; i++) {
        if (errno != EEXIST || i > SAME_SECOND_MAX) {
            return false;
        }
        snprintf(folder->name + length, sizeof folder->name - length, "-%d", i);
    }
    return true;
}

int mxp__run_folder_make(mxp_run_folder *folder, const char *output, const char *program,
                         bool force)
{
    struct stat status;
    const int error = name_folder(folder, output, program);
    if (error != MXP_OK) {
        return error;
    }
    make_parents(folder);
    const bool is_own = output == NULL && !mxp__job_join();
    const bool made = is_own ? make_own(folder) : mkdir(folder->name, 0777) == 0;
    if (!made && errno != EEXIST) {
        const int why = errno;
        mxp__run_folder_tidy(folder);
        return mxp__fail(MXP_EIO, "cannot make the folder '%s': %s", folder->name, strerror(why));
    }
    folder->kept_bytes = made ? folder->kept_bytes : strlen(folder->name);
    if (!made && stat(folder->name, &status) == 0 && !S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO,
                         "'%s' is a file: --output names a folder, which gets one for each process",
                         folder->name);
    }
    if (!force && has_files(folder->name)) {
        return mxp__fail(MXP_EIO,
                         "the folder '%s' has files already: name another one by "
                         "--output, or add to it by --force",
                         folder->name);
    }
    if (realpath(folder->name, folder->whole) == NULL || access(folder->whole, W_OK | X_OK) != 0) {
        return mxp__fail(MXP_EIO, "cannot write into the folder '%s': %s", folder->name,
                         strerror(errno));
    }
    return MXP_OK;
}

void mxp__run_folder_tidy(const mxp_run_folder *folder)
{
    char path[sizeof folder->name];
    memcpy(path, folder->name, sizeof path);
    for (size_t length = strlen(path); length > folder->kept_bytes && length > 0;) {
        (void)rmdir(path);  // one with files stays, and with it those it lies in
        const char *slash = strrchr(path, '/');
        length = slash != NULL ? (size_t)(slash - path) : 0;
        path[length] = '\0';
    }
}

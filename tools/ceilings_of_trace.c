// SPDX-License-Identifier: Apache-2.0
// See ceilings_of_trace.h.
#include "ceilings_of_trace.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

static int check_machine(const mxp_source *source, const mxp_ceilings *ceilings, mxp_strbuf *why)
{
    mxp_machine of;
    if (!mxp__machine_of_trace(source, &of) ||
        (strcmp(of.cpu, ceilings->machine.cpu) == 0 && of.cores == ceilings->machine.cores)) {
        return MXP_OK;
    }
    mxp__strbuf_printf(
        why, "the ceilings are of %s with %" PRIu32 " cores, and the trace is of %s with %" PRIu32,
        ceilings->machine.cpu, ceilings->machine.cores, of.cpu, of.cores);
    return 1;
}

static int no_ceilings(const mxp_machine *of, mxp_strbuf *why)
{
    mxp_machine here;
    mxp__machine_here(&here);
    mxp__strbuf_printf(
        why,
        "there are no ceilings of the machine of this trace (%s, %" PRIu32
        " cores, kernel %s, mxprof %s): %s",
        of->cpu, of->cores, of->kernel, of->version,
        mxp__machine_is(&here, of)
            ? "'mxprof roof --measure' measures them, for it is this one"
            : "measure them there with 'mxprof roof --measure --ceilings FILE', and give "
              "'--ceilings FILE' here");
    return 1;
}

int mxp__ceilings_of_trace(const mxp_source *source, const char *file, mxp_ceilings *ceilings,
                           mxp_strbuf *why)
{
    if (file != NULL) {
        int error = mxp__ceilings_read(file, ceilings);
        return error != MXP_OK ? error : check_machine(source, ceilings, why);
    }
    mxp_machine of;
    if (!mxp__machine_of_trace(source, &of)) {
        mxp__strbuf_puts(why, "the trace does not say which machine it is of; give its ceilings "
                              "with --ceilings FILE");
        return 1;
    }
    mxp_strbuf path = {0};
    int code = mxp__ceilings_path(&of, false, &path);
    if (code == MXP_OK && access(path.data, F_OK) != 0) {
        code = no_ceilings(&of, why);
    } else if (code == MXP_OK) {
        code = mxp__ceilings_read(path.data, ceilings);
    }
    mxp__strbuf_fini(&path);
    return code;
}

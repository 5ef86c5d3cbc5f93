// SPDX-License-Identifier: Apache-2.0
// What listens is bound to one address, never to all.
#include "runtime/kvstore/own_address.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "base/fail.h"
#include "base/setting.h"

int mxn__own_address(bool one_host, uint32_t *ip)
{
    const char *wanted = mxp__setting_text("DMLC_INTERFACE");
    struct ifaddrs *all;
    *ip = htonl(INADDR_LOOPBACK);
    if (one_host) {
        return MXP_OK;
    }
    if (getifaddrs(&all) != 0) {
        return mxp__fail(MXP_EIO, "the machine's addresses cannot be read: %s", strerror(errno));
    }
    bool found = false;
    for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        if (one->ifa_addr == NULL || one->ifa_addr->sa_family != AF_INET ||
            (one->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        found = wanted != NULL ? strcmp(wanted, one->ifa_name) == 0
                               : (one->ifa_flags & IFF_LOOPBACK) == 0;
        if (found) {
            struct sockaddr_in place;
            memcpy(&place, one->ifa_addr, sizeof place);
            *ip = place.sin_addr.s_addr;
        }
    }
    freeifaddrs(all);
    if (!found && wanted != NULL) {
        return mxp__fail(MXP_EIO, "DMLC_INTERFACE=%s: no interface of that name has an address",
                         wanted);
    }
    return MXP_OK;
}

// SPDX-License-Identifier: Apache-2.0
// Folder runtime/kvstore/mpi: libmxnet_mpi.so, all that knows MPI.
//
// What it exports: a transport over the MPI under which this process was started. MPI
// is initialised here, on the communication thread, unless the program has done so.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "runtime/kvstore/mpi/transport_mpi.h"

// What the library must be that this was compiled for: names and numbers in binaries differ from
// one to the next.
#if defined(OPEN_MPI)
#define TEXT(number) #number
#define TEXT_OF(number) TEXT(number)
#define COMPILED_FOR "Open MPI v" TEXT_OF(OMPI_MAJOR_VERSION) "." TEXT_OF(OMPI_MINOR_VERSION)
#elif defined(MPICH_VERSION)
#define COMPILED_FOR "MPICH Version"
#else
#define COMPILED_FOR ""
#endif

enum { WHO_BYTES = 1200, SIGNALS = 65 };
static const uint64_t SPIN_NS = 200000, SPIN_CROWDED_NS = 20000;

int mxn_mpi_transport_open(mxn_transport **transport);  // MXN_MPI_OPEN_NAME

// ---- MPI itself --------------------------------------------------------------------------------
// Before anything else of MPI is called: it may be asked at any time.
static int check_library(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    if (strncmp(version, COMPILED_FOR, strlen(COMPILED_FOR)) != 0) {
        return mxp__fail(
            MXP_ENOTSUP,
            "libmxnet_mpi.so was compiled for %s and has found %s: build it again with "
            "that one's mpicc, or start with the mpirun of the first",
            COMPILED_FOR, version);
    }
    return MXP_OK;
}

// MPI installs handlers of its own for signals that end a program; those that were there come back.
static int initialise(void)
{
    static struct sigaction before[SIGNALS];
    bool is_kept[SIGNALS] = {false};
    int level = MPI_THREAD_SINGLE;
    for (int i = 1; i < SIGNALS; i++) {
        is_kept[i] = sigaction(i, NULL, &before[i]) == 0;
    }
    int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    for (int i = 1; i < SIGNALS; i++) {
        if (is_kept[i]) {
            (void)sigaction(i, &before[i], NULL);
        }
    }
    if (error != MPI_SUCCESS) {
        return mxn__mpi_fail("MPI_Init_thread", error);
    }
    if (level < MPI_THREAD_FUNNELED) {
        return mxp__fail(MXP_ENOTSUP, "this MPI was built without threads");
    }
    return MXP_OK;
}

static int begin_mpi(bool *finalizes)
{
    int is_there = 0, is_over = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&is_there);
    MPI_Finalized(&is_over);
    *finalizes = !is_there;
    if (is_over) {
        return mxp__fail(MXP_ESTATE, "MPI was finalized: a store over processes comes too late");
    }
    if (!is_there) {
        return initialise();
    }
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE) {
        return mxp__fail(MXP_ESTATE,
                         "the program has initialised MPI without MPI_THREAD_MULTIPLE, which the "
                         "store's thread needs (mpi4py: mpi4py.rc.thread_level = 'multiple')");
    }
    return MXP_OK;
}

static int check_tags(MPI_Comm comm, uint32_t *slots_max)
{
    int *most = NULL, is_set = 0;
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &most, &is_set);
    int64_t slots = is_set ? (int64_t)*most - MXN_WIRE_TAG_REPLY + 1 : 0;
    if (slots < 1024) {
        return mxp__fail(MXP_ENOTSUP, "tags of this MPI end at %d: the store needs them up to %d",
                         is_set ? *most : 0, MXN_WIRE_TAG_REPLY + 1023);
    }
    *slots_max = slots < MXN_WIRE_SLOTS_MAX ? (uint32_t)slots : MXN_WIRE_SLOTS_MAX;
    return MXP_OK;
}

// ---- who is there ------------------------------------------------------------------------------
static int own_role(uint32_t *roles)
{
    static const struct {
        const char *name;
        uint32_t roles;
    } known[] = {
        {"worker", MXN_ROLE_WORKER}, {"server", MXN_ROLE_OWNER}, {"scheduler", MXN_ROLE_SCHEDULER}};
    const char *role = mxp__setting_text("DMLC_ROLE");
    *roles = MXN_ROLE_WORKER | MXN_ROLE_OWNER;
    for (size_t i = 0; role != NULL && i < sizeof known / sizeof *known; i++) {
        if (strcmp(role, known[i].name) == 0) {
            *roles = known[i].roles;
            return MXP_OK;
        }
    }
    return role == NULL
               ? MXP_OK
               : mxp__fail(MXP_EVALUE,
                           "DMLC_ROLE='%s': 'worker', 'server' and 'scheduler' are valid", role);
}

static const char *role_name(const mxn_peer *peer)
{
    return (peer->roles & MXN_ROLE_WORKER) != 0  ? "worker"
           : (peer->roles & MXN_ROLE_OWNER) != 0 ? "server"
                                                 : "scheduler";
}

// "worker 0 (n7, pid 12), server 0 (n7, pid 13) ...".
static void list_peers(const mxn_transport_mpi *mpi, char text[WHO_BYTES])
{
    size_t length = 0;
    for (uint32_t i = 0; i < mpi->base.size && length < WHO_BYTES - 150; i++) {
        const mxn_peer *peer = &mpi->peers[i];
        bool works = (peer->roles & MXN_ROLE_WORKER) != 0;
        int more =
            snprintf(text + length, WHO_BYTES - length, "%s%s %u (%s, pid %u)", i == 0 ? "" : ", ",
                     role_name(peer), works ? peer->worker : peer->owner, peer->host, peer->pid);
        length += more > 0 ? (size_t)more : 0;
    }
}

static uint32_t count_role(const mxn_transport_mpi *mpi, uint32_t role)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < mpi->base.size; i++) {
        count += (mpi->peers[i].roles & role) != 0 ? 1 : 0;
    }
    return count;
}

static int check_count(const mxn_transport_mpi *mpi, const char *variable, const char *what,
                       uint32_t count)
{
    uint64_t wanted;
    char who[WHO_BYTES] = "";
    int error = mxp__setting_read(variable, count, 0, UINT32_MAX, &wanted);
    if (error == MXP_OK && wanted != count) {
        list_peers(mpi, who);
        error = mxp__fail(MXP_EVALUE, "%s=%u, and the job has %u %s%s; have: %s", variable,
                          (uint32_t)wanted, count, what, count == 1 ? "" : "s", who);
    }
    return error;
}

// All processes see the same table, and come to the same end.
static int check_roles(const mxn_transport_mpi *mpi)
{
    uint32_t workers = count_role(mpi, MXN_ROLE_WORKER), owners = count_role(mpi, MXN_ROLE_OWNER);
    char who[WHO_BYTES] = "";
    list_peers(mpi, who);
    for (uint32_t i = 1; i < mpi->base.size; i++) {
        const uint32_t both = MXN_ROLE_WORKER | MXN_ROLE_OWNER;
        if ((mpi->peers[i].roles == both) != (mpi->peers[0].roles == both)) {
            return mxp__fail(MXP_EVALUE,
                             "some processes of the job have DMLC_ROLE and some have not; have: %s",
                             who);
        }
    }
    if (workers == 0 || owners == 0) {
        return mxp__fail(MXP_EVALUE,
                         "the job has no %s: leave out DMLC_ROLE, and workers keep the values "
                         "themselves, or start with mxnet-launch; have: %s",
                         workers == 0 ? "workers" : "servers", who);
    }
    if (mpi->peers[0].roles == (MXN_ROLE_WORKER | MXN_ROLE_OWNER)) {
        return MXP_OK;
    }
    int error = check_count(mpi, "DMLC_NUM_WORKER", "worker", workers);
    return error == MXP_OK ? check_count(mpi, "DMLC_NUM_SERVER", "server", owners) : error;
}

static bool are_on_one_host(const mxn_transport_mpi *mpi)
{
    for (uint32_t i = 1; i < mpi->base.size; i++) {
        if (strcmp(mpi->peers[i].boot_id, mpi->peers[0].boot_id) != 0) {
            return false;
        }
    }
    return true;
}

// ---- opening -----------------------------------------------------------------------------------
static int share(const mxn_transport_mpi *mpi, const void *own, void *all, size_t bytes)
{
    int error = MPI_Allgather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, mpi->comm);
    return error == MPI_SUCCESS ? MXP_OK : mxn__mpi_fail("processes do not hear each other", error);
}

// A process that cannot go on still says what it is: all wait for it.
static int meet(mxn_transport_mpi *mpi)
{
    mxn_peer own;
    mxn__peer_self(&own);
    int role_error = own_role(&own.roles);
    int error = share(mpi, &own, mpi->peers, sizeof own);
    if (role_error != MXP_OK || error != MXP_OK) {
        return role_error != MXP_OK ? role_error : error;
    }
    mxn__peers_rank(mpi->peers, mpi->base.size);
    return check_roles(mpi);
}

// Who sleeps, in memory of the machine's processes. Without it bells ring by the time alone.
static void share_sleepers(mxn_transport_mpi *mpi)
{
    MPI_Group machine, all;
    int count = 0;
    void *own = NULL;
    MPI_Comm_set_errhandler(mpi->machine, MPI_ERRORS_RETURN);
    MPI_Comm_size(mpi->machine, &count);
    if (MPI_Win_allocate_shared(sizeof(mxn_bell_sleeper), 1, MPI_INFO_NULL, mpi->machine, &own,
                                &mpi->window) != MPI_SUCCESS) {
        mpi->window = MPI_WIN_NULL;
        return;
    }
    mpi->bell.own = own;
    mxp_atomic_store(&mpi->bell.own->sleeps, 0);
    MPI_Comm_group(mpi->machine, &machine);
    MPI_Comm_group(mpi->comm, &all);
    for (int i = 0; i < count; i++) {
        int peer = MPI_UNDEFINED, unit = 0;
        MPI_Aint bytes = 0;
        void *place = NULL;
        MPI_Group_translate_ranks(machine, 1, &i, all, &peer);
        if (peer != MPI_UNDEFINED &&
            MPI_Win_shared_query(mpi->window, i, &bytes, &unit, &place) == MPI_SUCCESS) {
            mpi->bell.sleepers[peer] = place;
        }
    }
    MPI_Group_free(&machine);
    MPI_Group_free(&all);
    MPI_Barrier(mpi->machine);
}

static int hang_bells(mxn_transport_mpi *mpi)
{
    mxn_bell_address own;
    int error = mxn__doorbell_open(&mpi->bell, are_on_one_host(mpi), mpi->base.size, &own);
    if (error != MXP_OK) {
        return error;
    }
    error = share(mpi, &own, mpi->bell.addresses, sizeof own);
    if (error == MXP_OK) {
        share_sleepers(mpi);
    }
    return error;
}

static int open_on(mxn_transport_mpi *mpi)
{
    int rank = 0, size = 0;
    int error = MPI_Comm_dup(MPI_COMM_WORLD, &mpi->comm);
    if (error != MPI_SUCCESS) {
        return mxn__mpi_fail("no communicator", error);
    }
    MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(mpi->comm, &rank);
    MPI_Comm_size(mpi->comm, &size);
    error = MPI_Comm_split_type(mpi->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &mpi->machine);
    if (error != MPI_SUCCESS) {
        return mxn__mpi_fail("no communicator", error);
    }
    mpi->base.rank = (uint32_t)rank;
    mpi->base.size = (uint32_t)size;
    mpi->peers = mxp__alloc((size_t)size * sizeof *mpi->peers);
    mpi->base.peers = mpi->peers;
    mpi->letters = mxp__alloc(MXN_MPI_POSTED * sizeof *mpi->letters);
    if (mpi->peers == NULL || mpi->letters == NULL) {
        return mxp__fail_memory("a store over processes");
    }
    error = check_tags(mpi->comm, &mpi->base.slots_max);
    if (error == MXP_OK) {
        error = meet(mpi);
    }
    if (error == MXP_OK) {
        error = hang_bells(mpi);
    }
    if (error == MXP_OK) {
        mpi->spin_ns = mxn__peers_crowd(&mpi->base) ? SPIN_CROWDED_NS : SPIN_NS;
        mpi->base.wakes_for_messages = mpi->bell.bell_fd >= 0;  // or a good deal later
        error = mxn__transport_mpi_begin(mpi);
    }
    return error;
}

int mxn_mpi_transport_open(mxn_transport **transport)
{
    mxn_transport_mpi *made;
    bool finalizes = false;
    *transport = NULL;
    int error = check_library();
    if (error == MXP_OK) {
        error = begin_mpi(&finalizes);
    }
    if (error != MXP_OK) {
        return error;
    }
    made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a store over processes");
    }
    *made = (mxn_transport_mpi){
        .base = {.ops = &mxn__transport_mpi_ops}, .finalizes = finalizes, .window = MPI_WIN_NULL};
    made->bell.bell_fd = made->bell.wake_fd = -1;
    error = open_on(made);
    if (error != MXP_OK) {
        made->base.ops->close(&made->base, true);
        return error;
    }
    *transport = &made->base;
    return MXP_OK;
}

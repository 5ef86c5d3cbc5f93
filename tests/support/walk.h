// SPDX-License-Identifier: Apache-2.0
// A walk through MXNet's C functions: each is called with good arguments and with bad ones. A test
// has a row for each call and says at its end which header it has walked through; a function that
// the header declares and that has no row of both kinds fails the test.
#ifndef WALK_H
#define WALK_H

#include <mxnet/c_types.h>

// A call that must succeed, after which `condition` holds. `arguments` has its parentheses.
#define GOOD(function, arguments, condition)                               \
    do {                                                                   \
        const int walk_status = function arguments;                        \
        walk_good(#function, #arguments, walk_status, __LINE__);           \
        walk_holds(#function #arguments, #condition, condition, __LINE__); \
    } while (0)

// A call that must return -1 and say why.
#define BAD(function, arguments)                                \
    do {                                                        \
        walk_forget();                                          \
        const int walk_status = function arguments;             \
        walk_bad(#function, #arguments, walk_status, __LINE__); \
    } while (0)

// BAD with a handle that the arguments call `bad`.
#define BAD_HANDLE(number, function, freed, arguments) \
    do {                                               \
        void *bad = walk_handle(number, freed);        \
        BAD(function, arguments);                      \
    } while (0)

// BAD without a handle and with `freed`, one that was freed.
#define BAD_FREED(function, freed, arguments)               \
    do {                                                    \
        BAD_HANDLE(WALK_NULL, function, freed, arguments);  \
        BAD_HANDLE(WALK_FREED, function, freed, arguments); \
    } while (0)

// The same, and with what was never a handle.
#define BAD_HANDLES(function, freed, arguments)               \
    do {                                                      \
        BAD_FREED(function, freed, arguments);                \
        BAD_HANDLE(WALK_ODD, function, freed, arguments);     \
        BAD_HANDLE(WALK_FOREIGN, function, freed, arguments); \
    } while (0)

// BAD of arguments that are good, but there is nothing that could be found or done.
#define ONLY_BAD(function, arguments)                  \
    do {                                               \
        BAD(function, arguments);                      \
        walk_good(#function, #arguments, 0, __LINE__); \
    } while (0)

// A function that has no bad arguments.
#define NEVER_FAILS(function) walk_never_fails(#function, function != NULL)

// The calls of BAD are all there are: what would make them good is not on this machine.
#define NEVER_SUCCEEDS(function) walk_never_succeeds(#function, function != NULL)

// No handle, a freed one, an odd address, memory of the program.
enum { WALK_NULL, WALK_FREED, WALK_ODD, WALK_FOREIGN, WALK_HANDLES };

void walk_forget(void);  // the last error is now one of the walk's own
void walk_good(const char *function, const char *arguments, int status, int line);
void walk_bad(const char *function, const char *arguments, int status, int line);
void walk_holds(const char *call, const char *condition, bool holds, int line);
void walk_never_fails(const char *function, bool exists);
void walk_never_succeeds(const char *function, bool exists);
void *walk_handle(int number, void *freed);

// Fails the test if the header ("mxnet/c_api.h" or a path below src/) declares a function that has
// not been called both ways.
void walk_complete(const char *header);

// Fails the test if a name of src/runtime/libmxnet.map is declared in no header that a test of the
// folder tests/unit/runtime/capi walks through.
void walk_map_is_walked(void);

#endif

# SPDX-License-Identifier: Apache-2.0
# Debian's musl-gcc, which has no headers of the kernel: those of the system, which name no libc, by links
# that scripts/setup cross makes. There is no library for musl, so neither compression nor cmocka.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_HOST_SYSTEM_PROCESSOR})
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_C_FLAGS_INIT "-isystem ${CMAKE_CURRENT_LIST_DIR}/../../build/musl-headers")
set(CMAKE_FIND_ROOT_PATH /usr/lib/musl)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

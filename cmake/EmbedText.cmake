# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=file -DTO=file.c -DNAME=name -P EmbedText.cmake: a text as a terminated array of C.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x[0-9a-f][0-9a-f],){16})" "    \\1\n" bytes "${bytes}")
file(WRITE ${TO} "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")

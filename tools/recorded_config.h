// SPDX-License-Identifier: Apache-2.0
// The configuration that a program recorded with, as its trace tells it: the line `config` of INFO,
// "classes=31 store=0 ...", in which numbers stand for words.
#ifndef MXP_TOOLS_RECORDED_CONFIG_H
#define MXP_TOOLS_RECORDED_CONFIG_H

#include "text/json_writer.h"

// With the words in the numbers' places. What is not known stays as it is.
void mxp__recorded_config_put(const char *config, mxp_strbuf *out);
// As a member "config": an object with a text or a number a key.
void mxp__recorded_config_json(mxp_json *json, const char *config);

#endif

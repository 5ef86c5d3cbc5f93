// SPDX-License-Identifier: Apache-2.0
// Rules that only a programmer can break, broken on purpose in a child: a debug build ends there at
// once and names the rule.
#ifndef MXP_TEST_BROKEN_RULE_H
#define MXP_TEST_BROKEN_RULE_H

// Fails unless `breaks` ends its process by an abort that says `rule`.
void expect_abort(void (*breaks)(void), const char *rule);

#endif

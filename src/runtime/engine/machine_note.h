// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/engine: what the machine has, for outputs of the profiler.
#ifndef MXN_ENGINE_MACHINE_NOTE_H
#define MXN_ENGINE_MACHINE_NOTE_H

// Notes machine.l1, .l2 and .l3, machine.memory and machine.cgroup_cpu. Reads some thirty files of
// the system's, which takes a tenth of a millisecond.
void mxn__machine_note(void);

#endif

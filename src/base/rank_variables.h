// SPDX-License-Identifier: Apache-2.0
// The variables by which starters number the processes of a job.
#ifndef MXP_BASE_RANK_VARIABLES_H
#define MXP_BASE_RANK_VARIABLES_H

#define MXP__RANK_VARIABLES "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"

#endif

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

namespace linnet::command {

/// Meets the other processes of the job that this one was started in: by MPI under mpirun and srun,
/// else by Gloo where torchrun's variables are set (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
/// MASTER_PORT), as `linnet launch` sets them. Returns a handle of this process alone otherwise.
/// deadline: RanksOptions::deadline_seconds; reduce: RanksOptions::reduce. Throws as Ranks::open(),
/// and Error for variables that are not numbers.
Ranks ranks_of_environment(double deadline, RankReduce reduce);

/// Returns whether this process was started as one of such a job, if only of one.
bool in_a_job();

}  // namespace linnet::command

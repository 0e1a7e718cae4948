// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for NVIDIA's header of this name: a CUDA machine simulated on the CPU, so that the backend
// and its kernels are tested without a GPU. It holds what Linnet uses, with CUDA 13.0's signatures.
#ifndef LINNET_CUDA_SIM
#define LINNET_CUDA_SIM 1
#endif

#include "cuda_sim/device_functions.h"
#include "cuda_sim/runtime_api.h"
#include "cuda_sim/sim.h"
#include "cuda_sim/types.h"

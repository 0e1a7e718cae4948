// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stands for NVIDIA's header of this name: a CUDA machine simulated on the CPU, so that the backend
// and its kernels are tested without a GPU. It holds what Linnet uses, with CUDA 13.0's signatures.
#ifndef LINNET_CUDA_SIM
#define LINNET_CUDA_SIM 1
#endif

#include "backend/cuda/sim/device_functions.h"
#include "backend/cuda/sim/runtime_api.h"
#include "backend/cuda/sim/sim.h"
#include "backend/cuda/sim/types.h"

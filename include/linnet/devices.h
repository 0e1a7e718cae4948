// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace linnet {
class ThreadTeam;
}

LINNET_API_BEGIN
namespace linnet {

/// Starts a team of threads for models to compute on (ModelOptions::team). `threads` counts the
/// calling thread; 0: as many as processors that the process may use. The threads end with the last
/// model that holds the team. Throws Error if the system refuses to start that many.
std::shared_ptr<ThreadTeam> make_thread_team(int threads = 0);

/// Says in which precision matrix products and convolutions are computed. Weights, moments, sums,
/// normalisation and losses are fp32 in all of them.
enum class Precision : std::uint8_t {
  automatic,  ///< fp32 on the CPU; on CUDA PyTorch's defaults: tf32 convolutions, fp32 products
  fp32,       ///< strict fp32: no tensor cores
  tf32,       ///< fp32 in memory, tensor cores with 10-bit mantissas; on the CPU the same as fp32
  bf16,       ///< operands rounded to bfloat16, sums in fp32
  /// On CUDA alone: operands rounded to IEEE's 16-bit type, sums in fp32. Training multiplies the
  /// loss by a scale, which follows from what overflows.
  fp16,
  /// On the CPU alone: weights, values and sums in double precision, for networks of dense layers
  /// and expressions. Predictions are f64; inputs and targets may be.
  fp64,
};

/// Returns how this CPU multiplies at Precision::bf16: "AMX" or "AVX512_BF16" where the processor
/// has such instructions and oneDNN uses them, else "operands rounded, fp32 arithmetic". All follow
/// the same definition; the order of sums may differ.
std::string cpu_bf16();

/// Says how the CPU chooses among its engines for convolutions and dense layers. CUDA ignores it.
struct CpuOptions {
  /// Takes the fastest engine on this machine, measured unless a cache holds the result (about 50
  /// ms a shape). false: a fixed rule chooses. Engines add in different orders, so the choice is
  /// part of a result's bits; the number of threads does not affect the choice.
  bool tune = false;
  /// Folder for measured choices ("cpu-tuning.json"); empty: they are not kept.
  std::string cache_folder = {};
  /// Choices of an earlier run (Model::engine_choices()), which are used without a measurement.
  std::map<std::string, std::string> choices = {};
};

/// Says how a CUDA device is used. The CPU ignores it.
struct CudaOptions {
  /// Steps that one launch runs: 0 launches every kernel separately, N replays a graph of N
  /// captured steps, kWholeEpoch runs one graph that loops on the device.
  std::int64_t graph_steps = kWholeEpoch;
  /// Value of graph_steps for whole epochs in one launch.
  static constexpr std::int64_t kWholeEpoch = -1;
  /// Throws Error if the device cannot run graph_steps as set. false: uses the next slower way,
  /// with a note in History::notes.
  bool graph_required = false;
  /// Computes convolutions by cuDNN's graphs. false, for diagnosis: by Linnet's own kernels.
  bool cudnn = true;
  /// Leaves out algorithms of cuDNN and cuBLASLt that add in an order that differs from run to run.
  /// false: they are candidates, and the fastest is taken; a training's bits then differ between
  /// runs.
  bool deterministic = true;
  /// Folder for measured choices of algorithms; empty: they are not kept.
  std::string cache_folder = {};
  /// Path of the CUDA plug-in; empty: liblinnet_cuda.so in the folder of liblinnet.so.
  std::string library = {};
};

/// Describes one NVIDIA GPU.
struct CudaDevice {
  int index = 0;                 ///< number for ModelOptions::device "cuda:INDEX"
  std::string name;              ///< product name
  std::string uuid;              ///< "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", for "cuda:UUID"
  int compute_capability = 0;    ///< 10 * major + minor
  int multiprocessors = 0;       ///< number of streaming multiprocessors
  std::size_t memory_bytes = 0;  ///< all of its memory
};

/// Says whether CUDA can be used on this machine.
struct CudaStatus {
  std::string unusable;                ///< why it cannot be used, in one sentence; empty: it can
  std::vector<std::string> libraries;  ///< libraries found, e.g. "driver 13.0", "cuDNN 9.19"
  std::vector<CudaDevice> devices;     ///< the GPUs, in CUDA's order
};

/// Looks for the plug-in, the driver and the devices, and returns them. It reports what is missing
/// in the result and does not throw. `library` is CudaOptions::library.
CudaStatus cuda_status(const std::string& library = {});

}  // namespace linnet
LINNET_API_END

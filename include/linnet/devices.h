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

/// Starts threads for models to compute on (ModelOptions::team), the calling thread counted; 0: as
/// many as processors that the process may use. They end with the last model that has them. Throws
/// Error where the system refuses to start that many.
std::shared_ptr<ThreadTeam> make_thread_team(int threads = 0);

/// How matrix products and convolutions are computed. Weights, moments, sums, normalisation and
/// losses are fp32 in all of them.
enum class Precision : std::uint8_t {
  automatic,  ///< fp32; on CUDA as PyTorch's defaults: convolutions in tf32, products in fp32
  fp32,       ///< strict: no tensor cores
  tf32,       ///< fp32 in memory, tensor cores with 10-bit mantissas; on the CPU the same as fp32
  bf16,       ///< operands rounded to bfloat16, sums in fp32
};

/// How the CPU multiplies at Precision::bf16: "AMX" or "AVX512_BF16" where the processor has such
/// arithmetic and oneDNN uses it, else "operands rounded, fp32 arithmetic". The same definition;
/// sums may be added in another order.
std::string cpu_bf16();

/// How the CPU chooses among its engines for convolutions and dense layers. CUDA ignores all of it.
struct CpuOptions {
  /// Takes the engine that is fastest on this machine, which is measured where no cache knows it
  /// yet (some 50 ms a shape); else a fixed rule decides. Engines add up in different orders, so
  /// the choice is part of a result's bits; the number of threads is no part of the choice.
  bool tune = false;
  /// Folder of measured choices ("cpu-tuning.json"); empty: nowhere.
  std::string cache_folder = {};
  /// What an earlier run chose (Model::engine_choices): kept to, whatever is faster now.
  std::map<std::string, std::string> choices = {};
};

/// How a CUDA device is used. The CPU ignores all of it.
struct CudaOptions {
  /// Steps that one launch runs: 0 launches every kernel by itself, N replays a graph of N captured
  /// steps, kWholeEpoch one graph that loops on the device.
  std::int64_t graph_steps = kWholeEpoch;
  static constexpr std::int64_t kWholeEpoch = -1;
  /// Where the device can't do as graph_steps says: an error, or a note and the next slower way.
  bool graph_required = false;
  /// Convolutions by cuDNN's graphs, or (for diagnosis) by Linnet's own kernels.
  bool cudnn = true;
  /// Where measured choices of algorithms are kept; empty: nowhere.
  std::string cache_folder = {};
  /// The CUDA plug-in; empty: liblinnet_cuda.so beside liblinnet.so.
  std::string library = {};
};

struct CudaDevice {
  int index = 0;  ///< "cuda:<index>" chooses it, as does "cuda:<uuid>"
  std::string name;
  std::string uuid;            ///< "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
  int compute_capability = 0;  ///< 10 * major + minor
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

/// What CUDA can do here.
struct CudaStatus {
  std::string unusable;                ///< why not, in one sentence; empty if it can be used
  std::vector<std::string> libraries;  ///< "driver 13.0", "cuDNN 9.19", as far as they are there
  std::vector<CudaDevice> devices;
};

/// Looks for the plug-in, the driver and the devices; never throws for what is missing. `library`:
/// see CudaOptions.
CudaStatus cuda_status(const std::string& library = {});

}  // namespace linnet
LINNET_API_END

// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/own_cuda.h"
#include "ops/batch_norm/tiles_cuda.cuh"

namespace linnet::cuda {
namespace {

/// Up to here one launch does everything: its blocks find their rows in the cache again.
constexpr std::int64_t kRowsOfOneLaunch = 1024;
constexpr std::int64_t kBlocksOfSums = 1024;
constexpr std::int64_t kBlocksOfMaps = 8192;
constexpr unsigned kMergers = 1024;  ///< threads of a block that adds the sums of the chunks

NormTiles tiles_of_sums(const Shape& x, std::int64_t rows) {
  return norm_tiles(rows, x[-1], 4, rows <= kRowsOfOneLaunch ? 1 : kBlocksOfSums);
}
NormTiles tiles_of_map(const Shape& x, std::int64_t rows) {
  return norm_tiles(rows, x[-1], 8, kBlocksOfMaps);
}
std::int64_t rows_of(const Shape& x) { return x[-1] > 0 ? x.elements() / x[-1] : 0; }

/// Describes where two numbers of each channel lie by chunks of rows: first[chunk * stride +
/// channel].
struct Partials {
  float* first = nullptr;
  float* second = nullptr;
  std::int64_t stride = 0;
};

Partials partials(const Args& args, const NormTiles& t) {
  return {args.work(), args.work() + t.chunks * t.channels, t.channels};
}
std::size_t partial_bytes(const NormTiles& t) {
  return t.chunks == 1 ? 0 : 2 * sizeof(float) * t.chunks * static_cast<std::size_t>(t.channels);
}

LaunchShape merge_shape(const NormTiles& t) {
  return {.grid = static_cast<unsigned>((t.channels + kWarp - 1) / kWarp), .block = kMergers};
}

// Forward.

struct Norm {
  const float* x = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  const float* residual = nullptr;  ///< may be null; y may lie upon it
  float* running_mean = nullptr;
  float* running_var = nullptr;
  float* y = nullptr;
  float* mean = nullptr;
  float* inv_std = nullptr;
  float epsilon = 0;
  float momentum = 0;
  bool relu = false;
  bool aligned = false;
};

__device__ float inverse_deviation(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

/// Writes what becomes of a channel's mean and sum of squared distances from it over `rows`.
__device__ void write_statistics(const Norm& n, std::int64_t channel, std::int64_t rows, float mean,
                                 float squares) {
  const auto count = static_cast<float>(rows > 0 ? rows : 1);
  if (squares < 0) squares = 0;
  n.mean[channel] = mean;
  n.inv_std[channel] = inverse_deviation(squares / count, n.epsilon);
  if (rows == 0) return;
  float& running_mean = n.running_mean[channel];
  float& running_var = n.running_var[channel];
  const float unbiased = squares / (count > 1 ? count - 1 : 1.0F);
  running_mean = (1 - n.momentum) * running_mean + n.momentum * mean;
  running_var = (1 - n.momentum) * running_var + n.momentum * unbiased;
}

template <int kVector>
__device__ void normalize_cell(const Norm& n, const NormTiles& t, const NormCell<kVector>& cell,
                               const FloatVector<kVector>& mean,
                               const FloatVector<kVector>& inv_std) {
  if (!cell.inside) return;
  FloatVector<kVector> factor = load_vector<kVector>(n.gamma + cell.channel, n.aligned);
  const auto beta = load_vector<kVector>(n.beta + cell.channel, n.aligned);
  for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const std::int64_t at = r * t.channels + cell.channel;
    const auto x = load_vector<kVector>(n.x + at, n.aligned);
    FloatVector<kVector> added{};
    if (n.residual != nullptr) added = load_vector<kVector>(n.residual + at, n.aligned);
    FloatVector<kVector> y;
    for (int v = 0; v < kVector; ++v) {
      y[v] = (x[v] - mean[v]) * factor[v] + beta[v] + added[v];
      if (n.relu && y[v] < 0) y[v] = 0;  // keeps NaN
    }
    store_vector(n.y + at, y, n.aligned);
  }
}

/// Mean and squared distances from it of the block's rows. Sums are taken about the first of
/// these rows, so they don't cancel however far the mean is from 0.
template <int kVector>
__device__ void moments_of_block(const Norm& n, const NormTiles& t, const NormCell<kVector>& cell,
                                 FloatVector<kVector>& mean, FloatVector<kVector>& squares) {
  FloatVector<kVector> about{};
  FloatVector<kVector> sum{};
  squares = {};
  if (cell.inside && cell.begin < cell.end) {
    about = load_vector<kVector>(n.x + cell.begin * t.channels + cell.channel, n.aligned);
  }
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const auto x = load_vector<kVector>(n.x + r * t.channels + cell.channel, n.aligned);
    for (int v = 0; v < kVector; ++v) {
      const float d = x[v] - about[v];
      sum[v] += d;
      squares[v] += d * d;
    }
  }
  add_over_rows<kVector, kBlock / kWarp>(t.lanes, sum, squares);
  const auto count = static_cast<float>(cell.end > cell.begin ? cell.end - cell.begin : 1);
  for (int v = 0; v < kVector; ++v) {
    mean[v] = about[v] + sum[v] / count;
    squares[v] -= sum[v] * (sum[v] / count);
  }
}

/// The whole training forward of few rows.
template <int kVector>
__global__ void norm_in_one_launch(Norm n, NormTiles t) {
  const NormCell<kVector> cell(t);
  FloatVector<kVector> mean;
  FloatVector<kVector> inv_std;
  moments_of_block<kVector>(n, t, cell, mean, inv_std);
  const auto count = static_cast<float>(t.rows > 0 ? t.rows : 1);
  for (int v = 0; v < kVector; ++v) {
    if (cell.leads(t)) write_statistics(n, cell.channel + v, t.rows, mean[v], inv_std[v]);
    if (inv_std[v] < 0) inv_std[v] = 0;
    inv_std[v] = inverse_deviation(inv_std[v] / count, n.epsilon);
  }
  normalize_cell<kVector>(n, t, cell, mean, inv_std);
}

template <int kVector>
__global__ void norm_moments(Norm n, NormTiles t, Partials p) {
  const NormCell<kVector> cell(t);
  FloatVector<kVector> mean;
  FloatVector<kVector> squares;
  moments_of_block<kVector>(n, t, cell, mean, squares);
  if (!cell.leads(t)) return;
  const std::int64_t at = blockIdx.y * p.stride + cell.channel;
  store_vector(p.first + at, mean, n.aligned);
  store_vector(p.second + at, squares, n.aligned);
}

/// Joins the moments of the chunks (Chan et al., 1983): a warp's lanes take neighbouring channels,
/// its warps every 32nd chunk.
__global__ void __launch_bounds__(kMergers) merge_moments(Norm n, NormTiles t, Partials p) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x % kWarp;
  const bool inside = channel < t.channels;
  const float about = inside ? p.first[channel] : 0;
  FloatVector<1> sum{};
  FloatVector<1> squares{};
  for (unsigned j = threadIdx.x / kWarp; inside && j < t.chunks; j += blockDim.x / kWarp) {
    const std::int64_t chunk_rows = t.rows * (j + 1) / t.chunks - t.rows * j / t.chunks;
    const auto count = static_cast<float>(chunk_rows);
    const float d = p.first[j * p.stride + channel] - about;
    sum[0] += count * d;
    squares[0] += p.second[j * p.stride + channel] + count * d * d;
  }
  add_over_rows<1, kMergers / kWarp>(kWarp, sum, squares);
  if (!inside || threadIdx.x >= kWarp) return;
  const float shift = sum[0] / static_cast<float>(t.rows);
  write_statistics(n, channel, t.rows, about + shift, squares[0] - sum[0] * shift);
}

/// y from given statistics; `variances`: n.inv_std holds variances (inference).
template <int kVector>
__global__ void normalize_kernel(Norm n, NormTiles t, bool variances) {
  const NormCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto mean = load_vector<kVector>(n.mean + cell.channel, n.aligned);
  auto inv_std = load_vector<kVector>(n.inv_std + cell.channel, n.aligned);
  for (int v = 0; variances && v < kVector; ++v) {
    inv_std[v] = inverse_deviation(inv_std[v], n.epsilon);
  }
  normalize_cell<kVector>(n, t, cell, mean, inv_std);
}

Norm norm_of(const Args& args, const BatchNormAttrs& attrs) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  Norm n{.x = args.in(In::x),
         .gamma = args.in(In::gamma),
         .beta = args.in(In::beta),
         .residual = attrs.residual ? args.in(In::residual) : nullptr,
         .running_mean = args.in_out(In::running_mean),
         .running_var = args.in_out(In::running_var),
         .y = args.out(Out::y),
         .epsilon = static_cast<float>(attrs.epsilon),
         .momentum = static_cast<float>(attrs.momentum),
         .relu = attrs.activation == Activation::relu};
  n.aligned = vector_aligned(n.x, n.gamma, n.beta, n.residual, n.running_mean, n.running_var, n.y);
  return n;
}

std::optional<Kernel> prepare_inference(const NodeView& node, const Context& /*context*/) {
  using In = BatchNormInferenceOp::In;
  const BatchNormAttrs attrs = node.attrs<BatchNormInferenceOp>();
  const NormTiles map = tiles_of_map(node.in(In::x), rows_of(node.in(In::x)));
  return Kernel{.enqueue = [=](const Args& args) {
    if (map.rows * map.channels == 0) return;
    Norm n = norm_of(args, attrs);
    n.mean = n.running_mean;
    n.inv_std = n.running_var;
    launch(args.stream, "batch_norm_inference", map.shape(),
           map.vector == 4 ? normalize_kernel<4> : normalize_kernel<1>, n, map, true);
  }};
}

// Backward.

struct NormGrad {
  const float* dy = nullptr;
  const float* x = nullptr;
  const float* y = nullptr;  ///< null without a ReLU
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  float* dx = nullptr;  ///< may lie upon dy, x or y; null where nobody reads it
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* dresidual = nullptr;  ///< may be null
  bool aligned = false;
};

/// dz, the gradient after the ReLU.
template <int kVector>
__device__ FloatVector<kVector> masked(const NormGrad& g, std::int64_t at) {
  FloatVector<kVector> dz = load_vector<kVector>(g.dy + at, g.aligned);
  if (g.y == nullptr) return dz;
  const auto y = load_vector<kVector>(g.y + at, g.aligned);
  for (int v = 0; v < kVector; ++v) {
    if (!(y[v] > 0)) dz[v] = 0;
  }
  return dz;
}

/// Sums of dz * x_hat and dz over the block's rows; writes the residual's gradient.
template <int kVector>
__device__ void gradient_sums_of_block(const NormGrad& g, const NormTiles& t,
                                       const NormCell<kVector>& cell, FloatVector<kVector>& dgamma,
                                       FloatVector<kVector>& dbeta) {
  FloatVector<kVector> mean{};
  FloatVector<kVector> inv_std{};
  if (cell.inside) {
    mean = load_vector<kVector>(g.mean + cell.channel, g.aligned);
    inv_std = load_vector<kVector>(g.inv_std + cell.channel, g.aligned);
  }
  dgamma = {};
  dbeta = {};
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const std::int64_t at = r * t.channels + cell.channel;
    const auto x = load_vector<kVector>(g.x + at, g.aligned);
    const auto dz = masked<kVector>(g, at);
    if (g.dresidual != nullptr) store_vector(g.dresidual + at, dz, g.aligned);
    for (int v = 0; v < kVector; ++v) {
      dgamma[v] += dz[v] * ((x[v] - mean[v]) * inv_std[v]);
      dbeta[v] += dz[v];
    }
  }
  add_over_rows<kVector, kBlock / kWarp>(t.lanes, dgamma, dbeta);
}

template <int kVector>
__device__ void write_dx(const NormGrad& g, const NormTiles& t, const NormCell<kVector>& cell,
                         const FloatVector<kVector>& dgamma, const FloatVector<kVector>& dbeta) {
  if (!cell.inside) return;
  const float part = 1.0F / static_cast<float>(t.rows);
  const auto mean = load_vector<kVector>(g.mean + cell.channel, g.aligned);
  const auto inv_std = load_vector<kVector>(g.inv_std + cell.channel, g.aligned);
  auto factor = load_vector<kVector>(g.gamma + cell.channel, g.aligned);
  for (int v = 0; v < kVector; ++v) factor[v] *= inv_std[v];
  for (std::int64_t r = cell.first; r < cell.end; r += cell.step) {
    const std::int64_t at = r * t.channels + cell.channel;
    const auto x = load_vector<kVector>(g.x + at, g.aligned);
    const auto dz = g.dresidual != nullptr ? load_vector<kVector>(g.dresidual + at, g.aligned)
                                           : masked<kVector>(g, at);
    FloatVector<kVector> dx;
    for (int v = 0; v < kVector; ++v) {
      const float normal = (x[v] - mean[v]) * inv_std[v];
      dx[v] = factor[v] * (dz[v] - part * (dbeta[v] + normal * dgamma[v]));
    }
    store_vector(g.dx + at, dx, g.aligned);
  }
}

/// Sums of each chunk of rows; where there is one chunk they are the results, and dx follows.
template <int kVector>
__global__ void norm_gradient_sums(NormGrad g, NormTiles t, Partials p) {
  const NormCell<kVector> cell(t);
  FloatVector<kVector> dgamma;
  FloatVector<kVector> dbeta;
  gradient_sums_of_block<kVector>(g, t, cell, dgamma, dbeta);
  if (cell.leads(t)) {
    const std::int64_t at = blockIdx.y * p.stride + cell.channel;
    store_vector(p.first + at, dgamma, g.aligned);
    store_vector(p.second + at, dbeta, g.aligned);
  }
  if (gridDim.y == 1 && g.dx != nullptr) write_dx<kVector>(g, t, cell, dgamma, dbeta);
}

__global__ void __launch_bounds__(kMergers)
    merge_gradient_sums(NormGrad g, NormTiles t, Partials p) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kWarp + threadIdx.x % kWarp;
  const bool inside = channel < t.channels;
  FloatVector<1> dgamma{};
  FloatVector<1> dbeta{};
  for (unsigned j = threadIdx.x / kWarp; inside && j < t.chunks; j += blockDim.x / kWarp) {
    dgamma[0] += p.first[j * p.stride + channel];
    dbeta[0] += p.second[j * p.stride + channel];
  }
  add_over_rows<1, kMergers / kWarp>(kWarp, dgamma, dbeta);
  if (!inside || threadIdx.x >= kWarp) return;
  g.dgamma[channel] = dgamma[0];
  g.dbeta[channel] = dbeta[0];
}

template <int kVector>
__global__ void norm_gradient_dx(NormGrad g, NormTiles t) {
  const NormCell<kVector> cell(t);
  if (!cell.inside) return;
  const auto dgamma = load_vector<kVector>(g.dgamma + cell.channel, g.aligned);
  const auto dbeta = load_vector<kVector>(g.dbeta + cell.channel, g.aligned);
  write_dx<kVector>(g, t, cell, dgamma, dbeta);
}

__global__ void copy_statistics(const float* mean, const float* var, float* running_mean,
                                float* running_var, std::int64_t channels) {
  for (std::int64_t c = first_item(); c < channels; c += grid_stride()) {
    running_mean[c] = mean[c];
    running_var[c] = var[c];
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  if (node.in(BatchNormOp::In::x) != node.out(BatchNormOp::Out::y)) return std::nullopt;  // wider
  return own_batch_norm(node);
}
std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const bool wide = node.in(BatchNormGradOp::In::x) != node.in(BatchNormGradOp::In::dy);
  if (wide || node.attrs<BatchNormGradOp>().from_input) return std::nullopt;
  return own_batch_norm_gradient(node);
}

}  // namespace

Kernel own_batch_norm(const NodeView& node) {
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  const std::int64_t rows = rows_of(node.in(In::x));
  const NormTiles sums = tiles_of_sums(node.in(In::x), rows);
  const NormTiles map = tiles_of_map(node.in(In::x), rows);
  const bool fours = sums.vector == 4;
  const auto enqueue = [=](const Args& args) {
    if (sums.channels == 0) return;
    Norm n = norm_of(args, attrs);
    n.mean = args.out(Out::mean);
    n.inv_std = args.out(Out::inv_std);
    n.aligned = n.aligned && vector_aligned(n.mean, n.inv_std, args.workspace);
    if (sums.chunks == 1) {
      launch(args.stream, "batch_norm", sums.shape(),
             fours ? norm_in_one_launch<4> : norm_in_one_launch<1>, n, sums);
      return;
    }
    const Partials p = partials(args, sums);
    launch(args.stream, "batch_norm moments", sums.shape(),
           fours ? norm_moments<4> : norm_moments<1>, n, sums, p);
    launch(args.stream, "batch_norm merge", merge_shape(sums), merge_moments, n, sums, p);
    launch(args.stream, "batch_norm", map.shape(),
           fours ? normalize_kernel<4> : normalize_kernel<1>, n, map, false);
  };
  return {.enqueue = enqueue, .workspace_bytes = partial_bytes(sums)};
}

Kernel own_batch_norm_gradient(const NodeView& node) {
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  const std::int64_t rows = rows_of(node.in(In::dy));
  const NormTiles sums = tiles_of_sums(node.in(In::dy), rows);
  const NormTiles map = tiles_of_map(node.in(In::dy), rows);
  const bool fours = sums.vector == 4;
  const bool dx_read = node.output_read.empty() || node.output_read[Out::dx];
  const auto enqueue = [=](const Args& args) {
    if (sums.channels == 0) return;
    NormGrad g{.dy = args.in(In::dy),
               .x = args.in(In::x),
               .y = attrs.activation == Activation::relu ? args.in(In::y) : nullptr,
               .gamma = args.in(In::gamma),
               .mean = args.in(In::mean),
               .inv_std = args.in(In::inv_std),
               .dx = dx_read ? args.out(Out::dx) : nullptr,
               .dgamma = args.out(Out::dgamma),
               .dbeta = args.out(Out::dbeta),
               .dresidual = attrs.residual ? args.out(Out::dresidual) : nullptr};
    g.aligned = vector_aligned(g.dy, g.x, g.y, g.gamma, g.mean, g.inv_std, g.dx, g.dgamma, g.dbeta,
                               g.dresidual, args.workspace);
    const bool one = sums.chunks == 1;
    const Partials p = one ? Partials{g.dgamma, g.dbeta, 0} : partials(args, sums);
    launch(args.stream, one ? "batch_norm_grad" : "batch_norm_grad sums", sums.shape(),
           fours ? norm_gradient_sums<4> : norm_gradient_sums<1>, g, sums, p);
    if (one) return;
    launch(args.stream, "batch_norm_grad merge", merge_shape(sums), merge_gradient_sums, g, sums,
           p);
    if (!dx_read) return;
    launch(args.stream, "batch_norm_grad", map.shape(),
           fours ? norm_gradient_dx<4> : norm_gradient_dx<1>, g, map);
  };
  return {.enqueue = enqueue, .workspace_bytes = partial_bytes(sums)};
}

void enqueue_running_statistics(const Args& args, const float* mean, const float* var,
                                std::int64_t channels) {
  using In = BatchNormOp::In;
  launch(args.stream, "batch_norm running", for_items(channels), copy_statistics, mean, var,
         args.in_out(In::running_mean), args.in_out(In::running_var), channels);
}

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_forward);
  registry.add(BatchNormInferenceOp::kName, prepare_inference);
  registry.add(BatchNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda

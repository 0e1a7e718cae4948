// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <cmath>

#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"

namespace linnet::cpu {
namespace {

struct Rows {
  std::int64_t rows = 0;
  std::int64_t channels = 0;
};

Rows rows_of(const Shape& x) {
  const std::int64_t channels = x[-1];
  return {channels > 0 ? x.elements() / channels : 0, channels};
}

/// Appends the stages of `part`, which has the workspace to itself while they run.
void append(Kernel& kernel, Kernel part) {
  kernel.workspace_bytes = std::max(kernel.workspace_bytes, part.workspace_bytes);
  for (Stage& stage : part.stages) kernel.stages.push_back(std::move(stage));
}

/// Sums by channel into output `output`.
template <class AddRows>
Kernel sum(const Rows& s, double cost_each, std::size_t output, AddRows add) {
  return row_sum(s.rows, s.channels, cost_each * static_cast<double>(s.channels), output, add);
}

template <class F>
Kernel by_rows(const Rows& s, double cost_each, F f) {
  return element_wise(s.rows, cost_each * static_cast<double>(s.channels), f);
}

float finish(float y, Activation activation) {
  return activation == Activation::relu && y < 0 ? 0.0F : y;  // keeps NaN
}

/// y = f((x - mean) * inv_std * gamma + beta + residual) for a range of rows.
template <bool residual, Activation activation>
void normalize_rows(const Args& args, Range range, std::int64_t channels, const float* mean,
                    const float* inv_std) {
  const float* gamma = args.in(1);
  const float* beta = args.in(2);
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const float* x = args.in(0) + r * channels;
    const float* added = residual ? args.in(5) + r * channels : nullptr;
    float* y = args.out(0) + r * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      float value = (x[c] - mean[c]) * (inv_std[c] * gamma[c]) + beta[c];
      if constexpr (residual) value += added[c];
      y[c] = finish(value, activation);
    }
  }
}

using Normalize = void (*)(const Args& args, Range range, std::int64_t channels, const float* mean,
                           const float* inv_std);

Normalize normalize_for(const BatchNormAttrs& attrs) {
  const bool relu = attrs.activation == Activation::relu;
  if (attrs.residual) {
    return relu ? normalize_rows<true, Activation::relu> : normalize_rows<true, Activation::none>;
  }
  return relu ? normalize_rows<false, Activation::relu> : normalize_rows<false, Activation::none>;
}

/// Two passes, mean then squared deviations: no cancellation however far the mean is from 0.
std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Rows s = rows_of(node.in(0));
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  const auto count = static_cast<float>(std::max<std::int64_t>(s.rows, 1));
  const auto momentum = static_cast<float>(attrs.momentum);
  const auto epsilon = static_cast<float>(attrs.epsilon);
  const Normalize normalize = normalize_for(attrs);
  Kernel kernel;
  append(kernel, plain_row_sum(s.rows, s.channels, 0, 1));
  kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                             for (std::int64_t c = 0; c < s.channels; ++c) args.out(1)[c] /= count;
                           }});
  append(kernel, sum(s, 0.4, 2, [=](const Args& args, Range range, float* sums) {
           const float* mean = args.out(1);
           for (std::int64_t r = range.begin; r < range.end; ++r) {
             const float* x = args.in(0) + r * s.channels;
             for (std::int64_t c = 0; c < s.channels; ++c) {
               const float d = x[c] - mean[c];
               sums[c] += d * d;
             }
           }
         }));
  kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                             float* inv_std = args.out(2);
                             for (std::int64_t c = 0; c < s.channels; ++c) {
                               const float sum = inv_std[c];
                               inv_std[c] = 1.0F / std::sqrt(sum / count + epsilon);
                               if (s.rows == 0) continue;
                               float& mean = args.in_out(3)[c];
                               float& variance = args.in_out(4)[c];
                               mean = (1 - momentum) * mean + momentum * args.out(1)[c];
                               variance = (1 - momentum) * variance +
                                          momentum * (sum / std::max(count - 1.0F, 1.0F));
                             }
                           }});
  append(kernel, by_rows(s, 0.5, [=](const Args& args, Range range) {
           normalize(args, range, s.channels, args.out(1), args.out(2));
         }));
  return kernel;
}

std::optional<Kernel> prepare_inference(const NodeView& node) {
  const Rows s = rows_of(node.in(0));
  const BatchNormAttrs attrs = node.attrs<BatchNormInferenceOp>();
  const auto epsilon = static_cast<float>(attrs.epsilon);
  const Normalize normalize = normalize_for(attrs);
  Kernel kernel;
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(s.channels);
  kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                             const float* variance = args.in(4);
                             for (std::int64_t c = 0; c < s.channels; ++c) {
                               args.work()[c] = 1.0F / std::sqrt(variance[c] + epsilon);
                             }
                           }});
  append(kernel, by_rows(s, 0.5, [=](const Args& args, Range range) {
           normalize(args, range, s.channels, args.in(3), args.work());
         }));
  return kernel;
}

/// The gradient behind the activation: dy where y > 0 (relu), or all of it.
template <Activation activation>
float masked(const float* dy, const float* y, std::int64_t c) {
  const float d = dy[c];  // read in any case: no branch, so the loops become vectors
  if constexpr (activation == Activation::relu) return y[c] > 0 ? d : 0.0F;
  return d;
}

/// What the gradient's loops read and write of one row; y is null without an activation, dz without
/// a residual.
struct GradientRow {
  GradientRow(const Args& args, std::int64_t channels, std::int64_t r)
      : dy(args.in(0) + r * channels),
        x(args.in(1) + r * channels),
        y(args.inputs.size() > 5 ? args.in(5) + r * channels : nullptr),
        dz(args.outputs.size() > 3 ? args.out(3) + r * channels : nullptr) {}
  const float* dy;
  const float* x;
  const float* y;
  float* dz;
};

/// Adds a range of rows into the sums for dgamma and dbeta (null: another pass adds that one), and
/// with the former writes the residual's gradient.
template <bool residual, Activation activation>
void add_sums(const Args& args, Range range, std::int64_t channels, float* dgamma, float* dbeta) {
  const float* mean = args.in(3);
  const float* inv_std = args.in(4);
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const GradientRow row(args, channels, r);
    if (dgamma != nullptr) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const float dz = masked<activation>(row.dy, row.y, c);
        if constexpr (residual) row.dz[c] = dz;
        dgamma[c] += dz * ((row.x[c] - mean[c]) * inv_std[c]);
      }
    }
    if (dbeta != nullptr) {  // the row is in the cache
      for (std::int64_t c = 0; c < channels; ++c) {
        dbeta[c] += masked<activation>(row.dy, row.y, c);
      }
    }
  }
}

/// dx of a range of rows; the residual's gradient, where there is one, has been masked already.
template <bool residual, Activation activation>
void write_dx(const Args& args, Range range, std::int64_t channels, float part) {
  const float* gamma = args.in(2);
  const float* mean = args.in(3);
  const float* inv_std = args.in(4);
  const float* dgamma = args.out(1);
  const float* dbeta = args.out(2);
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const GradientRow row(args, channels, r);
    float* dx = args.out(0) + r * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float dz = residual ? row.dz[c] : masked<activation>(row.dy, row.y, c);
      const float normal = (row.x[c] - mean[c]) * inv_std[c];
      dx[c] = gamma[c] * inv_std[c] * (dz - part * (dbeta[c] + normal * dgamma[c]));
    }
  }
}

constexpr double kCostOfDgamma = 0.5;
constexpr double kCostOfDbeta = 0.3;

/// Both sums in one pass over memory where row_sum() cuts them into equal ranges; else one after
/// the other (small operands, which lie in the cache). The order of additions is the same.
template <bool residual, Activation activation>
Kernel gradient_sums(const Rows& s) {
  const auto tasks_at = [&](double cost) {
    return std::min(tasks_for(s.rows, cost * static_cast<double>(s.channels)), 16);
  };
  const std::int64_t channels = s.channels;
  const int tasks = tasks_at(kCostOfDgamma);
  Kernel kernel;
  if (tasks != tasks_at(kCostOfDbeta)) {
    append(kernel, sum(s, kCostOfDgamma, 1, [=](const Args& args, Range range, float* sums) {
             add_sums<residual, activation>(args, range, channels, sums, nullptr);
           }));
    append(kernel, sum(s, kCostOfDbeta, 2, [=](const Args& args, Range range, float* sums) {
             add_sums<residual, activation>(args, range, channels, nullptr, sums);
           }));
    return kernel;
  }
  kernel.workspace_bytes = 2 * sizeof(float) * static_cast<std::size_t>(tasks * channels);
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             float* dgamma = args.work() + task.index * channels;
                             float* dbeta = dgamma + tasks * channels;
                             std::fill_n(dgamma, channels, 0.0F);
                             std::fill_n(dbeta, channels, 0.0F);
                             add_sums<residual, activation>(args, split(s.rows, tasks, task.index),
                                                            channels, dgamma, dbeta);
                           }});
  const int adders = tasks_for(channels, 0.4 * tasks);
  kernel.stages.push_back({adders, [=](const Args& args, const Task& task) {
                             const Range range = split(channels, adders, task.index);
                             add_partials(args.work(), tasks, channels, range, args.out(1));
                             add_partials(args.work() + tasks * channels, tasks, channels, range,
                                          args.out(2));
                           }});
  return kernel;
}

template <bool residual, Activation activation>
Kernel gradient_kernel(const Rows& s) {
  const float part = s.rows > 0 ? 1.0F / static_cast<float>(s.rows) : 0.0F;
  Kernel kernel = gradient_sums<residual, activation>(s);
  append(kernel, by_rows(s, 0.8, [=](const Args& args, Range range) {
           write_dx<residual, activation>(args, range, s.channels, part);
         }));
  return kernel;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const Rows s = rows_of(node.in(0));
  const BatchNormGradAttrs attrs = node.attrs<BatchNormGradOp>();
  if (attrs.activation != Activation::relu) return gradient_kernel<false, Activation::none>(s);
  return attrs.residual ? gradient_kernel<true, Activation::relu>(s)
                        : gradient_kernel<false, Activation::relu>(s);
}

}  // namespace

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_forward);
  registry.add(BatchNormInferenceOp::kName, prepare_inference);
  registry.add(BatchNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu

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

/// y = (x - mean) * inv_std * gamma + beta for a range of rows.
void normalize(const Args& args, Range range, std::int64_t channels, const float* mean,
               const float* inv_std) {
  const float* gamma = args.in(1);
  const float* beta = args.in(2);
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const float* x = args.in(0) + r * channels;
    float* y = args.out(0) + r * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      y[c] = (x[c] - mean[c]) * (inv_std[c] * gamma[c]) + beta[c];
    }
  }
}

/// Two passes, mean then squared deviations: no cancellation however far the mean is from 0.
std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Rows s = rows_of(node.in(0));
  const BatchNormAttrs attrs = node.attrs<BatchNormOp>();
  const auto count = static_cast<float>(std::max<std::int64_t>(s.rows, 1));
  const auto momentum = static_cast<float>(attrs.momentum);
  const auto epsilon = static_cast<float>(attrs.epsilon);
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
  const auto epsilon = static_cast<float>(node.attrs<BatchNormInferenceOp>().epsilon);
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

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const Rows s = rows_of(node.in(0));
  const float part = s.rows > 0 ? 1.0F / static_cast<float>(s.rows) : 0.0F;
  Kernel kernel;
  append(kernel, sum(s, 0.5, 1, [=](const Args& args, Range range, float* sums) {
           const float* mean = args.in(3);
           const float* inv_std = args.in(4);
           for (std::int64_t r = range.begin; r < range.end; ++r) {
             const float* dy = args.in(0) + r * s.channels;
             const float* x = args.in(1) + r * s.channels;
             for (std::int64_t c = 0; c < s.channels; ++c) {
               sums[c] += dy[c] * ((x[c] - mean[c]) * inv_std[c]);
             }
           }
         }));
  append(kernel, plain_row_sum(s.rows, s.channels, 0, 2));
  append(kernel, by_rows(s, 0.8, [=](const Args& args, Range range) {
           const float* gamma = args.in(2);
           const float* mean = args.in(3);
           const float* inv_std = args.in(4);
           const float* dgamma = args.out(1);
           const float* dbeta = args.out(2);
           for (std::int64_t r = range.begin; r < range.end; ++r) {
             const float* dy = args.in(0) + r * s.channels;
             const float* x = args.in(1) + r * s.channels;
             float* dx = args.out(0) + r * s.channels;
             for (std::int64_t c = 0; c < s.channels; ++c) {
               const float normal = (x[c] - mean[c]) * inv_std[c];
               dx[c] = gamma[c] * inv_std[c] * (dy[c] - part * (dbeta[c] + normal * dgamma[c]));
             }
           }
         }));
  return kernel;
}

}  // namespace

void register_batch_norm(Registry& registry) {
  registry.add(BatchNormOp::kName, prepare_forward);
  registry.add(BatchNormInferenceOp::kName, prepare_inference);
  registry.add(BatchNormGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu

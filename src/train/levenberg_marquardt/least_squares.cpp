// SPDX-License-Identifier: Apache-2.0
#include "train/levenberg_marquardt/least_squares.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "model/memory_report.h"
#include "model/options.h"

namespace linnet {
namespace {

/// The batch at which it is found out whether rows of many samples can be computed at once.
constexpr std::int64_t kProbe = 7;

constexpr const char* kMethod = "[levenberg_marquardt]";

/// Throws Error for an ensemble, and naming the first operator that computes something else in
/// training.
void check_network(const NetworkDefinition& network) {
  for (const auto& output : network.outputs) {
    require(output.members.empty(), "{} expected one network; got an ensemble of {}", kMethod,
            output.members.size());
  }
  for (const Node& node : network.graph.nodes()) {
    require(node.op->at_inference(node.op) == node.op,
            "{} expected a network that computes the same in training as in prediction; the layer "
            "'{}' ({}) does not: leave it out, or train by another optimizer",
            kMethod, node.name, node.op->name());
  }
  require(!network.draws_noise(), "{} expected a network without noise", kMethod);
}

/// Returns the elements of an output's last axis.
std::int64_t last_axis(const NetworkDefinition& network, std::size_t output) {
  return network.graph.shape(network.outputs[output].value)[-1];
}

}  // namespace

LeastSquares::LeastSquares(Session& session, ModelState& model, const StepData& data,
                           std::int64_t samples, std::int64_t batch, std::vector<bool> trains,
                           std::vector<double> decays)
    : model_(model),
      data_(data),
      samples_(samples),
      batch_(std::min(batch, samples)),
      trains_(std::move(trains)) {
  check();
  const NetworkDefinition& network = model.definition();
  for (std::size_t i = 0; i < network.parameters.size(); ++i) {
    if (!trains_[i]) continue;
    const ParameterSpec& spec = network.parameters[i];
    const auto count = static_cast<std::size_t>(spec.shape.elements());
    const double penalty = spec.shape.rank() < 2 ? 0 : data.l2;  // as add_penalties()
    penalties_.insert(penalties_.end(), count, penalty);
    decays_.insert(decays_.end(), count, penalty + decays[i]);
  }
  require(decays_.size() <= kMostWeights,
          "{} expected at most {} weights that train, whose products take {}; the network has {}: "
          "train by another optimizer, such as adam",
          kMethod, kMostWeights, mebibytes(NormalEquations::bytes(kMostWeights)), decays_.size());
  if (data.weights) {
    const StepData::Part& part = data.parts[*data.weights];
    sample_weights_.resize(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < sample_weights_.size(); ++i) {
      float weight = 0;
      std::memcpy(&weight, part.bytes.data() + i * sizeof(float), sizeof(float));
      sample_weights_[i] = double{weight};
      weight_ += double{weight};
    }
  } else {
    weight_ = static_cast<double>(samples);
  }
  const Supports supports = supports_of(*model.backend);
  value_layout_ = jacobian_step(network, data, trains_, false, kProbe, supports).layout;
  layout_ = jacobian_step(network, data, trains_, true, kProbe, supports).layout;
  rows_batch_ = layout_.one_sample ? 1 : batch_;
  // A batch of one sample has no sums over samples, so its layout is another one.
  if (layout_.one_sample) layout_ = jacobian_step(network, data, trains_, true, 1, supports).layout;
  values_.pass = session.add_pass(samples, batch_, recipe(false));
  derivatives_.pass = session.add_pass(samples, rows_batch_, recipe(true));
}

void LeastSquares::check() const {
  const NetworkDefinition& network = data_.run_of(model_.definition());
  require(model_.backend->capabilities().host_memory,
          "{} expected the device 'cpu'; the model is on '{}'", kMethod, model_.device);
  require(model_.options.precision == Precision::automatic ||
              model_.options.precision == Precision::fp32 || computes_in_f64(model_),
          "{} expected the precision fp32 or fp64 on the CPU; got {}", kMethod,
          FieldFormat<Precision>::names()[static_cast<std::size_t>(model_.options.precision)]);
  check_network(network);
  require(!data_.has_source(), "{} expected data in memory, not images that are read from files",
          kMethod);
  require(data_.l1 == 0, "{} expected no l1 penalty, only l2: its terms are squares", kMethod);
  require(!data_.weights || data_.parts[*data_.weights].record.shape.elements() == 1,
          "{} expected one weight a sample, not one for each step", kMethod);
  for (const TargetLoss& target : data_.targets) {
    const std::string& name = network.outputs[target.output].name;
    require(target.how.custom == nullptr && target.how.loss == Loss::mse,
            "{} expected the loss mse, a mean of squares; the loss of '{}' is {}", kMethod, name,
            target.how.custom != nullptr ? "your own"
                                         : loss_names()[static_cast<std::size_t>(target.how.loss)]);
    require(target.how.weight >= 0,
            "{} expected a weight of at least 0 of the loss of '{}'; got {}", kMethod, name,
            target.how.weight);
    require(!target.lengths, "{} expected targets of one length; those of '{}' have several",
            kMethod, name);
    require(target.how.target || data_.parts[target.part].record.dtype != DType::i32,
            "{} expected values as targets of '{}', not labels", kMethod, name);
  }
}

ProgramRecipe LeastSquares::recipe(bool derivatives) const {
  StepData data = data_;
  for (StepData::Part& part : data.parts) part.bytes = {};  // which the recipe outlives
  const NetworkDefinition& network = model_.definition();
  std::string key =
      fmt::format("least squares {} inputs {}", derivatives ? "rows" : "values", data.inputs);
  for (const StepData::Part& part : data.parts) {
    key += fmt::format(" {} {}", part.name, to_string(part.record));
  }
  for (const TargetLoss& target : data.targets) {
    key += fmt::format(" output {} part {} {}", target.output, target.part,
                       target.how.target.has_value());
  }
  for (const bool trains : trains_) key += trains ? '1' : '0';
  return {.key = std::move(key),
          .graph_of =
              [&network, data = std::move(data), trains = trains_, derivatives,
               supports = supports_of(*model_.backend)](std::int64_t batch) {
                return jacobian_step(network, data, trains, derivatives, batch, supports).graph;
              },
          .fixed_weights = true};
}

void LeastSquares::bind(Session& session) {
  bind(session, values_, value_layout_, batch_);
  bind(session, derivatives_, layout_, rows_batch_);
  equations_ = std::make_unique<NormalEquations>(layout_.unknowns, *model_.backend->team());
}

void LeastSquares::bind(Session& session, Bound& bound, const JacobianLayout& layout,
                        std::int64_t batch) {
  session.bind_data(bound.pass, data_);
  const DType numbers = model_.definition().numbers;
  const auto add = [&](std::size_t slot, Tensor values) {
    if (slot >= bound.memory.size()) bound.memory.resize(slot + 1);
    bound.memory[slot] = std::move(values);
    bound.pass.bind(slot, bound.memory[slot].bytes().data());
  };
  for (const auto* results : {&layout.results, &layout.outputs, &layout.targets}) {
    for (const JacobianLayout::Result& result : *results) {
      if (result.width > 0) add(result.slot, Tensor(numbers, Shape{batch * result.width}));
    }
  }
  for (const JacobianLayout::Seed& seed : layout.seeds) {
    std::vector<float> ones(static_cast<std::size_t>(batch * seed.width));
    for (std::int64_t row = 0; row < batch; ++row) {
      ones[static_cast<std::size_t>(row * seed.width + seed.element)] = 1;
    }
    add(seed.slot, Tensor(std::move(ones)).to(numbers));
  }
}

std::size_t LeastSquares::bytes() const {
  std::int64_t numbers = 0;
  const auto add = [&](const auto& results, std::int64_t batch) {
    for (const auto& result : results) numbers += result.width * batch;
  };
  add(value_layout_.outputs, batch_);
  add(value_layout_.targets, batch_);
  add(layout_.results, rows_batch_);
  add(layout_.outputs, rows_batch_);
  add(layout_.targets, rows_batch_);
  add(layout_.seeds, rows_batch_);
  return NormalEquations::bytes(layout_.unknowns) +
         static_cast<std::size_t>(numbers) * size_of(model_.definition().numbers);
}

std::vector<double> LeastSquares::weights() const {
  std::vector<double> weights;
  for (std::size_t i = 0; i < trains_.size(); ++i) {
    if (!trains_[i]) continue;
    const ParameterSpec& spec = model_.definition().parameters[i];
    Tensor values(spec.dtype, spec.shape);
    model_.backend->download(*model_.parameters, spec.offset, values.writable_bytes());
    const Tensor wide = values.to(DType::f64);
    weights.insert(weights.end(), wide.as<double>().begin(), wide.as<double>().end());
  }
  return weights;
}

void LeastSquares::set_weights(std::span<const double> weights) {
  for (std::size_t i = 0; i < trains_.size(); ++i) {
    if (!trains_[i]) continue;
    const ParameterSpec& spec = model_.definition().parameters[i];
    const auto count = static_cast<std::size_t>(spec.shape.elements());
    const Tensor values = Tensor::borrow(weights.first(count), spec.shape).to(spec.dtype);
    model_.backend->upload(*model_.parameters, spec.offset, values.bytes());
    weights = weights.subspan(count);
  }
  ++model_.weights_version;
}

double LeastSquares::factor(std::size_t target, std::int64_t element, std::int64_t sample) const {
  const OutputLoss& how = data_.targets[target].how;
  const double weight =
      sample_weights_.empty() ? 1 : sample_weights_[static_cast<std::size_t>(sample)];
  if (weight == 0) return 0;
  double factor =
      how.weight * weight / (weight_ * static_cast<double>(value_layout_.outputs[target].width));
  if (!how.options.class_weights.empty()) {
    const std::int64_t last =
        last_axis(data_.run_of(model_.definition()), data_.targets[target].output);
    factor *= how.options.class_weights[static_cast<std::size_t>(element % last)];
  }
  return factor;
}

template <class T>
double LeastSquares::squares(std::int64_t first, std::int64_t samples) const {
  const std::vector<const T*> memory = values_.addresses<T>();
  double sum = 0;
  for (std::size_t t = 0; t < data_.targets.size(); ++t) {
    const std::int64_t width = value_layout_.outputs[t].width;
    const T* const y = memory[value_layout_.outputs[t].slot];
    const std::optional<double>& constant = data_.targets[t].how.target;
    for (std::int64_t i = 0; i < samples * width; ++i) {
      const double scale = factor(t, i % width, first + i / width);
      if (scale == 0) continue;  // whatever the sample is
      const double wanted = constant ? *constant : double{memory[value_layout_.targets[t].slot][i]};
      const double residual = double{y[i]} - wanted;
      sum += scale * residual * residual;
    }
  }
  return sum;
}

double LeastSquares::value() {
  const StepInfo first{.samples = static_cast<std::uint64_t>(samples_)};
  double sum = 0;
  for (std::uint64_t step = 0; step < values_.pass.steps(); ++step) {
    values_.pass.run(first, step, step + 1);
    const auto rows = static_cast<std::int64_t>(values_.pass.rows_of(step));
    const std::int64_t begin = static_cast<std::int64_t>(step) * batch_;
    sum += in_f64() ? squares<double>(begin, rows) : squares<float>(begin, rows);
  }
  double penalty = 0;
  double decay = 0;
  const std::vector<double> w = weights();
  for (std::size_t i = 0; i < w.size(); ++i) {
    penalty += penalties_[i] * w[i] * w[i];
    decay += decays_[i] * w[i] * w[i];
  }
  reported_ = sum + penalty;
  return sum + decay;
}

NormalEquations& LeastSquares::equations() {
  equations_->clear();
  const StepInfo first{.samples = static_cast<std::uint64_t>(samples_)};
  for (std::uint64_t step = 0; step < derivatives_.pass.steps(); ++step) {
    derivatives_.pass.run(first, step, step + 1);
    const auto begin = static_cast<std::int64_t>(step) * rows_batch_;
    const auto rows = static_cast<std::int64_t>(derivatives_.pass.rows_of(step));
    in_f64() ? add_rows<double>(begin, rows) : add_rows<float>(begin, rows);
  }
  return *equations_;
}

template <class T>
void LeastSquares::add_rows(std::int64_t first, std::int64_t samples) {
  const auto of_sample = static_cast<std::int64_t>(layout_.rows.size());
  const std::vector<const T*> addresses = derivatives_.addresses<T>();
  const auto memory = [&](const JacobianLayout::Result& result) { return addresses[result.slot]; };
  const auto write = [&](std::int64_t n, const JacobianLayout::Row& row, std::span<double> to) {
    const double scale = std::sqrt(factor(row.target, row.element, first + n));
    if (scale == 0) return;
    for (const JacobianLayout::Term& term : row.terms) {
      const T* left = memory(layout_.results[term.left]) + n * term.units;
      double* at = to.data() + term.first;
      if (term.kind != JacobianLayout::Term::Kind::product) {
        for (std::int64_t u = 0; u < term.units; ++u) at[u] += scale * double{left[u]};
        continue;
      }
      const T* right = memory(layout_.results[term.right]) + n * term.features;
      for (std::int64_t u = 0; u < term.units; ++u) {
        const double slope = scale * double{left[u]};
        for (std::int64_t f = 0; f < term.features; ++f) *at++ += slope * double{right[f]};
      }
    }
    const JacobianLayout::Result& output = layout_.outputs[row.target];
    const std::int64_t place = n * output.width + row.element;
    const std::optional<double>& constant = data_.targets[row.target].how.target;
    const double wanted = constant ? *constant : double{memory(layout_.targets[row.target])[place]};
    to.back() = scale * (double{memory(output)[place]} - wanted);
  };
  for (std::int64_t begin = 0; begin < samples * of_sample; begin += NormalEquations::kBlockRows) {
    const std::int64_t count = std::min(NormalEquations::kBlockRows, samples * of_sample - begin);
    equations_->add(count, [&](std::int64_t r, std::span<double> to) {
      const std::int64_t n = (begin + r) / of_sample;
      write(n, layout_.rows[static_cast<std::size_t>((begin + r) % of_sample)], to);
    });
  }
}

}  // namespace linnet

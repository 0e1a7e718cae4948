// SPDX-License-Identifier: Apache-2.0
#include <linnet/fleet.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/percentile.h"
#include "model/model_state.h"
#include "train/fleet_state.h"

namespace linnet {
namespace {

Shape stacked(std::size_t count, const Shape& shape) {
  return shape.batched(static_cast<std::int64_t>(count));
}

using Member = FleetState::Member;

/// Throws Error for an index out of range.
Trainer& trainer_at(FleetState& fleet, std::int64_t index) {
  const std::int64_t last = std::ssize(fleet.members) - 1;
  require(index >= 0 && index <= last, "expected a member from 0 to {}; got {}", last, index);
  return fleet.members[static_cast<std::size_t>(index)].trainer;
}

/// Returns the results of `predict` for the members that did not fail.
std::vector<Tensor> living(FleetState& fleet, const std::function<Tensor(Model&)>& predict) {
  std::vector<Tensor> all = fleet.predictions(predict);
  std::vector<Tensor> kept;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (fleet.members[k].alive()) kept.push_back(std::move(all[k]));
  }
  return kept;
}

Tensor mean_of(const std::vector<Tensor>& members) {
  Tensor mean(DType::f32, members.front().shape());
  const std::span<float> out = mean.as_writable<float>();
  std::vector<double> sums(out.size(), 0);
  for (const Tensor& member : members) {
    const std::span<const float> values = member.as<float>();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = static_cast<float>(sums[i] / static_cast<double>(members.size()));
  }
  return mean;
}

/// Throws Error unless the networks are the same.
void require_same(const Network& first, const Network& other, std::size_t k) {
  const auto& expected = first.definition().parameters;
  const auto& got = other.definition().parameters;
  for (std::size_t i = 0; i < std::min(expected.size(), got.size()); ++i) {
    require(expected[i].name == got[i].name && expected[i].shape == got[i].shape,
            "member {} of the fleet has another network than member 0: '{}' {}; expected '{}' {}",
            k, got[i].name, to_string(got[i].shape), expected[i].name,
            to_string(expected[i].shape));
  }
  require(first.to_json() == other.to_json(),
          "member {} of the fleet has another network than member 0, with {} parameters; expected "
          "the same layers and {} parameters",
          k, other.parameters(), first.parameters());
}

}  // namespace

Fleet::Fleet(const Network& network, std::int64_t members, FleetOptions options) {
  require(members > 0, "expected at least one member of a fleet; got {}", members);
  const auto count = static_cast<std::size_t>(members);
  state_ = std::make_shared<FleetState>(count, std::move(options));
  for (std::size_t k = 0; k < count; ++k) state_->add(Model(network, state_->one_thread({}, k)));
}

Fleet::Fleet(const std::vector<Model>& members, FleetOptions options)
    : state_(std::make_shared<FleetState>(members.size(), std::move(options))) {
  for (std::size_t k = 0; k < members.size(); ++k) {
    require_same(members.front().network(), members[k].network(), k);
    state_->add(members[k].copy(state_->one_thread(members[k].state().options, k)));
  }
}

std::int64_t Fleet::size() const { return std::ssize(state_->members); }

Model Fleet::member(std::int64_t index) const { return trainer_at(*state_, index).model(); }

Model Fleet::best(std::int64_t index) const { return trainer_at(*state_, index).best(); }

std::vector<Evaluation> Fleet::evaluate(const Dataset& data, std::int64_t batch) {
  std::vector<Evaluation> evaluations(state_->members.size());
  state_->for_members([&](std::size_t k) {
    Member& member = state_->members[k];
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    evaluations[k] = member.alive() ? member.trainer.evaluate(data, batch)
                                    : Evaluation{.loss = kNone, .accuracy = kNone};
  });
  return evaluations;
}

Tensor Fleet::predict_members(const Dataset& data, std::int64_t batch) {
  const std::vector<Tensor> made =
      state_->predictions([&](Model& model) { return model.predict(data, batch); });
  const auto first = std::ranges::find_if(state_->members, &Member::alive);
  const Tensor& like = made[static_cast<std::size_t>(first - state_->members.begin())];
  Tensor all(DType::f32, stacked(made.size(), like.shape()));
  const auto elements = static_cast<std::size_t>(like.elements());
  for (std::size_t k = 0; k < made.size(); ++k) {
    const std::span<float> to = all.as_writable<float>().subspan(k * elements, elements);
    if (state_->members[k].alive()) {
      std::ranges::copy(made[k].as<float>(), to.begin());
    } else {
      std::ranges::fill(to, std::numeric_limits<float>::quiet_NaN());
    }
  }
  return all;
}

Tensor Fleet::predict(const Dataset& data, std::int64_t batch) {
  return mean_of(living(*state_, [&](Model& model) { return model.predict(data, batch); }));
}

Tensor Fleet::predict_probabilities(const Dataset& data, std::int64_t batch) {
  return mean_of(
      living(*state_, [&](Model& model) { return model.predict_probabilities(data, batch); }));
}

Tensor Fleet::predict_quantiles(const Dataset& data, const std::vector<double>& levels,
                                std::int64_t batch) {
  require(!levels.empty(), "expected at least one quantile; got none");
  for (const double level : levels) {
    require(level >= 0 && level <= 1, "expected quantiles from 0 to 1; got {}", level);
  }
  const std::vector<Tensor> made =
      living(*state_, [&](Model& model) { return model.predict(data, batch); });
  Tensor quantiles(DType::f32, stacked(levels.size(), made.front().shape()));
  const std::span<float> out = quantiles.as_writable<float>();
  const auto elements = static_cast<std::size_t>(made.front().elements());
  std::vector<float> values(made.size());
  for (std::size_t i = 0; i < elements; ++i) {
    std::ranges::transform(made, values.begin(), [i](const Tensor& t) { return t.as<float>()[i]; });
    std::ranges::sort(values);
    for (std::size_t q = 0; q < levels.size(); ++q) {
      out[q * elements + i] = static_cast<float>(percentile(values, levels[q]));
    }
  }
  return quantiles;
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/differentiate.h"

namespace linnet {
namespace {

/// Returns whether a pass may run before all others of `passes`.
template <class P>
bool is_free(const P& pass, const std::vector<P>& passes) {
  const auto among = [](std::string_view name, const std::vector<std::string_view>& names) {
    return std::ranges::find(names, name) != names.end();
  };
  return std::ranges::none_of(passes, [&](const P& other) {
    return among(other.name, pass.order.after) || among(pass.name, other.order.before) ||
           (pass.order.last && !other.order.last);
  });
}

/// Puts passes into the order that they ask for.
template <class P>
void sort(std::vector<P>& passes) {
  std::ranges::sort(passes, {}, &P::name);
  std::vector<P> sorted;
  while (!passes.empty()) {
    const auto next =
        std::ranges::find_if(passes, [&](const P& pass) { return is_free(pass, passes); });
    LINNET_ASSERT(next != passes.end());  // else passes wait for each other
    sorted.push_back(std::move(*next));
    passes.erase(next);
  }
  passes = std::move(sorted);
}

/// Returns whether gradients by `wrt` pass through a node that `graph` has and `before` has not.
bool gradients_pass_new_nodes(const Graph& before, const Graph& graph, std::span<const Value> wrt) {
  std::set<const Op*> known;
  for (const Node& node : before.nodes()) known.insert(node.op.get());
  const std::vector<bool> depends = dependents(graph, wrt);
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return !known.contains(node.op.get()) && std::ranges::any_of(node.outputs, [&](Value v) {
      return depends[static_cast<std::size_t>(v.id)];
    });
  });
}

}  // namespace

bool is_disabled(std::string_view pass, std::span<const std::string> disabled) {
  return std::ranges::find(disabled, pass) != disabled.end();
}

void Passes::add(Phase phase, Pass pass) {
  phases_[phase].push_back(std::move(pass));
  sort(phases_[phase]);
}

void Passes::add(TrainingPass pass) {
  training_.push_back(std::move(pass));
  sort(training_);
}

const std::vector<Pass>& Passes::of(Phase phase) const {
  static const std::vector<Pass> none;
  const auto found = phases_.find(phase);
  return found == phases_.end() ? none : found->second;
}

const Pass& Passes::named(std::string_view name) const {
  for (const auto& [phase, passes] : phases_) {
    const auto found = std::ranges::find(passes, name, &Pass::name);
    if (found != passes.end()) return *found;
  }
  throw Error(fmt::format("unknown pass '{}'", name));
}

std::vector<std::string_view> Passes::names() const {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Phase phase : {Phase::forward, Phase::inference}) {
    for (const Pass& pass : of(phase)) add(pass.name);
  }
  for (const TrainingPass& pass : training_) add(pass.name);
  for (const Pass& pass : of(Phase::final)) add(pass.name);
  for (const std::string_view choice : choices_) add(choice);
  return names;
}

bool Passes::has(std::string_view name) const {
  const std::vector<std::string_view> known = names();
  return std::ranges::find(known, name) != known.end();
}

void Passes::check(std::span<const std::string> disabled) const {
  for (const std::string& name : disabled) {
    require(has(name), "unknown pass '{}'; expected one of {}", name,
            fmt::format("{}", fmt::join(names(), ", ")));
  }
}

void Passes::run(Phase phase, Graph& graph, const Supports& supports,
                 std::span<const std::string> disabled, std::span<const Value> wrt) const {
  check(disabled);
  for (const Pass& pass : of(phase)) {
    if (is_disabled(pass.name, disabled)) continue;
    if (pass.differentiable || wrt.empty()) {
      pass.run(graph, supports);
    } else {
      Graph made = graph;
      pass.run(made, supports);
      if (!gradients_pass_new_nodes(graph, made, wrt)) graph = std::move(made);
    }
    graph.verify();
  }
}

void Passes::run(TrainingGraph& training, const Supports& supports,
                 std::span<const std::string> disabled) const {
  check(disabled);
  for (const TrainingPass& pass : training_) {
    if (is_disabled(pass.name, disabled)) continue;
    pass.run(training, supports);
    training.graph.verify();
  }
}

}  // namespace linnet

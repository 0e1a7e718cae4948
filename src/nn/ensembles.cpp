// SPDX-License-Identifier: Apache-2.0
#include "nn/ensembles.h"

#include <fmt/format.h>
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/expression_scope.h"

namespace linnet {
namespace {

Expression sum_of(const std::vector<Expression>& all) {
  Expression sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) sum = sum + all[i];
  return sum;
}

/// Returns log(mean(exp(x))) over several values, element by element.
Expression log_mean(std::vector<Expression> logs, std::span<const double> shares) {
  for (std::size_t i = 0; i < shares.size(); ++i) logs[i] = logs[i] + std::log(shares[i]);
  Expression largest = logs.front();
  for (std::size_t i = 1; i < logs.size(); ++i) largest = maximum(largest, logs[i]);
  std::vector<Expression> parts;
  for (const Expression& x : logs) parts.push_back(exp(x - largest));
  const Expression sum = sum_of(parts);
  return log(shares.empty() ? sum / static_cast<double>(logs.size()) : sum) + largest;
}

const NetworkOutput& output_of(const NetworkDefinition& ensemble) {
  require(ensemble.outputs.size() == 1 && !ensemble.outputs.front().members.empty(),
          "expected an ensemble; got a network without members");
  return ensemble.outputs.front();
}

/// Adds the input kFold; returns for each kind of member what those that hold a sample out say of
/// it, and the mean of all where none does. Members 0 to folds - 1 are of one kind, and so on.
std::vector<Expression> kinds_of_folds(NetworkDefinition& ensemble) {
  const NetworkOutput output = output_of(ensemble);
  const auto folds = static_cast<std::size_t>(output.folds);
  NetworkBuilder builder(ensemble);
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{ensemble.graph, nullptr, "folds"});
  const Expression fold(scope, builder.add_input(kFold, {1}, DType::f32).id, true);
  std::vector<Expression> kinds;
  for (std::size_t first = 0; first < output.members.size(); first += folds) {
    std::vector<Expression> members;
    for (std::size_t f = 0; f < folds; ++f) {
      members.emplace_back(scope, output.members[first + f].id, true);
    }
    Expression answer = sum_of(members) / static_cast<double>(folds);
    for (std::size_t f = 0; f < folds; ++f) {
      answer = where(equal(fold, static_cast<double>(f)), members[f], answer);
    }
    kinds.push_back(answer);
  }
  return kinds;
}

}  // namespace

Expression mean_answer(const std::vector<Expression>& members, Answers answers,
                       std::span<const double> shares) {
  std::vector<Expression> yes;
  std::vector<Expression> no;
  switch (answers) {
    case Answers::classes:
      for (const Expression& member : members) yes.push_back(log_softmax(member));
      return log_mean(std::move(yes), shares);
    case Answers::labels:
      for (const Expression& member : members) {
        yes.push_back(-softplus(-member));
        no.push_back(-softplus(member));
      }
      return log_mean(std::move(yes), shares) - log_mean(std::move(no), shares);
    case Answers::scores:
    case Answers::values: break;
  }
  if (shares.empty()) return sum_of(members) / static_cast<double>(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) yes.push_back(shares[i] * members[i]);
  return sum_of(yes);
}

NetworkDefinition kinds_of_members(const NetworkDefinition& ensemble) {
  NetworkDefinition made = ensemble;
  const std::vector<Expression> kinds = kinds_of_folds(made);
  made.outputs.clear();
  for (const Expression& kind : kinds) {
    made.outputs.push_back({fmt::format("kind {}", made.outputs.size() + 1), {kind.value()}});
  }
  return pruned(made, std::vector<bool>(made.outputs.size(), true));
}

NetworkDefinition members_of(const NetworkDefinition& ensemble) {
  const std::vector<Value> members = output_of(ensemble).members;
  NetworkDefinition made = ensemble;
  made.outputs.clear();
  for (const Value member : members) {
    made.outputs.push_back({fmt::format("member {}", made.outputs.size() + 1), member});
  }
  return pruned(made, std::vector<bool>(made.outputs.size(), true));
}

NetworkDefinition answers_of_folds(const NetworkDefinition& ensemble, Answers answers) {
  NetworkDefinition made = ensemble;
  const std::vector<Expression> kinds = kinds_of_folds(made);
  const std::vector<double>& all = output_of(ensemble).shares;
  std::vector<double> shares;
  for (auto first = all.begin(); first != all.end(); first += output_of(ensemble).folds) {
    shares.push_back(std::accumulate(first, first + output_of(ensemble).folds, 0.0));
  }
  made.outputs.front() = {made.outputs.front().name, {mean_answer(kinds, answers, shares).value()}};
  return pruned(made, {true});
}

NetworkDefinition with_shares(const NetworkDefinition& ensemble, Answers answers,
                              std::span<const double> shares) {
  const NetworkOutput& output = output_of(ensemble);
  require(shares.size() == output.members.size(), "expected a share of each of {} members; got {}",
          output.members.size(), shares.size());
  NetworkDefinition made = ensemble;
  const auto scope =
      std::make_shared<const ExpressionScope>(ExpressionScope{made.graph, nullptr, "shares"});
  std::vector<Expression> members;
  for (const Value member : output.members) members.emplace_back(scope, member.id, true);
  made.outputs.front().value = {mean_answer(members, answers, shares).value()};
  made.outputs.front().shares.assign(shares.begin(), shares.end());
  return pruned(made, {true});
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
// Ensembles of trees of the domain ai.onnx.ml: every tree goes down one node at a time, all at
// once.
#include <linnet/functions.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "onnx/classifier.h"

namespace linnet::onnx {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 22;  // whose numbers f32 holds
constexpr int kDeepest = 128;

/// The nodes of all trees, one after the other; a leaf leads to itself.
struct Forest {
  std::vector<double> features;
  std::vector<double> values;
  std::vector<double> if_true;
  std::vector<double> if_false;
  std::vector<double> missing;  ///< whether NaN goes where true goes
  std::vector<bool> leaves;
  std::vector<std::size_t> roots;                                       ///< of each tree
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;  ///< by tree and node
  std::map<std::int64_t, std::size_t> trees;                            ///< places in `roots`
  std::vector<std::int64_t> tree_ids;  ///< of each tree, in the file
  std::vector<std::size_t> tree;       ///< of each node
  std::string mode = "BRANCH_LEQ";     ///< of all branches
  int depth = 0;

  std::size_t size() const { return values.size(); }
  std::int64_t tree_of(std::size_t node) const { return tree_ids[tree[node]]; }
};

/// Finds the roots and the depth. Throws DataError unless every node is reached once from the root
/// of its tree.
void check_trees(Forest& f) {
  std::vector<bool> is_child(f.size(), false);
  const auto child = [&](std::size_t parent, double to) {
    const auto i = static_cast<std::size_t>(to);
    require<DataError>(!is_child[i], "a node of tree {} has two parents", f.tree_of(parent));
    is_child[i] = true;
  };
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (f.leaves[i]) continue;
    child(i, f.if_true[i]);
    child(i, f.if_false[i]);
  }
  std::vector<std::size_t> level;
  f.roots.assign(f.trees.size(), f.size());
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (is_child[i]) continue;
    require<DataError>(f.roots[f.tree[i]] == f.size(), "tree {} has two roots", f.tree_of(i));
    f.roots[f.tree[i]] = i;
    level.push_back(i);
  }
  for (std::size_t i = 0; i < f.roots.size(); ++i) {
    require<DataError>(f.roots[i] < f.size(), "tree {} has a cycle", f.tree_ids[i]);
  }
  std::vector<bool> reached(f.size(), false);
  for (std::vector<std::size_t> next; true; level.swap(next)) {
    next.clear();
    for (const std::size_t i : level) {
      reached[i] = true;
      if (f.leaves[i]) continue;
      next.push_back(static_cast<std::size_t>(f.if_true[i]));
      next.push_back(static_cast<std::size_t>(f.if_false[i]));
    }
    if (next.empty()) break;
    require<DataError>(++f.depth <= kDeepest, "tree {} is more than {} levels deep",
                       f.tree_of(next[0]), kDeepest);
  }
  for (std::size_t i = 0; i < f.size(); ++i) {
    require<DataError>(reached[i], "tree {} has a cycle", f.tree_of(i));
  }
}

Forest read_forest(NodeImport& n, std::int64_t features) {
  const std::vector<std::int64_t> tree_ids = n.integers("nodes_treeids");
  const std::vector<std::int64_t> node_ids = n.integers("nodes_nodeids");
  const std::vector<std::int64_t> feature_ids = n.integers("nodes_featureids");
  const std::vector<std::int64_t> if_true = n.integers("nodes_truenodeids");
  const std::vector<std::int64_t> if_false = n.integers("nodes_falsenodeids");
  const std::vector<std::int64_t> tracks = n.integers("nodes_missing_value_tracks_true");
  const std::vector<std::string> modes = n.texts("nodes_modes");
  Forest f;
  f.values = n.numbers("nodes_values");
  n.ignore("nodes_hitrates");
  const std::size_t size = f.size();
  require<DataError>(size > 0 && size <= kMostNodes && tree_ids.size() == size &&
                         node_ids.size() == size && feature_ids.size() == size &&
                         if_true.size() == size && if_false.size() == size &&
                         modes.size() == size && (tracks.empty() || tracks.size() == size),
                     "expected attributes of one length for 1 to {} nodes; got {} values, {} node "
                     "ids and {} modes",
                     kMostNodes, size, node_ids.size(), modes.size());
  for (std::size_t i = 0; i < size; ++i) {
    require<DataError>(f.places.emplace(std::pair(tree_ids[i], node_ids[i]), i).second,
                       "tree {} has two nodes {}", tree_ids[i], node_ids[i]);
    const auto [tree, is_new] = f.trees.emplace(tree_ids[i], f.trees.size());
    if (is_new) f.tree_ids.push_back(tree_ids[i]);
    f.tree.push_back(tree->second);
  }
  bool has_mode = false;
  for (std::size_t i = 0; i < size; ++i) {
    const bool leaf = modes[i] == "LEAF";
    f.leaves.push_back(leaf);
    f.features.push_back(leaf ? 0 : static_cast<double>(feature_ids[i]));
    f.missing.push_back(!leaf && !tracks.empty() && tracks[i] != 0 ? 1 : 0);
    const auto place = [&](std::int64_t id) {
      if (leaf) return static_cast<double>(i);
      const auto found = f.places.find({tree_ids[i], id});
      require<DataError>(found != f.places.end(), "tree {} has no node {}, to which node {} leads",
                         tree_ids[i], id, node_ids[i]);
      return static_cast<double>(found->second);
    };
    f.if_true.push_back(place(if_true[i]));
    f.if_false.push_back(place(if_false[i]));
    if (leaf) {
      f.values[i] = 0;
      continue;
    }
    require<DataError>(feature_ids[i] >= 0 && feature_ids[i] < features,
                       "node {} of tree {} reads feature {}; expected 0 to {}", node_ids[i],
                       tree_ids[i], feature_ids[i], features - 1);
    require<DataError>(!has_mode || modes[i] == f.mode,
                       "nodes of the modes {} and {} in one ensemble are not supported", f.mode,
                       modes[i]);
    f.mode = modes[i];
    has_mode = true;
  }
  check_trees(f);
  return f;
}

Expression holds(const NodeImport& n, const std::string& mode, const Expression& x,
                 const Expression& value) {
  if (mode == "BRANCH_LEQ") return x <= value;
  if (mode == "BRANCH_LT") return x < value;
  if (mode == "BRANCH_GTE") return x >= value;
  if (mode == "BRANCH_GT") return x > value;
  if (mode == "BRANCH_EQ") return equal(x, value);
  if (mode == "BRANCH_NEQ") return not_equal(x, value);
  n.refuse("nodes of the mode '{}' are not supported", mode);
}

/// Returns the leaf of each tree that a sample reaches: ids of nodes (trees).
Expression leaves_of(NodeImport& n, const Forest& f, const Expression& x) {
  const std::int64_t nodes = std::ssize(f.values);
  const std::int64_t trees = std::ssize(f.roots);
  const bool tracks = std::ranges::find(f.missing, 1.0) != f.missing.end();
  const std::int64_t columns = tracks ? 5 : 4;
  std::vector<double> table;
  for (std::size_t i = 0; i < f.size(); ++i) {
    table.insert(table.end(), {f.features[i], f.values[i], f.if_true[i], f.if_false[i]});
    if (tracks) table.push_back(f.missing[i]);
  }
  const Expression rows = made_weight(n, "nodes", {nodes, columns}, std::move(table));
  const Expression roots =
      n.zero_of_samples(1) +
      made_weight(n, "roots", {trees}, std::vector<double>(f.roots.begin(), f.roots.end()));
  Expression at = to_ids(roots);
  for (int level = 0; level < f.depth; ++level) {
    const Expression row = gather(rows, at, 0);  // (trees, columns)
    const auto column = [&](std::int64_t i) { return reshape(slice(row, 1, i, i + 1), {trees}); };
    const Expression value = gather(x, to_ids(column(0)), 0);
    Expression goes = holds(n, f.mode, value, column(1));
    if (tracks) goes = maximum(goes, not_equal(value, value) * column(4));
    at = to_ids(where(goes, column(2), column(3)));
  }
  return at;
}

/// What the leaves add to the scores.
struct Leaves {
  std::vector<double> weights;        ///< (nodes, targets)
  std::vector<bool> has_target;       ///< whether any leaf has it
  std::vector<std::size_t> complete;  ///< trees of each target all of whose leaves have it
  bool all_positive = true;
};

Leaves read_leaves(NodeImport& n, const Forest& f, const std::string& kind, std::int64_t targets) {
  const std::vector<std::int64_t> trees = n.integers(kind + "_treeids");
  const std::vector<std::int64_t> nodes = n.integers(kind + "_nodeids");
  const std::vector<std::int64_t> ids = n.integers(kind + "_ids");
  const std::vector<double> weights = n.numbers(kind + "_weights");
  require<DataError>(trees.size() == weights.size() && nodes.size() == weights.size() &&
                         ids.size() == weights.size(),
                     "expected attributes of one length for the leaves; got {} ids and {} weights",
                     ids.size(), weights.size());
  require<DataError>(targets > 0 && std::ssize(f.values) <= kMostComputed / targets,
                     "{} targets of {} nodes are not supported", targets, f.size());
  Leaves leaves;
  leaves.weights.assign(f.size() * static_cast<std::size_t>(targets), 0);
  leaves.has_target.assign(static_cast<std::size_t>(targets), false);
  std::vector<bool> has(leaves.weights.size(), false);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto place = f.places.find({trees[i], nodes[i]});
    require<DataError>(place != f.places.end() && f.leaves[place->second],
                       "tree {} has no leaf {}, which has a weight", trees[i], nodes[i]);
    require<DataError>(ids[i] >= 0 && ids[i] < targets, "expected an id of 0 to {}; got {}",
                       targets - 1, ids[i]);
    const auto target = static_cast<std::size_t>(ids[i]);
    const std::size_t at = place->second * static_cast<std::size_t>(targets) + target;
    require<DataError>(!has[at], "leaf {} of tree {} has two weights for {}", nodes[i], trees[i],
                       ids[i]);
    leaves.weights[at] = weights[i];
    has[at] = true;
    leaves.has_target[target] = true;
    leaves.all_positive = leaves.all_positive && weights[i] >= 0;
  }
  for (std::size_t target = 0; target < static_cast<std::size_t>(targets); ++target) {
    std::vector<bool> complete(f.roots.size(), true);
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (f.leaves[i] && !has[i * static_cast<std::size_t>(targets) + target]) {
        complete[f.tree[i]] = false;
      }
    }
    leaves.complete.push_back(static_cast<std::size_t>(std::ranges::count(complete, true)));
  }
  return leaves;
}

/// Returns the sums of what the leaves add: (targets).
Expression sums(NodeImport& n, const Forest& f, Leaves leaves, std::int64_t targets,
                const Expression& x) {
  const Expression table =
      made_weight(n, "leaves", {std::ssize(f.values), targets}, std::move(leaves.weights), true);
  return sum(gather(table, leaves_of(n, f, x), 0), {0});
}

void regress_by_trees(NodeImport& n) {
  const Expression x = rows_of_features(n, 0);
  const std::string transform = n.text("post_transform", "NONE");
  const std::string aggregate = n.text("aggregate_function", "SUM");
  const std::int64_t targets = n.integer("n_targets", 1);
  std::vector<double> base = n.numbers("base_values");
  require<DataError>(transform == "NONE", "post_transform '{}' is not supported", transform);
  require<DataError>(aggregate == "SUM" || aggregate == "AVERAGE",
                     "aggregate_function '{}' is not supported", aggregate);
  require<DataError>(base.empty() || std::ssize(base) == targets,
                     "expected a base value for each of {} targets; got {}", targets, base.size());
  const Forest f = read_forest(n, x.shape()[0]);
  Expression y = sums(n, f, read_leaves(n, f, "target", targets), targets, x);
  if (aggregate == "AVERAGE") y = y * (1 / static_cast<double>(f.roots.size()));
  if (!base.empty()) y = y + made_weight(n, "base", {targets}, std::move(base), true);
  n.give(as_rows(y));
}

void classify_by_trees(NodeImport& n) {
  const Expression x = rows_of_features(n, 0);
  const ClassLabels labels = class_labels(n, "classlabels_int64s");
  const std::string transform = n.text("post_transform", "NONE");
  std::vector<double> base = n.numbers("base_values");
  const Forest f = read_forest(n, x.shape()[0]);
  const std::int64_t count = labels.count();
  Leaves leaves = read_leaves(n, f, "class", count);
  const bool positive = leaves.all_positive;
  if (count > 2) {
    require<DataError>(base.empty() || std::ssize(base) == count,
                       "expected a base value for each of {} classes; got {}", count, base.size());
    require<DataError>(
        !base.empty() ||
            std::ranges::find(leaves.complete, std::size_t{0}) == leaves.complete.end(),
        "expected base_values, or for each class a tree whose every leaf has a weight for it");
    Expression scores = sums(n, f, std::move(leaves), count, x);
    if (!base.empty()) scores = scores + made_weight(n, "base", {count}, std::move(base), true);
    give_labels(n, labels, argmax(scores), 0);
    give_scores(n, labels, after_transform(n, scores, transform), 1);
    return;
  }
  // One score of the second class, as trees of two classes are written.
  require<DataError>(count == 2 && !leaves.has_target[1],
                     "expected three or more classes, or two of which only the first has weights; "
                     "got {} classes with weights of {}",
                     count, count == 2 ? "the second" : "the first");
  require<DataError>(base.size() <= 1, "expected at most one base value for two classes; got {}",
                     base.size());
  Expression score = slice(sums(n, f, std::move(leaves), count, x), 0, 0, 1);
  if (!base.empty()) score = score + made_weight(n, "base", {1}, std::move(base), true);
  const Expression second = score > (positive ? 0.5 : 0.0);
  give_labels(n, labels, argmax(side_by_side({second * 0, second})), 0);
  if (positive) {  // probabilities
    give_scores(n, labels, side_by_side({1 - score, score}), 1);
    return;
  }
  require<DataError>(transform == "LOGISTIC" || transform == "NONE",
                     "post_transform '{}' of two classes is not supported", transform);
  const Expression size = abs(score);
  give_scores(n, labels,
              transform == "NONE" ? side_by_side({-size, size})
                                  : side_by_side({sigmoid(-score), sigmoid(score)}),
              1);
}

}  // namespace

void add_trees(Operators& all) {
  all["ai.onnx.ml.TreeEnsembleClassifier"] = {
      classify_by_trees, "branches of one mode; of two classes, weights of the first alone"};
  all["ai.onnx.ml.TreeEnsembleRegressor"] = {
      regress_by_trees, "branches of one mode; sum and average; post_transform NONE"};
}

}  // namespace linnet::onnx

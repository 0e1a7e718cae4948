// SPDX-License-Identifier: Apache-2.0
// Distances between samples and constant rows, as nearest neighbours of scikit-learn have them.
#include <linnet/functions.h>

#include <algorithm>

#include "base/check.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

enum class Metric : std::uint8_t { squares, magnitudes };

/// Returns the sums over the features between each sample of `x`, (batch, features), and each of
/// `rows`, (count, features): samples of one axis.
Expression distances(const Trace& x, const ConstantPtr& rows, Metric metric, NodeImport& n) {
  const Dims dims = dims_of(x);
  require<DataError>(dims.size() == 2 && is_batch(x, 0) && rows->dims().size() == 2 &&
                         rows->dims()[0] > 0 && rows->dims()[1] == dims[1],
                     "expected rows of as many features as the samples {}; got {}", text_of(dims),
                     text_of(rows->dims()));
  const Expression sample = reshape(arranged(x, {1}), {1, dims[1]});
  const Expression apart = sample - n.weight(rows, as_is(rows->dims()));
  return sum(metric == Metric::squares ? square(apart) : abs(apart), {1});
}

void distances_of_samples(NodeImport& n) {
  const std::string metric = n.text("metric", "sqeuclidean");
  require<DataError>(metric == "euclidean" || metric == "sqeuclidean",
                     "expected the metric euclidean or sqeuclidean; got '{}'", metric);
  const Expression y = distances(n.floats(0), n.constant(1), Metric::squares, n);
  n.give(Trace{metric == "euclidean" ? sqrt(y) : y, {{0}, {1}}, Type::f32, 0});
}

constexpr int kMostIdentities = 8;  // between two nodes

/// Returns the node of ONNX that gives a value of a graph; null: none does. Only sums may have
/// attributes.
const NodeProto* node_of(const ModelProto& graph, std::string_view value) {
  const auto found = std::ranges::find_if(graph.nodes, [&](const NodeProto& node) {
    return is_of_onnx(node) && node.outputs.size() == 1 && node.outputs[0] == value &&
           (node.attributes.empty() || node.op_type.starts_with("ReduceSum"));
  });
  return found == graph.nodes.end() ? nullptr : &*found;
}

/// Returns the name that a value had before Identity nodes.
std::string_view before_identities(const ModelProto& graph, std::string_view value) {
  for (int i = 0; i < kMostIdentities; ++i) {
    const NodeProto* node = node_of(graph, value);
    if (node == nullptr || node->op_type != "Identity" || node->inputs.size() != 1) break;
    value = node->inputs[0];
  }
  return value;
}

/// Returns the node that gives a value before Identity nodes.
const NodeProto* giver(const ModelProto& graph, std::string_view value) {
  return node_of(graph, before_identities(graph, value));
}

/// Returns whether a node sums over axis 1 and drops it.
bool sums_features(const ModelProto& graph, const NodeProto& node) {
  bool features = node.inputs.size() == 2 && whole_number_of(graph, node.inputs[1]) == 1;
  bool drops = false;
  for (const Attribute& a : node.attributes) {
    if (a.name == "keepdims" && a.kind == AttributeKind::i) {
      drops = a.i == 0;
    } else if (a.name == "axes") {
      features = a.ints == std::vector<std::int64_t>{1};
    } else if (a.name != "noop_with_empty_axes") {
      return false;
    }
  }
  return features && drops;
}

/// Returns what a graph computes of its first input, kept for the next step, and of a row: the sum
/// over the features of their difference. Throws DataError for another one.
Metric metric_of(const ModelProto& graph) {
  const auto wants = [](bool condition) {
    require<DataError>(condition,
                       "expected a graph that computes distances between samples and constant "
                       "rows; other graphs are not followed");
  };
  wants(graph.inputs.size() == 2 && graph.outputs.size() == 2 &&
        before_identities(graph, graph.outputs[0].name) == graph.inputs[0].name);
  const NodeProto* sum = giver(graph, graph.outputs[1].name);
  wants(sum != nullptr && !sum->inputs.empty() && sums_features(graph, *sum) &&
        (sum->op_type == "ReduceSumSquare" || sum->op_type == "ReduceSum"));
  const NodeProto* apart = giver(graph, sum->inputs[0]);
  const bool magnitudes = sum->op_type == "ReduceSum";
  if (magnitudes) {
    wants(apart != nullptr && apart->op_type == "Abs" && apart->inputs.size() == 1);
    apart = giver(graph, apart->inputs[0]);
  }
  wants(apart != nullptr && apart->op_type == "Sub" && apart->inputs.size() == 2);
  const std::string_view a = before_identities(graph, apart->inputs[0]);
  const std::string_view b = before_identities(graph, apart->inputs[1]);
  const std::string_view first = graph.inputs[0].name;
  const std::string_view second = graph.inputs[1].name;
  wants(first != second && ((a == first && b == second) || (a == second && b == first)));
  return magnitudes ? Metric::magnitudes : Metric::squares;
}

/// A loop over constant rows, which is one operator here: the distances of all rows.
void scan(NodeImport& n) {
  n.ignore("body");
  const auto& attributes = n.node().attributes;
  const auto body = std::ranges::find(attributes, "body", &Attribute::name);
  require<DataError>(body != attributes.end() && body->kind == AttributeKind::g, "has no body");
  const Metric metric = metric_of(parse_graph(body->graph));
  require<DataError>(n.integer("num_scan_inputs", 1) == 1 && n.inputs() == 2 && n.outputs() == 2,
                     "expected a loop over one operand");
  const Trace x = n.floats(0);
  n.give(Trace{distances(x, n.constant(1), metric, n), {{1}, {0}}, Type::f32, 0}, 1);
  if (n.wants(0)) n.give(x);
}

}  // namespace

void add_neighbours(Operators& all) {
  all["Scan"] = {scan, "distances to constant rows, as skl2onnx writes them"};
  all["com.microsoft.CDist"] = {distances_of_samples, "to constant rows; euclidean, sqeuclidean"};
}

}  // namespace linnet::onnx

// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/dense.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/fold.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// Values whose last ONNX axis is the last one of the expression, with the parts in their order
/// there, so that a flattened image stays (H, W, C).
struct Rows {
  Trace t;
  Dims view;               ///< of the features in ONNX's order
  std::vector<int> order;  ///< in which the expression has them
};

Rows rows_of(const Trace& given) {
  Trace x = squeezed(given);
  Axis& features = x.axes.back();
  require<DataError>(std::ranges::find(features, 0) == features.end(),
                     "the last axis is the batch");
  if (features.empty()) {
    x = merged(x, static_cast<int>(x.axes.size()) - 1);
    return {x, {1}, {0}};
  }
  std::vector<int> sorted = features;
  std::ranges::sort(sorted);
  Rows rows{x, {}, {}};
  for (const int place : features) rows.view.push_back(dim_of(x, place));
  for (const int place : sorted) {
    rows.order.push_back(static_cast<int>(std::ranges::find(features, place) - features.begin()));
  }
  std::vector<int> order;
  for (int place = 1; place <= static_cast<int>(x.e.shape().rank()); ++place) {
    if (std::ranges::find(sorted, place) == sorted.end()) order.push_back(place);
  }
  order.insert(order.end(), sorted.begin(), sorted.end());
  x.axes.back() = sorted;
  rows.t = merged(reordered(x, order), static_cast<int>(x.axes.size()) - 1);
  return rows;
}

/// Returns whether the sum with `bias` adds a number to each of the last axis' units.
bool is_of_units(const Constant& bias, std::int64_t units, std::size_t rank) {
  return bias.trains && bias.elements() == units && bias.dims().size() <= rank &&
         (bias.dims().empty() || bias.dims().back() == units);
}

/// Returns an operand; as a value where it is a constant of each sample.
FileValue operand_of(NodeImport& n, std::size_t i) {
  const FileValue& v = n.input(i);
  if (v.constant && v.constant->batch_axis >= 0) return value_of_samples(n, *v.constant);
  return v;
}

void multiply(NodeImport& n) {
  FileValue a = operand_of(n, 0);
  FileValue b = operand_of(n, 1);
  require<DataError>(!a.dims().empty() && !b.dims().empty(), "expected at least one axis");
  if (a.trace) a.trace->e = n.scoped(a.trace->e);
  if (a.trace && b.constant && b.dims().size() == 2) {
    const std::int64_t units = b.dims()[1];
    const std::optional<NodeImport::Bias> next = n.bias_after();
    if (next && is_of_units(*next->constant, units, a.dims().size())) {
      n.network().define_for(*next->add,
                             dense(n, *a.trace, b.constant, 1, reshaped(*next->constant, {units})));
    } else {
      n.give(dense(n, *a.trace, b.constant, 1, nullptr));
    }
    return;
  }
  if (a.trace && a.dims().size() == 2 && b.constant && b.dims().size() == 1) {
    Trace y = dense(n, *a.trace, reshaped(*b.constant, {b.dims()[0], 1}), 1, nullptr);
    Dims sample = dims_of(y.e.shape());
    sample.pop_back();  // of the only unit
    y.axes.pop_back();
    y.e = reshape(y.e, Shape(sample));
    n.give(std::move(y));
    return;
  }
  n.give(matrix_product(n, std::move(a), std::move(b)));
}

void gemm(NodeImport& n) {
  const double alpha = n.number("alpha", 1);
  const double beta = n.number("beta", 1);
  n.ignore("broadcast");  // before opset 7
  const bool turn_a = n.integer("transA", 0) != 0;
  const bool turn_b = n.integer("transB", 0) != 0;
  FileValue a = operand_of(n, 0);
  FileValue b = operand_of(n, 1);
  require<DataError>(a.dims().size() == 2 && b.dims().size() == 2, "expected matrices");
  if (a.trace) a.trace->e = n.scoped(a.trace->e);
  const auto turned = [](FileValue& v) {
    if (v.trace)
      std::swap(v.trace->axes[0], v.trace->axes[1]);
    else
      v.constant = transposed(*v.constant, {1, 0});
  };
  if (turn_a) turned(a);
  const bool has_bias = n.has(2) && beta != 0;
  if (a.trace && b.constant) {
    const std::int64_t units = b.dims()[turn_b ? 0 : 1];
    const bool plain = has_bias && n.is_constant(2) && is_of_units(*n.constant(2), units, 2) &&
                       alpha == 1 && beta == 1;
    ConstantPtr bias;
    if (plain) bias = reshaped(*n.constant(2), {units});
    Trace y = dense(n, *a.trace, b.constant, turn_b ? 0 : 1, bias);
    if (alpha != 1) y.e = y.e * alpha;
    if (has_bias && !plain) {
      FileValue c = n.input(2);
      const Aligned both = n.align({y, c});
      y = Trace{both.operands[0] + both.operands[1] * beta, both.axes, y.type};
    }
    n.give(std::move(y));
    return;
  }
  if (turn_b) turned(b);
  Trace y = matrix_product(n, std::move(a), std::move(b));
  if (alpha != 1) y.e = y.e * alpha;
  if (has_bias) {
    const Aligned both = n.align({y, n.input(2)});
    y = Trace{both.operands[0] + both.operands[1] * beta, both.axes, y.type};
  }
  n.give(std::move(y));
}

/// Splits "ab,bc->ac" at its commas and its arrow.
std::vector<std::string> terms_of(const std::string& equation) {
  std::vector<std::string> terms(1);
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const bool arrow = equation.compare(i, 2, "->") == 0;
    if (arrow || equation[i] == ',') {
      terms.emplace_back();
      i += arrow ? 1 : 0;
    } else if (equation[i] != ' ') {
      terms.back() += equation[i];
    }
  }
  return terms;
}

/// Linnet's einsum() has the batch as the first axis of every operand.
void sum_products(NodeImport& n) {
  const std::string equation = n.text("equation", "");
  std::vector<std::string> terms = terms_of(equation);
  const std::vector<FileValue> operands = n.all();
  require<DataError>(equation.find("->") != std::string::npos &&
                         equation.find('.') == std::string::npos &&
                         terms.size() == operands.size() + 1,
                     "expected an equation of letters with a result and {} operands; got '{}'",
                     operands.size(), equation);
  char rows = 'A';  // the batch's letter, or one that nothing else has
  while (equation.find(rows) != std::string::npos && rows < 'Z') ++rows;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    require<DataError>(terms[i].size() == operands[i].dims().size(),
                       "expected a letter for each axis of {}; got '{}'",
                       text_of(operands[i].dims()), terms[i]);
    const int batch = operands[i].trace ? batch_axis(*operands[i].trace) : -1;
    if (batch >= 0) rows = terms[i][static_cast<std::size_t>(batch)];
  }
  std::vector<Expression> factors;
  std::string whole;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    whole += i == 0 ? "" : ",";
    if (operands[i].constant) {
      factors.push_back(n.weight(operands[i].constant, as_is(operands[i].dims())));
      whole += terms[i];
      continue;
    }
    const int batch = batch_axis(*operands[i].trace);
    std::vector<int> order(operands[i].dims().size());
    std::iota(order.begin(), order.end(), 0);
    if (batch >= 0) {
      require<DataError>(is_batch(*operands[i].trace, batch),
                         "axis {} combines the batch with other dims", batch);
      require<DataError>(terms[i][static_cast<std::size_t>(batch)] == rows,
                         "would combine the samples of a batch");
      order.erase(order.begin() + batch);
      terms[i].erase(static_cast<std::size_t>(batch), 1);
    }
    factors.push_back(arranged(*operands[i].trace, order));
    whole += rows + terms[i];
  }
  std::vector<Axis> axes;
  std::string kept;
  for (const char letter : terms.back()) {
    if (letter != rows) kept += letter;
    axes.push_back({letter == rows ? 0 : static_cast<int>(kept.size())});
  }
  require<DataError>(kept.size() < axes.size() || equation.find(rows) == std::string::npos,
                     "would sum over the batch");
  n.give(Trace{einsum(whole + "->" + rows + kept, factors), std::move(axes), operands[0].type()});
}

}  // namespace

Trace dense(NodeImport& n, const Trace& given, const ConstantPtr& w, int units,
            const ConstantPtr& bias) {
  require<DataError>(!given.axes.empty(), "expected at least one axis");
  const Rows x = rows_of(given);
  const std::int64_t out = w->dims()[static_cast<std::size_t>(units)];
  const std::int64_t features = w->dims()[static_cast<std::size_t>(1 - units)];
  require<DataError>(features == elements_of(x.view),
                     "expected {1} as the weight's input features; got {0}",
                     text_of(dims_of(given)), text_of(w->dims()));
  // (units, features...), the features in the expression's order.
  Layout layout;
  layout.view = x.view;
  layout.view.insert(units == 0 ? layout.view.begin() : layout.view.end(), out);
  const int first = units == 0 ? 1 : 0;
  layout.order = {units == 0 ? 0 : static_cast<int>(x.view.size())};
  for (const int part : x.order) layout.order.push_back(part + first);
  layout.shape = {out, features};
  Trace y = x.t;
  const std::size_t rank = x.t.e.shape().rank();
  const bool held = n.network().is_weight(*w) || (bias && n.network().is_weight(*bias));
  if (held || !w->trains || rank == 0 || rank > 2) {
    // A weight that another layer has keeps that one's name; the bias names this layer then.
    Importer& network = n.network();
    auto scope = x.t.e.scope();
    if (bias && !network.is_weight(*bias)) scope = network.scope(n.layer_name(*bias));
    const Expression rows(scope, x.t.e.value(), true);
    y.e = linear(rows, network.weight(w, layout, scope));
    if (bias) y.e = y.e + network.weight(bias, as_is({out}), scope);
  } else {
    Dense layer;
    layer.units = out;
    layer.bias = bias != nullptr;
    layer.name = n.layer_name(*w);
    y.e = n.scoped(x.t.e | layer);
    n.network().set_weight(layer.name, "weight", w, layout);
    if (bias) n.network().set_weight(layer.name, "bias", bias, as_is({out}));
  }
  return y;
}

Trace matrix_product(NodeImport& n, FileValue a, FileValue b) {
  const bool row = a.dims().size() == 1;
  const bool column = b.dims().size() == 1;
  const auto with_axis = [](FileValue& v, bool last) {
    if (v.trace) {
      v.trace->axes.insert(last ? v.trace->axes.end() : v.trace->axes.begin(), Axis{});
    } else {
      Dims dims = v.constant->dims();
      dims.insert(last ? dims.end() : dims.begin(), 1);
      v.constant = reshaped(*v.constant, dims);
    }
  };
  if (row) with_axis(a, false);
  if (column) with_axis(b, true);
  for (const FileValue* v : {&a, &b}) {
    require<DataError>(!v->trace || v->trace->e.dtype() == DType::f32, "expected numbers; got ids");
  }
  const Aligned both = n.align({a, b}, 2);
  const Expression e = matmul(both.operands[0], both.operands[1]);
  Trace y{e, both.axes, a.type(), 0};
  const auto rank = static_cast<int>(e.shape().rank());
  if (!row) y.axes.push_back({rank - 1});
  if (!column) y.axes.push_back({rank});
  if (row || column) {  // axes of 1 that ONNX drops
    Dims sample = dims_of(e.shape());
    if (column) sample.erase(sample.end() - 1);
    if (row) sample.erase(sample.end() - (column ? 1 : 2));
    y.e = reshape(e, Shape(sample));
    if (row && !column) y.axes.back() = {rank - 1};
  }
  return y;
}

void add_products(Operators& all) {
  all["MatMul"] = {multiply, {}};
  all["Gemm"] = {gemm, {}};
  all["Einsum"] = {sum_products, "one or two operands, each letter once; no ellipsis"};
}

}  // namespace linnet::onnx

// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml that scikit-learn's pipelines are exported to (skl2onnx):
// scaling, encoding, and linear models.
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/utf8.h"
#include "core/dims.h"
#include "onnx/classifier.h"

namespace linnet::onnx {

Trace numbers_of(NodeImport& n, std::size_t i) {
  require<DataError>(n.input(i).type() != Type::string,
                     "expected numbers for input {}; got class labels that are strings", i);
  return *n.with_numbers(n.trace(i)).trace;
}

Trace as_rows(const Expression& e) { return {e, {{0}, {1}}, Type::f32, 0}; }

Expression rows_of_features(NodeImport& n, std::size_t i) {
  const Trace x = numbers_of(n, i);
  require<DataError>(x.axes.size() == 2 && is_batch(x, 0),
                     "expected rows of features (batch, features); got {}", text_of(dims_of(x)));
  return arranged(x, {1});
}

std::vector<std::string> ClassLabels::names() const {
  if (!texts.empty()) return texts;
  std::vector<std::string> names;
  bool counts = true;
  for (const std::int64_t number : numbers) {
    counts = counts && number == std::ssize(names);
    names.push_back(std::to_string(number));
  }
  return counts ? std::vector<std::string>{} : names;
}

ClassLabels class_labels(NodeImport& n, std::string_view integers) {
  ClassLabels labels{n.texts("classlabels_strings"), n.integers(integers)};
  require<DataError>(labels.texts.empty() != labels.numbers.empty(),
                     "expected class labels that are strings or integers; got {} and {}",
                     labels.texts.size(), labels.numbers.size());
  return labels;
}

void give_labels(NodeImport& n, const ClassLabels& labels, const Expression& ids,
                 std::size_t output, std::vector<Axis> axes) {
  if (output >= n.outputs()) return;
  n.network().name_classes(n.node().outputs[output], labels.names(), true);
  Trace y{ids, std::move(axes), labels.texts.empty() ? Type::i64 : Type::string, labels.count()};
  if (!labels.numbers.empty() && !labels.names().empty()) {
    std::vector<double> values;
    for (const std::int64_t number : labels.numbers) {
      require<DataError>(std::abs(static_cast<double>(number)) <= 0x1p24,
                         "a class label of {} is too large: expected at most 2^24", number);
      values.push_back(static_cast<double>(number));
    }
    const Expression table = made_weight(n, "labels", {labels.count(), 1}, std::move(values));
    y.e = reshape(gather(table, ids, 0), ids.shape());
    y.below = 0;
  }
  n.give(std::move(y), output);
}

void give_scores(NodeImport& n, const ClassLabels& labels, const Expression& scores,
                 std::size_t output) {
  if (output >= n.outputs()) return;
  n.network().name_classes(n.node().outputs[output], labels.names(), false);
  n.give(as_rows(scores), output);
}

Expression after_transform(const NodeImport& n, const Expression& scores,
                           const std::string& transform) {
  if (transform == "NONE") return scores;
  if (transform == "LOGISTIC") return sigmoid(scores);
  if (transform == "SOFTMAX") return softmax(scores);
  if (transform == "SOFTMAX_ZERO") {  // of the scores that are not 0
    const Expression kept = abs(scores) > 1e-7;
    const Expression e = where(kept, exp(scores - max(scores, {-1}, true)), 0);
    return e / sum(e, {-1}, true);
  }
  n.refuse("post_transform '{}' is not supported", transform);
}

Expression side_by_side(const std::vector<Expression>& parts) {
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

namespace {

/// Returns a number for each of the last axis's elements, or one for all.
FileValue of_features(NodeImport& n, const Trace& x, std::string_view role,
                      std::vector<double> values) {
  const Dims dims = dims_of(x);
  require<DataError>(!dims.empty() && (values.size() == 1 || std::ssize(values) == dims.back()),
                     "expected one number, or one for each feature of {}; got {}", text_of(dims),
                     values.size());
  const Dims own{std::ssize(values)};
  return made_constant(n, role, own, std::move(values));
}

void scale(NodeImport& n) {
  Trace x = numbers_of(n, 0);
  std::vector<double> offsets = n.numbers("offset");
  std::vector<double> scales = n.numbers("scale");
  if (!offsets.empty()) {
    const Aligned both = n.align({x, of_features(n, x, "offset", std::move(offsets))});
    x = {both.operands[0] - both.operands[1], both.axes, Type::f32, 0};
  }
  if (!scales.empty()) {
    const Aligned both = n.align({x, of_features(n, x, "scale", std::move(scales))});
    x = {both.operands[0] * both.operands[1], both.axes, Type::f32, 0};
  }
  x.type = Type::f32;
  n.give(std::move(x));
}

void normalize_rows(NodeImport& n) {
  const std::string norm = n.text("norm", "MAX");
  const Expression x = rows_of_features(n, 0);
  require<DataError>(norm == "MAX" || norm == "L1" || norm == "L2",
                     "expected the norm MAX, L1 or L2; got '{}'", norm);
  const Expression size = norm == "MAX"  ? max(x, {-1}, true)
                          : norm == "L1" ? sum(abs(x), {-1}, true)
                                         : sqrt(sum(square(x), {-1}, true));
  n.give(as_rows(x / where(equal(size, 0), 1, size)));
}

void impute(NodeImport& n) {
  const Trace x = numbers_of(n, 0);
  const bool whole = n.has_attribute("imputed_value_int64s");
  std::vector<double> values = n.numbers("imputed_value_floats");
  double missing = n.number("replaced_value_float", 0);
  if (whole) {
    require<DataError>(values.empty(), "expected imputed values of one type");
    for (const std::int64_t value : n.integers("imputed_value_int64s")) {
      values.push_back(static_cast<double>(value));
    }
    missing = static_cast<double>(n.integer("replaced_value_int64", 0));
  }
  const Aligned both = n.align({x, of_features(n, x, "imputed", std::move(values))});
  const Expression& e = both.operands[0];
  const Expression is_missing = std::isnan(missing) ? not_equal(e, e) : equal(e, missing);
  n.give(Trace{where(is_missing, both.operands[1], e), both.axes, x.type, 0});
}

void binarize(NodeImport& n) {
  const Trace x = numbers_of(n, 0);
  n.give(Trace{x.e > n.number("threshold", 0), x.axes, x.type, 0});
}

void join_features(NodeImport& n) {
  std::vector<Expression> parts;
  const std::vector<std::int64_t> widths = n.integers("inputdimensions");
  require<DataError>(widths.empty() || widths.size() == n.inputs(),
                     "expected a dim for each of {} inputs; got {}", n.inputs(), widths.size());
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    parts.push_back(rows_of_features(n, i));
    require<DataError>(widths.empty() || parts.back().shape()[0] == widths[i],
                       "input {} has {} features; its inputdimensions say {}", i,
                       parts.back().shape()[0], widths[i]);
  }
  require<DataError>(!parts.empty(), "expected at least one input");
  n.give(as_rows(side_by_side(parts)));
}

/// Returns a value beside numbers along a further axis, the last.
Aligned beside(NodeImport& n, Trace x, std::string_view role, std::vector<double> values) {
  require<DataError>(!values.empty(), "expected at least one category");
  const double product =
      static_cast<double>(x.e.shape().elements()) * static_cast<double>(values.size());
  require<DataError>(product <= static_cast<double>(kMostComputed),
                     "{} categories of {} numbers are too many: expected at most 2^24 comparisons "
                     "a sample",
                     values.size(), x.e.shape().elements());
  x.axes.emplace_back();
  const Dims dims{std::ssize(values)};
  return n.align({std::move(x), made_constant(n, role, dims, std::move(values))});
}

/// Returns integers as numbers. Throws DataError for one that f32 does not hold.
std::vector<double> exact(const std::vector<std::int64_t>& integers) {
  std::vector<double> numbers;
  for (const std::int64_t i : integers) {
    numbers.push_back(static_cast<double>(i));
    require<DataError>(std::abs(numbers.back()) <= 0x1p24, "{} is too large: expected at most 2^24",
                       i);
  }
  return numbers;
}

void one_hot_encode(NodeImport& n) {
  require<DataError>(!n.has_attribute("cats_strings"),
                     "categories that are strings are not supported: a network takes numbers");
  Trace x = numbers_of(n, 0);
  n.ignore("zeros");  // an unknown category gives zeros
  if (is_float(x.type)) x.e = sign(x.e) * floor(abs(x.e));
  const Aligned both = beside(n, x, "categories", exact(n.integers("cats_int64s")));
  n.give(Trace{equal(both.operands[0], both.operands[1]), both.axes, Type::f32, 0});
}

/// Returns an attribute of numbers in one of its three forms: floats, integers, a tensor.
std::optional<std::vector<double>> numbers_in(NodeImport& n, const std::string& name) {
  if (n.has_attribute(name + "_floats")) return n.numbers(name + "_floats");
  if (n.has_attribute(name + "_int64s")) return exact(n.integers(name + "_int64s"));
  if (n.has_attribute(name + "_tensor")) {
    const Constant values(n.tensor(name + "_tensor"));
    require<DataError>(bytes_of(values.type()) > 0, "a tensor of {} is not supported for {}",
                       name_of(values.type()), name);
    return values.values();
  }
  return {};
}

void encode_labels(NodeImport& n) {
  const Trace x = numbers_of(n, 0);
  const std::optional<std::vector<double>> keys = numbers_in(n, "keys");
  require<DataError>(keys.has_value() && !n.has_attribute("keys_strings"),
                     "keys that are strings are not supported: a network takes numbers");
  const std::set<double> distinct(keys->begin(), keys->end());
  require<DataError>(distinct.size() == keys->size() &&
                         std::ranges::none_of(*keys, [](double key) { return std::isnan(key); }),
                     "expected keys that differ and are not NaN");
  const Aligned both = beside(n, x, "keys", *keys);
  const Expression hits = equal(both.operands[0], both.operands[1]);
  std::vector<Axis> axes = both.axes;
  axes.pop_back();
  const std::int64_t last = static_cast<std::int64_t>(hits.shape().rank()) - 1;
  for (const char* other : {"default_int64", "default_float", "default_string"}) n.ignore(other);
  if (n.has_attribute("values_strings")) {
    ClassLabels labels{n.texts("values_strings"), {}};
    require<DataError>(labels.texts.size() == keys->size(),
                       "expected a string for each of {} keys; got {}", keys->size(),
                       labels.texts.size());
    labels.texts.push_back(n.text("default_string", "_Unused"));
    return give_labels(n, labels, argmax(pad(hits, last, 0, 1, 0.5), last), 0, std::move(axes));
  }
  std::optional<std::vector<double>> values = numbers_in(n, "values");
  require<DataError>(values.has_value() && values->size() == keys->size(),
                     "expected a value for each of {} keys", keys->size());
  const bool whole = n.has_attribute("values_int64s");
  double otherwise =
      whole ? static_cast<double>(n.integer("default_int64", -1)) : n.number("default_float", -0.0);
  if (n.has_attribute("default_tensor")) {
    const Constant given(n.tensor("default_tensor"));
    require<DataError>(given.elements() == 1, "expected default_tensor to hold one number; got {}",
                       given.elements());
    otherwise = given.values().front();
  }
  const Dims dims{std::ssize(*values)};
  const Expression found =
      sum(where(hits, made_weight(n, "values", dims, std::move(*values)), 0), {last});
  n.give(Trace{where(max(hits, {last}), found, otherwise), std::move(axes),
               whole ? Type::i64 : Type::f32, 0});
}

/// Numbers of a table at places that are computed, all in one row.
void look_up_rows(NodeImport& n, const Constant& table, const Trace& places) {
  require<DataError>(!is_float(places.type) && !table.dims().empty() &&
                         table.dims().back() == table.elements() && table.elements() > 0,
                     "expected places in one row of numbers; got {} and {}", name_of(places.type),
                     text_of(table.dims()));
  const std::vector<double> values = table.values();
  for (const double value : values) {
    require<DataError>(is_float(table.type()) || std::abs(value) <= 0x1p24,
                       "{} is too large: expected whole numbers of at most 2^24", value);
  }
  const Trace ids = ids_of_numbers(places, table.elements());
  const Expression row = made_weight(n, "values", {table.elements(), 1}, values);
  const Trace y{reshape(gather(row, ids.e, 0), ids.e.shape()), ids.axes, table.type(), 0};
  std::int64_t all = 1;
  for (const std::int64_t dim : dims_of(y)) all *= dim;
  n.give(reshaped(y, {1, all}, kTemplateBatch));
}

/// Elements of the last axis at constant places, or of a constant at the places of each sample.
void extract(NodeImport& n) {
  if (const TensorProto* texts = n.network().find_texts(n.node().inputs.at(0))) {
    const Trace ids = n.trace(1);
    ClassLabels labels;
    for (const std::string_view text : texts->texts) labels.texts.push_back(escaped(text));
    require<DataError>(ids.e.dtype() == DType::i32 && ids.e.shape().elements() == 1 &&
                           batch_axis(ids) >= 0 && ids.below == labels.count(),
                       "expected the place of one of {} class labels for each sample",
                       labels.count());
    give_labels(n, labels, reshape(ids.e, Shape()), 0, {{}, {0}});
    return;
  }
  if (n.is_constant(0)) {
    const Constant& table = *n.constant(0);
    const Trace ids = n.trace(1);
    if (ids.e.dtype() != DType::i32) return look_up_rows(n, table, ids);
    require<DataError>(ids.e.shape().elements() == 1 && batch_axis(ids) >= 0 &&
                           ids.below == table.elements() && !table.dims().empty() &&
                           table.dims().back() == table.elements(),
                       "expected the place of one of {} numbers for each sample", table.elements());
    if (!is_float(table.type())) {
      give_labels(n, {{}, table.integers()}, reshape(ids.e, Shape()), 0, {{}, {0}});
      return;
    }
    const Expression values = made_weight(n, "values", {table.elements(), 1}, table.values());
    n.give(Trace{
        reshape(gather(values, reshape(ids.e, Shape()), 0), Shape()), {{}, {0}}, table.type(), 0});
    return;
  }
  Trace x = numbers_of(n, 0);
  require<DataError>(!x.axes.empty(), "expected at least one axis");
  n.give(taken(x, static_cast<int>(x.axes.size()) - 1, n.integers(1)));
}

void zip_map(NodeImport& n) {
  const ClassLabels labels{n.texts("classlabels_strings"), n.integers("classlabels_int64s")};
  const Trace x = n.trace(0);
  const Dims dims = dims_of(x);
  require<DataError>(!dims.empty() && dims.back() == labels.count(),
                     "expected a column for each of {} class labels; got {}", labels.count(),
                     text_of(dims));
  if (n.outputs() > 0) n.network().name_classes(n.node().outputs[0], labels.names(), false);
  n.give(x);
}

/// Returns x Wᵀ + b of attributes: coefficients and intercepts of `targets` rows.
Expression linear_scores(NodeImport& n, std::int64_t targets) {
  const Expression x = rows_of_features(n, 0);
  std::vector<double> coefficients = n.numbers("coefficients");
  std::vector<double> intercepts = n.numbers("intercepts");
  const std::int64_t features = x.shape()[0];
  require<DataError>(targets > 0 && targets <= kMostComputed &&
                         std::ssize(coefficients) % targets == 0 &&
                         std::ssize(coefficients) / targets == features,
                     "expected coefficients for {} targets of {} features; got {}", targets,
                     features, coefficients.size());
  require<DataError>(intercepts.empty() || std::ssize(intercepts) == targets,
                     "expected {} intercepts; got {}", targets, intercepts.size());
  const ConstantPtr w =
      made_constant(n, "weight", {targets, features}, std::move(coefficients), true);
  ConstantPtr b;
  if (!intercepts.empty()) b = made_constant(n, "bias", {targets}, std::move(intercepts), true);
  return arranged(dense(n, as_rows(x), w, 0, b), {1});
}

void classify(NodeImport& n) {
  const ClassLabels labels = class_labels(n, "classlabels_ints");
  n.ignore("multi_class");
  const std::string transform = n.text("post_transform", "NONE");
  const std::int64_t targets = std::ssize(n.numbers("intercepts"));
  require<DataError>(targets == labels.count() || (targets == 1 && labels.count() == 2),
                     "expected an intercept for each of {} classes; got {}", labels.count(),
                     targets);
  const Expression scores = linear_scores(n, targets);
  if (targets > 1) {
    give_labels(n, labels, argmax(scores), 0);
    give_scores(n, labels, after_transform(n, scores, transform), 1);
    return;
  }
  // One score of the second class, which no transform changes (onnxruntime 1.32).
  require<DataError>(transform == "NONE" && labels.count() == 2,
                     "post_transform '{}' of one intercept is not supported", transform);
  give_labels(n, labels, argmax(side_by_side({scores * 0, scores > 0})), 0);
  give_scores(n, labels, side_by_side({1 - scores, scores}), 1);
}

void regress(NodeImport& n) {
  const std::string transform = n.text("post_transform", "NONE");
  require<DataError>(transform == "NONE", "post_transform '{}' is not supported", transform);
  n.give(as_rows(linear_scores(n, n.integer("targets", 1))));
}

}  // namespace

void add_learned(Operators& all) {
  all["ai.onnx.ml.Scaler"] = {scale, {}};
  all["ai.onnx.ml.Normalizer"] = {normalize_rows, "rows of features"};
  all["ai.onnx.ml.Imputer"] = {impute, {}};
  all["ai.onnx.ml.Binarizer"] = {binarize, {}};
  all["ai.onnx.ml.FeatureVectorizer"] = {join_features, "rows of features"};
  all["ai.onnx.ml.OneHotEncoder"] = {one_hot_encode, "integer categories"};
  all["ai.onnx.ml.LabelEncoder"] = {encode_labels, "keys that are numbers"};
  all["ai.onnx.ml.ArrayFeatureExtractor"] = {
      extract, "constant places; of a constant, places of each sample"};
  all["ai.onnx.ml.ZipMap"] = {zip_map, "a column for each class"};
  all["ai.onnx.ml.LinearClassifier"] = {classify, "no PROBIT"};
  all["ai.onnx.ml.LinearRegressor"] = {regress, "post_transform NONE"};
}

}  // namespace linnet::onnx

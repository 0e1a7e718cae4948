// SPDX-License-Identifier: Apache-2.0
// Operators on constants: what files compute of shapes and settings, in double precision.
#include "onnx/fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "onnx/rules.h"

namespace linnet::onnx {

void give(NodeImport& n, Type type, Dims dims, std::vector<double> values, bool batch,
          std::size_t output) {
  auto c = std::make_shared<Constant>(type, std::move(dims), std::move(values));
  c->batch = batch;
  n.give(ConstantPtr(std::move(c)), output);
}

Dims common(const Dims& a, const Dims& b) {
  Dims dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto at = [&](const Dims& d) {
      return i + d.size() < dims.size() ? 1 : d[i + d.size() - dims.size()];
    };
    require<DataError>(at(a) == at(b) || at(a) == 1 || at(b) == 1,
                       "expected operands whose shapes broadcast; got {} and {}", text_of(a),
                       text_of(b));
    dims[i] = at(a) == 1 ? at(b) : at(a);
  }
  require<DataError>(elements_of(dims) <= kMostComputed, "a constant of {} is too large",
                     text_of(dims));
  return dims;
}

std::vector<double> broadcast(const std::vector<double>& values, const Dims& from, const Dims& to) {
  std::vector<double> out(static_cast<std::size_t>(elements_of(to)));
  Dims at(to.size(), 0);
  std::vector<std::int64_t> step(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    step[i + to.size() - from.size()] = from[i] == 1 ? 0 : stride;
    stride *= from[i];
  }
  std::int64_t place = 0;
  for (double& value : out) {
    value = values[static_cast<std::size_t>(place)];
    for (std::size_t i = to.size(); i-- > 0;) {
      place += step[i];
      if (++at[i] < to[i]) break;
      place -= step[i] * to[i];
      at[i] = 0;
    }
  }
  return out;
}

bool is_of_batch(double x) {
  return x != 0 && std::fmod(x, static_cast<double>(kTemplateBatch)) == 0;
}

std::vector<std::int64_t> fold_axes(NodeImport& n, std::int64_t input_from) {
  if (n.opset() < input_from) return n.integers("axes");
  return n.has(1) ? n.integers(1) : std::vector<std::int64_t>{};
}

namespace {

template <class F>
std::function<void(NodeImport&)> two(F f, bool compares = false) {
  return [f, compares](NodeImport& n) {
    const Constant& a = *n.constant(0);
    const Constant& b = *n.constant(1);
    const Dims dims = common(a.dims(), b.dims());
    std::vector<double> x = broadcast(a.values(), a.dims(), dims);
    const std::vector<double> y = broadcast(b.values(), b.dims(), dims);
    const bool whole = !is_float(a.type());
    // The batch is some number above 1; no other comparison with it is known.
    for (std::size_t i = 0; compares && (a.batch || b.batch) && i < x.size(); ++i) {
      const bool of_batch = a.batch && is_of_batch(x[i]);
      const bool with_batch = b.batch && is_of_batch(y[i]);
      require<DataError>(of_batch == with_batch || (of_batch ? y[i] : x[i]) <= 0,
                         "would compare the batch size with a number");
    }
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = f(x[i], y[i], whole);
    give(n, compares ? Type::boolean : a.type(), dims, std::move(x),
         !compares && (a.batch || b.batch));
  };
}

template <class F>
std::function<void(NodeImport&)> each(F f) {
  return [f](NodeImport& n) {
    const Constant& c = *n.constant(0);
    require<DataError>(!c.batch, "is not supported on the batch size");
    std::vector<double> values = c.values();
    for (double& x : values) x = f(x);
    give(n, c.type(), c.dims(), std::move(values));
  };
}

void cast(NodeImport& n) {
  n.ignore("saturate");
  n.ignore("round_mode");
  const ConstantPtr& c = n.constant(0);
  const Type to = n.op() == "CastLike" ? n.input(1).type() : static_cast<Type>(n.integer("to", 0));
  require<DataError>(bytes_of(to) > 0, "a cast to {} is not supported", name_of(to));
  if (is_float(c->type()) && is_float(to)) {
    n.give(c);  // a weight stays one, in f32
    return;
  }
  auto other = std::make_shared<Constant>(to, c->dims(), c->values());
  other->batch = c->batch;
  n.give(ConstantPtr(std::move(other)));
}

void where(NodeImport& n) {
  const Constant& a = *n.constant(1);
  const Constant& b = *n.constant(2);
  require<DataError>(!n.constant(0)->batch, "its condition depends on the batch size");
  const Dims dims = common(common(n.constant(0)->dims(), a.dims()), b.dims());
  const std::vector<double> condition =
      broadcast(n.constant(0)->values(), n.constant(0)->dims(), dims);
  std::vector<double> x = broadcast(a.values(), a.dims(), dims);
  const std::vector<double> y = broadcast(b.values(), b.dims(), dims);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = condition[i] != 0 ? x[i] : y[i];
  give(n, a.type(), dims, std::move(x), a.batch || b.batch);
}

/// As weights are standardised: of a training, by the mean and variance of each channel (axis 1).
void normalised(NodeImport& n) {
  for (const char* name : {"momentum", "is_test"}) n.ignore(name);
  require<DataError>(n.integer("spatial", 1) == 1, "spatial = 0 is not supported");
  const bool training = n.flag("training_mode", false);
  const double epsilon = n.number("epsilon", 1e-5);
  const Constant& c = *n.constant(0);
  const Dims& dims = c.dims();
  require<DataError>(!c.batch && dims.size() >= 2 && c.elements() > 0,
                     "expected channels as the second axis of {}", text_of(dims));
  const auto channels = static_cast<std::size_t>(dims[1]);
  std::array<std::vector<double>, 4> of;  // scale, bias, mean, variance
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i] = n.constant(i + 1)->values();
    require<DataError>(of[i].size() == channels, "expected {} numbers for input {}; got {}",
                       channels, i + 1, of[i].size());
  }
  std::vector<double> x = c.values();
  const std::size_t inner = x.size() / static_cast<std::size_t>(dims[0]) / channels;
  const auto channel = [&](std::size_t i) { return i / inner % channels; };
  const double count = static_cast<double>(x.size() / channels);
  if (training) {
    of[2].assign(channels, 0);
    of[3].assign(channels, 0);
    for (std::size_t i = 0; i < x.size(); ++i) of[2][channel(i)] += x[i] / count;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = x[i] - of[2][channel(i)];
      of[3][channel(i)] += off * off / count;
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = channel(i);
    x[i] = (x[i] - of[2][k]) / std::sqrt(of[3][k] + epsilon) * of[0][k] + of[1][k];
  }
  give(n, c.type(), dims, std::move(x), false);
}

template <class F>
std::function<void(NodeImport&)> reduce(F f, double start, std::int64_t input_from) {
  return [=](NodeImport& n) {
    const Constant& c = *n.constant(0);
    const std::vector<std::int64_t> axes = fold_axes(n, input_from);
    const bool keep_dims = n.integer("keepdims", 1) != 0;
    require<DataError>(n.integer("noop_with_empty_axes", 0) == 0 || !axes.empty(),
                       "noop_with_empty_axes without axes is not supported");
    std::vector<bool> reduced(c.dims().size(), axes.empty());
    for (const std::int64_t axis : axes) {
      reduced[static_cast<std::size_t>(n.axis(axis, c.dims().size()))] = true;
    }
    Dims kept = c.dims();
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = reduced[i] ? 1 : kept[i];
    std::vector<double> out(static_cast<std::size_t>(elements_of(kept)), start);
    std::vector<double> places(out.size());
    std::iota(places.begin(), places.end(), 0.0);
    places = broadcast(places, kept, c.dims());
    const std::vector<double> values = c.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      double& to = out[static_cast<std::size_t>(places[i])];
      to = f(to, values[i]);
    }
    Dims dims;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (!reduced[i] || keep_dims) dims.push_back(kept[i]);
    }
    give(n, c.type(), dims, std::move(out), c.batch);
  };
}

const Folds& folds() {
  static const Folds kAll = [] {
    Folds f;
    f["Add"] = two([](double a, double b, bool) { return a + b; });
    f["Sub"] = two([](double a, double b, bool) { return a - b; });
    f["Mul"] = two([](double a, double b, bool) { return a * b; });
    f["Div"] = two([](double a, double b, bool whole) {
      require<DataError>(!whole || b != 0, "divides by 0");
      return whole ? std::trunc(a / b) : a / b;
    });
    f["Mod"] = [](NodeImport& n) {
      const bool sign_of_a = n.flag("fmod", false);
      two([sign_of_a](double a, double b, bool) {
        require<DataError>(b != 0, "divides by 0");
        const double rest = std::fmod(a, b);
        return !sign_of_a && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
      })(n);
    };
    f["Pow"] = two([](double a, double b, bool) { return std::pow(a, b); });
    f["Max"] = two([](double a, double b, bool) { return std::max(a, b); });
    f["Min"] = two([](double a, double b, bool) { return std::min(a, b); });
    f["Equal"] = two([](double a, double b, bool) { return a == b ? 1.0 : 0.0; }, true);
    f["Less"] = two([](double a, double b, bool) { return a < b ? 1.0 : 0.0; }, true);
    f["LessOrEqual"] = two([](double a, double b, bool) { return a <= b ? 1.0 : 0.0; }, true);
    f["Greater"] = two([](double a, double b, bool) { return a > b ? 1.0 : 0.0; }, true);
    f["GreaterOrEqual"] = two([](double a, double b, bool) { return a >= b ? 1.0 : 0.0; }, true);
    f["And"] = two([](double a, double b, bool) { return a != 0 && b != 0 ? 1.0 : 0.0; });
    f["Or"] = two([](double a, double b, bool) { return a != 0 || b != 0 ? 1.0 : 0.0; });
    f["Not"] = each([](double x) { return x == 0 ? 1.0 : 0.0; });
    f["Neg"] = each([](double x) { return -x; });
    f["Abs"] = each([](double x) { return std::abs(x); });
    f["Floor"] = each([](double x) { return std::floor(x); });
    f["Ceil"] = each([](double x) { return std::ceil(x); });
    f["Sqrt"] = each([](double x) { return std::sqrt(x); });
    f["Exp"] = each([](double x) { return std::exp(x); });
    f["Log"] = each([](double x) { return std::log(x); });
    f["Reciprocal"] = each([](double x) { return 1 / x; });
    f["Sin"] = each([](double x) { return std::sin(x); });
    f["Cos"] = each([](double x) { return std::cos(x); });
    f["Identity"] = [](NodeImport& n) { n.give(n.constant(0)); };
    f["Dropout"] = [](NodeImport& n) {
      for (const char* name : {"ratio", "seed", "is_test"}) n.ignore(name);
      n.give(n.constant(0));
    };
    f["Cast"] = cast;
    f["CastLike"] = cast;
    add_shape_folds(f);
    add_quantized_folds(f);
    f["Where"] = where;
    f["BatchNormalization"] = normalised;
    f["ReduceProd"] = reduce([](double a, double b) { return a * b; }, 1, 18);
    f["ReduceSum"] = reduce([](double a, double b) { return a + b; }, 0, 13);
    f["ReduceMax"] = reduce([](double a, double b) { return std::max(a, b); },
                            -std::numeric_limits<double>::infinity(), 18);
    f["ReduceMin"] = reduce([](double a, double b) { return std::min(a, b); },
                            std::numeric_limits<double>::infinity(), 18);
    return f;
  }();
  return kAll;
}

}  // namespace

void fold(NodeImport& n) {
  const auto found = folds().find(n.op());
  if (repeats_for_samples(n)) {
    repeat_for_samples(n);
  } else if ((n.op() == "MatMul" || n.op() == "Gemm") && is_of_samples(n)) {
    rules().import_of(n.node())->import(n);  // of weights that train
  } else if (found == folds().end()) {
    n.network().compute(n.node(), axis_of_computed(n));
    for (const Attribute& read : n.node().attributes) n.ignore(read.name);
  } else if (is_of_samples(n)) {
    fold_samples(n, found->second);
  } else {
    found->second(n);
  }
}

}  // namespace linnet::onnx

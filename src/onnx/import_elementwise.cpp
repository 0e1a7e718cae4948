// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "onnx/node_import.h"
#include "onnx/whole_numbers.h"

namespace linnet::onnx {
namespace {

using Unary = std::function<Expression(const Expression&)>;
using Binary = std::function<Expression(const Expression&, const Expression&)>;
using WithNumber = std::function<Expression(const Expression&, double)>;
using NumberWith = std::function<Expression(double, const Expression&)>;

constexpr double kLargest = 3.4028234663852886e38;  // the largest float

/// Returns a function of one operand.
Operator unary(Unary f) {
  return {[f](NodeImport& n) {
            const Trace x = n.floats(0);
            n.give(n.as(x, f(x.e)));
          },
          {}};
}

/// A function of two operands, as it is written for expressions and numbers.
struct TwoOperands {
  Binary both;
  WithNumber right;  ///< a number on the right; null: it is an expression too
  NumberWith left;
};

/// Returns whether a constant is a single number, which needs no weight.
bool is_number(const FileValue& v) {
  return v.constant && v.constant->elements() == 1 && !v.constant->batch && !v.constant->growth &&
         std::isfinite(v.constant->values().front());
}

/// Returns the axes of a value with axes of 1 before them.
std::vector<Axis> padded(std::vector<Axis> axes, std::size_t rank) {
  if (rank > axes.size()) axes.insert(axes.begin(), rank - axes.size(), Axis{});
  return axes;
}

/// Before opset 7 the second operand has the axes from one on, where `axis` says which.
FileValue from_axis(NodeImport& n, FileValue v, std::size_t rank) {
  if (n.opset() >= 7 || !n.has_attribute("broadcast")) return v;
  const bool repeated = n.flag("broadcast", false);
  const std::int64_t axis = n.integer("axis", -1);
  const std::size_t own = v.dims().size();
  if (!repeated || axis < 0 || own == 0) return v;
  require<DataError>(axis + own <= rank, "{} axes from axis {} on do not fit {}", own, axis, rank);
  const std::size_t after = rank - own - static_cast<std::size_t>(axis);
  if (v.trace) {
    v.trace->axes.insert(v.trace->axes.end(), after, Axis{});
  } else {
    Dims dims = v.constant->dims();
    dims.insert(dims.end(), after, 1);
    v.constant = reshaped(*v.constant, std::move(dims));
  }
  return v;
}

Trace combined(NodeImport& n, const FileValue& first, const FileValue& later, const TwoOperands& f,
               Type type) {
  const FileValue second = from_axis(n, later, first.dims().size());
  require<DataError>(first.type() != Type::string && second.type() != Type::string,
                     "expected numbers; got class labels that are strings");
  const FileValue a = n.with_numbers(first);
  const FileValue b = n.with_numbers(second);
  if (f.right && is_number(b) && a.trace) {
    return {f.right(n.scoped(a.trace->e), b.constant->values().front()),
            padded(a.trace->axes, b.dims().size()), type};
  }
  if (f.left && is_number(a) && b.trace) {
    return {f.left(a.constant->values().front(), n.scoped(b.trace->e)),
            padded(b.trace->axes, a.dims().size()), type};
  }
  const Aligned both = n.align({a, b});
  return {f.both(both.operands[0], both.operands[1]), both.axes, type};
}

/// Requires that not both operands are constants.
void put_traces_first(std::vector<FileValue>& all) {
  std::stable_partition(all.begin(), all.end(),
                        [](const FileValue& v) { return v.trace.has_value(); });
}

/// Drops single numbers that change nothing, such as -infinity of Max.
void drop_neutral(std::vector<FileValue>& all, double neutral) {
  if (!all.at(0).trace) return;
  const std::size_t rank = all[0].dims().size();
  std::erase_if(all, [&](const FileValue& v) {
    return v.constant && v.constant->elements() == 1 && v.dims().size() <= rank &&
           v.constant->values().front() == neutral;
  });
}

/// What an arithmetic operator takes.
struct ArithmeticOperands {
  bool many = false;   ///< any number of operands
  bool masks = false;  ///< constants with infinities that a softmax or the like reads
  bool picks = false;  ///< whether the result is one of them, so that it has their range
  bool multiplies = false;
  double neutral = NAN;  ///< the number that changes no result; NaN: none
};

Operator arithmetic(TwoOperands f, ArithmeticOperands takes = {}) {
  return {[f, takes](NodeImport& n) {
            std::vector<FileValue> all = n.all();
            require<DataError>(takes.many || all.size() == 2, "expected 2 inputs; got {}",
                               all.size());
            for (FileValue& v : all) v = takes.masks ? finite(n, v) : v;
            if (takes.many) put_traces_first(all);
            drop_neutral(all, takes.neutral);
            FileValue sum = all.at(0);
            for (std::size_t i = 1; i < all.size(); ++i) {
              const Type type = sum.type();
              require_numbers(n, type);
              const bool halves = takes.multiplies && bytes_of(type) == 2 && !is_float(type);
              const TwoOperands of_16_bits{product_of_16_bits, {}, {}};
              Trace next = combined(n, sum, all[i], halves ? of_16_bits : f, type);
              if (!takes.picks) next.e = wrapped(next.e, type);
              sum = std::move(next);
            }
            n.give(sum);
          },
          {}};
}

Operator comparison(TwoOperands f) {
  return {[f](NodeImport& n) { n.give(combined(n, n.input(0), n.input(1), f, Type::boolean)); },
          {}};
}

template <class F>
TwoOperands generic(F f) {
  return {[f](const Expression& a, const Expression& b) { return f(a, b); },
          [f](const Expression& a, double b) { return f(a, b); },
          [f](double a, const Expression& b) { return f(a, b); }};
}

Expression divided(const Expression& a, const Expression& b) { return a / b; }
Expression divided(const Expression& a, double b) { return a * (1 / b); }
Expression divided(double a, const Expression& b) { return a / b; }

void divide(NodeImport& n) {
  const Type type = n.input(0).type();
  require_numbers(n, type);
  TwoOperands f = generic([](const auto& a, const auto& b) { return divided(a, b); });
  if (!is_float(type)) f = {whole_quotient, {}, {}};
  Trace y = combined(n, n.input(0), n.input(1), f, type);
  y.e = wrapped(y.e, type);
  n.give(std::move(y));
}

Expression powered(const Expression& x, double exponent) {
  if (exponent == 2) return square(x);
  if (exponent == 0.5) return sqrt(x);
  if (exponent == -0.5) return rsqrt(x);
  if (exponent == -1) return reciprocal(x);
  return pow(x, exponent);
}

void power(NodeImport& n) {
  n.ignore("broadcast");  // before opset 7
  n.ignore("axis");
  const Type type = n.input(0).type();
  require_arithmetic(n, type);
  require_numbers(n, n.input(1).type());
  const TwoOperands f{power_of, powered, {}};
  Trace y = combined(n, n.input(0), n.input(1), f, type);
  if (!is_float(type)) y.e = whole_power(y.e);
  n.give(std::move(y));
}

/// What is left of a division, with the sign of b or, with fmod, of a.
void rest(NodeImport& n) {
  const Type type = n.input(0).type();
  require_numbers(n, type);
  const bool of_a = n.flag("fmod", false);
  require<DataError>(!is_float(type) || of_a,
                     "of {} without fmod is not supported: expected whole numbers", name_of(type));
  TwoOperands f;
  if (is_float(type)) {
    f = generic([](const auto& a, const auto& b) { return a - b * towards_zero(a / b); });
  } else {
    f.both = [of_a](const Expression& a, const Expression& b) {
      return a - b * (of_a ? whole_quotient(a, b) : floor(ratio_of_whole(a, b)));
    };
  }
  n.give(combined(n, n.input(0), n.input(1), f, type));
}

/// Bounds that clip() leaves out.
double bound(NodeImport& n, std::size_t i, const char* attribute, double none) {
  if (n.opset() < 11) return n.number(attribute, none);
  return n.has(i) ? n.scalar(i) : none;
}

void clip_to(NodeImport& n) {
  const Trace x = n.trace(0);
  require_numbers(n, x.type);
  const double low = bound(n, 1, "min", -kLargest);
  const double high = bound(n, 2, "max", kLargest);
  const bool has_low = low > -kLargest;
  const bool has_high = high < kLargest;
  Expression y = x.e;
  if (has_low && has_high) {
    // As ONNX defines it where the bounds cross.
    y = low <= high ? clip(x.e, low, high) : clip(x.e, high, high);
  } else if (has_low) {
    y = low == 0 ? relu(x.e) : maximum(x.e, low);
  } else if (has_high) {
    y = minimum(x.e, high);
  }
  n.give(n.as(x, y));
}

void cast(NodeImport& n) {
  if (n.input(0).constant) {  // CastLike of a value
    fold(n);
    return;
  }
  n.ignore("saturate");
  n.ignore("round_mode");
  const Type to = n.op() == "CastLike" ? n.input(1).type() : static_cast<Type>(n.integer("to", 0));
  Trace x = n.trace(0);
  if (to == Type::string && x.type == Type::string) return n.give(std::move(x));
  require<DataError>(bytes_of(to) > 0 && x.type != Type::string,
                     "a cast from {} to {} is not supported", name_of(x.type), name_of(to));
  if (x.e.dtype() == DType::i32 && (is_float(to) || to == Type::boolean)) {
    x = *n.with_numbers(n.input(0)).trace;
  }
  if (x.e.dtype() == DType::i32) {
    // ids stay ids
  } else if (to == Type::boolean && x.type != Type::boolean) {
    x.e = not_equal(x.e, 0);
  } else if (!is_float(to)) {
    x.e = whole_cast(x.e, x.type, to);
  }
  x.type = to;
  n.give(std::move(x));
}

void select(NodeImport& n) {
  const FileValue a = finite(n, n.input(1));
  const FileValue b = finite(n, n.input(2));
  const Type type = a.type();
  std::vector<Axis> axes;
  if (n.input(0).trace && is_number(a) && b.trace && b.trace->e.dtype() == DType::f32) {
    const Aligned both = n.align({n.input(0), b});
    n.give(Trace{where(both.operands[0], a.constant->values().front(), both.operands[1]),
                 padded(both.axes, a.dims().size()), type});
    return;
  }
  if (n.input(0).trace && is_number(b) && a.trace && a.trace->e.dtype() == DType::f32) {
    const Aligned both = n.align({n.input(0), a});
    n.give(Trace{where(both.operands[0], both.operands[1], b.constant->values().front()),
                 padded(both.axes, b.dims().size()), type});
    return;
  }
  for (const std::size_t i : {1, 2}) {
    require<DataError>(!n.input(i).trace || n.input(i).trace->e.dtype() == DType::f32,
                       "expected numbers; got ids");
  }
  const Aligned all = n.align({n.input(0), a, b});
  n.give(Trace{where(all.operands[0], all.operands[1], all.operands[2]), all.axes, type});
}

void prelu(NodeImport& n) {
  const Trace x = n.floats(0);
  if (is_number(n.input(1))) {
    n.give(n.as(x, leaky_relu(x.e, n.scalar(1))));
    return;
  }
  FileValue slope = n.input(1);
  if (n.opset() < 7 && slope.constant && slope.dims().size() == 1) {  // of channels
    Dims dims(x.axes.size() - 1, 1);
    if (!dims.empty()) dims[0] = slope.dims()[0];
    slope.constant = reshaped(*slope.constant, dims);
  }
  const Aligned both = n.align({n.input(0), slope});
  const Expression& e = both.operands[0];
  n.give(Trace{relu(e) - both.operands[1] * relu(-e), both.axes, x.type});
}

void same(NodeImport& n) { n.give(n.input(0)); }

/// Drops in a training again.
void drop(NodeImport& n) {
  double rate = n.opset() < 12 ? n.number("ratio", 0.5) : n.has(1) ? n.scalar(1) : 0.5;
  n.ignore("seed");
  n.ignore("is_test");
  require<DataError>(!n.has(2) || (n.is_constant(2) && n.scalar(2) == 0),
                     "dropout in training mode is not supported");
  if (n.input(0).constant || !(rate > 0 && rate < 1)) {
    n.give(n.input(0));
    return;
  }
  const Trace x = n.floats(0);
  n.give(n.as(x, dropout(x.e, rate)));
}

}  // namespace

FileValue finite(NodeImport& n, const FileValue& v, bool guarded) {
  if (!v.constant || !is_float(v.type()) || v.constant->elements() > kMostComputed) return v;
  std::vector<double> values = v.constant->values();
  bool any = false;
  for (double& x : values) {
    any = any || std::isinf(x);
    if (std::isinf(x)) x = x > 0 ? kLargest : -kLargest;
  }
  if (!any) return v;
  static constexpr std::array<std::string_view, 3> kGuards = {"Softmax", "ArgMax", "ArgMin"};
  const std::string_view result = n.node().outputs.empty() ? "" : n.node().outputs[0];
  require<DataError>(guarded || n.network().goes_through(result, kGuards),
                     "'{}' holds infinities, which are supported before Softmax, ArgMax and ArgMin "
                     "alone",
                     v.constant->name);
  if (!guarded) n.network().masks_rows();
  auto c = std::make_shared<Constant>(v.type(), v.constant->dims(), std::move(values));
  c->name = v.constant->name + ".finite";
  return ConstantPtr(std::move(c));
}

void add_elementwise(Operators& all) {
  const auto plus = generic([](const auto& a, const auto& b) { return a + b; });
  const auto minus = generic([](const auto& a, const auto& b) { return a - b; });
  const auto times = generic([](const auto& a, const auto& b) { return a * b; });
  TwoOperands largest;
  largest.both = [](const Expression& a, const Expression& b) { return maximum(a, b); };
  largest.right = [](const Expression& a, double b) { return maximum(a, b); };
  largest.left = [](double a, const Expression& b) { return maximum(b, a); };
  TwoOperands smallest;
  smallest.both = [](const Expression& a, const Expression& b) { return minimum(a, b); };
  smallest.right = [](const Expression& a, double b) { return minimum(a, b); };
  smallest.left = [](double a, const Expression& b) { return minimum(b, a); };
  all["Add"] = arithmetic(plus, {.masks = true});
  all["Sub"] = arithmetic(minus);
  all["Mul"] = arithmetic(times, {.multiplies = true});
  all["Div"] = {divide, {}};
  all["Sum"] = arithmetic(plus, {.many = true});
  all["Max"] = arithmetic(largest, {.many = true, .picks = true, .neutral = -HUGE_VAL});
  all["Min"] = arithmetic(smallest, {.many = true, .picks = true, .neutral = HUGE_VAL});
  all["Pow"] = {power, {}};

  TwoOperands f;
  f.both = [](const Expression& a, const Expression& b) { return a < b; };
  f.right = [](const Expression& a, double b) { return a < b; };
  f.left = [](double a, const Expression& b) { return b > a; };
  all["Less"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return a > b; };
  f.right = [](const Expression& a, double b) { return a > b; };
  f.left = [](double a, const Expression& b) { return b < a; };
  all["Greater"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return a <= b; };
  f.right = [](const Expression& a, double b) { return a <= b; };
  f.left = [](double a, const Expression& b) { return b >= a; };
  all["LessOrEqual"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return a >= b; };
  f.right = [](const Expression& a, double b) { return a >= b; };
  f.left = [](double a, const Expression& b) { return b <= a; };
  all["GreaterOrEqual"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return equal(a, b); };
  f.right = [](const Expression& a, double b) { return equal(a, b); };
  f.left = [](double a, const Expression& b) { return equal(b, a); };
  all["Equal"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return logical_and(a, b); };
  f.right = [](const Expression& a, double b) { return not_equal(a, 0) * (b != 0 ? 1 : 0); };
  f.left = [](double a, const Expression& b) { return not_equal(b, 0) * (a != 0 ? 1 : 0); };
  all["And"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) { return logical_or(a, b); };
  f.right = [](const Expression& a, double b) { return maximum(not_equal(a, 0), b != 0 ? 1 : 0); };
  f.left = [](double a, const Expression& b) { return maximum(not_equal(b, 0), a != 0 ? 1 : 0); };
  all["Or"] = comparison(f);
  f.both = [](const Expression& a, const Expression& b) {
    return not_equal(not_equal(a, 0), not_equal(b, 0));
  };
  f.right = [](const Expression& a, double b) {
    return not_equal(not_equal(a, 0), b != 0 ? 1 : 0);
  };
  f.left = [](double a, const Expression& b) { return not_equal(not_equal(b, 0), a != 0 ? 1 : 0); };
  all["Xor"] = comparison(f);

  all["Relu"] = unary([](const Expression& x) { return relu(x); });
  all["Tanh"] = unary([](const Expression& x) { return tanh(x); });
  all["Sigmoid"] = unary([](const Expression& x) { return sigmoid(x); });
  all["Selu"] = {[](NodeImport& n) {
                   const Trace x = n.floats(0);
                   const double alpha = n.number("alpha", 1.67326319217681884765625);
                   const double gamma = n.number("gamma", 1.05070102214813232421875);
                   const bool usual =
                       std::abs(alpha - 1.6732632) < 1e-6 && std::abs(gamma - 1.0507010) < 1e-6;
                   n.give(n.as(x, usual ? selu(x.e) : elu(x.e, alpha) * gamma));
                 },
                 {}};
  all["Elu"] = {[](NodeImport& n) {
                  const Trace x = n.floats(0);
                  n.give(n.as(x, elu(x.e, n.number("alpha", 1))));
                },
                {}};
  all["Celu"] = {[](NodeImport& n) {
                   const Trace x = n.floats(0);
                   const double alpha = n.number("alpha", 1);
                   n.give(n.as(x, elu(x.e * (1 / alpha), 1) * alpha));
                 },
                 {}};
  all["LeakyRelu"] = {[](NodeImport& n) {
                        const Trace x = n.floats(0);
                        n.give(n.as(x, leaky_relu(x.e, n.number("alpha", 0.01))));
                      },
                      {}};
  all["ThresholdedRelu"] = {[](NodeImport& n) {
                              const Trace x = n.floats(0);
                              n.give(n.as(x, where(x.e > n.number("alpha", 1), x.e, 0)));
                            },
                            {}};
  all["HardSigmoid"] = {[](NodeImport& n) {
                          const Trace x = n.floats(0);
                          const double alpha = n.number("alpha", 0.2);
                          n.give(n.as(x, clip(x.e * alpha + n.number("beta", 0.5), 0, 1)));
                        },
                        {}};
  all["HardSwish"] = unary([](const Expression& x) { return hard_swish(x); });
  all["Softplus"] = unary([](const Expression& x) { return softplus(x); });
  all["Softsign"] = unary([](const Expression& x) { return x / (1 + abs(x)); });
  all["Mish"] = unary([](const Expression& x) { return x * tanh(softplus(x)); });
  all["Swish"] = {[](NodeImport& n) {
                    const Trace x = n.floats(0);
                    const double alpha = n.number("alpha", 1);
                    n.give(n.as(x, alpha == 1 ? silu(x.e) : x.e * sigmoid(x.e * alpha)));
                  },
                  {}};
  all["SwiGLU"] = {[](NodeImport& n) {
                     const Trace a = n.floats(0);
                     const double alpha = n.number("alpha", 1);
                     Trace gate = n.as(a, alpha == 1 ? silu(a.e) : a.e * sigmoid(a.e * alpha));
                     const Aligned both = n.align({std::move(gate), n.floats(1)});
                     n.give(Trace{both.operands[0] * both.operands[1], both.axes, a.type});
                   },
                   {}};
  all["Gelu"] = {[](NodeImport& n) {
                   const Trace x = n.floats(0);
                   const std::string form = n.text("approximate", "none");
                   require<DataError>(form == "none" || form == "tanh",
                                      "approximate '{}' is not supported", form);
                   n.give(n.as(x, gelu(x.e, form == "tanh")));
                 },
                 {}};
  all["Shrink"] = {[](NodeImport& n) {
                     const Trace x = n.floats(0);
                     const double bias = n.number("bias", 0);
                     const double lambda = n.number("lambd", 0.5);
                     n.give(n.as(x, where(x.e < -lambda, x.e + bias,
                                          where(x.e > lambda, x.e - bias, 0))));
                   },
                   {}};
  all["Exp"] = unary([](const Expression& x) { return exp(x); });
  all["Log"] = unary([](const Expression& x) { return log(x); });
  all["Sqrt"] = unary([](const Expression& x) { return sqrt(x); });
  all["Reciprocal"] = unary([](const Expression& x) { return reciprocal(x); });
  all["Erf"] = unary([](const Expression& x) { return erf(x); });
  all["Sin"] = unary([](const Expression& x) { return sin(x); });
  all["Cos"] = unary([](const Expression& x) { return cos(x); });
  all["Tan"] = unary([](const Expression& x) { return sin(x) / cos(x); });
  all["Sinh"] = unary([](const Expression& x) { return (expm1(x) - expm1(-x)) * 0.5; });
  all["Cosh"] = unary([](const Expression& x) { return (exp(x) + exp(-x)) * 0.5; });
  all["Mod"] = {rest, "of whole numbers and, with fmod, of floats whose ratio is below 2^24"};
  all["Floor"] = unary([](const Expression& x) { return floor(x); });
  all["Ceil"] = unary([](const Expression& x) { return ceil(x); });
  all["Round"] = unary([](const Expression& x) { return round(x); });
  const auto of_numbers = [](Unary f) {
    return Operator{[f](NodeImport& n) {
                      const Trace x = n.trace(0);
                      require_numbers(n, x.type);
                      n.give(n.as(x, wrapped(f(x.e), x.type)));
                    },
                    {}};
  };
  all["Abs"] = of_numbers([](const Expression& x) { return abs(x); });
  all["Neg"] = of_numbers([](const Expression& x) { return -x; });
  all["Sign"] = of_numbers([](const Expression& x) { return sign(x); });
  all["Not"] = {[](NodeImport& n) {
                  const Trace x = n.trace(0);
                  n.give(n.as(x, logical_not(x.e)));
                },
                {}};
  all["IsNaN"] = {
      [](NodeImport& n) {
        const Trace x = n.floats(0);
        const Trace nan{not_equal(x.e, x.e), x.axes, Type::boolean};
        if (!n.network().has_masked_rows()) return n.give(nan);
        const Aligned both = n.align({nan, masked_rows(n)});
        n.give(Trace{maximum(both.operands[0], both.operands[1]), both.axes, Type::boolean});
      },
      {}};
  all["IsInf"] = {[](NodeImport& n) {
                    const Trace x = n.floats(0);
                    const bool positive = n.flag("detect_positive", true);
                    const bool negative = n.flag("detect_negative", true);
                    const Expression above = x.e > kLargest;
                    const Expression below = x.e < -kLargest;
                    const Expression y = positive && negative ? maximum(above, below)
                                         : positive           ? above
                                         : negative           ? below
                                                              : above * 0;
                    n.give(Trace{y, x.axes, Type::boolean});
                  },
                  {}};
  all["Clip"] = {clip_to, "constant bounds"};
  all["PRelu"] = {prelu, {}};
  all["Where"] = {select, {}};
  all["Cast"] = {cast, "between numbers and BOOL; ids stay ids"};
  all["CastLike"] = {cast, "as Cast"};
  all["Identity"] = {same, {}};
  all["Dropout"] = {drop, "inference mode; a training drops again"};
  all["Mean"] = {[plus](NodeImport& n) {
                   std::vector<FileValue> values = n.all();
                   put_traces_first(values);
                   FileValue sum = values.at(0);
                   for (std::size_t i = 1; i < values.size(); ++i) {
                     sum = combined(n, sum, values[i], plus, sum.type());
                   }
                   sum.trace->e = sum.trace->e * (1.0 / static_cast<double>(values.size()));
                   n.give(sum);
                 },
                 {}};
}

}  // namespace linnet::onnx

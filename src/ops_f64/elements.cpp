// SPDX-License-Identifier: Apache-2.0
#include "ops_f64/elements.h"

#include <algorithm>
#include <optional>

#include "graph/add.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"
#include "ops/bias_add/bias_add.h"
#include "ops/unary/unary.h"
#include "ops_f64/reference_kernels.h"

namespace linnet::cpu {
namespace {

constexpr double kCheap = 1;  // nanoseconds of an element
constexpr double kExpensive = 5;

std::optional<Kernel> mapped(const NodeView& node, Map f) {
  return one_stage(node.out(kFirst).elements(), kExpensive, [f](const Args& args, Range range) {
    map_elements(f, args.in<double>(kFirst) + range.begin, range.size(),
                 args.out<double>(kFirst) + range.begin);
  });
}

/// Returns the kernel of two operands that have one shape.
std::optional<Kernel> joined(const NodeView& node, Join f) {
  return one_stage(node.out(kFirst).elements(), kCheap, [f](const Args& args, Range range) {
    join_elements(f, args.in<double>(kFirst) + range.begin, args.in<double>(kSecond) + range.begin,
                  range.size(), args.out<double>(kFirst) + range.begin);
  });
}

/// y = dy (op) map(x): the slope of a sine.
std::optional<Kernel> times_mapped(const NodeView& node, Map f, double sign) {
  constexpr std::int64_t kBlock = 512;
  Kernel kernel = one_stage(node.out(kFirst).elements(), kExpensive,
                            [=](const Args& args, const Task& task, Range range) {
                              auto* const slopes = reinterpret_cast<double*>(task.scratch);
                              for (std::int64_t i = range.begin; i < range.end; i += kBlock) {
                                const std::int64_t some = std::min(kBlock, range.end - i);
                                map_elements(f, args.in<double>(kSecond) + i, some, slopes);
                                if (sign < 0) scale_elements(sign, 0, slopes, some, slopes);
                                join_elements(Join::multiply, args.in<double>(kFirst) + i, slopes,
                                              some, args.out<double>(kFirst) + i);
                              }
                            });
  kernel.scratch_bytes = kBlock * sizeof(double);
  return kernel;
}

std::optional<Map> map_of(Activation kind) {
  if (kind == Activation::tanh) return Map::tanh;
  if (kind == Activation::sigmoid) return Map::sigmoid;
  return std::nullopt;
}

std::optional<Map> map_of(Unary kind) {
  switch (kind) {
    case Unary::exp: return Map::exp;
    case Unary::log: return Map::log;
    case Unary::sqrt: return Map::sqrt;
    case Unary::square: return Map::square;
    case Unary::sin: return Map::sin;
    case Unary::cos: return Map::cos;
    case Unary::reciprocal: return Map::reciprocal;
    default: return std::nullopt;
  }
}

std::optional<Kernel> prepare_activation(const NodeView& node) {
  const std::optional<Map> map = map_of(node.attrs<ActivationOp>().kind);
  return map ? mapped(node, *map) : reference_of_elements(node);
}

std::optional<Kernel> prepare_activation_grad(const NodeView& node) {
  switch (node.attrs<ActivationGradOp>().kind) {
    case Activation::relu: return joined(node, Join::times_step);
    case Activation::tanh: return joined(node, Join::times_bell);
    case Activation::sigmoid: return joined(node, Join::times_bow);
    default: return reference_of_elements(node);
  }
}

std::optional<Kernel> prepare_unary(const NodeView& node) {
  const std::optional<Map> map = map_of(node.attrs<UnaryOp>().kind);
  return map ? mapped(node, *map) : reference_of_elements(node);
}

std::optional<Kernel> prepare_unary_grad(const NodeView& node) {
  switch (node.attrs<UnaryGradOp>().kind) {
    case Unary::exp: return joined(node, Join::multiply);
    case Unary::log: return joined(node, Join::divide);
    case Unary::square: return joined(node, Join::times_twice);
    case Unary::sin: return times_mapped(node, Map::cos, 1);
    case Unary::cos: return times_mapped(node, Map::sin, -1);
    default: return reference_of_elements(node);
  }
}

std::optional<Join> join_of(Arithmetic kind) {
  switch (kind) {
    case Arithmetic::add: return Join::add;
    case Arithmetic::subtract: return Join::subtract;
    case Arithmetic::multiply: return Join::multiply;
    case Arithmetic::divide: return Join::divide;
    default: return std::nullopt;
  }
}

/// a is `rows` rows of `inner` elements; of b, row r / repeat % own belongs to row r.
Kernel joined_rows(const Broadcast& shape, Join f) {
  const std::int64_t rows = shape.outer * shape.own * shape.repeat;
  const std::int64_t width = shape.inner;
  if (width == 1 && shape.repeat == 1 && shape.own > 1) {  // b (own) under a (outer, own)
    return joined_rows({.repeat = shape.outer, .inner = shape.own}, f);
  }
  const auto row_of = [=](std::int64_t row) { return row / shape.repeat % shape.own * width; };
  if (width != 1) {
    return one_stage(rows, kCheap * static_cast<double>(width), [=](const Args& args, Range range) {
      for (std::int64_t r = range.begin; r < range.end; ++r) {
        join_elements(f, args.in<double>(kFirst) + r * width, args.in<double>(kSecond) + row_of(r),
                      width, args.out<double>(kFirst) + r * width);
      }
    });
  }
  const std::int64_t runs = shape.outer * shape.own;  // of `repeat` elements with one number b
  return one_stage(rows, kCheap, [=](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end;) {
      const std::int64_t run = i / shape.repeat;
      const std::int64_t end = run + 1 == runs ? rows : (run + 1) * shape.repeat;
      const std::int64_t count = std::min(end, range.end) - i;
      join_elements(f, args.in<double>(kFirst) + i, args.in<double>(kSecond)[run % shape.own],
                    count, args.out<double>(kFirst) + i);
      i += count;
    }
  });
}

std::optional<Kernel> prepare_arithmetic(const NodeView& node) {
  const std::optional<Join> join = join_of(node.attrs<ArithmeticOp>().kind);
  const Shape& a = node.in(ArithmeticOp::In::a);
  const Shape& b = node.in(ArithmeticOp::In::b);
  if (!join) return a == b ? reference_of_elements(node) : reference_whole(node);
  if (a == b) return joined(node, *join);
  return joined_rows(*broadcast(a, b), *join);
}

std::optional<Kernel> prepare_add(const NodeView& node) { return joined(node, Join::add); }

std::optional<Kernel> prepare_bias_add(const NodeView& node) {
  const std::int64_t width = node.in(BiasAddOp::In::b).elements();
  return joined_rows({.repeat = node.out(kFirst).elements() / std::max<std::int64_t>(width, 1),
                      .inner = width},
                     Join::add);
}

std::optional<Kernel> prepare_scale(const NodeView& node) {
  const auto [alpha, beta] = node.attrs<ScaleOp>();
  return one_stage(node.out(kFirst).elements(), kCheap, [=](const Args& args, Range range) {
    scale_elements(alpha, beta, args.in<double>(kFirst) + range.begin, range.size(),
                   args.out<double>(kFirst) + range.begin);
  });
}

/// The sums of columns: of equal ranges of rows, then of these.
std::optional<Kernel> prepare_column_sums(const NodeView& node) {
  const std::int64_t width = node.out(kFirst).elements();
  const std::int64_t rows = width > 0 ? node.in(kFirst).elements() / width : 0;
  const int tasks = partial_tasks(rows, kCheap * static_cast<double>(width), 2 * width);
  Kernel kernel;
  kernel.workspace_bytes = static_cast<std::size_t>(tasks * width) * sizeof(double);
  kernel.stages.push_back(
      parallel(tasks, rows, [=](const Args& args, const Task& task, Range range) {
        double* const sums = args.work<double>() + task.index * width;
        std::fill_n(sums, width, 0.0);
        for (std::int64_t r = range.begin; r < range.end; ++r) {
          join_elements(Join::add, sums, args.in<double>(kFirst) + r * width, width, sums);
        }
      }));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    double* const y = args.out<double>(kFirst);
    std::copy_n(args.work<double>(), width, y);
    for (int task = 1; task < tasks; ++task) {
      join_elements(Join::add, y, args.work<double>() + task * width, width, y);
    }
  }));
  return kernel;
}

}  // namespace

void register_f64_elements(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_activation);
  registry.add(ActivationGradOp::kName, prepare_activation_grad);
  registry.add(UnaryOp::kName, prepare_unary);
  registry.add(UnaryGradOp::kName, prepare_unary_grad);
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(AddOp::kName, prepare_add);
  registry.add(BiasAddOp::kName, prepare_bias_add);
  registry.add(ScaleOp::kName, prepare_scale);
  registry.add(BiasGradOp::kName, prepare_column_sums);
  registry.add(SumLeadingOp::kName, prepare_column_sums);
}

}  // namespace linnet::cpu

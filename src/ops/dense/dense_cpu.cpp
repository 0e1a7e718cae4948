// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/products/packed_products.h"
#include "backend/cpu/products/whole_product.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/dense/dense.h"
#include "ops/dense/dense_bf16_cpu.h"
#include "ops/dense/thin_products_cpu.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for a row of a product, at a cautious 40 GFLOP/s.
double row_cost(std::int64_t n, std::int64_t k) {
  return 2.0 * static_cast<double>(n) * static_cast<double>(k) / 40.0;
}

struct Dims {
  std::int64_t n = 0;
  std::int64_t features = 0;
  std::int64_t units = 0;
};

/// Sums of so few features are over before own panels are worth their packing, and would leave the
/// lanes of a dot product empty.
constexpr std::int64_t kFewFeatures = 32;

/// Writes w (units, features) as (features, units): vectors of units are then summed as those of an
/// input gradient.
void turn(const Dims& e, const float* w, float* turned) {
  for (std::int64_t u = 0; u < e.units; ++u) {
    for (std::int64_t k = 0; k < e.features; ++k) turned[k * e.units + u] = w[u * e.features + k];
  }
}

/// Sums `rows` of x; `turned`: nothing where features are not few.
void thin_rows(const Dims& e, const DenseAttrs& attrs, const Args& args, Range rows,
               const float* turned) {
  using In = DenseOp::In;
  const float* x = args.in(In::x) + rows.begin * e.features;
  float* y = args.out(DenseOp::Out::y) + rows.begin * e.units;
  if (turned != nullptr) {
    thin_grad_input({rows.size(), e.units, e.features}, x, turned, y);
  } else {
    thin_forward({rows.size(), e.features, e.units}, x, args.in(In::w), y);
  }
  add_bias_and_activate(y, rows.size(), e.units, attrs.bias ? args.in(In::b) : nullptr,
                        attrs.activation);
}

/// `fixed`: the weights stay, and are turned once; others by every block of rows, with the same
/// bits.
Kernel thin_forward_kernel(const Dims& e, const DenseAttrs& attrs, bool fixed) {
  using In = DenseOp::In;
  const bool few = e.features <= kFewFeatures && e.features <= 8 * e.units;
  const auto stage = [&](auto f) {
    return sample_stage(e.n, row_cost(e.units, e.features), {In::x}, {DenseOp::Out::y}, f);
  };
  if (!few) {
    return stage([=](const Args& args, Range rows) { thin_rows(e, attrs, args, rows, nullptr); });
  }
  if (!fixed) {
    return stage([=](const Args& args, Range rows) {
      std::array<float, kFewFeatures * kMostThinUnits> turned;
      turn(e, args.in(In::w), turned.data());
      thin_rows(e, attrs, args, rows, turned.data());
    });
  }
  Kernel kernel =
      stage([=](const Args& args, Range rows) { thin_rows(e, attrs, args, rows, args.pack()); });
  kernel.packed_bytes = sizeof(float) * static_cast<std::size_t>(e.features * e.units);
  kernel.packed_operands = {In::w};
  kernel.packing.push_back(
      parallel(1, [=](const Args& args) { turn(e, args.in(In::w), args.pack()); }));
  return kernel;
}

/// Multiplies one row, for which reading the weights takes the time: tasks are units, which read
/// theirs in order.
Kernel one_row_kernel(const Dims& e, const DenseAttrs& attrs) {
  using In = DenseOp::In;
  using Out = DenseOp::Out;
  constexpr std::int64_t kBlock = 20;  // units that are summed side by side, by 5 or fewer
  const std::int64_t blocks = (e.units + kBlock - 1) / kBlock;
  constexpr double kNanosecondsEach = 0.08;  // of a weight, at 50 GB/s
  const double cost = kNanosecondsEach * static_cast<double>(kBlock * e.features);
  return one_stage(blocks, cost, [=](const Args& args, Range range) {
    for (std::int64_t block = range.begin; block < range.end; ++block) {
      const std::int64_t first = block * kBlock;
      const std::int64_t units = std::min(kBlock, e.units - first);
      float* y = args.out(Out::y) + first;
      thin_forward({1, e.features, units}, args.in(In::x), args.in(In::w) + first * e.features, y);
      add_bias_and_activate(y, 1, units, attrs.bias ? args.in(In::b) + first : nullptr,
                            attrs.activation);
    }
  });
}

Kernel forward_kernel(const Dims& e, const DenseAttrs& attrs) {
  using In = DenseOp::In;
  using Out = DenseOp::Out;
  const ProductTasks tasks({e.n, e.units, e.features});
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    float* y = args.out(Out::y) + rows.begin * e.units + columns.begin;
    gemm({rows.size(), columns.size(), e.features},
         {args.in(In::x) + rows.begin * e.features, e.features},
         {args.in(In::w) + columns.begin * e.features, e.features, true}, y, e.units, task.scratch);
    add_bias_and_activate(y, rows.size(), columns.size(),
                          attrs.bias ? args.in(In::b) + columns.begin : nullptr, attrs.activation,
                          e.units);
  }));
  return kernel;
}

/// Weights that stay in the L2 cache beside what a chain computes: samples then go through layer
/// after layer, and each thread has its own.
constexpr std::int64_t kMostChained = std::int64_t{32} << 10;

/// `fixed`: the weights stay.
Kernel packed_forward_kernel(const Dims& e, const DenseAttrs& attrs, bool fixed) {
  const bool chains = fixed && e.units * e.features <= kMostChained;
  return packed_product_kernel(
      {e.n, e.units, e.features}, 1, e.features,
      attrs.bias ? std::optional<std::size_t>(DenseOp::In::b) : std::nullopt,
      [=](const Args& /*args*/, float* y, std::int64_t rows, std::int64_t columns) {
        add_bias_and_activate(y, rows, columns, nullptr, attrs.activation, e.units);
      },
      chains ? ProductRows::samples : ProductRows::any);
}

Kernel packed_grad_input_kernel(const Dims& e) {
  return packed_product_kernel({e.n, e.features, e.units}, e.features, 1, std::nullopt,
                               [](const Args&, float*, std::int64_t, std::int64_t) {});
}

Kernel thin_grad_input_kernel(const Dims& e) {
  using In = DenseGradInputOp::In;
  using Out = DenseGradInputOp::Out;
  return sample_stage(e.n, row_cost(e.units, e.features), {In::dz}, {Out::dx},
                      [=](const Args& args, Range rows) {
                        thin_grad_input({rows.size(), e.features, e.units},
                                        args.in(In::dz) + rows.begin * e.units, args.in(In::w),
                                        args.out(Out::dx) + rows.begin * e.features);
                      });
}

Kernel grad_input_kernel(const Dims& e) {
  using In = DenseGradInputOp::In;
  using Out = DenseGradInputOp::Out;
  const ProductTasks tasks({e.n, e.features, e.units});
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), e.units}, {args.in(In::dz) + rows.begin * e.units, e.units},
         {args.in(In::w) + columns.begin, e.features},
         args.out(Out::dx) + rows.begin * e.features + columns.begin, e.features, task.scratch);
  }));
  return kernel;
}

Kernel thin_grad_weight_kernel(const Dims& e) {
  using In = DenseGradWeightOp::In;
  using Out = DenseGradWeightOp::Out;
  const int tasks = tasks_for(e.features, row_cost(e.units, e.n));
  Kernel kernel;
  kernel.stages.push_back(parallel(tasks, [=](const Args& args, const Task& task) {
    const Range columns = column_lines(e.features, tasks, task.index);
    thin_grad_weight({e.n, e.features, e.units}, args.in(In::dz), args.in(In::x), columns.begin,
                     columns.end, args.out(Out::dw));
  }));
  return kernel;
}

/// Each task sums its block of dw over the whole batch, so nothing is left to add up.
Kernel grad_weight_kernel(const Dims& e, RowSums sums) {
  using In = DenseGradWeightOp::In;
  using Out = DenseGradWeightOp::Out;
  const ProductTasks tasks({e.units, e.features, e.n}, PackedSides::both);
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), e.n}, {args.in(In::dz) + rows.begin, e.units, true},
         {args.in(In::x) + columns.begin, e.features},
         args.out(Out::dw) + rows.begin * e.features + columns.begin, e.features, task.scratch,
         false, sums);
  }));
  return kernel;
}

/// Returns the thin loops first where they were measured to win; they are tried up to twice as many
/// units.
std::vector<Candidate> thin_or(const Dims& e, const std::function<Kernel()>& thin,
                               std::vector<Candidate> others) {
  if (e.units > kMostThinUnits) return others;
  const auto place = e.units <= kThinUnits ? others.begin() : others.end();
  others.insert(place, {"thin", thin});
  return others;
}

std::vector<Candidate> forward(const NodeView& node) {
  using In = DenseOp::In;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const Dims e{node.in(In::x)[0], node.in(In::x)[1], node.in(In::w)[0]};
  const bool fixed = node.fixed(In::w);
  std::vector<Candidate> products{{"panels",
                                   [=] { return packed_forward_kernel(e, attrs, fixed); }},
                                  {whole_product_engine(),
                                   [=] { return forward_kernel(e, attrs); }}};
  // Weights that are packed once cost nothing, and every row has the same bits in every batch.
  const bool pays = packing_transposed_pays({e.n, e.units, e.features});
  const bool packed = (pays && e.features > kFewFeatures) || fixed;
  if (!packed) std::swap(products[0], products[1]);
  if (e.n == 1) {
    products.insert(packed ? products.end() : products.begin(),
                    {"row", [=] { return one_row_kernel(e, attrs); }});
  }
  return thin_or(
      e, [=] { return thin_forward_kernel(e, attrs, fixed); }, std::move(products));
}

std::vector<Candidate> grad_input(const NodeView& node) {
  using In = DenseGradInputOp::In;
  const Dims e{node.in(In::dz)[0], node.in(In::w)[1], node.in(In::dz)[1]};
  std::vector<Candidate> products{{"panels", [=] { return packed_grad_input_kernel(e); }},
                                  {whole_product_engine(), [=] { return grad_input_kernel(e); }}};
  if (!packing_pays(e.n)) std::swap(products[0], products[1]);
  return thin_or(
      e, [=] { return thin_grad_input_kernel(e); }, std::move(products));
}

std::vector<Candidate> grad_weight(const NodeView& node) {
  using In = DenseGradWeightOp::In;
  const Dims e{node.in(In::dz)[0], node.in(In::x)[1], node.in(In::dz)[1]};
  std::vector<Candidate> products{{"tiles", [=] { return grad_weight_kernel(e, RowSums::tiles); }},
                                  {whole_product_engine(),
                                   [=] { return grad_weight_kernel(e, RowSums::whole); }}};
  if (faster_dense_sums(e.n) == RowSums::whole) std::swap(products[0], products[1]);
  const PackedRowSums packed({e.units, e.features, e.n});
  if (packed.worthwhile()) {
    products.insert(packing_pays(e.n) ? products.begin() : products.end(),
                    {"panels", [=] { return packed.kernel(In::dz, In::x); }});
  }
  return thin_or(
      e, [=] { return thin_grad_weight_kernel(e); }, std::move(products));
}

}  // namespace

void register_dense(Registry& registry) {
  registry.add_product(DenseOp::kName, forward, prepare_dense_bf16, Stores::bf16);
  registry.add_product(DenseGradInputOp::kName, grad_input, prepare_dense_grad_input_bf16,
                       Stores::bf16);
  registry.add_product(DenseGradWeightOp::kName, grad_weight, prepare_dense_grad_weight_bf16,
                       Stores::bf16);
}

}  // namespace linnet::cpu

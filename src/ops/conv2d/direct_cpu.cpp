// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/partial_sums.h"
#include "core/align.h"
#include "ops/conv2d/engine_cpu.h"
#include "ops/conv2d/patch_products_cpu.h"

namespace linnet::cpu {
namespace {

bool takes(const ConvShape& s) {
  return s.attrs.groups == 1 && s.attrs.dilation_h == 1 && s.attrs.dilation_w == 1 && s.n > 0;
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (!takes(s)) return std::nullopt;
  const Correlation all = forward_correlation(s);
  if (all.taps() == 0) return std::nullopt;
  const PatchProduct product(all, s.co);
  // Columns lie one after the other: packers take groups of them, and few long parts of each.
  const int packers =
      tasks_for(all.taps() * product.groups(), 6.0 * static_cast<double>(s.co / product.groups()));
  const int groups = static_cast<int>(std::min<std::int64_t>(packers, product.groups()));
  const int parts = std::max(packers / groups, 1);
  Kernel kernel;
  kernel.packed_bytes = sizeof(float) * product.panels();
  kernel.packed_operands = {Conv2dOp::In::w};
  kernel.scratch_bytes = product.scratch_bytes();
  kernel.packing.push_back(parallel(groups * parts, [=](const Args& args, const Task& task) {
    const Range mine = split(product.groups(), groups, task.index / parts);
    const Range terms = split(all.taps(), parts, task.index % parts);
    const std::int64_t segment = all.segment();
    for (std::int64_t t = terms.begin; t < terms.end;) {  // segment by segment
      const std::int64_t k = t / segment;
      const std::int64_t end = std::min((k + 1) * segment, terms.end);
      const float* w = args.in(In::w) + (all.rows.tap(k) * s.kw + all.columns.tap(0)) * s.c;
      for (std::int64_t g = mine.begin; g < mine.end; ++g) {
        product.pack({w + t % segment, 1, s.taps()}, t, end, g, args.pack());
      }
      t = end;
    }
  }));
  kernel.stages.push_back(parallel(product.tasks(), [=](const Args& args, const Task& task) {
    product.run(args.in(In::x), args.pack(), tail.bias ? args.in(In::b) : nullptr, args.out(Out::y),
                task.index, task.scratch, tail.activation,
                tail.residual ? args.in(kResidual) : nullptr);
  }));
  return kernel;
}

/// One correlation for every remainder of a pixel's place by the stride.
struct InputPhase {
  PatchProduct product;
  std::size_t panels_at = 0;  ///< floats into the workspace
};

/// Terms [begin, end) of the panels of a phase, which are C_out for each tap, tap by tap, since
/// these are reversed.
void pack_phase(const ConvShape& s, const PatchProduct& product, Range terms, const float* w,
                float* panels) {
  const CorrelationAxis& rows = product.all.rows;
  const CorrelationAxis& columns = product.all.columns;
  for (std::int64_t t = terms.begin; t < terms.end;) {
    const std::int64_t tap = t / s.co;
    const std::int64_t end = std::min((tap + 1) * s.co, terms.end);
    const std::int64_t k = rows.tap(tap / columns.kernel);
    const std::int64_t l = columns.tap(tap % columns.kernel);
    product.pack({w + (t % s.co) * s.taps() + (k * s.kw + l) * s.c, s.taps(), 1}, t, end, panels);
    t = end;
  }
}

/// Returns a stage of the tasks of all of them, which need nothing of each other.
Stage side_by_side(const std::vector<Stage>& stages) {
  int tasks = 0;
  for (const Stage& stage : stages) tasks += stage.tasks;
  return parallel(tasks, [=](const Args& args, const Task& task) {
    Task mine = task;
    auto stage = stages.begin();
    for (; mine.index >= stage->tasks; ++stage) mine.index -= stage->tasks;
    stage->run(args, mine);
  });
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  if (!takes(s)) return std::nullopt;
  Kernel kernel;
  std::vector<InputPhase> phases;
  const InputGradient gradient(s);
  std::size_t floats = 0;
  for (const Correlation& all : gradient.phases) {
    phases.push_back({{all, s.c}, floats});
    floats += align_up(phases.back().product.panels());
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, phases.back().product.scratch_bytes());
  }
  kernel.workspace_bytes = sizeof(float) * floats;
  std::vector<Stage> preparing;
  std::vector<Stage> products;
  if (!gradient.whole) {
    const std::int64_t image = s.in_pixels() * s.c;
    const int tasks = tasks_for(s.n, 0.1 * static_cast<double>(image));
    preparing.push_back(parallel(tasks, s.n, [=](const Args& args, Range samples) {
      std::fill_n(args.out(Out::dx) + samples.begin * image, samples.size() * image, 0.0F);
    }));
  }
  for (const InputPhase& phase : phases) {
    const Correlation& all = phase.product.all;
    const std::int64_t terms = all.rows.kernel * all.columns.kernel * s.co;
    const int packers = tasks_for(terms, 4.0 * static_cast<double>(s.c));
    preparing.push_back(parallel(packers, terms, [=](const Args& args, Range range) {
      pack_phase(s, phase.product, range, args.in(In::w), args.work() + phase.panels_at);
    }));
    products.push_back(parallel(phase.product.tasks(), [=](const Args& args, const Task& task) {
      phase.product.run(args.in(In::dz), args.work() + phase.panels_at, nullptr, args.out(Out::dx),
                        task.index, task.scratch);
    }));
  }
  std::ranges::reverse(products);  // the last phase has the most taps: the longest tasks first
  kernel.stages = {side_by_side(preparing), side_by_side(products)};
  if (gradient.whole) {
    kernel.early_stages = 1;
    kernel.early_operands = {In::w};
  }
  return kernel;
}

/// Returns whether taps meet padding alone, whose gradients are zeros that nothing else writes.
bool cropped(const ConvShape& s, const Correlation& all) { return all.taps() < s.taps(); }

/// Pixels of which partial sums would be short.
constexpr std::int64_t kFewPixels = 8192;

/// Returns a stage that writes zeros to dw.
Stage clear_stage(const ConvShape& s) {
  const std::int64_t weights = s.weights();
  return parallel(tasks_for(weights, 0.1), weights, [=](const Args& args, Range range) {
    std::fill_n(args.out(Conv2dGradWeightOp::Out::dw) + range.begin, range.size(), 0.0F);
  });
}

/// Few pixels, multiplied where they lie: tasks take small blocks of dw and sum over all pixels,
/// of images that are padded once. Null where these are too few.
std::optional<Kernel> grad_weight_by_blocks(const ConvShape& s, const Correlation& images,
                                            double cost) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  constexpr std::int64_t kFewestFilters = 32;
  constexpr int kEnough = 96;  // of 64 and of three rows of a kernel
  constexpr int kFewBlocks = 16;
  if (s.n * s.out_pixels() > kFewPixels || !row_product_pays(s.co)) return std::nullopt;
  const bool pads = images.rows.leaves_input() || images.columns.leaves_input();
  const Correlation all = pads ? padded(images) : images;
  const WeightGradient gradient(s, all);
  const auto parts = static_cast<int>(gradient.part_count());
  const int worth = std::min(share_tasks(1, 1, cost, kEnough), kEnough);
  int shares = 1;
  while (2 * parts * shares <= worth && s.co >= 2 * shares * kFewestFilters) shares *= 2;
  if (parts * shares < std::min(worth, kFewBlocks)) return std::nullopt;
  Kernel kernel;
  kernel.scratch_bytes = gradient.scratch_bytes();
  std::vector<Stage> preparing;
  if (pads) {
    const std::int64_t image = all.rows.in * all.columns.in * all.c;
    kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(s.n * image);
    const int tasks = tasks_for(s.n, 0.5 * static_cast<double>(image));
    preparing.push_back(parallel(tasks, s.n, [=](const Args& args, Range range) {
      copy_padded(images, args.in(In::x), range, args.work());
    }));
  }
  if (cropped(s, all)) {
    preparing.push_back(clear_stage(s));
  } else if (pads) {
    kernel.early_stages = 1;
    kernel.early_operands = {In::x};
  }
  if (!preparing.empty()) kernel.stages.push_back(side_by_side(preparing));
  kernel.stages.push_back(parallel(parts * shares, [=](const Args& args, const Task& task) {
    const int part = task.index / shares;
    gradient.run(pads ? args.work() : args.in(In::x), args.in(In::dz), {0, all.lines()},
                 {part, part + 1}, split(s.co, shares, task.index % shares), args.out(Out::dw),
                 task.scratch);
  }));
  return kernel;
}

/// Few sums of many pixels: tasks take lines, and their sums are added. Otherwise tasks take
/// columns of dw.
std::optional<Kernel> grad_weight(const ConvShape& s) {
  using In = Conv2dGradWeightOp::In;
  using Out = Conv2dGradWeightOp::Out;
  if (!takes(s)) return std::nullopt;
  const WeightGradient gradient(s, forward_correlation(s));
  const Correlation& all = gradient.correlation();
  if (all.taps() == 0) return std::nullopt;
  const std::int64_t pixels = s.n * s.out_pixels();
  const double flops = 2.0 * static_cast<double>(pixels * s.co * all.taps());
  if (std::optional<Kernel> kernel = grad_weight_by_blocks(s, all, conv_cost(flops))) return kernel;
  Kernel kernel;
  kernel.scratch_bytes = gradient.scratch_bytes();
  // Of cropped sums partial ones would be zeros for the most part.
  const std::int64_t enough_parts = cropped(s, all) ? 4 : 8;
  if (pixels <= kFewPixels && gradient.part_count() >= enough_parts) {
    const std::int64_t parts = gradient.part_count();
    const int tasks = tasks_for(parts, conv_cost(flops) / static_cast<double>(parts));
    if (cropped(s, all)) kernel.stages.push_back(clear_stage(s));
    kernel.stages.push_back(
        parallel(tasks, parts, [=](const Args& args, const Task& task, Range range) {
          gradient.run(args.in(In::x), args.in(In::dz), {0, all.lines()}, range, {0, s.co},
                       args.out(Out::dw), task.scratch);
        }));
    return kernel;
  }
  constexpr std::int64_t kPixelsAtLeast = 128;  // for which a sum is worth writing and adding
  const double cost_of_line = conv_cost(flops) / static_cast<double>(all.lines());
  const int partials = partial_gradients(s, all.lines(), cost_of_line);
  const int tasks = static_cast<int>(
      std::min<std::int64_t>(partials, std::max<std::int64_t>(pixels / kPixelsAtLeast, 2)));
  // Packing dz again pays for so many parts.
  const std::int64_t parts_at_least = tasks < partials ? 1 : 3;
  const int shares = share_tasks(tasks, all.lines(), cost_of_line,
                                 cropped(s, all) ? 1 : gradient.part_count() / parts_at_least);
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * s.weights());
  kernel.stages.push_back(parallel(tasks * shares, [=](const Args& args, const Task& task) {
    const int partial = task.index / shares;
    float* dw = args.work() + partial * s.weights();
    if (cropped(s, gradient.correlation())) {
      std::fill_n(dw, s.weights(), 0.0F);
    }
    gradient.run(args.in(In::x), args.in(In::dz),
                 split(gradient.correlation().lines(), tasks, partial),
                 split(gradient.part_count(), shares, task.index % shares), {0, s.co}, dw,
                 task.scratch);
  }));
  kernel.stages.push_back(add_partials_stage(tasks, s.weights(), Conv2dGradWeightOp::Out::dw));
  return kernel;
}

}  // namespace

const ConvEngine& direct_engine() {
  static const ConvEngine engine{"direct", forward, grad_input, grad_weight, true};
  return engine;
}

}  // namespace linnet::cpu

// SPDX-License-Identifier: Apache-2.0
#include "fusions/small_cnn/small_cnn_cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "backend/cpu/kernel.h"
#include "backend/cpu/partial_sums.h"
#include "backend/cpu/pieces.h"
#include "backend/cpu/total.h"
#include "core/align.h"
#include "fusions/conv2d_pool/conv2d_pool_cpu.h"
#include "fusions/small_cnn/small_cnn.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/thin_products_cpu.h"
#include "ops/finite_check/finite_check.h"
#include "ops/finite_check/finite_check_cpu.h"
#include "ops/gather_batch/prefetch_record_cpu.h"
#include "ops/gather_batch/record_index.h"
#include "ops/metrics/count_batch_cpu.h"
#include "ops/softmax/row_softmax_cpu.h"

namespace linnet::cpu {
namespace {

using In = SmallCnnOp::In;
using Out = SmallCnnOp::Out;

/// Returns how many parts of a batch have sums of their own. Each costs a write and a read of all
/// of them, as large as the weights; 32 samples are worth that, and 16 where there would be few
/// parts.
int parts_of(std::int64_t samples) {
  const std::int64_t few = std::clamp<std::int64_t>(samples / 16, 1, 8);
  return static_cast<int>(std::max(few, std::min<std::int64_t>(samples / 32, 128)));
}

struct Step {
  SmallCnnAttrs attrs;
  SmallCnnLoops loops;
  ConvShape conv;
  std::size_t record_bytes = 0;
  bool bytes = false;  ///< whether samples are u8
  bool gradients = false;
  int parts = 1;
  int adders = 1;  ///< tasks that add the parts of dv

  std::int64_t batch() const { return attrs.gather.batch; }
  std::int64_t taps() const { return 9 * loops.filters; }
};

/// A thread's memory.
struct Scratch {
  explicit Scratch(const Step& s, std::byte* base) : pieces(base) {
    const SmallCnnLoops& loops = s.loops;
    points = pieces.take<float>(loops.filters * kSmallCnnPoints);
    images = pieces.take<float>(kSmallCnnSamples * loops.image);
    y = pieces.take<float>(kSmallCnnSamples * loops.features());
    winners = pieces.take<std::uint8_t>(kSmallCnnSamples * loops.features());
    logits = pieces.take<float>(kSmallCnnSamples * loops.classes);
    probabilities = pieces.take<float>(kSmallCnnSamples * loops.classes);
    dz = pieces.take<float>(kSmallCnnSamples * loops.classes);
  }
  Pieces pieces;
  float* points;
  float* images;
  float* y;
  std::uint8_t* winners;
  float* logits;
  float* probabilities;
  float* dz;
};

/// What the tasks hand to the next stage; of a part's sums one follows the other.
struct Work {
  Work(const Step& s, std::byte* base) : pieces(base) {
    Pieces of_part(nullptr);
    of_part.take<float>(s.loops.classes * s.loops.features());
    of_part.take<float>(s.taps());
    of_part.take<float>(s.loops.filters);
    of_part.take<float>(s.loops.classes);
    stride = static_cast<std::int64_t>(of_part.bytes() / sizeof(float));
    sums = pieces.take<float>(s.gradients ? s.parts * stride : 0);
    losses = pieces.take<double>(s.parts);
    correct = pieces.take<double>(s.parts);
    finite = pieces.take<std::uint8_t>(s.adders);
  }
  Pieces pieces;
  std::int64_t stride = 0;
  float* sums;
  double* losses;
  double* correct;
  std::uint8_t* finite;
};

/// A part's sums in Work.
struct PartSums {
  PartSums(const Step& s, const Work& work, std::int64_t part)
      : pieces(reinterpret_cast<std::byte*>(work.sums + part * work.stride)) {
    dv = pieces.take<float>(s.loops.classes * s.loops.features());
    dw = pieces.take<float>(s.taps());
    db = pieces.take<float>(s.loops.filters);
    dc = pieces.take<float>(s.loops.classes);
  }
  Pieces pieces;
  float* dv;
  float* dw;
  float* db;
  float* dc;
};

/// A part of the batch, some samples at a time.
class Part {
 public:
  Part(const Step& s, const Args& args, const Task& task)
      : s_(s),
        args_(args),
        scratch_(s, task.scratch),
        work_(s, args.workspace),
        sums_(s, work_, task.index),
        index_(*task.step, s.attrs.gather.shuffle),
        part_(task.index),
        samples_(split(s.batch(), s.parts, task.index)),
        slope_(static_cast<float>(mean_factor(s.batch()))) {}

  void run() {
    small_cnn_points(args_.in(In::w), s_.loops.filters, scratch_.points);
    std::fill_n(scratch_.images, kSmallCnnSamples * s_.loops.image, 0.0F);
    if (s_.gradients) {
      std::fill_n(sums_.dw, s_.taps(), 0.0F);
      std::fill_n(sums_.db, s_.loops.filters, 0.0F);
      std::fill_n(sums_.dc, s_.loops.classes, 0.0F);
      if (samples_.size() == 0) std::fill_n(sums_.dv, s_.loops.classes * s_.loops.features(), 0.0F);
    }
    find(samples_.begin, std::min<std::int64_t>(samples_.size(), kSmallCnnSamples));
    int count = kSmallCnnSamples;
    for (std::int64_t n = samples_.begin; n < samples_.end; n += count) {
      while (count > samples_.end - n) count /= 2;
      block(n, count);
    }
    work_.losses[part_] = loss_;
    work_.correct[part_] = correct_;
  }

 private:
  void block(std::int64_t first, int count) {
    const SmallCnnLoops& loops = s_.loops;
    std::uint64_t records[kSmallCnnSamples];
    std::copy_n(next_, count, records);
    const std::int64_t next = first + count;
    find(next, std::min<std::int64_t>(samples_.end - next, kSmallCnnSamples));
    bool finite[kSmallCnnSamples];
    for (int i = 0; i < count; ++i) finite[i] = pool(records[i], i);
    const ThinShape dense{count, loops.features(), loops.classes};
    thin_forward(dense, scratch_.y, args_.in(In::v), scratch_.logits);
    for (int i = 0; i < count; ++i) score(first + i, records[i], i, finite[i]);
    if (!s_.gradients) return;
    small_cnn_backward(loops, {count, scratch_.images, scratch_.y, scratch_.winners, scratch_.dz},
                       args_.in(In::v), first == samples_.begin, {sums_.dv, sums_.dw, sums_.db});
  }

  /// Finds the records of `count` samples from `first` on. Shuffled, they lie anywhere in memory:
  /// those of the next block are asked for while this one is computed.
  void find(std::int64_t first, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      next_[i] = index_(first + i);
      prefetch_record(args_.in<std::byte>(In::samples) + next_[i] * s_.record_bytes,
                      s_.record_bytes);
      __builtin_prefetch(args_.in<std::int32_t>(In::targets) + next_[i]);
    }
  }

  /// Puts a record into place i of the block, and through the convolution; returns whether its
  /// pixels are finite.
  bool pool(std::uint64_t record, int i) {
    const SmallCnnLoops& loops = s_.loops;
    const std::byte* from = args_.in<std::byte>(In::samples) + record * s_.record_bytes;
    const Conv2dAttrs& conv = s_.attrs.conv_pool.conv;
    float* image = scratch_.images + i * loops.image;
    const auto put = [&](const auto* x) {
      small_cnn_image(x, s_.conv.h, s_.conv.w, static_cast<float>(s_.attrs.gather.scale),
                      static_cast<float>(s_.attrs.gather.shift),
                      image + conv.pad_top * loops.row + conv.pad_left, loops.row);
    };
    if (s_.bytes) {
      put(reinterpret_cast<const std::uint8_t*>(from));
    } else {
      put(reinterpret_cast<const float*>(from));
    }
    small_cnn_pool(loops, image, scratch_.points, args_.in(In::b),
                   scratch_.y + i * loops.features(), scratch_.winners + i * loops.features());
    return s_.bytes || all_finite(image, loops.image - kSmallCnnSlack);
  }

  /// Sums the loss of sample n, place i of the block, and its slopes by the logits.
  void score(std::int64_t n, std::uint64_t record, int i, bool finite) {
    const std::int64_t classes = s_.loops.classes;
    float* logits = scratch_.logits + i * classes;
    // Winograd's points hand a pixel that is not finite to some of a window's outputs only.
    const float off = finite ? 0.0F : std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t k = 0; k < classes; ++k) logits[k] += args_.in(In::c)[k] + off;
    float* probabilities = scratch_.probabilities + i * classes;
    const std::int32_t label = args_.in<std::int32_t>(In::targets)[record];
    const float log_sum = softmax_row(logits, classes, probabilities);
    const bool known = is_class(label, classes);
    loss_ += known ? log_sum - logits[label] : std::numeric_limits<double>::quiet_NaN();
    const float* scores = s_.attrs.probabilities ? probabilities : logits;
    std::copy_n(scores, classes, args_.out(Out::scores) + n * classes);
    args_.out<std::int32_t>(Out::labels)[n] = label;
    if (std::max_element(scores, scores + classes) - scores == label) correct_ += 1;
    if (!s_.gradients) return;
    for (std::int64_t k = 0; k < classes; ++k) {
      const float slope = slope_ * probabilities[k] - (k == label ? slope_ : 0.0F);
      scratch_.dz[k * kSmallCnnSamples + i] = slope;
      sums_.dc[k] += slope;
    }
  }

  const Step& s_;
  const Args& args_;
  Scratch scratch_;
  Work work_;
  PartSums sums_;
  RecordIndex index_;
  int part_;
  Range samples_;
  float slope_;
  std::uint64_t next_[kSmallCnnSamples] = {};  ///< records of the next block
  double loss_ = 0;
  double correct_ = 0;
};

/// Adds the parts' sums for the convolution and the biases.
void add_small_sums(const Step& s, const Args& args, const Work& work) {
  const PartSums first(s, work, 0);
  const std::int64_t filters = s.loops.filters;
  float taps[9];
  for (std::int64_t f = 0; f < filters; ++f) {
    std::fill_n(taps, 9, 0.0F);
    float bias = 0;
    for (int part = 0; part < s.parts; ++part) {
      const float* dw = first.dw + part * work.stride + f;
      for (int t = 0; t < 9; ++t) taps[t] += dw[t * filters];
      bias += first.db[part * work.stride + f];
    }
    std::copy_n(taps, 9, args.out(Out::dw) + f * 9);
    args.out(Out::db)[f] = bias;
  }
  add_partials(first.dc, s.parts, work.stride, {0, s.loops.classes}, args.out(Out::dc));
}

/// Ends the step: the loss, and what a MetricsOp and FiniteCheckOps would do.
void finish(const Step& s, const Args& args, const Task& task, const Work& work) {
  double loss = 0;
  double correct = 0;
  for (int part = 0; part < s.parts; ++part) {
    loss += work.losses[part];
    correct += work.correct[part];
  }
  float& mean = *args.out(Out::loss);
  mean = static_cast<float>(mean_factor(s.batch()) * loss);
  if (!s.attrs.finish) return;
  const auto batch = static_cast<double>(s.batch());
  count_batch({.loss = mean, .samples = batch, .weight = batch, .correct = correct},
              s.attrs.history, *task.step, args.in_out<double>(In::counters));
  const std::int64_t filters = s.loops.filters;
  const bool finite =
      std::isfinite(mean) &&
      std::all_of(work.finite, work.finite + s.adders, [](auto f) { return f != 0; }) &&
      all_finite(args.out(Out::dw), s.taps()) && all_finite(args.out(Out::db), filters) &&
      all_finite(args.out(Out::dc), s.loops.classes);
  double& stopped = *args.in_out<double>(In::stopped);
  if (!finite) stopped = stop_at(stopped, *task.step);
}

/// Returns what the loops take.
std::optional<Step> step_of(const NodeView& node) {
  const SmallCnnAttrs& attrs = node.attrs<SmallCnnOp>();
  const Conv2dAttrs& c = attrs.conv_pool.conv;
  const Shape image = node.in(In::samples).sample().batched(attrs.gather.batch);
  const ConvShape conv = conv_shape(c, image, node.in(In::w), "");
  const bool is_3x3 = conv.c == 1 && conv.kh == 3 && conv.kw == 3 && c.stride_h == 1 &&
                      c.stride_w == 1 && c.dilation_h == 1 && c.dilation_w == 1 && c.groups == 1;
  const bool has_activation = c.activation == Activation::none || c.activation == Activation::relu;
  Step s;
  s.attrs = attrs;
  s.conv = conv;
  s.loops = {.pooled_h = conv.oh / 2,
             .pooled_w = conv.ow / 2,
             .row = conv.w + c.pad_left + c.pad_right,
             .filters = conv.co,
             .classes = node.in(In::v)[0],
             .relu = c.activation == Activation::relu};
  s.loops.image = (conv.h + c.pad_top + c.pad_bottom) * s.loops.row + kSmallCnnSlack;
  if (!small_cnn_has() || !is_3x3 || !has_activation || conv.co % 16 != 0 ||
      attrs.conv_pool.pool != Pool2dAttrs{} || s.loops.classes > kThinUnits) {
    return std::nullopt;
  }
  s.record_bytes = node.inputs[In::samples].bytes();
  s.bytes = node.inputs[In::samples].dtype == DType::u8;
  for (std::size_t i = Out::dw; i < SmallCnnOp::kOutputs; ++i) {
    s.gradients = s.gradients || node.output_read.empty() || node.output_read[i];
  }
  s.parts = parts_of(s.batch());
  // What is added comes from other cores: tasks are short.
  s.adders = tasks_for(s.loops.classes * s.loops.features(), 0.8 * s.parts);
  return s;
}

std::optional<Kernel> prepare(const NodeView& node) {
  const std::optional<Step> found = step_of(node);
  if (!found) return std::nullopt;
  const Step& s = *found;
  Kernel kernel;
  kernel.scratch_bytes = Scratch(s, nullptr).pieces.bytes();
  kernel.workspace_bytes = Work(s, nullptr).pieces.bytes();
  kernel.stages.push_back(
      parallel(s.parts, [s](const Args& args, const Task& task) { Part(s, args, task).run(); }));
  if (s.gradients) {
    kernel.stages.push_back(
        parallel(s.adders, s.loops.classes * s.loops.features(),
                 [s](const Args& args, const Task& task, Range range) {
                   const Work work(s, args.workspace);
                   add_partials(work.sums, s.parts, work.stride, range, args.out(Out::dv));
                   work.finite[task.index] =
                       all_finite(args.out(Out::dv) + range.begin, range.size()) ? 1 : 0;
                 }));
  }
  kernel.stages.push_back(parallel(1, [s](const Args& args, const Task& task) {
    const Work work(s, args.workspace);
    if (s.gradients) add_small_sums(s, args, work);
    finish(s, args, task, work);
  }));
  return kernel;
}

bool is_worth_it(const NodeView& node) {
  constexpr double kStages = 3;
  // Assumed, not measured: a team of threads begins a stage in 2 microseconds, in which it moves
  // 100 kB.
  constexpr double kBytesAStage = 1e5;
  const auto& op = static_cast<const SmallCnnOp&>(node.op);
  const Saving saving = op.saving(node.inputs);
  // Each part of the batch writes sums of its own, which are read once.
  const double sums =
      2.0 * parts_of(op.attrs().gather.batch) * static_cast<double>(node.inputs[In::v].bytes());
  return saving.bytes - sums + kBytesAStage * (saving.operators - kStages) > 0;
}

}  // namespace

void register_small_cnn(Registry& registry) {
  // It computes in fp32 at every precision, as conv2d_pool does.
  registry.add(SmallCnnOp::kName, prepare);
  registry.wants_if(SmallCnnOp::kName, is_worth_it);
}

}  // namespace linnet::cpu

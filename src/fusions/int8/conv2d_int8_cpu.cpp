// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/conv2d_int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/int8_tiles.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/correlation_cpu.h"

namespace linnet::cpu {
namespace {

using In = Conv2dInt8Op::In;
using Out = Conv2dInt8Op::Out;

/// Pixels of a block that are worth reading all weights, and the bytes of its frame at most: half
/// of the L2 cache.
constexpr std::int64_t kBlockPixels = 144;
constexpr std::int64_t kFrameBytes = 384 * 1024;
/// More terms than this might overflow a sum.
constexpr std::int64_t kMostTerms = 32768;

/// Nanoseconds of one core for `flops` at a cautious 300 GFLOP/s.
double int8_cost(double flops) { return flops / 300; }

Int8Levels levels_of(const LevelsAttrs& attrs) {
  return {.scale = static_cast<float>(attrs.scale), .zero = static_cast<std::int32_t>(attrs.zero)};
}

/// Images as rows of patches: where they leave the images, or the bytes of a segment are not a
/// multiple of 4, in copies of the lines that a block reads, with the level of 0 outside the
/// images.
class ByteFrames {
 public:
  ByteFrames(const Correlation& correlation, std::uint8_t zero)
      : correlation_(correlation),
        zero_(zero),
        copied_(correlation.rows.leaves_input() || correlation.columns.leaves_input() ||
                correlation.segment() % 4 != 0) {
    const CorrelationAxis& rows = correlation.rows;
    constexpr std::int64_t kBlockLines = 4;  // whose frame has lines of their neighbours too
    const std::int64_t wanted =
        std::max((kBlockPixels + correlation.columns.out - 1) / correlation.columns.out,
                 rows.kernel > rows.stride ? kBlockLines : 1);
    const std::int64_t line = std::min(rows.stride, rows.kernel) * width() * correlation.c;
    const std::int64_t fit =
        std::max<std::int64_t>(kFrameBytes / std::max<std::int64_t>(line, 1), 1);
    block_lines_ = std::clamp<std::int64_t>(std::min(wanted, fit), 1,
                                            std::max<std::int64_t>(correlation.lines(), 1));
  }

  std::int64_t block_lines() const { return block_lines_; }
  std::size_t scratch_bytes() const {
    if (!copied_) return addresses_bytes();
    // Every image of a block begins a frame of its own.
    const std::int64_t images = (block_lines_ - 1) / correlation_.rows.out + 2;
    const std::int64_t of_frames = rows(block_lines_) + images * correlation_.rows.kernel;
    return addresses_bytes() + align_up(static_cast<std::size_t>(of_frames * pitch()));
  }
  /// Returns the patches of lines [begin, end), a row a pixel; valid until the next call.
  Int8Rows patches(const std::uint8_t* images, std::int64_t begin, std::int64_t end,
                   std::byte* scratch) const {
    const Correlation& s = correlation_;
    auto** row = reinterpret_cast<const std::uint8_t**>(scratch);
    auto* frame = reinterpret_cast<std::uint8_t*>(scratch + addresses_bytes());
    const std::int64_t line_bytes = copied_ ? pitch() : s.columns.in * s.c;
    const Int8Rows result{.rows = row,
                          .segments = s.rows.kernel,
                          .length = s.segment(),
                          .stride = line_bytes};
    for (std::int64_t line = begin; line < end;) {
      const std::int64_t image = line / s.rows.out;
      const std::int64_t i0 = line % s.rows.out;
      const std::int64_t lines = std::min(end - line, s.rows.out - i0);
      const std::int64_t top = i0 * s.rows.stride - s.rows.pad;
      const std::uint8_t* corner = frame;
      if (copied_) {
        for (std::int64_t r = 0; r < rows(lines); ++r, frame += pitch()) {
          if (r % s.rows.stride < s.rows.kernel) copy_row(images, image, top + r, frame);
        }
      } else {
        corner = images + ((image * s.rows.in + top) * s.columns.in - s.columns.pad) * s.c;
      }
      for (std::int64_t i = 0; i < lines; ++i) {
        for (std::int64_t j = 0; j < s.columns.out; ++j) {
          *row++ = corner + i * s.rows.stride * line_bytes + j * s.columns.stride * s.c;
        }
      }
      line += lines;
    }
    return result;
  }

 private:
  std::int64_t width() const {
    const CorrelationAxis& a = correlation_.columns;
    return (a.out - 1) * a.stride + a.kernel;
  }
  /// Bytes from row to row: with 3 at the end that a segment's last group may read.
  std::int64_t pitch() const { return width() * correlation_.c + 3; }
  std::int64_t rows(std::int64_t lines) const {
    return (lines - 1) * correlation_.rows.stride + correlation_.rows.kernel;
  }
  std::size_t addresses_bytes() const {
    return align_up(sizeof(std::uint8_t*) *
                    static_cast<std::size_t>(block_lines_ * correlation_.columns.out));
  }
  void copy_row(const std::uint8_t* images, std::int64_t image, std::int64_t row,
                std::uint8_t* to) const {
    const Correlation& s = correlation_;
    const std::int64_t left = -s.columns.pad;
    const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, width());
    const std::int64_t end = std::clamp<std::int64_t>(s.columns.in - left, begin, width());
    if (row < 0 || row >= s.rows.in || begin == end) {
      std::fill_n(to, pitch(), zero_);
      return;
    }
    const std::uint8_t* from =
        images + ((image * s.rows.in + row) * s.columns.in + left + begin) * s.c;
    std::fill_n(to, begin * s.c, zero_);
    std::copy_n(from, (end - begin) * s.c, to + begin * s.c);
    std::fill(to + end * s.c, to + pitch(), zero_);
  }

  Correlation correlation_;
  std::uint8_t zero_ = 0;
  bool copied_ = false;
  std::int64_t block_lines_ = 1;
};

/// Where the packed panels, and the arrays of the columns after them, begin.
struct Packed {
  std::size_t start = 0;
  std::size_t factor = 0;
  std::size_t bias = 0;
  std::size_t end = 0;
};

/// A convolution by tasks that take blocks of lines; where these are few, groups of columns as
/// well, so that each reads a part of the weights of its own.
class Int8Conv {
 public:
  Int8Conv(const Conv2dInt8Op& op, const ConvShape& shape)
      : op_(op),
        s_(shape),
        all_(forward_correlation(shape)),
        frames_(all_, static_cast<std::uint8_t>(op.attrs().x.zero)),
        width_(shape.co) {
    const std::int64_t pixels = all_.lines() * all_.columns.out;
    const double work = int8_cost(2.0 * static_cast<double>(pixels * all_.taps() * s_.co));
    constexpr std::int64_t kLeastPixels = 96;
    const std::int64_t worth =
        tasks_for(std::int64_t{1} << 20, work / static_cast<double>(std::int64_t{1} << 20));
    line_tasks_ = std::clamp<std::int64_t>(pixels / kLeastPixels, 1,
                                           std::clamp<std::int64_t>(all_.lines(), 1, worth));
    const std::int64_t panels = (s_.co + kInt8Panel - 1) / kInt8Panel;
    const std::int64_t groups = std::clamp<std::int64_t>(worth / line_tasks_, 1, panels);
    if (groups > 1) width_ = (panels + groups - 1) / groups * kInt8Panel;
    const std::size_t column_bytes = align_up(4 * static_cast<std::size_t>(s_.co));
    at_.start = align_up(int8_panel_bytes(groups_of_terms(), s_.co));
    at_.factor = at_.start + column_bytes;
    at_.bias = at_.factor + column_bytes;
    at_.end = at_.bias + column_bytes;
  }

  int tasks() const { return static_cast<int>(line_tasks_ * column_groups()); }
  std::int64_t columns() const { return s_.co; }
  double pack_cost() const { return 3.0 * static_cast<double>(s_.taps()); }
  std::size_t packed_bytes() const { return at_.end; }
  std::size_t scratch_bytes() const { return frames_.scratch_bytes(); }

  /// Packs output channels: whole numbers of steps, what each sum begins with, and what follows.
  void pack(const Args& args, Range channels) const {
    std::vector<std::int8_t> row(static_cast<std::size_t>(s_.taps()));
    const std::int64_t of_segment = int8_groups(all_.segment());
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      const float* w = args.in(In::w) + o * s_.taps();
      const float step = weight_step({w, row.size()});
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = steps_of(w[i], step);
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < all_.rows.kernel; ++k) {
        const std::int8_t* segment =
            row.data() + (all_.rows.tap(k) * s_.kw + all_.columns.tap(0)) * s_.c;
        for (std::int64_t i = 0; i < all_.segment(); ++i) sum += segment[i];
        for (std::int64_t g = 0; g < of_segment; ++g) {
          pack_int8(segment + 4 * g, std::min<std::int64_t>(all_.segment() - 4 * g, 4),
                    k * of_segment + g, o, groups_of_terms(), s_.co, args.pack<std::int8_t>());
        }
      }
      args.pack<std::int32_t>(at_.start)[o] = -static_cast<std::int32_t>(op_.attrs().x.zero) * sum;
      const auto [factor, bias] = affine(args, o);
      args.pack(at_.factor)[o] = static_cast<float>(op_.attrs().x.scale) * step * factor;
      args.pack(at_.bias)[o] = bias;
    }
  }

  void run(const Args& args, const Task& task) const {
    const std::int64_t column = task.index % column_groups() * width_;
    const std::int64_t used = std::min(width_, s_.co - column);
    const Range lines = split(all_.lines(), static_cast<int>(line_tasks_),
                              task.index / static_cast<int>(column_groups()));
    const auto* panels = args.pack<std::int8_t>() + 4 * column * groups_of_terms();
    for (std::int64_t l0 = lines.begin; l0 < lines.end; l0 += frames_.block_lines()) {
      const std::int64_t l1 = std::min(l0 + frames_.block_lines(), lines.end);
      const Int8Rows a = frames_.patches(args.in<std::uint8_t>(In::x), l0, l1, task.scratch);
      const std::int64_t pixels = (l1 - l0) * all_.columns.out;
      const std::int64_t at = l0 * all_.columns.out * s_.co + column;
      int8_product(int8_units().front(), a, pixels, panels, used, tail(args, at, column));
      if (!op_.rounds_activation()) {
        add_bias_and_activate(args.out(Out::y) + at, pixels, used, nullptr,
                              op_.attrs().conv.activation, s_.co);
      }
    }
  }

 private:
  std::int64_t groups_of_terms() const { return all_.rows.kernel * int8_groups(all_.segment()); }
  std::int64_t column_groups() const { return (s_.co + width_ - 1) / width_; }
  /// Returns what a channel's sum is multiplied by, and what is added: the bias and the norm.
  std::pair<float, float> affine(const Args& args, std::int64_t o) const {
    const Conv2dInt8Attrs& attrs = op_.attrs();
    const float before = attrs.conv.bias ? args.in(In::b)[o] : 0.0F;
    if (!attrs.norm) return {1.0F, before};
    const auto of = [&](Conv2dInt8Op::Norm operand) { return args.in(op_.norm_input(operand))[o]; };
    const float factor = of(Conv2dInt8Op::gamma) / std::sqrt(of(Conv2dInt8Op::running_var) +
                                                             static_cast<float>(attrs.epsilon));
    return {factor, of(Conv2dInt8Op::beta) + (before - of(Conv2dInt8Op::running_mean)) * factor};
  }
  /// The tail of columns from `column` on, of pixels that begin at element `at`.
  Int8Tail tail(const Args& args, std::int64_t at, std::int64_t column) const {
    const Conv2dInt8Attrs& attrs = op_.attrs();
    Int8Tail tail{.start = args.pack<std::int32_t>(at_.start) + column,
                  .factor = args.pack(at_.factor) + column,
                  .bias = args.pack(at_.bias) + column,
                  .residual_scale = levels_of(attrs.residual_levels),
                  .relu = attrs.conv.activation == Activation::relu,
                  .scale = levels_of(attrs.y),
                  .stride = s_.co};
    if (attrs.residual && attrs.residual_u8) {
      tail.residual_levels = args.in<std::uint8_t>(op_.residual_input()) + at;
    } else if (attrs.residual) {
      tail.residual = args.in(op_.residual_input()) + at;
    }
    if (attrs.to_levels) {
      tail.levels = args.out<std::uint8_t>(Out::y) + at;
    } else {
      tail.y = args.out(Out::y) + at;
    }
    return tail;
  }

  Conv2dInt8Op op_;
  ConvShape s_;
  Correlation all_;
  ByteFrames frames_;
  std::int64_t width_ = 1;  ///< of a group of columns
  std::int64_t line_tasks_ = 1;
  Packed at_;
};

std::optional<Kernel> prepare(const NodeView& node) {
  const auto& op = static_cast<const Conv2dInt8Op&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::w));
  const Correlation all = forward_correlation(s);
  if (s.taps() > kMostTerms || all.taps() == 0 || s.n == 0 || s.co == 0) return std::nullopt;
  const Int8Conv conv(op, s);
  Kernel kernel;
  kernel.engine = to_string(int8_units().front());
  kernel.scratch_bytes = conv.scratch_bytes();
  kernel.packed_bytes = conv.packed_bytes();
  for (std::size_t i = In::w; i < op.residual_input(); ++i) kernel.packed_operands.push_back(i);
  kernel.packing.push_back(
      parallel(tasks_for(s.co, conv.pack_cost()), s.co,
               [=](const Args& args, Range channels) { conv.pack(args, channels); }));
  kernel.stages.push_back(
      parallel(conv.tasks(), [=](const Args& args, const Task& task) { conv.run(args, task); }));
  return kernel;
}

}  // namespace

void register_conv2d_int8(Registry& registry) { registry.add(Conv2dInt8Op::kName, prepare); }

}  // namespace linnet::cpu

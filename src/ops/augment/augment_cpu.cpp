// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"
#include "ops/augment/augment.h"
#include "ops/augment/formulas.h"
#include "ops/gather_batch/record_index.h"

namespace linnet::cpu {
namespace {

/// The crop, turned and flipped, as (height, width, C). `columns`: room for the places of a row.
template <class From>
void crop(const AugmentTask& task, const AugmentSample& s, const From* record,
          AugmentPlace<float>* columns, float* out) {
  const AugmentRule& rule = task.rule;
  const std::int64_t channels = task.channels;
  const AugmentPixels<float, From> from{record, task.h, task.w, channels, rule.reflect};
  if (s.turns) {
    for (std::int64_t y = 0; y < rule.height; ++y) {
      for (std::int64_t x = 0; x < rule.width; ++x) {
        const AugmentPoint<float> point(rule, s, y, x);
        for (std::int64_t c = 0; c < channels; ++c) *out++ = point.value(from, c);
      }
    }
    return;
  }
  if (s.height == rule.height && s.width == rule.width) {
    for (std::int64_t k = 0; k < rule.height; ++k) {
      const std::int64_t y = s.top + s.row(k, rule.height);
      for (std::int64_t x = 0; x < rule.width; ++x) {
        const std::int64_t column = s.left + s.column(x, rule.width);
        for (std::int64_t c = 0; c < channels; ++c) *out++ = from.at(y, column, c);
      }
    }
    return;
  }
  // What is resized lies in the image.
  for (std::int64_t k = 0; k < rule.width; ++k) {
    columns[k] = {s.column(k, rule.width), rule.width, s.width};
  }
  const From* corner = record + (s.top * task.w + s.left) * channels;
  for (std::int64_t y = 0; y < rule.height; ++y) {
    const AugmentPlace<float> row(s.row(y, rule.height), rule.height, s.height);
    const From* above = corner + row.first * task.w * channels;
    const From* below = corner + row.second * task.w * channels;
    for (std::int64_t k = 0; k < rule.width; ++k) {
      const std::int64_t left = columns[k].first * channels;
      const std::int64_t right = columns[k].second * channels;
      const float share = columns[k].share;
      const auto between = [&](const From* line, std::int64_t c) {
        const auto at_left = static_cast<float>(line[left + c]);
        return at_left + share * (static_cast<float>(line[right + c]) - at_left);
      };
      for (std::int64_t c = 0; c < channels; ++c) {
        const float at_top = between(above, c);
        *out++ = at_top + row.share * (between(below, c) - at_top);
      }
    }
  }
}

void jitter(const AugmentTask& task, const AugmentSample& s, float* out) {
  const std::int64_t pixels = task.rule.height * task.rule.width;
  for (const int stage : s.order) {
    if (!jitters(task.rule, stage)) continue;
    double mean = 0;
    for (std::int64_t p = 0; stage == kContrast && p < pixels; ++p) {
      mean += luminance(out + p * task.channels, task.channels);
    }
    mean /= static_cast<double>(pixels);
    for (std::int64_t p = 0; p < pixels; ++p) {
      jitter_pixel(out + p * task.channels, task.channels, stage, s.factor[stage],
                   static_cast<float>(mean), static_cast<float>(task.rule.top));
    }
  }
}

void finish(const AugmentTask& task, const AugmentSample& s, float* out) {
  for (std::int64_t y = 0; y < task.rule.height; ++y) {
    for (std::int64_t x = 0; x < task.rule.width; ++x, out += task.channels) {
      const bool cut = s.cuts(y, x);
      for (std::int64_t c = 0; c < task.channels; ++c) {
        const float value = cut ? static_cast<float>(task.rule.fill) : out[c];
        out[c] = value * task.scale[c] + task.shift[c];
      }
    }
  }
}

template <class From>
Kernel augment(const NodeView& node) {
  using In = AugmentOp::In;
  using Out = AugmentOp::Out;
  const AugmentAttrs attrs = node.attrs<AugmentOp>();
  const Shape record = node.in(In::data).sample();
  const AugmentTask work(attrs, record);
  const std::int64_t in_size = record.elements();
  const std::int64_t out_size = node.out(Out::y).sample().elements();
  const int tasks = tasks_for(attrs.batch, 4.0 * static_cast<double>(out_size) + 500);
  Kernel kernel;
  kernel.scratch_bytes = sizeof(AugmentPlace<float>) * static_cast<std::size_t>(work.rule.width);
  kernel.stages.push_back(
      parallel(tasks, attrs.batch, [=](const Args& args, const Task& task, Range range) {
        const RecordIndex index(*task.step, attrs.shuffle);
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          const AugmentSample s =
              draw_augment(work.rule, work.h, work.w, *task.step, attrs.shuffle, i);
          float* out = args.out(Out::y) + i * out_size;
          crop(work, s, args.in<From>(In::data) + static_cast<std::int64_t>(index(i)) * in_size,
               reinterpret_cast<AugmentPlace<float>*>(task.scratch), out);
          jitter(work, s, out);
          finish(work, s, out);
        }
      }));
  return kernel;
}

std::optional<Kernel> prepare(const NodeView& node) {
  switch (node.inputs[AugmentOp::In::data].dtype) {
    case DType::u8: return augment<std::uint8_t>(node);
    case DType::f32: return augment<float>(node);
    default: return std::nullopt;
  }
}

}  // namespace

void register_augment(Registry& registry) { registry.add(AugmentOp::kName, prepare); }

}  // namespace linnet::cpu

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "backend/cpu/kernel.h"
#include "backend/cpu/stored.h"
#include "ops/gather_batch/gather_batch.h"
#include "ops/gather_batch/prefetch_record_cpu.h"
#include "ops/gather_batch/record_index.h"

namespace linnet::cpu {
namespace {

/// One record of `size` elements, converted.
using Convert = void (*)(const void* from, void* to, std::int64_t size, float scale, float shift);

void convert_u8(const void* from, void* to, std::int64_t size, float scale, float shift) {
  const auto* x = static_cast<const std::uint8_t*>(from);
  auto* y = static_cast<float*>(to);
  for (std::int64_t k = 0; k < size; ++k) y[k] = static_cast<float>(x[k]) * scale + shift;
}

void convert_f32(const void* from, void* to, std::int64_t size, float scale, float shift) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  for (std::int64_t k = 0; k < size; ++k) y[k] = x[k] * scale + shift;
}

void copy_i32(const void* from, void* to, std::int64_t size, float /*scale*/, float /*shift*/) {
  std::memcpy(to, from, sizeof(std::int32_t) * static_cast<std::size_t>(size));
}

Convert converter(DType dtype) {
  switch (dtype) {
    case DType::u8: return convert_u8;
    case DType::f32: return convert_f32;
    case DType::i32: return copy_i32;
    default: return nullptr;
  }
}

/// Records whose beginning is asked for while earlier ones are converted.
constexpr std::int64_t kRecordsAhead = 2;

std::optional<Kernel> prepare(const NodeView& node) {
  using In = GatherBatchOp::In;
  using Out = GatherBatchOp::Out;
  const GatherBatchAttrs attrs = node.attrs<GatherBatchOp>();
  const Convert convert = converter(node.inputs[In::data].dtype);
  if (convert == nullptr) return std::nullopt;
  const std::int64_t size = node.out(Out::y).sample().elements();
  const std::size_t record_bytes = node.inputs[In::data].bytes();
  const std::size_t out_bytes =
      size_of(node.outputs[Out::y].dtype) * static_cast<std::size_t>(size);
  const auto scale = static_cast<float>(attrs.scale);
  const auto shift = static_cast<float>(attrs.shift);
  const Stored stored(node.outputs[Out::y]);
  if (stored.bf16() && node.inputs[In::data].dtype == DType::i32) return std::nullopt;
  // Floats that are only rounded: in one pass, without a copy in scratch memory.
  const bool rounds =
      stored.bf16() && node.inputs[In::data].dtype == DType::f32 && scale == 1 && shift == 0;
  constexpr double kShortTasks = 4;  // of 5 us: each copies rows and shares nothing
  Kernel kernel = sample_stage(
      attrs.batch, kShortTasks * (0.4 * static_cast<double>(size) + 20), {}, {Out::y},
      [=](const Args& args, const Task& task, Range range) {
        const RecordIndex index(*task.step, attrs.shuffle);
        std::array<const std::byte*, kRecordsAhead> records{};
        const auto ask_for = [&](std::int64_t i) {
          if (i >= range.end) return;
          const std::byte*& record = records[static_cast<std::size_t>(i % kRecordsAhead)];
          record = args.in<std::byte>(In::data) + index(i) * record_bytes;
          prefetch_record(record, record_bytes);
        };
        for (std::int64_t i = range.begin; i < range.begin + kRecordsAhead; ++i) ask_for(i);
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          const std::byte* record = records[static_cast<std::size_t>(i % kRecordsAhead)];
          ask_for(i + kRecordsAhead);
          if (rounds) {
            stored.write(reinterpret_cast<const float*>(record), size, args.outputs[Out::y],
                         i * size);
            continue;
          }
          void* to = args.out<std::byte>(Out::y) + static_cast<std::size_t>(i) * out_bytes;
          if (stored.bf16()) to = task.scratch;
          convert(record, to, size, scale, shift);
          stored.write(static_cast<const float*>(to), size, args.outputs[Out::y], i * size);
        }
      });
  if (stored.bf16()) kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(size);
  return kernel;
}

}  // namespace

void register_gather_batch(Registry& registry) {
  registry.add(GatherBatchOp::kName, prepare, Stores::bf16);
}

}  // namespace linnet::cpu

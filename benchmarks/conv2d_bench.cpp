// SPDX-License-Identifier: Apache-2.0
// The engines that compute convolutions, side by side: the tables of docs/notes/.
#include <benchmark/benchmark.h>

#include "backend/cpu/memory.h"
#include "base/thread_team.h"
#include "core/align.h"
#include "ops/conv2d/bf16_engine_cpu.h"

namespace linnet::cpu {
namespace {

/// A kernel's stages as the executor runs them.
class Repeat final : public StagedWork {
 public:
  Repeat(const Kernel& kernel, std::vector<void*> inputs, std::vector<void*> outputs, int threads)
      : kernel_(kernel),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        workspace_(allocate(kernel.workspace_bytes)),
        stride_(align_up(kernel.scratch_bytes)),
        scratch_(allocate(stride_ * static_cast<std::size_t>(threads))) {}
  std::uint64_t stages() const override { return kernel_.stages.size(); }
  std::uint32_t tasks(std::uint64_t stage) const override {
    return static_cast<std::uint32_t>(kernel_.stages[stage].tasks);
  }
  void run(std::uint64_t stage, std::uint32_t task, int thread) override {
    kernel_.stages[stage].run({inputs_, outputs_, workspace_->data()},
                              {static_cast<int>(task),
                               scratch_->data() + stride_ * static_cast<std::size_t>(thread),
                               &step_});
  }

 private:
  const Kernel& kernel_;
  std::vector<void*> inputs_;
  std::vector<void*> outputs_;
  std::unique_ptr<Buffer> workspace_;
  std::size_t stride_;
  std::unique_ptr<Buffer> scratch_;
  StepInfo step_;
};

struct Problem {
  const char* name;
  std::int64_t batch, size, in, out, kernel, stride, pad;
  std::int64_t groups = 1;
};

enum class Direction { forward, grad_input, grad_weight };

std::optional<Kernel> kernel_of(const ConvEngine& engine, Direction direction, const ConvShape& s) {
  switch (direction) {
    case Direction::forward:
      if (std::optional<Kernel> kernel = engine.forward(s, {})) {
        return packed_in_each_run(std::move(*kernel));
      }
      return std::nullopt;
    case Direction::grad_input:
      if (std::optional<Kernel> kernel = engine.grad_input(s)) {
        return packed_in_each_run(std::move(*kernel));
      }
      return std::nullopt;
    case Direction::grad_weight: return engine.grad_weight(s);
  }
  return std::nullopt;
}

std::unique_ptr<Buffer> numbers(std::int64_t count) {
  auto buffer = allocate(sizeof(float) * static_cast<std::size_t>(count));
  auto* data = reinterpret_cast<float*>(buffer->data());
  for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<float>(i * 7919 % 2001) / 1000 - 1;
  return buffer;
}

void convolve(benchmark::State& state, const Problem& p, const ConvEngine& engine,
              Direction direction) {
  const Conv2dAttrs attrs{.stride_h = p.stride,
                          .stride_w = p.stride,
                          .groups = p.groups,
                          .pad_top = p.pad,
                          .pad_bottom = p.pad,
                          .pad_left = p.pad,
                          .pad_right = p.pad};
  const ConvShape s = conv_shape(attrs, {p.batch, p.size, p.size, p.in},
                                 {p.out, p.kernel, p.kernel, p.in / p.groups}, "");
  const std::optional<Kernel> kernel = kernel_of(engine, direction, s);
  if (!kernel) {
    state.SkipWithError("not taken");
    return;
  }
  const auto x = numbers(s.n * s.in_pixels() * s.c);
  const auto w = numbers(s.weights());
  const auto y = numbers(s.n * s.out_pixels() * s.co);
  std::vector<void*> inputs{x->data(), w->data()};
  std::vector<void*> outputs{y->data()};
  if (direction == Direction::grad_input) inputs = {y->data(), w->data()}, outputs = {x->data()};
  if (direction == Direction::grad_weight) inputs = {x->data(), y->data()}, outputs = {w->data()};
  static ThreadTeam team;
  Repeat work(*kernel, inputs, outputs, team.threads());
  team.run(work);
  for (auto _ : state) team.run(work);
  state.counters["FLOP/s"] = benchmark::Counter(static_cast<double>(s.n) * s.flops_per_sample() *
                                                    static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

const bool registered = [] {
  static constexpr Problem kProblems[] = {
      {"1_to_16_3x3_at_28", 128, 28, 1, 16, 3, 1, 1},
      {"3_to_16_5x5_at_32", 128, 32, 3, 16, 5, 1, 0},
      {"16_to_16_3x3_at_28", 128, 28, 16, 16, 3, 1, 1},
      {"64_to_64_3x3_at_8", 128, 8, 64, 64, 3, 1, 1},
      {"64_to_64_3x3_at_32", 64, 32, 64, 64, 3, 1, 1},
      {"50_to_50_3x3_at_32", 64, 32, 50, 50, 3, 1, 1},
      {"100_to_100_3x3_at_16", 64, 16, 100, 100, 3, 1, 1},
      {"64_to_64_3x3_by_2_at_16", 128, 16, 64, 64, 3, 2, 1},
      {"256_to_256_3x3_at_2", 128, 2, 256, 256, 3, 1, 1},
      {"64_to_256_1x1_at_8", 128, 8, 64, 256, 1, 1, 0},
      {"256_to_64_1x1_at_8", 128, 8, 256, 64, 1, 1, 0},
      {"512_to_512_3x3_at_1", 128, 1, 512, 512, 3, 1, 1},
      {"512_to_512_3x3_by_2_at_2", 128, 2, 512, 512, 3, 2, 1},
      {"64_to_64_3x3_at_56", 32, 56, 64, 64, 3, 1, 1},
      {"64_to_256_1x1_at_56", 32, 56, 64, 256, 1, 1, 0},
      {"3_to_64_7x7_by_2_at_224", 32, 224, 3, 64, 7, 2, 3},
      {"512_to_512_3x3_at_7", 32, 7, 512, 512, 3, 1, 1},
      {"1024_to_512_1x1_by_2_at_14", 32, 14, 1024, 512, 1, 2, 0},
      {"16_groups_of_4_3x3_at_32", 32, 32, 64, 64, 3, 1, 1, 16},
      {"16_groups_of_8_3x3_at_16", 32, 16, 128, 128, 3, 1, 1, 16},
      {"16_groups_of_8_3x3_by_2_at_32", 32, 32, 128, 128, 3, 2, 1, 16},
      {"16_groups_of_16_3x3_at_8", 32, 8, 256, 256, 3, 1, 1, 16},
      {"16_groups_of_16_3x3_by_2_at_16", 32, 16, 256, 256, 3, 2, 1, 16},
      {"14_groups_of_24_3x3_at_14", 32, 14, 336, 336, 3, 1, 1, 14},
      {"32_groups_of_32_3x3_at_7", 32, 7, 1024, 1024, 3, 1, 1, 32},
      {"4_groups_of_64_3x3_at_28", 8, 28, 256, 256, 3, 1, 1, 4},
      {"dense_1000_to_1000_of_8000", 8000, 1, 1000, 1000, 1, 1, 0},
      {"dense_1000_to_1_of_8000", 8000, 1, 1000, 1, 1, 1, 0},
      {"dense_3136_to_10_of_128", 128, 1, 3136, 10, 1, 1, 0},
      {"dense_512_to_512_of_64", 64, 1, 512, 512, 1, 1, 0},
      {"dense_784_to_512_of_128", 128, 1, 784, 512, 1, 1, 0},
      {"dense_128_to_512_of_256", 256, 1, 128, 512, 1, 1, 0},
      {"dense_512_to_512_of_512", 512, 1, 512, 512, 1, 1, 0},
  };
  const std::pair<const char*, const ConvEngine*> engines[] = {
      {"pointwise", &pointwise_engine()}, {"direct", &direct_engine()},
      {"im2col", &im2col_engine()},       {"whole-image", &whole_image_engine()},
      {"winograd", &winograd_engine()},   {"onednn", &onednn_engine()},
      {"grouped", &grouped_engine()},     {"bf16-tiles", &bf16_tiles_engine()}};
  const std::pair<const char*, Direction> directions[] = {{"forward", Direction::forward},
                                                          {"grad_input", Direction::grad_input},
                                                          {"grad_weight", Direction::grad_weight}};
  for (const Problem& problem : kProblems) {
    for (const auto& [direction_name, direction] : directions) {
      for (const auto& [engine_name, engine] : engines) {
        const std::string name =
            std::string(problem.name) + "/" + direction_name + "/" + engine_name;
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=, e = engine, d = direction](benchmark::State& state) {
                                       convolve(state, problem, *e, d);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace linnet::cpu

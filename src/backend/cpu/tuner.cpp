// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/tuner.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "backend/cpu/kernel_trial.h"
#include "backend/cpu/onednn_library.h"
#include "base/version.h"

namespace linnet::cpu {
namespace {

constexpr double kClearlyLess = 0.95;  // of the first candidate's time, to be taken instead

TuningCache machine_cache(const std::string& folder) {
  if (folder.empty()) return {};
  return TuningCache(std::filesystem::path(folder) / "cpu-tuning.json");
}

/// "AVX2, oneDNN 2.6.3, Linnet 0.1.0, fp32"
std::string describe(Products products) {
  // Lower bits are better targets.
  const std::int64_t best =
      std::int64_t{1} << std::countr_zero(static_cast<std::uint64_t>(hwy::SupportedTargets()));
  return fmt::format("{}, oneDNN {}, Linnet {}, {}", hwy::TargetName(best),
                     has_onednn() ? onednn_version() : "missing", kVersionText,
                     products == Products::fp32 ? "fp32" : "bf16");
}

/// "direct 1.204 ms, im2col 1.930 ms", the chosen one first.
std::string listed(std::vector<std::pair<std::string_view, double>> times, std::size_t chosen) {
  std::rotate(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(chosen),
              times.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
  std::sort(times.begin() + 1, times.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text;
  for (const auto& [engine, seconds] : times) {
    text += fmt::format("{}{} {:.3f} ms", text.empty() ? "" : ", ", engine, 1e3 * seconds);
  }
  return text;
}

/// Returns the kernel of the engine that a kept text names first.
std::optional<Kernel> kept_choice(const std::string& text,
                                  const std::vector<Candidate>& candidates) {
  const std::string_view engine = std::string_view(text).substr(0, text.find(' '));
  for (const Candidate& candidate : candidates) {
    if (candidate.engine != engine) continue;
    std::optional<Kernel> kernel = candidate.prepare();
    if (kernel) kernel->engine = text;
    return kernel;
  }
  return std::nullopt;
}

}  // namespace

Tuner::Tuner(const CpuOptions& options, Products products, std::shared_ptr<ThreadTeam> team)
    : measure_(options.tune),
      // Describing it opens oneDNN.
      machine_(options.tune || !options.choices.empty() ? describe(products) : ""),
      team_(std::move(team)),
      choices_(options.choices),
      kept_(options.tune ? machine_cache(options.cache_folder) : TuningCache()) {}

std::string Tuner::key(const NodeView& node) const {
  const auto types = [](std::span<const ValueType> operands) {
    return linnet::to_string({}, {operands.begin(), operands.end()});
  };
  return fmt::format("{}: {} {} {} -> {}{}", machine_, node.op.name(),
                     linnet::to_string(node.op.attributes()), types(node.inputs),
                     types(node.outputs), node.fixed(kSecond) ? ", fixed weights" : "");
}

std::optional<Kernel> Tuner::choose(const NodeView& node,
                                    const std::vector<Candidate>& candidates) {
  if (choices_.empty() && !measure_) return first_candidate(node, candidates);
  const std::string name = key(node);
  if (const auto made = choices_.find(name); made != choices_.end()) {
    if (std::optional<Kernel> kernel = kept_choice(made->second, candidates)) return kernel;
  }
  if (!measure_) return first_candidate(node, candidates);
  std::optional<Kernel> kernel;
  if (const auto text = kept_.get(name)) kernel = kept_choice(*text, candidates);
  if (!kernel) kernel = fastest(node, candidates);
  if (kernel) {
    choices_[name] = kernel->engine;
    kept_.put(name, kernel->engine);
  }
  return kernel;
}

std::optional<Kernel> Tuner::fastest(const NodeView& node,
                                     const std::vector<Candidate>& candidates) const {
  std::vector<Kernel> kernels;
  std::vector<std::string_view> engines;
  for (const Candidate& candidate : candidates) {
    if (std::optional<Kernel> kernel = candidate.prepare()) {
      kernels.push_back(std::move(*kernel));
      engines.push_back(candidate.engine);
    }
  }
  if (kernels.empty()) return std::nullopt;
  const std::vector<double> seconds = times_of(kernels, node, *team_);
  std::size_t chosen = 0;
  std::vector<std::pair<std::string_view, double>> times;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    times.emplace_back(engines[k], seconds[k]);
    const double to_beat = chosen == 0 ? kClearlyLess * seconds[0] : seconds[chosen];
    if (seconds[k] < to_beat) chosen = k;
  }
  kernels[chosen].engine = listed(std::move(times), chosen);
  return std::move(kernels[chosen]);
}

}  // namespace linnet::cpu

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backend/cpu/ceilings.h"
#include "backend/cpu/kernel.h"
#include "backend/cpu/tuner.h"
#include "base/thread_team.h"
#include "runtime/backend.h"

namespace linnet::cpu {

/// How the CPU holds the values that graphs have as f32.
enum class Numbers : std::uint8_t {
  f32,
  f64,  ///< as f64 (widen.h): the registry's kernels are those of f64
};

/// The CPU: kernels of a registry on a team of threads that all its programs share.
class CpuBackend final : public Backend {
 public:
  /// products: fp32 with Numbers::f64.
  explicit CpuBackend(Registry registry, std::shared_ptr<ThreadTeam> team,
                      Products products = Products::fp32, const CpuOptions& options = {},
                      Numbers numbers = Numbers::f32);

  std::string_view name() const override { return "cpu"; }
  Capabilities capabilities() const override {
    return {.host_memory = true,
            .side_by_side = true,
            .blocks = true,
            .f64 = numbers_ == Numbers::f64};
  }
  int threads() const override { return team_->threads(); }
  std::shared_ptr<ThreadTeam> team() const override { return team_; }
  bool supports(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> outputs) const override;
  bool wants(const Op& op, std::span<const ValueType> inputs,
             std::span<const ValueType> outputs) const override;
  std::unique_ptr<Buffer> allocate(std::size_t bytes) const override;
  std::shared_ptr<Buffer> view(std::span<const std::byte> host) const override;
  void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const override;
  void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const override;
  std::unique_ptr<BatchStream> stream_batches(const BatchLayout& layout) const override;
  std::map<std::string, std::string> engine_choices() const override { return tuner_.choices(); }
  Ceilings ceilings() override { return measure_ceilings(*team_); }
  std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) override;

 private:
  Registry registry_;
  Products products_;
  Numbers numbers_;
  std::shared_ptr<ThreadTeam> team_;
  Tuner tuner_;
};

}  // namespace linnet::cpu

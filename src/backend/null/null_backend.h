// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// A backend without a device: it plans everything, computes nothing and takes no memory, and
/// writes down what it would have run. For looking at plans of any size, and for tests of what is
/// run.
class NullBackend final : public Backend {
 public:
  /// `supported` answers supports(); by default everything is supported.
  using Supported = bool (*)(const Op& op);
  explicit NullBackend(Supported supported = [](const Op&) { return true; })
      : supported_(supported) {}

  std::string_view name() const override { return "null"; }
  Capabilities capabilities() const override { return {}; }
  bool supports(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> outputs) const override;
  /// Returns a buffer of that size whose data() is null.
  std::unique_ptr<Buffer> allocate(std::size_t bytes) const override;
  std::shared_ptr<Buffer> view(std::span<const std::byte> host) const override;
  /// Checks the bounds.
  void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const override;
  /// Checks the bounds and gives zeros.
  void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const override;
  std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) override;

  /// Returns the operators of every step run so far, by name and layer: "conv2d_pool 'conv2d_1'".
  const std::vector<std::string>& launches() const { return *launches_; }

 private:
  Supported supported_;
  std::shared_ptr<std::vector<std::string>> launches_ =
      std::make_shared<std::vector<std::string>>();
};

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/backend.h"

namespace linnet::testing {

struct Counts {
  std::uint64_t programs = 0;
  std::uint64_t allocations = 0;
  std::size_t bytes = 0;
  bool operator==(const Counts&) const = default;
};

/// Another backend, which counts what is prepared and allocated.
class CountingBackend final : public Backend {
 public:
  CountingBackend(std::unique_ptr<Backend> backend, std::shared_ptr<Counts> counts)
      : backend_(std::move(backend)), counts_(std::move(counts)) {}

  std::string_view name() const override { return backend_->name(); }
  Capabilities capabilities() const override { return backend_->capabilities(); }
  int threads() const override { return backend_->threads(); }
  bool supports(const Op& op, std::span<const ValueType> inputs,
                std::span<const ValueType> outputs) const override {
    return backend_->supports(op, inputs, outputs);
  }
  bool wants(const Op& op, std::span<const ValueType> inputs,
             std::span<const ValueType> outputs) const override {
    return backend_->wants(op, inputs, outputs);
  }
  std::shared_ptr<Buffer> view(std::span<const std::byte> host) const override {
    return backend_->view(host);
  }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) const override {
    ++counts_->allocations;
    counts_->bytes += bytes;
    return backend_->allocate(bytes);
  }
  void upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const override {
    backend_->upload(to, offset, from);
  }
  void download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const override {
    backend_->download(from, offset, to);
  }
  std::unique_ptr<BatchStream> stream_batches(const BatchLayout& layout) const override {
    return backend_->stream_batches(layout);
  }
  std::unique_ptr<Program> prepare(Graph graph, const PlanOptions& options) override {
    ++counts_->programs;
    return backend_->prepare(std::move(graph), options);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::shared_ptr<Counts> counts_;
};

}  // namespace linnet::testing

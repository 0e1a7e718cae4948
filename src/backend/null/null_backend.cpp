// SPDX-License-Identifier: Apache-2.0
#include "backend/null/null_backend.h"

#include <algorithm>

#include "base/check.h"

namespace linnet {
namespace {

class NullBuffer final : public Buffer {
 public:
  explicit NullBuffer(std::size_t bytes) : bytes_(bytes) {}
  std::byte* data() override { return nullptr; }
  std::size_t bytes() const override { return bytes_; }
  void read(std::size_t /*offset*/, std::span<std::byte> to) const override {
    std::fill(to.begin(), to.end(), std::byte{0});
  }

 private:
  std::size_t bytes_;
};

class NullProgram final : public Program {
 public:
  NullProgram(Plan plan, std::shared_ptr<std::vector<std::string>> launches)
      : plan_(std::move(plan)), launches_(std::move(launches)) {}

  const Plan& plan() const override { return plan_; }
  std::size_t private_bytes() const override { return 0; }
  void attach(const Memory& memory) override {
    for (std::size_t s = 0; s < kStorages; ++s) {
      const Buffer* buffer = memory.buffers[s].get();
      LINNET_ASSERT(plan_.bytes[s] == 0 || s == static_cast<std::size_t>(Storage::constant) ||
                    (buffer != nullptr && buffer->bytes() >= plan_.bytes[s]));
    }
  }
  void bind(std::size_t /*slot*/, const void* /*address*/) override {}
  void run(const StepInfo& /*first*/, std::uint64_t steps, std::uint64_t /*stride*/) override {
    for (std::uint64_t step = 0; step < steps; ++step) record();
  }
  void run_checked(const StepInfo& /*step*/) override {
    verify_plan(plan_);
    record();
  }

 private:
  void record() {
    const std::vector<Node>& nodes = plan_.graph.nodes();
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      if (plan_.runs(n)) {
        launches_->push_back(fmt::format("{} '{}'", nodes[n].op->name(), nodes[n].name));
      }
    }
  }

  Plan plan_;
  std::shared_ptr<std::vector<std::string>> launches_;
};

}  // namespace

bool NullBackend::supports(const Op& op, std::span<const ValueType> /*inputs*/,
                           std::span<const ValueType> outputs) const {
  // Its precision is fp32.
  return supported_(op) && std::ranges::none_of(outputs, [](const ValueType& type) {
           return type.dtype == DType::bf16 || type.dtype == DType::f16;
         });
}

std::unique_ptr<Buffer> NullBackend::allocate(std::size_t bytes) const {
  return std::make_unique<NullBuffer>(bytes);
}

std::shared_ptr<Buffer> NullBackend::view(std::span<const std::byte> host) const {
  return std::make_shared<NullBuffer>(host.size());
}

void NullBackend::upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const {
  LINNET_ASSERT(offset + from.size() <= to.bytes());
}

void NullBackend::download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const {
  LINNET_ASSERT(offset + to.size() <= from.bytes());
  from.read(offset, to);
}

std::unique_ptr<Program> NullBackend::prepare(Graph graph, const PlanOptions& options) {
  Plan plan = make_plan(
      std::move(graph), [](const Node&) { return std::size_t{0}; }, options);
  return std::make_unique<NullProgram>(std::move(plan), launches_);
}

}  // namespace linnet

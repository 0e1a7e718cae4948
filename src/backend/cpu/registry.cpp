// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"
#include "backend/cpu/rounded_operands.h"

namespace linnet::cpu {

std::optional<Kernel> first_candidate(const NodeView& /*node*/,
                                      const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    if (std::optional<Kernel> kernel = candidate.prepare()) return kernel;
  }
  return std::nullopt;
}

void Registry::add(std::string_view op, Prepare prepare) {
  kernels_[std::string(op)] = {prepare, InBf16::same, nullptr};
}

void Registry::add_product(std::string_view op, Prepare prepare, Prepare native) {
  kernels_[std::string(op)] = {prepare, InBf16::product, native};
}

void Registry::add_product(std::string_view op, Candidates candidates, Prepare native) {
  kernels_[std::string(op)] = {candidates, InBf16::product, native};
}

void Registry::add_fp32_only(std::string_view op, Prepare prepare) {
  kernels_[std::string(op)] = {prepare, InBf16::none, nullptr};
}

void Registry::add_fp32_only(std::string_view op, Candidates candidates) {
  kernels_[std::string(op)] = {candidates, InBf16::none, nullptr};
}

std::optional<Kernel> Registry::Entry::prepare(const NodeView& node, const Choose& choose) const {
  if (const Prepare* only = std::get_if<Prepare>(&kernels)) return (*only)(node);
  return choose(node, std::get<Candidates>(kernels)(node));
}

std::optional<Kernel> Registry::prepare(const NodeView& node, Products products,
                                        const Choose& choose) const {
  const auto found = kernels_.find(std::string(node.op.name()));
  if (found == kernels_.end()) return std::nullopt;
  const Entry& entry = found->second;
  if (products == Products::fp32 || entry.in_bf16 == InBf16::same) {
    return entry.prepare(node, choose);
  }
  if (entry.in_bf16 == InBf16::none) return std::nullopt;
  static const std::vector<std::size_t> factors{0, 1};
  std::optional<Kernel> kernel;
  if (products == Products::bf16_native && entry.native != nullptr) kernel = entry.native(node);
  const bool native = kernel.has_value();
  if (!native) kernel = entry.prepare(node, choose);
  if (!kernel) return std::nullopt;
  const std::string chosen = kernel->engine.empty() ? "" : "; " + kernel->engine;
  kernel =
      with_rounded_operands(node, std::move(*kernel), factors, native ? KeptAs::bf16 : KeptAs::f32);
  kernel->engine =
      "bf16: " + std::string(to_string(native ? bf16_unit() : Bf16Unit::none)) + chosen;
  return kernel;
}

}  // namespace linnet::cpu

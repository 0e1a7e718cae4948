// SPDX-License-Identifier: Apache-2.0
// What a build without oneDNN (LINNET_ONEDNN=OFF) has instead of it: no library, and no native
// bf16, whose operands are rounded and multiplied in f32 then.
#include "backend/cpu/bf16.h"
#include "backend/cpu/onednn_library.h"
#include "backend/cpu/products/bf16_matmul.h"
#include "base/check.h"

namespace linnet::cpu {

void require_onednn() { throw InternalError("this build of Linnet has no oneDNN"); }

bool has_onednn() { return false; }

std::string onednn_version() { return ""; }

Bf16Unit bf16_unit() { return Bf16Unit::none; }

struct Bf16Matmul::State {};

Bf16Matmul::Bf16Matmul(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bf16Matmul::Bf16Matmul(Bf16Matmul&&) noexcept = default;
Bf16Matmul& Bf16Matmul::operator=(Bf16Matmul&&) noexcept = default;
Bf16Matmul::~Bf16Matmul() = default;

std::optional<Bf16Matmul> Bf16Matmul::prepare(std::int64_t /*m*/, std::int64_t /*n*/,
                                              std::int64_t /*k*/, Bf16Layout /*a*/,
                                              Bf16Layout /*b*/, std::int64_t /*c_stride*/) {
  return std::nullopt;
}

std::size_t Bf16Matmul::scratch_bytes() const { return 0; }

void Bf16Matmul::run(const std::uint16_t* /*a*/, const std::uint16_t* /*b*/, float* /*c*/,
                     std::byte* /*scratch*/) const {
  require_onednn();
}

}  // namespace linnet::cpu

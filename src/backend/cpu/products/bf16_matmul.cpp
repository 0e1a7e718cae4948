// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/bf16_matmul.h"

#include <array>
#include <string_view>

#include "backend/cpu/copies.h"
#include "backend/cpu/onednn.h"
#include "backend/cpu/sequential_openmp.h"
#include "base/check.h"

namespace linnet::cpu {
namespace {

using dnnl::memory;
using Primitive = dnnl::matmul;

memory::desc describe(std::int64_t rows, std::int64_t columns, Bf16Layout layout,
                      memory::data_type type) {
  const memory::dims strides =
      layout.transposed ? memory::dims{1, layout.stride} : memory::dims{layout.stride, 1};
  return {{rows, columns}, type, strides};
}

/// Throws dnnl::error where oneDNN does not take it.
Primitive::primitive_desc describe_product(const dnnl::engine& engine, const memory::desc& a,
                                           const memory::desc& b, const memory::desc& c) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, a, b, c, attr};
#else
  return {Primitive::desc(a, b, c), attr, engine};
#endif
}

}  // namespace

struct Bf16Matmul::State {
  /// What a call gives addresses.
  struct Operands {
    dnnl::stream stream;
    memory a, b, c, scratchpad;
  };

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  Primitive primitive;
  std::size_t scratch_bytes = 0;
  std::optional<Copies<Operands>> operands;
};

Bf16Matmul::Bf16Matmul(std::unique_ptr<State> state) : state_(std::move(state)) {}
Bf16Matmul::Bf16Matmul(Bf16Matmul&&) noexcept = default;
Bf16Matmul& Bf16Matmul::operator=(Bf16Matmul&&) noexcept = default;
Bf16Matmul::~Bf16Matmul() = default;

std::optional<Bf16Matmul> Bf16Matmul::prepare(std::int64_t m, std::int64_t n, std::int64_t k,
                                              Bf16Layout a, Bf16Layout b, std::int64_t c_stride) {
  if (m == 0 || n == 0 || k == 0) return std::nullopt;
  constexpr auto kBf16 = memory::data_type::bf16;
  const SequentialOpenMp sequential;
  try {
    auto state = std::make_unique<State>();
    const memory::desc left = describe(m, k, a, kBf16);
    const memory::desc right = describe(k, n, b, kBf16);
    const memory::desc result = describe(m, n, {c_stride, false}, memory::data_type::f32);
    const auto product = describe_product(state->engine, left, right, result);
    if (std::string_view(product.impl_info_str()).find("ref") != std::string_view::npos) {
      return std::nullopt;  // a naive loop
    }
    state->primitive = Primitive(product);
    state->scratch_bytes = product.scratchpad_desc().get_size();
    const auto unbound = [&](const memory::desc& desc) {
      return memory(desc, state->engine, nullptr);
    };
    state->operands.emplace([&] {
      return State::Operands{dnnl::stream(state->engine), unbound(left), unbound(right),
                             unbound(result), unbound(product.scratchpad_desc())};
    });
    return Bf16Matmul(std::move(state));
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

std::size_t Bf16Matmul::scratch_bytes() const { return state_->scratch_bytes; }

void Bf16Matmul::run(const std::uint16_t* a, const std::uint16_t* b, float* c,
                     std::byte* scratch) const {
  const SequentialOpenMp sequential;
  const auto s = state_->operands->borrow();
  s->a.set_data_handle(const_cast<std::uint16_t*>(a));
  s->b.set_data_handle(const_cast<std::uint16_t*>(b));
  s->c.set_data_handle(c);
  s->scratchpad.set_data_handle(scratch);
  // Not execute(): it would build a map at every call.
  const std::array<dnnl_exec_arg_t, 4> arguments{{{DNNL_ARG_SRC, s->a.get()},
                                                  {DNNL_ARG_WEIGHTS, s->b.get()},
                                                  {DNNL_ARG_DST, s->c.get()},
                                                  {DNNL_ARG_SCRATCHPAD, s->scratchpad.get()}}};
  const dnnl_status_t status =
      dnnl_primitive_execute(state_->primitive.get(), s->stream.get(), 4, arguments.data());
  if (status != dnnl_success) {
    throw InternalError(
        fmt::format("oneDNN's bfloat16 product returned status {}", static_cast<int>(status)));
  }
}

}  // namespace linnet::cpu

// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/amx_tiles.h"

#include <hwy/base.h>

#include "backend/cpu/products/amx_emulated.h"
#include "backend/cpu/products/amx_product.h"

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/cpu/cpuid.h"
#endif

namespace linnet::cpu {

#if HWY_ARCH_X86_64 && defined(__linux__)

namespace {

/// The processor's tiles, from this object's construction to its end. Instructions are written out,
/// since compilers want to be told of AMX before they know their names.
class Amx {
 public:
  Amx() {
    struct alignas(64) {
      std::uint8_t palette = 1;
      std::uint8_t start_row = 0;
      std::uint8_t reserved[14] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } const layout;
    static_assert(sizeof(layout) == 64);
    asm volatile("ldtilecfg %0" ::"m"(layout));
  }
  Amx(const Amx&) = delete;
  Amx& operator=(const Amx&) = delete;
  ~Amx() { asm volatile("tilerelease"); }

  template <int kTile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  void load(const void* from, std::int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  void store(void* to, std::int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kC, int kA, int kB>
  void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kC), "i"(kA), "i"(kB));
  }
};

bool in_processor() {
  constexpr unsigned kWanted = 1U << 22U | 1U << 24U;  // bfloat16, and tiles
  return (ExtendedFeatures(0).d & kWanted) == kWanted;
}

/// Asks the system, which makes room for tiles in a process that wants them (Linux 5.16 on).
bool allowed() {
  constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;     // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

template <class Unit>
void product_of_tiles(Unit& unit, const std::uint16_t* operands, float* c) {
  unit.template zero<0>();
  unit.template load<4>(operands, kAmxStride);
  unit.template load<6>(operands + 2 * kAmxWords, kAmxStride);
  unit.template multiply_add<0, 4, 6>();
  unit.template store<0>(c, kAmxStride);
}

bool as_defined() {
  std::uint16_t operands[4 * kAmxWords];
  std::uint32_t state = 1;
  for (std::uint16_t& x : operands) {  // of either sign, 0.5 to 2
    state = state * 1664525U + 1013904223U;
    x = static_cast<std::uint16_t>((state >> 31U << 15U) | (0x3F00U + (state >> 16U & 0xFFU)));
  }
  float ours[kAmxWords];
  float defined[kAmxWords];
  Amx amx;
  product_of_tiles(amx, operands, ours);
  EmulatedAmx emulated;
  product_of_tiles(emulated, operands, defined);
  return std::memcmp(ours, defined, sizeof(ours)) == 0;
}

}  // namespace

bool has_amx_tiles() {
  static const bool has = has_bf16_tiles() && in_processor() && allowed() && as_defined();
  return has;
}

void amx_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                       std::int64_t columns, float* c, std::int64_t c_stride) {
  Amx amx;
  amx_panel_product(amx, a, rows, panels, columns, c, c_stride);
}

void amx_tile_product(std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                      const std::uint16_t* tiles, const std::uint16_t* panels, bool accumulate,
                      float* c, std::int64_t c_stride) {
  Amx amx;
  amx_tile_product(amx, pairs, rows, columns, reinterpret_cast<const std::uint32_t*>(tiles), panels,
                   accumulate, c, c_stride);
}

#else

// Never called: has_amx_tiles() says no.
bool has_amx_tiles() { return false; }
void amx_panel_product(const Bf16Rows&, std::int64_t, const std::uint16_t*, std::int64_t, float*,
                       std::int64_t) {}
void amx_tile_product(std::int64_t, std::int64_t, std::int64_t, const std::uint16_t*,
                      const std::uint16_t*, bool, float*, std::int64_t) {}

#endif

}  // namespace linnet::cpu

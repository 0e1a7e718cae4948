// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dropout/dropout_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ops/dropout/dropout_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// A 64-bit lane is one block; its lower half holds a word of philox(), which is all that MulEven
/// reads, and its upper half anything.
const hn::ScalableTag<std::uint64_t> kBlocks;
const hn::RepartitionToNarrow<decltype(kBlocks)> kWords;
const hn::RebindToFloat<decltype(kWords)> kFloats;
using Blocks = hn::Vec<decltype(kBlocks)>;
using Words = hn::Vec<decltype(kWords)>;

/// The words of as many blocks as there are lanes.
struct Counters {
  Blocks c0, c1, c2, c3;
};

HWY_INLINE Blocks product(Blocks c, Words factor) {
  return hn::MulEven(hn::BitCast(kWords, c), factor);
}

/// One round of philox() with round keys k0 and k1.
HWY_INLINE void turn(Counters& c, Blocks k0, Blocks k1) {
  const Blocks p0 = product(c.c0, hn::Set(kWords, 0xD2511F53U));
  const Blocks p1 = product(c.c2, hn::Set(kWords, 0xCD9E8D57U));
  c.c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c.c1), k0);
  c.c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c.c3), k1);
  c.c1 = p1;
  c.c3 = p0;
}

/// Returns the words of 2 * lanes elements, each from the lower halves of `even` and `odd` by
/// turns.
HWY_INLINE Words paired(Blocks even, Blocks odd) {
  return hn::OddEven(hn::BitCast(kWords, hn::ShiftLeft<32>(odd)), hn::BitCast(kWords, even));
}

HWY_INLINE void drop_words(const DropoutMask& mask, Blocks words, const float* x, float* y) {
  const hn::RebindToSigned<decltype(kWords)> integers;
  const Words bits = hn::ShiftRight<8>(hn::BitCast(kWords, words));
  const auto unit = hn::Mul(hn::ConvertTo(kFloats, hn::BitCast(integers, bits)),
                            hn::Set(kFloats, 1.0F / 16777216.0F));
  const auto dropped = hn::Lt(unit, hn::Set(kFloats, mask.rate));
  const auto kept = hn::Mul(hn::LoadU(kFloats, x), hn::Set(kFloats, mask.scale));
  hn::StoreU(hn::IfThenZeroElse(dropped, kept), kFloats, y);
}

/// The four words of every block beside each other.
HWY_INLINE void drop_counters(const DropoutMask& mask, const Counters& c, const float* x,
                              float* y) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const Blocks first = hn::BitCast(kBlocks, paired(c.c0, c.c1));
  const Blocks second = hn::BitCast(kBlocks, paired(c.c2, c.c3));
  drop_words(mask, hn::InterleaveLower(kBlocks, first, second), x, y);
  drop_words(mask, hn::InterleaveUpper(kBlocks, first, second), x + lanes, y + lanes);
}

/// As many whole pairs of vectors as `count` elements hold; returns how many elements that were.
std::int64_t drop_vectors(const DropoutMask& mask, std::int64_t block, std::int64_t count,
                          const float* x, float* y) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kBlocks));
  // Interleaving takes even lanes first: they hold the first half of a vector's blocks.
  const Blocks lane = hn::Iota(kBlocks, 0);
  const Blocks upper = hn::Set(kBlocks, static_cast<std::uint64_t>(lanes / 2));
  const auto is_odd = hn::Ne(hn::And(lane, hn::Set(kBlocks, 1)), hn::Zero(kBlocks));
  const Blocks order = hn::Add(hn::ShiftRight<1>(lane), hn::IfThenElseZero(is_odd, upper));
  const auto counters = [&](std::int64_t first) -> Counters {
    const Blocks c = hn::Add(order, hn::Set(kBlocks, static_cast<std::uint64_t>(first)));
    return {c, hn::ShiftRight<32>(c), hn::Zero(kBlocks), hn::Zero(kBlocks)};
  };
  std::int64_t i = 0;
  for (; i + 8 * lanes <= count; i += 8 * lanes) {
    Counters a = counters(block + i / 4);
    Counters b = counters(block + i / 4 + lanes);
    Blocks k0 = hn::Set(kBlocks, mask.key);
    Blocks k1 = hn::Set(kBlocks, mask.key >> 32);
    for (int round = 0; round < 10; ++round) {
      turn(a, k0, k1);
      turn(b, k0, k1);
      k0 = hn::Add(k0, hn::Set(kBlocks, 0x9E3779B9U));
      k1 = hn::Add(k1, hn::Set(kBlocks, 0xBB67AE85U));
    }
    drop_counters(mask, a, x + i, y + i);
    drop_counters(mask, b, x + i + 4 * lanes, y + i + 4 * lanes);
  }
  return i;
}

#else

std::int64_t drop_vectors(const DropoutMask& /*mask*/, std::int64_t /*block*/,
                          std::int64_t /*count*/, const float* /*x*/, float* /*y*/) {
  return 0;
}

#endif

void Drop(const DropoutMask& mask, std::uint64_t first, std::int64_t count, const float* x,
          float* y) {
  // The end of a block that begins before `first`.
  std::int64_t done = 0;
  if (first % 4 != 0) {
    const auto factors = mask(first / 4);
    for (; done < count && (first + static_cast<std::uint64_t>(done)) % 4 != 0; ++done) {
      y[done] = drop(x[done], factors[(first + static_cast<std::uint64_t>(done)) % 4]);
    }
  }
  x += done;
  y += done;
  count -= done;
  const auto block = static_cast<std::int64_t>((first + 3) / 4);
  for (std::int64_t i = drop_vectors(mask, block, count, x, y); i < count; i += 4) {
    const auto factors = mask(static_cast<std::uint64_t>(block + i / 4));
    for (std::int64_t k = i; k < std::min(i + 4, count); ++k) {
      y[k] = drop(x[k], factors[static_cast<std::size_t>(k - i)]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Drop);

void drop_elements(const DropoutMask& mask, std::uint64_t first, std::int64_t count, const float* x,
                   float* y) {
  HWY_DYNAMIC_DISPATCH(Drop)(mask, first, count, x, y);
}

}  // namespace linnet::cpu
#endif

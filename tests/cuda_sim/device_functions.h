// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's built-in variables and device functions, one simulated thread after another.
#include <math.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "cuda_sim/lane.h"
#include "cuda_sim/types.h"

// The simulator sets them before a thread goes on, as hardware's special registers.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace linnet::cuda::sim {

using Where = std::source_location;

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T shuffle(WarpOp op, unsigned mask, T value, unsigned source, const Where& where) {
  const std::uint64_t bits = warp_exchange(op, mask, to_bits(value), source, where);
  T result;
  std::memcpy(&result, &bits, sizeof(T));
  return result;
}

}  // namespace linnet::cuda::sim

// ---- barriers

inline void __syncthreads(
    const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  linnet::cuda::sim::block_barrier(linnet::cuda::sim::BlockBarrier::kSync, false, where);
}
inline int __syncthreads_count(
    int predicate, const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  return linnet::cuda::sim::block_barrier(linnet::cuda::sim::BlockBarrier::kCount, predicate != 0,
                                          where);
}
inline int __syncthreads_or(
    int predicate, const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  return linnet::cuda::sim::block_barrier(linnet::cuda::sim::BlockBarrier::kOr, predicate != 0,
                                          where) > 0;
}
inline int __syncthreads_and(
    int predicate, const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  return linnet::cuda::sim::block_barrier(linnet::cuda::sim::BlockBarrier::kAnd, predicate == 0,
                                          where) == 0;
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, const linnet::cuda::sim::Where& where =
                                                        linnet::cuda::sim::Where::current()) {
  linnet::cuda::sim::warp_exchange(linnet::cuda::sim::WarpOp::kSync, mask, 0,
                                   linnet::cuda::sim::lane_index(), where);
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

// ---- warps; `width` divides the warp into groups, as in CUDA

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32,
              const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  const unsigned group = ~(static_cast<unsigned>(width) - 1U);
  const unsigned from =
      (linnet::cuda::sim::lane_index() & group) | (static_cast<unsigned>(source) & ~group & 31U);
  return linnet::cuda::sim::shuffle(linnet::cuda::sim::WarpOp::kShuffle, mask, value, from, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  const unsigned lane = linnet::cuda::sim::lane_index();
  const unsigned from = lane ^ static_cast<unsigned>(lanes);
  const unsigned last = lane | (static_cast<unsigned>(width) - 1U);
  return linnet::cuda::sim::shuffle(linnet::cuda::sim::WarpOp::kShuffleXor, mask, value,
                                    from <= last ? from : lane, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  const unsigned lane = linnet::cuda::sim::lane_index();
  const unsigned last = lane | (static_cast<unsigned>(width) - 1U);
  return linnet::cuda::sim::shuffle(linnet::cuda::sim::WarpOp::kShuffleDown, mask, value,
                                    lane + delta <= last ? lane + delta : lane, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32,
                 const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  const unsigned lane = linnet::cuda::sim::lane_index();
  const unsigned place = lane & (static_cast<unsigned>(width) - 1U);
  return linnet::cuda::sim::shuffle(linnet::cuda::sim::WarpOp::kShuffleUp, mask, value,
                                    delta <= place ? lane - delta : lane, where);
}
inline unsigned __ballot_sync(
    unsigned mask, int predicate,
    const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  return static_cast<unsigned>(linnet::cuda::sim::warp_exchange(linnet::cuda::sim::WarpOp::kBallot,
                                                                mask, predicate != 0, 0, where));
}
inline int __any_sync(unsigned mask, int predicate,
                      const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  return linnet::cuda::sim::warp_exchange(linnet::cuda::sim::WarpOp::kAny, mask, predicate != 0, 0,
                                          where) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      const linnet::cuda::sim::Where& where = linnet::cuda::sim::Where::current()) {
  // The lanes that say no: an exited lane of the mask has no vote.
  return linnet::cuda::sim::warp_exchange(linnet::cuda::sim::WarpOp::kAll, mask, predicate == 0, 0,
                                          where) == 0;
}
/// Returns every live lane: code that needs to know which lanes run together is wrong on hardware
/// too.
inline unsigned __activemask() { return linnet::cuda::sim::live_lanes(); }

// ---- atomics: one simulated thread runs at a time, and nothing interrupts it here

template <class T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = static_cast<T>(old + value);
  return old;
}
template <class T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = static_cast<T>(old - value);
  return old;
}
template <class T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  if (value > old) *address = value;
  return old;
}
template <class T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  if (value < old) *address = value;
  return old;
}
template <class T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = old | value;
  return old;
}
template <class T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = old & value;
  return old;
}
template <class T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  const T old = *address;
  *address = value;
  return old;
}
template <class T>
T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  const T old = *address;
  if (old == compare) *address = value;
  return old;
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  const unsigned old = *address;
  *address = old >= limit ? 0 : old + 1;
  return old;
}

// ---- loads and stores with hints

template <class T>
T __ldg(const T* address) {
  return *address;
}
template <class T>
T __ldcs(const T* address) {
  return *address;
}
template <class T>
T __ldcg(const T* address) {
  return *address;
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <class T>
void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}

// ---- numbers

inline float __expf(float x) { return ::expf(x); }
inline float __exp10f(float x) { return ::powf(10.0F, x); }
inline float __logf(float x) { return ::logf(x); }
inline float __log2f(float x) { return ::log2f(x); }
inline float __powf(float x, float y) { return ::powf(x, y); }
inline float __sinf(float x) { return ::sinf(x); }
inline float __cosf(float x) { return ::cosf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F; }
inline float rsqrtf(float x) { return 1.0F / ::sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / ::sqrt(double{x})); }
inline float __frcp_rn(float x) { return 1.0F / x; }
inline float __fsqrt_rn(float x) { return ::sqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return ::fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __float2int_rn(float x) { return static_cast<int>(::nearbyintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline int __float2int_rd(float x) { return static_cast<int>(::floorf(x)); }
inline int __float2int_ru(float x) { return static_cast<int>(::ceilf(x)); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }

constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
constexpr int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
constexpr unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>((static_cast<unsigned long long>(x) * y) >> 32);
}
constexpr int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  const unsigned long long x0 = x & 0xFFFFFFFFU, x1 = x >> 32;
  const unsigned long long y0 = y & 0xFFFFFFFFU, y1 = y >> 32;
  const unsigned long long middle = x1 * y0 + ((x0 * y0) >> 32);
  return x1 * y1 + (middle >> 32) + ((x0 * y1 + (middle & 0xFFFFFFFFU)) >> 32);
}

constexpr int min(int x, int y) { return y < x ? y : x; }
constexpr int max(int x, int y) { return x < y ? y : x; }
constexpr unsigned min(unsigned x, unsigned y) { return y < x ? y : x; }
constexpr unsigned max(unsigned x, unsigned y) { return x < y ? y : x; }
constexpr long min(long x, long y) { return y < x ? y : x; }
constexpr long max(long x, long y) { return x < y ? y : x; }
constexpr unsigned long min(unsigned long x, unsigned long y) { return y < x ? y : x; }
constexpr unsigned long max(unsigned long x, unsigned long y) { return x < y ? y : x; }
constexpr long long min(long long x, long long y) { return y < x ? y : x; }
constexpr long long max(long long x, long long y) { return x < y ? y : x; }
constexpr unsigned long long min(unsigned long long x, unsigned long long y) {
  return y < x ? y : x;
}
constexpr unsigned long long max(unsigned long long x, unsigned long long y) {
  return x < y ? y : x;
}
inline float min(float x, float y) { return ::fminf(x, y); }
inline float max(float x, float y) { return ::fmaxf(x, y); }
inline double min(double x, double y) { return ::fmin(x, y); }
inline double max(double x, double y) { return ::fmax(x, y); }

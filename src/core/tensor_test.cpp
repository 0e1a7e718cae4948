// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/tensor.h>

#include <array>
#include <list>
#include <numeric>

#include "core/tensor_memory.h"
#include "message_of.h"

namespace linnet {
namespace {

using testing::message_of;

template <class R>
concept CanBorrow = requires(R&& range) {
  Tensor::borrow(std::forward<R>(range), Shape{1});
};

static_assert(CanBorrow<std::vector<float>&> && CanBorrow<const std::vector<float>&>);
static_assert(CanBorrow<std::array<double, 2>&> && CanBorrow<std::uint8_t (&)[3]>);
static_assert(CanBorrow<std::span<const std::int64_t>> && CanBorrow<std::span<bool>>);
// Temporaries would be gone.
static_assert(!CanBorrow<std::vector<float>> && !CanBorrow<const std::vector<float>>);
static_assert(!CanBorrow<std::array<float, 2>> && !CanBorrow<std::initializer_list<float>>);
// Not one block of elements.
static_assert(!CanBorrow<std::vector<std::vector<float>>&> && !CanBorrow<std::vector<bool>&>);
static_assert(!CanBorrow<std::list<float>&> && !CanBorrow<float (&)[2][3]>);
// No element types.
static_assert(!CanBorrow<std::string&> && !CanBorrow<std::vector<std::uint16_t>&>);
// A vector is not a Tensor until somebody says so: it may have been meant to be borrowed.
static_assert(!std::is_convertible_v<std::vector<float>, Tensor>);
static_assert(std::is_nothrow_move_constructible_v<Tensor> &&
              std::is_nothrow_move_assignable_v<Tensor>);

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  return {tensor.as<T>().begin(), tensor.as<T>().end()};
}

/// Memory of a device that the host can't read.
class FarMemory final : public TensorMemory {
 public:
  explicit FarMemory(std::vector<float> values) : values_(std::move(values)) {}
  std::byte* data() const override { return reinterpret_cast<std::byte*>(0x1000); }
  std::size_t bytes() const override { return values_.size() * sizeof(float); }
  Device device() const override { return {Device::Kind::cuda, 1}; }
  void read(std::size_t offset, std::span<std::byte> to) const override {
    std::ranges::copy(std::as_bytes(std::span(values_)).subspan(offset, to.size()), to.begin());
  }

 private:
  std::vector<float> values_;
};

TEST(Tensor, HoldsNothingAtFirst) {
  const Tensor tensor;
  EXPECT_EQ(tensor.dtype(), DType::f32);
  EXPECT_EQ(tensor.shape(), Shape{0});
  EXPECT_EQ(tensor.elements(), 0);
  EXPECT_TRUE(tensor.as<float>().empty());
  EXPECT_EQ(to_string(tensor), "f32 (0) []");
}

TEST(Tensor, OwnsZeros) {
  Tensor tensor(DType::i64, {2, 3});
  EXPECT_EQ(elements<std::int64_t>(tensor), std::vector<std::int64_t>(6));
  EXPECT_TRUE(tensor.owns_memory());
  EXPECT_FALSE(tensor.read_only());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0U);
  const Tensor copy = tensor;
  tensor.as_writable<std::int64_t>()[5] = 7;
  EXPECT_EQ(copy.as<std::int64_t>()[5], 7) << "copies share the memory";
  EXPECT_EQ(tensor.clone().as<std::int64_t>()[5], 7);
}

TEST(Tensor, TakesAVectorWithoutCopyingIt) {
  std::vector<float> values = numbers(6);
  const float* const place = values.data();
  const Tensor tensor(std::move(values), {3, 2});
  EXPECT_EQ(tensor.as<float>().data(), place);
  EXPECT_TRUE(tensor.owns_memory());
  EXPECT_EQ(Tensor(numbers(4)).shape(), Shape{4});
  EXPECT_EQ(message_of([] {
              Tensor(numbers(5), {3, 2});
            }),
            "a tensor of f32 (3, 2) needs memory for 6 elements; got memory for 5");
}

TEST(Tensor, BorrowsWithoutACopy) {
  std::vector<float> values = numbers(6);
  Tensor tensor = Tensor::borrow(values, {2, 3});
  EXPECT_EQ(tensor.as<float>().data(), values.data());
  EXPECT_FALSE(tensor.owns_memory());
  EXPECT_FALSE(tensor.read_only());
  tensor.as_writable<float>()[0] = 9;
  EXPECT_EQ(values[0], 9);
  const Tensor own = tensor.clone();
  values[1] = 8;
  EXPECT_EQ(own.as<float>()[1], 1);
  EXPECT_TRUE(own.owns_memory());
  EXPECT_EQ(message_of([&] {
              Tensor::borrow(values, {2, 2});
            }),
            "a tensor of f32 (2, 2) needs memory for 4 elements; got memory for 6");
}

TEST(Tensor, OfConstMemoryIsReadOnlyInAllItsCopies) {
  const std::array<std::int32_t, 3> values{1, 2, 3};
  const Tensor tensor = Tensor::borrow(values, {3});
  EXPECT_TRUE(tensor.read_only());
  for (Tensor copy : {tensor, tensor.rows(0, 2), tensor.reshaped({3, 1}), tensor.to_host(),
                      tensor.to(DType::i32)}) {
    EXPECT_THROW(copy.as_writable<std::int32_t>(), Error);
    EXPECT_THROW(copy.writable_bytes(), Error);
  }
  EXPECT_EQ(message_of([&] { Tensor(tensor).as_writable<std::int32_t>(); }),
            "a tensor i32 (3) is read-only, since it borrows const memory; clone() it");
  EXPECT_NO_THROW(tensor.clone().as_writable<std::int32_t>());
  EXPECT_NO_THROW(tensor.to(DType::f32).as_writable<float>());
}

TEST(Tensor, KeepsTheOwnerOfBorrowedMemory) {
  auto owner = std::make_shared<std::vector<float>>(numbers(4));
  const std::weak_ptr<std::vector<float>> watched = owner;
  Tensor rows;
  {
    const auto bytes = std::as_bytes(std::span(*owner));
    const Tensor tensor = Tensor::borrow(DType::f32, {4}, bytes, std::move(owner));
    EXPECT_TRUE(tensor.read_only() && tensor.owns_memory());
    rows = tensor.rows(2, 4);
  }
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(elements<float>(rows), (std::vector<float>{2, 3}));
  rows = {};
  EXPECT_TRUE(watched.expired());
}

TEST(Tensor, RefusesAddressesThatATypeCannotHave) {
  alignas(8) std::array<std::byte, 16> bytes{};
  const auto odd = std::span(bytes).subspan(2, 8);
  EXPECT_EQ(message_of([&] { Tensor::borrow(DType::f32, {2}, odd); }),
            "the memory of a tensor of f32 (2) must start at a multiple of 4 bytes");
  EXPECT_NO_THROW(Tensor::borrow(DType::f16, {4}, odd));
}

TEST(Tensor, MovedFromHoldsNothing) {
  Tensor tensor(numbers(3));
  const Tensor moved = std::move(tensor);
  EXPECT_EQ(moved.elements(), 3);
  EXPECT_TRUE(tensor.as<float>().empty());  // NOLINT: what is tested
  tensor = moved;
  Tensor& same = tensor;
  tensor = std::move(same);
  EXPECT_EQ(tensor.elements(), 3) << "moved to itself";
}

TEST(Tensor, RowsShareTheMemory) {
  Tensor tensor(numbers(12), {4, 3});
  Tensor middle = tensor.rows(1, 3);
  EXPECT_EQ(middle.shape(), (Shape{2, 3}));
  EXPECT_EQ(elements<float>(middle), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  middle.as_writable<float>()[0] = -1;
  EXPECT_EQ(tensor.as<float>()[3], -1);
  EXPECT_EQ(elements<float>(middle.rows(1, 2)), (std::vector<float>{6, 7, 8}));
  EXPECT_EQ(tensor.rows(4, 4).shape(), (Shape{0, 3}));
  const auto refusal = [&](std::int64_t begin, std::int64_t end) {
    return message_of([&] { tensor.rows(begin, end); });
  };
  EXPECT_EQ(refusal(-1, 2), "a tensor (4, 3) has no rows [-1, 2)");
  EXPECT_EQ(refusal(3, 2), "a tensor (4, 3) has no rows [3, 2)");
  EXPECT_EQ(refusal(0, 5), "a tensor (4, 3) has no rows [0, 5)");
}

TEST(Tensor, IsReshapedInPlace) {
  Tensor tensor(numbers(6), {2, 3});
  Tensor flat = tensor.reshaped({6});
  EXPECT_EQ(flat.shape(), Shape{6});
  EXPECT_EQ(flat.as<float>().data(), tensor.as<float>().data());
  EXPECT_EQ(message_of([&] { tensor.reshaped({4}); }),
            "a tensor (2, 3) has 6 elements, but the shape (4) has 4");
  EXPECT_EQ(message_of([&] {
              tensor.reshaped({-2, -3});
            }),
            "expected dims of at least 0; got (-2, -3)");
}

TEST(Tensor, MayHaveNoDimensionsOrNoElements) {
  const Tensor scalar(std::vector<double>{2.5}, {});
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.item<double>(), 2.5);
  EXPECT_EQ(to_string(scalar), "f64 () 2.5");
  EXPECT_EQ(message_of([&] { scalar.rows(0, 1); }), "a tensor () has no rows [0, 1)");
  EXPECT_EQ(scalar.reshaped({1, 1}).shape(), (Shape{1, 1}));

  const Tensor nothing(DType::u8, {3, 0, 2});
  EXPECT_EQ(nothing.elements(), 0);
  EXPECT_EQ(nothing.rows(1, 2).shape(), (Shape{1, 0, 2}));
  EXPECT_EQ(nothing.clone().shape(), nothing.shape());
  EXPECT_EQ(nothing.to(DType::f32).dtype(), DType::f32);
  EXPECT_EQ(to_string(nothing), "u8 (3, 0, 2) [[], [], []]");
  EXPECT_EQ(message_of([&] { nothing.item<std::uint8_t>(); }),
            "expected a tensor of one element; got (3, 0, 2)");
}

TEST(Tensor, NamesTheTypesThatDisagree) {
  const Tensor tensor(numbers(2));
  EXPECT_EQ(message_of([&] { tensor.as<double>(); }), "a tensor of f32 (2) was read as f64");
  EXPECT_EQ(message_of([&] { tensor.item<float>(); }), "expected a tensor of one element; got (2)");
}

TEST(Tensor, RefusesShapesThatNoMemoryHolds) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(message_of([] {
              Tensor(DType::f32, {kHuge, kHuge});
            }),
            "a tensor of (1099511627776, 1099511627776) has too many bytes to address");
  EXPECT_EQ(message_of([] {
              Tensor(DType::f32, {2, -1});
            }),
            "expected dims of at least 0; got (2, -1)");
#ifndef __SANITIZE_ADDRESS__
  EXPECT_EQ(message_of([] {
              Tensor(DType::u8, {kHuge, 1 << 20});
            }),
            "a tensor of u8 (1099511627776, 1048576) does not fit into memory");
#endif
}

TEST(Tensor, OfADeviceIsReadAfterACopyAlone) {
  const Tensor far(DType::f32, {2, 2}, std::make_shared<FarMemory>(numbers(6)), 4, false);
  EXPECT_EQ(far.device(), (Device{Device::Kind::cuda, 1}));
  EXPECT_EQ(message_of([&] { far.as<float>(); }),
            "a tensor (2, 2) is in the memory of cuda:1; to_host() copies it to the host");
  EXPECT_EQ(message_of([&] { same_bits(far, far); }),
            "a tensor (2, 2) is in the memory of cuda:1; to_host() copies it to the host");
  EXPECT_EQ(elements<float>(far.to_host()), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(elements<float>(far.rows(1, 2).clone()), (std::vector<float>{3, 4}));
  EXPECT_EQ(elements<std::int32_t>(far.to(DType::i32)), (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(to_string(far), "f32 (2, 2) [[1, 2], [3, 4]]");
  const Tensor borrowed =
      Tensor::borrow(DType::f32, {2}, far.bytes().first(8), nullptr, {Device::Kind::cuda, 0});
  EXPECT_EQ(message_of([&] { borrowed.clone(); }),
            "a borrowed tensor in the memory of cuda:0 cannot be copied to the host");
}

TEST(Tensor, ComparesBits) {
  const Tensor zero(std::vector<float>{0, 1});
  EXPECT_TRUE(same_bits(zero, zero.clone()));
  EXPECT_FALSE(same_bits(zero, Tensor(std::vector<float>{-0.0F, 1})));
  EXPECT_FALSE(same_bits(zero, zero.reshaped({2, 1})));
  EXPECT_FALSE(same_bits(zero, zero.to(DType::f64)));
}

TEST(Tensor, SaysWhatItHolds) {
  EXPECT_EQ(to_string(Tensor(numbers(6), {2, 3})), "f32 (2, 3) [[0, 1, 2], [3, 4, 5]]");
  EXPECT_EQ(to_string(Tensor(numbers(9))), "f32 (9) [0, 1, 2, 3, ..., 5, 6, 7, 8]");
  EXPECT_EQ(to_string(Tensor(numbers(8))), "f32 (8) [0, 1, 2, 3, 4, 5, 6, 7]");
  const Tensor mixed(std::vector<float>{0.5F, -2});
  EXPECT_EQ(to_string(mixed.to(DType::f16)), "f16 (2) [0.5, -2]");
  EXPECT_EQ(to_string(mixed.to(DType::bf16)), "bf16 (2) [0.5, -2]");
  EXPECT_EQ(to_string(mixed.to(DType::boolean)), "bool (2) [true, true]");
  EXPECT_EQ(to_string(Tensor(std::vector<std::uint8_t>{65, 255})), "u8 (2) [65, 255]");
}

TEST(Tensor, ShowsBytesThatAreNoBools) {
  const std::array<std::byte, 3> bytes{std::byte{0}, std::byte{1}, std::byte{42}};
  EXPECT_EQ(to_string(Tensor::borrow(DType::boolean, {3}, bytes)), "bool (3) [false, true, true]");
}

TEST(Tensor, CopiesSpans) {
  const std::array<bool, 2> values{true, false};
  const Tensor copy = Tensor::copy(std::span<const bool>(values), {2, 1});
  EXPECT_EQ(copy.dtype(), DType::boolean);
  EXPECT_NE(static_cast<const void*>(copy.as<bool>().data()), values.data());
  EXPECT_TRUE(copy.as<bool>()[0]);
  EXPECT_FALSE(copy.read_only());
}

}  // namespace
}  // namespace linnet

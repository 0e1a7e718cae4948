// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/types.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/// Of <dlpack/dlpack.h> (https://dmlc.github.io/dlpack), whose versions agree on it.
struct DLManagedTensor;

namespace linnet {
class TensorMemory;
}

LINNET_API_BEGIN
namespace linnet {

/// Where memory lies.
struct Device {
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;  ///< among the devices of its kind

  bool operator==(const Device&) const = default;
};
/// "cpu", "cuda:0"
std::string to_string(Device device);

/// The C++ types that a Tensor's elements can be read as. f16 and bf16 have none in C++20: see
/// Tensor::bytes() and Tensor::to().
template <class T>
concept Element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, bool>;

template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::f32;
  if constexpr (std::same_as<T, double>) return DType::f64;
  if constexpr (std::same_as<T, std::uint8_t>) return DType::u8;
  if constexpr (std::same_as<T, std::int32_t>) return DType::i32;
  if constexpr (std::same_as<T, std::int64_t>) return DType::i64;
  return DType::boolean;
}

/// A dense row-major array: an element type, a shape, and memory that it shares with its copies or
/// borrows from the caller. Copying a Tensor copies the handle; clone() copies the memory. It does
/// no arithmetic. Different threads may read one Tensor at the same time.
class Tensor {
 public:
  /// Holds no elements: f32 of shape (0).
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  /// The other one holds no elements then.
  Tensor(Tensor&& other) noexcept { swap(other); }
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Tensor() = default;

  /// Zeros, in host memory of its own.
  Tensor(DType dtype, const Shape& shape);
  /// Takes the vector's memory over. Throws Error unless it holds shape.elements() elements.
  template <Element T>
  requires(!std::same_as<T, bool>) Tensor(std::vector<T> values, const Shape& shape) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    const std::span<T> elements(*owner);
    *this = own(dtype_of<T>(), shape, std::as_writable_bytes(elements), std::move(owner));
  }
  /// The same, of shape (N).
  template <Element T>
  requires(!std::same_as<T, bool>) explicit Tensor(std::vector<T> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    *this = Tensor(std::move(values), Shape{count});
  }
  /// Copies `values`. Throws Error unless they are shape.elements().
  template <Element T>
  static Tensor copy(std::span<const T> values, const Shape& shape) {
    return borrow(dtype_of<T>(), shape, std::as_bytes(values)).clone();
  }

  /// Refers to the caller's memory, which must outlive every copy of the Tensor: contiguous ranges
  /// that are no temporaries (std::vector, std::array, std::span, arrays). Read-only where the
  /// range's elements are const. Allocates nothing. Throws Error unless the range holds
  /// shape.elements() elements.
  template <std::ranges::contiguous_range R>
  requires std::ranges::sized_range<R> && std::ranges::borrowed_range<R> &&
      Element<std::ranges::range_value_t<R>>
  static Tensor borrow(R&& values, const Shape& shape) {
    const std::span elements(std::ranges::data(values), std::ranges::size(values));
    constexpr DType kType = dtype_of<std::ranges::range_value_t<R>>();
    if constexpr (std::is_const_v<typename decltype(elements)::element_type>) {
      return borrow(kType, shape, std::as_bytes(elements));
    } else {
      return borrow_writable(kType, shape, std::as_writable_bytes(elements));
    }
  }
  /// The same for memory of any type and device; read-only. `owner` is kept for as long as a copy
  /// of the Tensor lives. Throws Error also for an address that the type can't have.
  static Tensor borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner = {}, Device device = {});
  static Tensor borrow_writable(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                                std::shared_ptr<const void> owner = {}, Device device = {});

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  Device device() const { return device_; }
  std::int64_t elements() const { return shape_.elements(); }
  bool read_only() const { return read_only_; }
  /// Whether the memory stays good by itself; false for memory of the caller's.
  bool owns_memory() const { return memory_ != nullptr || size_ == 0; }

  /// Returns the elements, row-major. Throws Error for another element type, and for memory of a
  /// GPU, which to_host() copies. A bool's byte must be 0 or 1, which holds unless the memory was
  /// borrowed.
  template <Element T>
  std::span<const T> as() const {
    const std::span<const std::byte> bytes = host_bytes(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The same to be written, which all copies of the Tensor see. Throws Error also for a read-only
  /// Tensor.
  template <Element T>
  std::span<T> as_writable() {
    require_writable();
    const std::span<const T> elements = as<T>();
    return {const_cast<T*>(elements.data()), elements.size()};
  }
  /// Returns the only element. Throws Error as as() does, and where there are more or none.
  template <Element T>
  T item() const {
    require_single();
    return as<T>()[0];
  }
  /// Returns the memory, which the host can read only where device() is the CPU.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Throws Error for a read-only Tensor.
  std::span<std::byte> writable_bytes();

  /// Rows [begin, end) of the first axis, in the same memory. Throws Error for rows that are not
  /// there.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// The same memory in another shape of as many elements; throws Error for any other.
  Tensor reshaped(const Shape& shape) const;

  /// A copy in host memory of its own. Waits for a device. Throws Error for a GPU's memory that
  /// came from another library (from_dlpack()), which alone knows how to read it.
  Tensor clone() const;
  /// The Tensor itself where its memory is the host's, else clone().
  Tensor to_host() const;
  /// Until all that was enqueued on the device of memory that the library allocated is done.
  void wait() const;
  /// The elements in another type: the Tensor itself where it has it, else a copy in host memory.
  /// Rounds once, to the nearest and of two the even one; what a float type can't hold becomes
  /// infinite. Integers of floats are cut towards zero, bool is whether a number is not 0. Throws
  /// Error naming the first number that an integer type can't hold.
  Tensor to(DType dtype) const;

  /// Of memory that the library allocated, on any device.
  Tensor(DType dtype, const Shape& shape, std::shared_ptr<TensorMemory> memory, std::size_t offset,
         bool read_only);

 private:
  void swap(Tensor& other) noexcept;
  static Tensor own(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                    std::shared_ptr<const void> owner);
  std::span<const std::byte> host_bytes(DType dtype) const;
  void require_writable() const;
  void require_single() const;

  std::shared_ptr<const TensorMemory> memory_;  ///< null: the caller's
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;  ///< bytes
  Shape shape_{0};
  Device device_ = {};
  DType dtype_ = DType::f32;
  bool read_only_ = false;
};

/// "f32 (2, 3) [[1, 2, 3], [4, 5, 6]]"; of long axes the middle is left out.
std::string to_string(const Tensor& tensor);
/// Whether types, shapes and all bits are equal. Throws Error unless both are in host memory.
bool same_bits(const Tensor& a, const Tensor& b);

/// Reads NumPy's .npy (numpy.lib.format, versions 1.0 to 3.0): f4, f8, f2, u1, i4, i8 and b1,
/// little-endian, in C order. Throws Error "cannot read 'x': ..." for any other, and for a file
/// that is cut, damaged or has bytes left over.
Tensor read_npy(const std::filesystem::path& path);
/// Writes version 1.0, whole or not at all. Throws Error for bf16, which NumPy lacks, and where the
/// file can't be written.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Takes a DLPack tensor over, without a copy: dense row-major, of a type that DType has, in memory
/// of the CPU or of a CUDA device. Its deleter runs when the last copy of the Tensor goes. Throws
/// Error for any other one, which then stays the caller's.
Tensor from_dlpack(DLManagedTensor* tensor);
/// Hands the memory over without a copy: whoever gets it calls tensor->deleter(tensor) once, on any
/// thread. Memory of the Tensor's lives until then. Waits for a device, as Tensor::wait() does.
/// Throws Error for a read-only Tensor, which the format can't say: clone() it.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace linnet
LINNET_API_END

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

/// Declared by <dlpack/dlpack.h> (https://dmlc.github.io/dlpack); equal in all versions of DLPack
/// before 1.0's versioned struct.
struct DLManagedTensor;

namespace linnet {
class TensorMemory;
}

LINNET_API_BEGIN
namespace linnet {

/// Names the device whose memory holds a Tensor.
struct Device {
  /// Names the kind of a device: the host's memory, or that of an NVIDIA GPU.
  enum class Kind : std::uint8_t { cpu, cuda };
  Kind kind = Kind::cpu;  ///< kind of the device
  int index = 0;          ///< number among the devices of its kind, from 0

  /// Returns whether both are the same device.
  bool operator==(const Device&) const = default;
};
/// Returns "cpu", or for a GPU a text such as "cuda:0".
std::string to_string(Device device);

/// Is satisfied by the C++ types that a Tensor's elements can be read as. C++20 has no type for f16
/// and bf16: use Tensor::bytes() or Tensor::to().
template <class T>
concept Element =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, bool>;

/// Returns the element type of a C++ type, e.g. DType::f32 for float.
template <Element T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, float>) return DType::f32;
  if constexpr (std::same_as<T, double>) return DType::f64;
  if constexpr (std::same_as<T, std::uint8_t>) return DType::u8;
  if constexpr (std::same_as<T, std::int32_t>) return DType::i32;
  if constexpr (std::same_as<T, std::int64_t>) return DType::i64;
  return DType::boolean;
}

/// Holds a dense row-major array: an element type, a shape, and memory that it shares with its
/// copies or borrows from the caller. Copying a Tensor copies the handle; clone() copies the
/// memory. It does no arithmetic.
///
/// `const` functions may be called from several threads at once. What writes elements needs the
/// caller's synchronisation, since all copies see it.
class Tensor {
 public:
  /// Makes a Tensor without elements: f32 of shape (0). Allocates nothing.
  Tensor() = default;
  /// Copies the handle; both share the memory. Allocates nothing.
  Tensor(const Tensor&) = default;
  /// Copies the handle; both share the memory. Allocates nothing.
  Tensor& operator=(const Tensor&) = default;
  /// Moves the handle; `other` holds no elements afterwards.
  Tensor(Tensor&& other) noexcept { swap(other); }
  /// Moves the handle; `other` holds no elements afterwards.
  Tensor& operator=(Tensor&& other) noexcept {
    Tensor moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Tensor() = default;

  /// Allocates host memory and fills it with zeros. Throws OutOfMemory.
  Tensor(DType dtype, const Shape& shape);
  /// Takes over the vector's memory, without a copy. Throws Error unless it holds shape.elements()
  /// elements.
  template <Element T>
  requires(!std::same_as<T, bool>) Tensor(std::vector<T> values, const Shape& shape) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    const std::span<T> elements(*owner);
    *this = own(dtype_of<T>(), shape, std::as_writable_bytes(elements), std::move(owner));
  }
  /// Takes over the vector's memory as a Tensor of shape (N).
  template <Element T>
  requires(!std::same_as<T, bool>) explicit Tensor(std::vector<T> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    *this = Tensor(std::move(values), Shape{count});
  }
  /// Returns a copy of `values` in host memory. Throws Error unless there are shape.elements() of
  /// them, and OutOfMemory.
  template <Element T>
  static Tensor copy(std::span<const T> values, const Shape& shape) {
    return borrow(dtype_of<T>(), shape, std::as_bytes(values)).clone();
  }

  /// Returns a Tensor that refers to the caller's memory, which must outlive every copy of the
  /// Tensor. Takes contiguous ranges that are not temporaries (std::vector, std::array, std::span,
  /// arrays). The Tensor is read-only if the range's elements are const. Allocates nothing. Throws
  /// Error unless the range holds shape.elements() elements.
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
  /// Returns a read-only Tensor that refers to memory of any type and device. `owner` is kept while
  /// a copy of the Tensor lives; without it the memory must outlive every copy. Throws Error unless
  /// `bytes` has the length of type and shape, and for an address that is not aligned for the type.
  static Tensor borrow(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                       std::shared_ptr<const void> owner = {}, Device device = {});
  /// Returns a writable Tensor that refers to memory as borrow() does.
  static Tensor borrow_writable(DType dtype, const Shape& shape, std::span<std::byte> bytes,
                                std::shared_ptr<const void> owner = {}, Device device = {});

  /// Returns the element type.
  DType dtype() const { return dtype_; }
  /// Returns the dims.
  const Shape& shape() const { return shape_; }
  /// Returns the device whose memory the elements lie in.
  Device device() const { return device_; }
  /// Returns the number of elements.
  std::int64_t elements() const { return shape_.elements(); }
  /// Returns whether the elements are read-only.
  bool read_only() const { return read_only_; }
  /// Returns whether the Tensor keeps its memory alive; false for memory that the caller must keep.
  bool owns_memory() const { return memory_ != nullptr || size_ == 0; }

  /// Returns the elements, row-major; they live as long as the memory. Throws Error for another
  /// element type, and for memory of a GPU, which to_host() copies. The byte of a bool must be 0 or
  /// 1; only borrowed memory can violate this.
  template <Element T>
  std::span<const T> as() const {
    const std::span<const std::byte> bytes = host_bytes(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// Returns the elements for writing, which all copies of the Tensor see. Throws Error as as()
  /// does, and for a read-only Tensor.
  template <Element T>
  std::span<T> as_writable() {
    require_writable();
    const std::span<const T> elements = as<T>();
    return {const_cast<T*>(elements.data()), elements.size()};
  }
  /// Returns the only element. Throws Error as as() does, and unless there is exactly one.
  template <Element T>
  T item() const {
    require_single();
    return as<T>()[0];
  }
  /// Returns the memory. The host can read it only where device() is the CPU.
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// Returns the memory for writing. Throws Error for a read-only Tensor.
  std::span<std::byte> writable_bytes();

  /// Returns the rows [begin, end) of the first axis, in the same memory. Allocates nothing. Throws
  /// Error for rows outside the Tensor.
  Tensor rows(std::int64_t begin, std::int64_t end) const;
  /// Returns the same memory in another shape. Allocates nothing. Throws Error for a shape with
  /// another number of elements.
  Tensor reshaped(const Shape& shape) const;

  /// Returns a copy in newly allocated host memory. Waits for a GPU. Throws OutOfMemory, and Error
  /// for GPU memory of another library (from_dlpack()), which only that library can read.
  Tensor clone() const;
  /// Returns the Tensor itself if its memory is the host's, else clone(). Waits for a GPU.
  Tensor to_host() const;
  /// Waits until everything that was enqueued on the device of this memory is done. Does nothing
  /// for host memory, and for memory that the library did not allocate.
  void wait() const;
  /// Returns the elements in another type: the Tensor itself if it has that type, else a copy in
  /// host memory. It rounds once, to nearest, ties to even; numbers too large for a float type
  /// become infinite. Floats are truncated towards zero to integers; a bool is true unless the
  /// number is 0. Waits for a GPU. Throws Error naming the first number that an integer type cannot
  /// hold, and OutOfMemory.
  Tensor to(DType dtype) const;

  /// @cond
  // For the library: a Tensor over memory that the library allocated, on any device.
  Tensor(DType dtype, const Shape& shape, std::shared_ptr<TensorMemory> memory, std::size_t offset,
         bool read_only);
  /// @endcond

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

/// Returns a text such as "f32 (2, 3) [[1, 2, 3], [4, 5, 6]]", without the middle of long axes.
/// Waits for a GPU.
std::string to_string(const Tensor& tensor);
/// Returns whether types, shapes and all bits are equal. Throws Error unless both are in host
/// memory.
bool same_bits(const Tensor& a, const Tensor& b);

/// Reads a NumPy file .npy (numpy.lib.format, versions 1.0 to 3.0) of f4, f8, f2, u1, i4, i8 or b1,
/// little-endian, in C order. Throws DataError "cannot read 'x': ..." for any other file, and for a
/// file that is cut short, damaged or has extra bytes; OutOfMemory for one that does not fit.
Tensor read_npy(const std::filesystem::path& path);
/// Writes a NumPy file .npy of version 1.0, whole or not at all. Waits for a GPU. Throws Error for
/// bf16, which NumPy lacks, and if the file cannot be written.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// Takes over a DLPack tensor without a copy. It must be dense and row-major, of a type that DType
/// has, in memory of the CPU or of a CUDA device. Its deleter runs when the last copy of the Tensor
/// is destroyed. Throws Error for any other tensor, which the caller then still owns.
Tensor from_dlpack(DLManagedTensor* tensor);
/// Hands the memory over without a copy. The receiver calls tensor->deleter(tensor) once, on any
/// thread; the memory lives until then. Waits for a device, as Tensor::wait() does. Throws Error
/// for a read-only Tensor, which the format cannot express: clone() it.
DLManagedTensor* to_dlpack(const Tensor& tensor);

}  // namespace linnet
LINNET_API_END

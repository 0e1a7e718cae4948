// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/expression.h>
#include <linnet/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Holds the memory that a kernel works on: row-major f32 arrays of the shapes that it was prepared
/// for. On CUDA these are addresses of the device.
class KernelArrays {
 public:
  /// Returns input `i`, which the kernel must not write.
  const float* input(std::size_t i) const { return static_cast<const float*>(inputs_[i]); }
  /// Returns output `i`. The kernel writes every element; the initial contents are undefined.
  float* output(std::size_t i) const { return static_cast<float*>(outputs_[i]); }
  /// Returns the kernel's workspace, aligned to 64 bytes. Its contents are lost after the step.
  std::byte* workspace() const { return workspace_; }

  /// @cond
  // For the library.
  KernelArrays(std::span<void* const> inputs, std::span<void* const> outputs, std::byte* workspace)
      : inputs_(inputs), outputs_(outputs), workspace_(workspace) {}
  /// @endcond

 private:
  std::span<void* const> inputs_;
  std::span<void* const> outputs_;
  std::byte* workspace_;
};

/// Describes a stage of a CPU kernel: tasks that may run at the same time, in any order, on any
/// thread. The next stage begins when all of them are done.
struct CpuStage {
  /// Number of tasks, at least 1. It must follow from the shapes, never from the number of threads,
  /// so that results are the same bits on any number. A task should take at least about 20
  /// microseconds, or its overhead dominates.
  int tasks = 1;
  /// Runs task `task` of [0, tasks). It must not allocate, throw or wait.
  std::function<void(const KernelArrays& arrays, int task)> run;
};

/// Holds an operator prepared for the CPU and given shapes.
struct CpuKernel {
  std::vector<CpuStage> stages;     ///< stages, in the order in which they run
  std::size_t workspace_bytes = 0;  ///< bytes of workspace, shared by the stages of one run
};

/// Holds an operator prepared for a GPU and given shapes.
struct CudaKernel {
  /// Launches kernels on `stream` (a cudaStream_t). It is called while a CUDA graph is captured, so
  /// it must not allocate, wait, or read memory of the device.
  std::function<void(const KernelArrays& arrays, void* stream)> enqueue;
  std::size_t workspace_bytes = 0;  ///< bytes of workspace on the device
};

/// Refers to an array of the reference in double precision.
struct DoubleArray {
  Shape shape;             ///< its shape, batch first, as in infer()
  std::span<double> data;  ///< its elements, row-major; outputs hold NaN before they are written
};

/// Describes an operator with custom kernels, outside Linnet's tree. It is planned, differentiated
/// and run like the built-in ones. A derived class holds the operator's settings. Objects are
/// immutable and shared by networks, so every function may be called from several threads at once.
/// examples/own_operator is a complete project with one.
class CustomOperator {
 public:
  virtual ~CustomOperator() = default;

  /// Returns the operator's name in files, dumps and errors, "project.operator": exactly one dot,
  /// which no built-in operator's name has.
  virtual std::string name() const = 0;
  /// Returns the settings as text, from which an OperatorReader makes the object again. Two objects
  /// of one name and equal settings must compute the same.
  virtual std::string settings() const { return {}; }
  /// Returns the outputs' shapes. The first axis of data is the batch, whose size changes from call
  /// to call; weights have none. Throws Error, without the operator's name, for inputs that do not
  /// fit.
  virtual std::vector<Shape> infer(std::span<const Shape> inputs) const = 0;
  /// Computes the outputs in double precision, as the definition says. check_operator() compares
  /// the kernels with it.
  virtual void reference(std::span<const DoubleArray> inputs,
                         std::span<const DoubleArray> outputs) const = 0;
  /// Returns the gradient of the loss by each input, given the gradients by the outputs, as
  /// expressions of these and of the inputs and outputs: usually apply() of another operator. An
  /// input without gradient, and an output on which no loss depends, have nullopt. The default
  /// throws Error: not differentiable.
  virtual std::vector<std::optional<Expression>> gradient(
      std::span<const Expression> inputs, std::span<const Expression> outputs,
      std::span<const std::optional<Expression>> output_gradients) const;
  /// Returns the kernel for these shapes. Called once for each batch size.
  virtual CpuKernel cpu(std::span<const Shape> inputs, std::span<const Shape> outputs) const = 0;
  /// Returns the kernel for these shapes on a GPU. The default is none: a model on CUDA then
  /// throws Error that names the operator.
  virtual std::optional<CudaKernel> cuda(std::span<const Shape> inputs,
                                         std::span<const Shape> outputs) const;
};

/// Applies `op` to expressions of one network, loss or gradient; returns its outputs, f32. Throws
/// Error that names the operator, the layer and the shapes where infer() does, and for a name
/// without exactly one dot.
std::vector<Expression> apply(std::shared_ptr<const CustomOperator> op,
                              const std::vector<Expression>& inputs);

/// Says what check_operator() checks.
struct OperatorCheck {
  /// Largest difference between an output of the CPU's kernel and the reference's, relative to the
  /// largest output.
  double tolerance = 2e-5;
  /// Checks the gradient; false for an operator without one.
  bool gradient = true;
};

/// Checks an operator on inputs of these shapes, filled with fixed random numbers in [-1, 1): the
/// CPU's kernel against the reference, with outputs and workspace that held NaN, its tasks in two
/// orders; and the gradient against central differences of the reference, to 1e-6. Throws Error
/// that names what differs, where, and by how much.
void check_operator(const std::shared_ptr<const CustomOperator>& op,
                    const std::vector<Shape>& inputs, const OperatorCheck& check = {});

}  // namespace linnet
LINNET_API_END

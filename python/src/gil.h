// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace nb = nanobind;

// Python's lock is released while the library works. Objects of Python that the library holds may
// be dropped on any of its threads, which must never wait for the lock: see hold().
namespace linnet::python {

/// Releases Python's lock for as long as it lives.
class WithoutGil {
 public:
  WithoutGil();
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  int depth_;
  PyThreadState* state_;
};

/// Takes Python's lock, on any thread, for as long as it lives.
class WithGil {
 public:
  WithGil();
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
  int depth_;
};
/// Returns whether this thread has Python's lock.
bool has_gil();
/// Returns whether an object is true as Python's `if` finds it.
bool is_true(nb::handle object);

/// What a function of Python raised to end the program, such as KeyboardInterrupt. It is not a
/// std::exception, which the library would take for a failed record; errors.cpp raises it again.
struct Interrupt {
  std::shared_ptr<nb::python_error> error;
};

template <class F>
decltype(auto) without_gil(F&& work) {
  const WithoutGil released;
  return std::forward<F>(work)();
}

/// Returns a reference to the object that the library may keep and drop on any thread. Without the
/// lock the object is released a little later, by the next call that has it.
std::shared_ptr<PyObject> hold(nb::handle object);

/// Holds the memory of an object that has Python's buffer protocol.
struct HeldBuffer {
  Py_buffer view{};
};
std::shared_ptr<HeldBuffer> hold(const Py_buffer& view);

/// Returns how often this process was forked off since the module was imported.
std::uint64_t forks();

/// Holds a value that has threads. In a process that was forked off later it is never destroyed:
/// its threads stayed in the parent, so that a destructor would wait for them for ever.
template <class T>
std::shared_ptr<T> of_this_process(T value) {
  return {new T(std::move(value)), [process = forks()](T* held) {
            if (process == forks()) delete held;
          }};
}

/// Releases what was dropped without the lock, which the caller has.
void release_dropped();

}  // namespace linnet::python

// SPDX-License-Identifier: Apache-2.0
#include "gil.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace linnet::python {
namespace {

thread_local int released_depth =
    0;  ///< how often this thread has given the lock up, and not taken it

struct Dropped {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  std::vector<HeldBuffer*> buffers;
};

/// Never destroyed: threads may drop objects until the process ends.
Dropped& dropped() {
  static auto* all = new Dropped;
  return *all;
}

void release(HeldBuffer* buffer) {
  PyBuffer_Release(&buffer->view);
  delete buffer;
}

/// Returns what Python's own PyGILState_Check() says. The stable ABI lacks it, so a module of it
/// may not link it; where an interpreter does not export it, no thread is known to have the lock.
int gil_check() {
#ifdef Py_LIMITED_API
  static const auto kCheck = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  return kCheck != nullptr ? kCheck() : 0;
#else
  return PyGILState_Check();
#endif
}

int release_in_python(void* /*argument*/) {
  release_dropped();
  return 0;
}

void drop(PyObject* object, HeldBuffer* buffer) {
  if (Py_IsInitialized() == 0) return;  // the memory goes with the process
  if (has_gil()) {
    if (object != nullptr) Py_DECREF(object);
    if (buffer != nullptr) release(buffer);
    return;
  }
  {
    const std::lock_guard lock(dropped().mutex);
    if (object != nullptr) dropped().objects.push_back(object);
    if (buffer != nullptr) dropped().buffers.push_back(buffer);
  }
  Py_AddPendingCall(release_in_python, nullptr);  // a full queue is emptied by the next call
}

/// Takes the lock. Once the interpreter ends, Python lets no other thread have it: it unwinds the
/// thread, which would end the process by std::terminate() in frames that throw nothing. Such a
/// thread waits for the process's end instead.
template <class F>
void until_the_end(const F& take) {
  try {
    take();
  } catch (...) {
    for (;;) ::pause();
  }
}

std::atomic<std::uint64_t>& fork_count() {
  static std::atomic<std::uint64_t> count = 0;
  return count;
}

}  // namespace

// PyTorch releases the lock before it drops a tensor that it has from us.
bool has_gil() {
  return released_depth == 0 && PyGILState_GetThisThreadState() != nullptr && gil_check() != 0;
}

std::uint64_t forks() {
  static const int kRegistered = pthread_atfork(nullptr, nullptr, [] { ++fork_count(); });
  static_cast<void>(kRegistered);
  return fork_count().load(std::memory_order_relaxed);
}

WithoutGil::WithoutGil() : depth_(released_depth), state_(PyEval_SaveThread()) { ++released_depth; }
WithoutGil::~WithoutGil() {
  until_the_end([&] { PyEval_RestoreThread(state_); });
  released_depth = depth_;
}

WithGil::WithGil() : depth_(released_depth) {
  until_the_end([&] { state_ = PyGILState_Ensure(); });
  released_depth = 0;
}
WithGil::~WithGil() {
  released_depth = depth_;
  PyGILState_Release(state_);
}

bool is_true(nb::handle object) {
  const int answer = PyObject_IsTrue(object.ptr());
  if (answer < 0) nb::raise_python_error();
  return answer != 0;
}

std::shared_ptr<PyObject> hold(nb::handle object) {
  object.inc_ref();
  return {object.ptr(), [](PyObject* held) { drop(held, nullptr); }};
}

std::shared_ptr<HeldBuffer> hold(const Py_buffer& view) {
  return {new HeldBuffer{view}, [](HeldBuffer* held) { drop(nullptr, held); }};
}

void release_dropped() {
  std::vector<PyObject*> objects;
  std::vector<HeldBuffer*> buffers;
  {
    const std::lock_guard lock(dropped().mutex);
    objects.swap(dropped().objects);
    buffers.swap(dropped().buffers);
  }
  for (PyObject* object : objects) Py_DECREF(object);
  for (HeldBuffer* buffer : buffers) release(buffer);
}

}  // namespace linnet::python

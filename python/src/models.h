// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "gil.h"

namespace linnet::python {

/// A model that several threads of Python may use: they take turns. Used in a process that was
/// forked after it was made, it raises an Error: its threads are not in the new process.
class ModelHandle {
 public:
  explicit ModelHandle(Model model);
  /// A model that takes turns with another one.
  ModelHandle(Model model, const ModelHandle& other);

  /// Calls work(model) without Python's lock, when it is this thread's turn.
  template <class F>
  decltype(auto) use(F&& work) {
    check_process();
    check_turn();
    const WithoutGil released;
    const std::lock_guard lock(*turn_);
    return std::forward<F>(work)(*model_);
  }
  /// What needs no turn, since it never changes.
  const Model& model() const { return *model_; }
  void check_process() const;

  /// While it lives, use() raises an Error on this thread: another thread has the turn, and waits
  /// for this one.
  class Refused {
   public:
    explicit Refused(const ModelHandle& model);
    ~Refused();
    Refused(const Refused&) = delete;
    Refused& operator=(const Refused&) = delete;
  };

 private:
  void check_turn() const;

  std::shared_ptr<Model> model_;
  std::shared_ptr<std::recursive_mutex> turn_;
  std::uint64_t process_;
};

}  // namespace linnet::python

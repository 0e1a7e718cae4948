// SPDX-License-Identifier: Apache-2.0
#include "callbacks.h"

#include <fmt/format.h>
#include <linnet/trainer.h>

#include <initializer_list>
#include <utility>

#include "options.h"

namespace linnet::python {

namespace {

/// Adds the method of an object, unless it is that of `base`.
void find(nb::handle callback, nb::handle base, CallbackMethods& methods) {
  if (!nb::hasattr(callback, methods.name)) return;
  const nb::handle type = callback.type();
  if (nb::hasattr(type, methods.name) && type.attr(methods.name).is(base.attr(methods.name))) {
    return;  // not overridden
  }
  methods.all.push_back(hold(callback.attr(methods.name)));
}

/// Finds the methods of one callback, of a list of them, or of None. of: "Callback".
void find_all(nb::handle callbacks, const char* of, const Place& place,
              std::initializer_list<CallbackMethods*> wanted) {
  std::vector<nb::object> all;
  if (nb::isinstance<nb::list>(callbacks) || nb::isinstance<nb::tuple>(callbacks)) {
    all = items_of(callbacks, "a list of callbacks", place);
  } else if (!callbacks.is_none()) {
    all.push_back(nb::borrow(callbacks));
  }
  const nb::object base = nb::module_::import_("linnet").attr(of);
  for (const nb::object& callback : all) {
    if (PyObject_IsInstance(callback.ptr(), base.ptr()) != 1) {
      refuse(place, fmt::format("a linnet.{} or a list of them", of), callback);
    }
    for (CallbackMethods* methods : wanted) find(callback, base, *methods);
  }
}

/// Calls the methods with copies of reports and numbers; they may not use a fleet's members.
template <class... A>
void call_beside(const CallbackMethods& methods, const ModelHandle& member, const A&... arguments) {
  if (methods.all.empty()) return;
  const WithGil locked;
  const ModelHandle::Refused refused(member);
  for (const auto& method : methods.all) {
    nb::handle(method.get())(nb::cast(arguments, nb::rv_policy::copy)...);
  }
}

}  // namespace

PythonCallbacks::PythonCallbacks(nb::handle callbacks) {
  find_all(callbacks, "Callback", {"Trainer.fit", "callbacks"},
           {&on_batch_, &on_progress_, &on_evaluation_, &on_epoch_, &stop_requested_, &on_stop_,
            &on_resume_, &on_checkpoint_, &on_end_});
}

template <class R>
void PythonCallbacks::call(const Methods& methods, const R& report) {
  if (methods.all.empty()) return;
  const WithGil locked;
  const nb::object argument = nb::cast(report, nb::rv_policy::copy);
  for (const auto& method : methods.all) nb::handle(method.get())(argument);
}

void PythonCallbacks::on_batch(const StepResult& step) {
  if (on_batch_.all.empty()) {
    Callback::on_batch(step);  // nobody hears of batches, so steps need not run one by one
  } else {
    call(on_batch_, step);
  }
}
void PythonCallbacks::on_progress(const Progress& progress) { call(on_progress_, progress); }
void PythonCallbacks::on_evaluation(const EvaluationProgress& progress) {
  call(on_evaluation_, progress);
}
void PythonCallbacks::on_epoch(const EpochReport& report) { call(on_epoch_, report); }
void PythonCallbacks::on_resume(const ResumeReport& report) { call(on_resume_, report); }
void PythonCallbacks::on_checkpoint(const CheckpointReport& report) {
  call(on_checkpoint_, report);
}
void PythonCallbacks::on_end(const History& history) { call(on_end_, history); }

bool PythonCallbacks::stop_requested() {
  const WithGil locked;
  release_dropped();
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  bool stop = false;
  for (const auto& method : stop_requested_.all) {
    stop = is_true(nb::handle(method.get())()) || stop;
  }
  return stop;
}

void PythonCallbacks::on_stop() {
  if (on_stop_.all.empty()) return;
  const WithGil locked;
  for (const auto& method : on_stop_.all) nb::handle(method.get())();
}

PythonFleetCallbacks::PythonFleetCallbacks(nb::handle callbacks, ModelHandle member)
    : member_(std::move(member)) {
  find_all(callbacks, "FleetCallback", {"Fleet.fit", "callbacks"},
           {&on_epoch_, &stop_requested_, &on_resume_, &on_checkpoint_});
}

void PythonFleetCallbacks::on_epoch(std::int64_t member, const EpochReport& report) {
  call_beside(on_epoch_, member_, member, report);
}
void PythonFleetCallbacks::on_resume(std::int64_t member, const ResumeReport& report) {
  call_beside(on_resume_, member_, member, report);
}
void PythonFleetCallbacks::on_checkpoint(const CheckpointReport& report) {
  call_beside(on_checkpoint_, member_, report);
}

bool PythonFleetCallbacks::stop_requested(std::int64_t member) {
  const WithGil locked;
  release_dropped();
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  const ModelHandle::Refused refused(member_);
  bool stop = false;
  for (const auto& method : stop_requested_.all) {
    stop = is_true(nb::handle(method.get())(member)) || stop;
  }
  return stop;
}

}  // namespace linnet::python

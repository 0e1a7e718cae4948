// SPDX-License-Identifier: Apache-2.0
#include "callbacks.h"

#include <linnet/trainer.h>

#include "options.h"

namespace linnet::python {

void PythonCallbacks::find(nb::handle callback, Methods& methods) {
  if (!nb::hasattr(callback, methods.name)) return;
  const nb::object base = nb::module_::import_("linnet").attr("Callback");
  const nb::handle type = callback.type();
  if (nb::hasattr(type, methods.name) && type.attr(methods.name).is(base.attr(methods.name))) {
    return;  // not overridden
  }
  methods.all.push_back(hold(callback.attr(methods.name)));
}

PythonCallbacks::PythonCallbacks(nb::handle callbacks) {
  std::vector<nb::object> all;
  if (nb::isinstance<nb::list>(callbacks) || nb::isinstance<nb::tuple>(callbacks)) {
    all = items_of(callbacks, "a list of callbacks", {"Trainer.fit", "callbacks"});
  } else if (!callbacks.is_none()) {
    all.push_back(nb::borrow(callbacks));
  }
  const nb::object base = nb::module_::import_("linnet").attr("Callback");
  for (const nb::object& callback : all) {
    if (PyObject_IsInstance(callback.ptr(), base.ptr()) != 1) {
      refuse({"Trainer.fit", "callbacks"}, "a linnet.Callback or a list of them", callback);
    }
    for (Methods* methods : {&on_batch_, &on_progress_, &on_evaluation_, &on_epoch_,
                             &stop_requested_, &on_stop_, &on_resume_, &on_checkpoint_, &on_end_}) {
      find(callback, *methods);
    }
  }
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

}  // namespace linnet::python

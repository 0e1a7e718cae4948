// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>

#include <memory>
#include <string>
#include <vector>

#include "gil.h"

namespace linnet::python {

/// Passes a fit's calls to objects of Python that have methods of these names. It also looks for
/// signals, so that Ctrl-C ends the fit as a KeyboardInterrupt.
class PythonCallbacks : public Callback {
 public:
  /// `callbacks`: one object, a list of them, or None.
  explicit PythonCallbacks(nb::handle callbacks);

  void on_batch(const StepResult& step) override;
  void on_progress(const Progress& progress) override;
  void on_evaluation(const EvaluationProgress& progress) override;
  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;
  void on_stop() override;
  void on_resume(const ResumeReport& report) override;
  void on_checkpoint(const CheckpointReport& report) override;
  void on_end(const History& history) override;

 private:
  /// The bound methods of a name: those that the objects have, and linnet.Callback lacks.
  struct Methods {
    const char* name;
    std::vector<std::shared_ptr<PyObject>> all = {};
  };
  static void find(nb::handle callback, Methods& methods);
  template <class R>
  static void call(const Methods& methods, const R& report);

  Methods on_batch_{"on_batch"};
  Methods on_progress_{"on_progress"};
  Methods on_evaluation_{"on_evaluation"};
  Methods on_epoch_{"on_epoch"};
  Methods stop_requested_{"stop_requested"};
  Methods on_stop_{"on_stop"};
  Methods on_resume_{"on_resume"};
  Methods on_checkpoint_{"on_checkpoint"};
  Methods on_end_{"on_end"};
};

}  // namespace linnet::python

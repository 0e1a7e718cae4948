// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/fleet.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gil.h"
#include "models.h"

namespace linnet::python {

/// The bound methods of a name: those that callbacks have, and their base class lacks.
struct CallbackMethods {
  const char* name;
  std::vector<std::shared_ptr<PyObject>> all = {};
};

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
  using Methods = CallbackMethods;
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

/// Passes the calls of a fleet's fit to objects of Python, and looks for signals where a member
/// trains on the main thread.
class PythonFleetCallbacks : public FleetCallback {
 public:
  /// `callbacks`: one object, a list of them, or None. `member`: one of the fleet's, which the
  /// functions must not use.
  PythonFleetCallbacks(nb::handle callbacks, ModelHandle member);

  void on_epoch(std::int64_t member, const EpochReport& report) override;
  bool stop_requested(std::int64_t member) override;
  void on_resume(std::int64_t member, const ResumeReport& report) override;
  void on_checkpoint(const CheckpointReport& report) override;

 private:
  ModelHandle member_;
  CallbackMethods on_epoch_{"on_epoch"};
  CallbackMethods stop_requested_{"stop_requested"};
  CallbackMethods on_resume_{"on_resume"};
  CallbackMethods on_checkpoint_{"on_checkpoint"};
};

}  // namespace linnet::python

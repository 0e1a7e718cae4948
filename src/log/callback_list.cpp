// SPDX-License-Identifier: Apache-2.0
#include <linnet/run_log.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace linnet {

CallbackList::CallbackList(std::vector<Callback*> callbacks) : callbacks_(std::move(callbacks)) {
  require(std::ranges::find(callbacks_, nullptr) == callbacks_.end(),
          "expected a callback; got a null pointer");
}

void CallbackList::on_batch(const StepResult& step) {
  bool any = false;
  for (Callback* callback : callbacks_) {
    if (!callback->hears_batches()) continue;
    callback->on_batch(step);
    any = any || callback->hears_batches();
  }
  if (!any) Callback::on_batch(step);  // so that nobody waits for steps
}

void CallbackList::on_progress(const Progress& progress) {
  for (Callback* callback : callbacks_) callback->on_progress(progress);
}

void CallbackList::on_evaluation(const EvaluationProgress& progress) {
  for (Callback* callback : callbacks_) callback->on_evaluation(progress);
}

void CallbackList::on_epoch(const EpochReport& report) {
  for (Callback* callback : callbacks_) callback->on_epoch(report);
}

bool CallbackList::stop_requested() {
  bool stop = false;
  for (Callback* callback : callbacks_) stop = callback->stop_requested() || stop;
  return stop;
}

void CallbackList::on_stop() {
  for (Callback* callback : callbacks_) callback->on_stop();
}

void CallbackList::on_resume(const ResumeReport& report) {
  for (Callback* callback : callbacks_) callback->on_resume(report);
}

void CallbackList::on_checkpoint(const CheckpointReport& report) {
  for (Callback* callback : callbacks_) callback->on_checkpoint(report);
}

void CallbackList::on_end(const History& history) {
  for (Callback* callback : callbacks_) callback->on_end(history);
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <string>

#include "commands/train_watcher.h"
#include "config/named_data.h"
#include "config/workloads.h"
#include "report/json.h"
#include "report/rivals.h"
#include "report/run_folder.h"

namespace linnet::command {

/// Returns the test set, or where there is none the validation set, and what the model predicts and
/// is worth there; only their names where the task has `own` measures.
HeldOut held_out_of(Model& model, const Job& job, const Splits& splits, bool own);

/// summary.json
Json summary_json(const Job& job, const Model& model, const History& history,
                  const LoadedData& data, const HeldOut& held, const RunFolder& folder);

/// Returns text such as "test accuracy 98.31 %" or "test R² 0.8123"; of the training where no
/// samples are held out for a test.
std::string test_result(const Json& summary);

/// report.html; `sections`: further ones, as HTML.
void write_report(const Job& job, const Json& summary, const History& history, Model& model,
                  const LoadedData& data, const HeldOut& held, const Rivals& rivals,
                  const std::string& sections, const RunFolder& folder);

/// metrics.json (of the test set, and of a validation set in it), and its lines on the terminal.
void report_metrics(const Job& job, Model& model, const HeldOut& held, const Splits& splits,
                    const RunFolder& folder, Watcher& watcher);

}  // namespace linnet::command

// SPDX-License-Identifier: Apache-2.0
#include "report/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>

#include "base/check.h"
#include "base/file_calls.h"
#include "base/files.h"
#include "base/process.h"
#include "base/utf8.h"
#include "report/folder_lock.h"
#include "report/progress.h"
#include "report/run_folder.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfAFile = std::size_t{256} << 20;

/// Also of a link that leads nowhere. `error` says why it is not known.
bool is_there(const fs::path& path, std::error_code& error) {
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) error.clear();
  return type != fs::file_type::not_found && type != fs::file_type::none;
}

bool is_run(const fs::path& folder, std::error_code& error) {
  for (const char* file : {kHistoryFile, kProgressFile, kSummaryFile}) {
    if (is_there(folder / file, error)) return true;
    if (error) return false;
  }
  return false;
}

/// The text of a run's file; nothing where it is missing, nor where it cannot be read, which is
/// added to `problems`.
std::string text_of(const fs::path& path, Json& problems) {
  std::error_code error;
  if (!is_there(path, error) && !error) return "";
  try {
    return read_text(path, kMostOfAFile);
  } catch (const Error& failure) {
    if (is_there(path, error)) problems.push_back(failure.what());  // else it has just gone
    return "";
  }
}

Json epochs_of(const fs::path& path, Json& problems) {
  Json epochs = Json::array();
  std::istringstream lines(text_of(path, problems));
  for (std::string line; std::getline(lines, line);) {
    Json epoch = object_of(line);
    if (!epoch.is_null()) epochs.push_back(std::move(epoch));
  }
  return epochs;
}

std::optional<double> number(const Json& json, const std::string& key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return {};
  return found->get<double>();
}

/// Returns the part that a run is judged by: validation, else test, else training.
std::string judged_part(const Json& epochs) {
  for (const char* part : {"validation", "test"}) {
    for (const Json& epoch : epochs) {
      if (number(epoch, part + std::string("_loss"))) return part;
    }
  }
  return "train";
}

}  // namespace

std::vector<fs::path> find_runs(const std::vector<fs::path>& paths,
                                std::vector<std::string>& problems) {
  std::set<fs::path> found;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      std::error_code none;
      require(!fs::is_symlink(path, none), "'{}' is a link to '{}', which is not a folder",
              path.string(), fs::read_symlink(path, none).string());
      fail("'{}' is not a folder", path.string());
    }
    if (is_run(path, error)) {
      found.insert(path);
      continue;
    }
    fs::directory_iterator entries(path, error);
    require(!error, "cannot read the folder '{}': {}", path.string(), error.message());
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const fs::path& entry = entries->path();
      std::error_code unknown;
      if (!fs::is_directory(entry, unknown)) continue;
      if (is_run(entry, unknown)) found.insert(entry);
      if (!unknown) continue;
      problems.push_back(
          fmt::format("cannot read the folder '{}': {}", entry.string(), unknown.message()));
    }
  }
  require(!found.empty(), "there is no run in '{}'", paths.front().string());
  return {found.begin(), found.end()};
}

Json run_json(const fs::path& folder) {
  Json problems = Json::array();
  const Json summary = object_of(text_of(folder / kSummaryFile, problems));
  const Json progress = object_of(text_of(folder / kProgressFile, problems));
  Json run;
  run["name"] = folder.has_filename() ? folder.filename().string() : folder.string();
  run["path"] = folder.string();
  run["state"] = is_locked(folder)                                                   ? "running"
                 : summary.is_null()                                                 ? "stopped"
                 : summary.contains("interrupted") && summary["interrupted"] == true ? "interrupted"
                                                                                     : "done";
  run["summary"] = summary;
  run["epochs"] = epochs_of(folder / kHistoryFile, problems);
  run["problems"] = std::move(problems);
  run["progress"] = run["state"] == "running" ? progress : Json();
  return run;
}

std::string runs_table(const std::vector<Json>& runs) {
  std::vector<std::vector<std::string>> rows{{"run", "state", "epochs", "part", "last loss",
                                              "best loss", "last accuracy", "best accuracy",
                                              "samples/s", "time", "parameters"}};
  for (const Json& run : runs) {
    const Json& epochs = run["epochs"];
    const std::string part = judged_part(epochs);
    std::optional<double> last_loss;
    std::optional<double> best_loss;
    std::optional<double> last_accuracy;
    std::optional<double> best_accuracy;
    double seconds = 0;
    std::vector<double> speeds;
    for (const Json& epoch : epochs) {
      last_loss = number(epoch, part + "_loss");
      if (last_loss) best_loss = std::min(*last_loss, best_loss.value_or(*last_loss));
      last_accuracy = number(epoch, part + "_accuracy");
      if (last_accuracy) {
        best_accuracy = std::max(*last_accuracy, best_accuracy.value_or(*last_accuracy));
      }
      seconds += number(epoch, "seconds").value_or(0);
      if (const auto speed = number(epoch, "samples_per_second")) speeds.push_back(*speed);
    }
    std::ranges::sort(speeds);
    const auto loss = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.4f}", *value) : "–";
    };
    const auto share = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.2f} %", 100 * *value) : "–";
    };
    const auto parameters =
        number(run["summary"].is_object() ? run["summary"] : Json::object(), "parameters");
    rows.push_back({escaped(run["name"].get<std::string>()), run["state"].get<std::string>(),
                    std::to_string(epochs.size()), part, loss(last_loss), loss(best_loss),
                    share(last_accuracy), share(best_accuracy),
                    speeds.empty() ? "–" : fmt::format("{:.0f}", speeds[speeds.size() / 2]),
                    duration_text(seconds), parameters ? fmt::format("{:.0f}", *parameters) : "–"});
  }
  std::vector<std::size_t> widths(rows[0].size());
  const auto shown = [](const std::string& cell) {  // "–" is one sign of three bytes
    return cell == "–" ? 1 : cell.size();
  };
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], shown(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - shown(row[i]), ' ');
      const bool left = i < 2 || i == 3;  // words; numbers stand at the right
      line += (i == 0 ? "" : "  ") + (left ? row[i] + blanks : blanks + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void write_progress(const fs::path& file, const Json& progress) {
  const fs::path temporary =
      file.parent_path() / fmt::format(".linnet-{}-progress.tmp", process_id());
  // Not brought to the disk, since it is written ten times a second and soon worth nothing. O_EXCL:
  // a link of this name, which somebody else has put there, is not followed.
  std::error_code none;
  fs::remove(temporary, none);
  const int out = calls::open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (out < 0) return;
  const std::string text = progress.dump() + "\n";
  const bool whole = calls::write(out, text.data(), text.size()) == std::ssize(text);
  calls::close(out);
  if (whole) fs::rename(temporary, file, none);
}

}  // namespace linnet::command

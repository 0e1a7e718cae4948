// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/run_log.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "log/epoch_record.h"

namespace linnet {
namespace {

constexpr std::size_t kMostOfALog = std::size_t{1} << 30;

nlohmann::ordered_json json_of(const RecordNumber& number) {
  return std::visit([](auto value) { return nlohmann::ordered_json(value); }, number);
}

std::string line_of(const EpochReport& report) {
  nlohmann::ordered_json line;
  for (const auto& [key, number] : epoch_record(report)) line[key] = json_of(number);
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Returns the shortest text that reads back to the same number.
std::string text_of(const RecordNumber& number) {
  return std::visit(
      [](auto value) -> std::string {
        if constexpr (std::is_same_v<decltype(value), double>) {
          if (!std::isfinite(value)) return "";
        }
        return fmt::format("{}", value);
      },
      number);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    field += c;
    if (c == '"') field += c;
  }
  return field + '"';
}

void add_field(std::string& row, const std::string& field) {
  if (!row.empty()) row += ',';
  row += field;
}

/// Returns the names of the columns, and their values.
std::pair<std::string, std::string> row_of(const EpochReport& report) {
  std::string header;
  std::string row;
  for (const auto& [key, number] : epoch_record(report)) {
    add_field(header, quoted(key));
    add_field(row, text_of(number));
  }
  return {header, row};
}

}  // namespace

struct JsonLinesLog::Out {
  std::optional<AppendFile> file = {};
};

JsonLinesLog::JsonLinesLog(std::filesystem::path file)
    : path_(std::move(file)), out_(std::make_unique<Out>()) {}
JsonLinesLog::~JsonLinesLog() = default;

void JsonLinesLog::on_resume(const ResumeReport& report) {
  out_->file.reset();
  std::string lines;
  for (const EpochReport& epoch : report.epochs) lines += line_of(epoch) + "\n";
  write_file_atomically(path_, lines);
}

void JsonLinesLog::on_epoch(const EpochReport& report) {
  if (!out_->file) out_->file.emplace(path_);
  out_->file->append_line(line_of(report));
}

struct CsvLog::Out {
  std::string header = {};
  std::optional<AppendFile> file = {};
};

CsvLog::CsvLog(std::filesystem::path file)
    : path_(std::move(file)), out_(std::make_unique<Out>()) {}
CsvLog::~CsvLog() = default;

void CsvLog::on_resume(const ResumeReport& report) {
  out_->file.reset();
  std::string lines;
  for (const EpochReport& epoch : report.epochs) {
    const auto [header, row] = row_of(epoch);
    if (lines.empty()) lines = header + "\n";
    lines += row + "\n";
  }
  write_file_atomically(path_, lines);
}

void CsvLog::on_epoch(const EpochReport& report) {
  const auto [header, row] = row_of(report);
  if (!out_->file) {
    std::error_code error;
    const bool begun = std::filesystem::file_size(path_, error) > 0 && !error;
    const std::string old = begun ? read_text(path_, kMostOfALog) : "";
    out_->header = old.substr(0, old.find('\n'));
    out_->file.emplace(path_);
  }
  if (out_->header.empty()) {
    out_->file->append_line(header);
    out_->header = header;
  }
  require(header == out_->header,
          "cannot continue '{}': its columns are {}; this training's are {}", path_.string(),
          out_->header, header);
  out_->file->append_line(row);
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#include <linnet/series_transform.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "series/series_record.h"
#include "series/window_contents.h"

namespace linnet {
namespace {

const std::vector<std::string> kNoNotes;
const std::string kNoName;

using Starts = std::shared_ptr<const std::vector<std::int64_t>>;
using Contents = std::shared_ptr<const WindowContents>;

/// Copies consecutive rows of an array when a batch needs them.
class RowsSource final : public RecordSource {
 public:
  RowsSource(Contents contents, Starts starts, const std::vector<float>& rows, std::int64_t width,
             std::int64_t offset, std::int64_t count)
      : contents_(std::move(contents)),
        starts_(std::move(starts)),
        rows_(rows.data()),
        width_(width),
        offset_(offset),
        count_(count) {}

  std::int64_t size() const override { return std::ssize(*starts_); }
  DType dtype() const override { return DType::f32; }
  Shape record() const override { return {count_, width_}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    const std::int64_t row = (*starts_)[static_cast<std::size_t>(index)] + offset_;
    std::memcpy(to.data(), rows_ + row * width_, to.size());
  }

 private:
  Contents contents_;  // keeps the rows
  Starts starts_;
  const float* rows_;
  std::int64_t width_;
  std::int64_t offset_;
  std::int64_t count_;
};

/// A target's values in the forecast part.
class TargetSource final : public RecordSource {
 public:
  TargetSource(Contents contents, Starts starts, std::size_t target)
      : contents_(std::move(contents)), starts_(std::move(starts)), target_(target) {}

  std::int64_t size() const override { return std::ssize(*starts_); }
  DType dtype() const override { return DType::f32; }
  Shape record() const override { return {contents_->record->future}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    const SeriesRecord& record = *contents_->record;
    const std::size_t count = contents_->target_count();
    auto row = static_cast<std::size_t>((*starts_)[static_cast<std::size_t>(index)] + record.past);
    for (std::size_t i = 0; i < to.size(); i += sizeof(float), ++row) {
      std::memcpy(to.data() + i, &contents_->targets[row * count + target_], sizeof(float));
    }
  }

 private:
  Contents contents_;
  Starts starts_;
  std::size_t target_;
};

std::size_t place_in(const WindowContents& contents, std::int64_t row, std::size_t target) {
  require(target < contents.target_count(), "target {} is not there: the series has {}", target,
          contents.target_count());
  return static_cast<std::size_t>(row) * contents.target_count() + target;
}

/// The row of a forecast step.
std::int64_t row_of(const WindowContents* contents, const Starts& starts, std::int64_t window,
                    std::int64_t step) {
  require(contents != nullptr && window >= 0 && window < std::ssize(*starts),
          "window {} is not there: there are {}", window,
          contents == nullptr ? 0 : std::ssize(*starts));
  require(step >= 0 && step < contents->record->future, "step {} is not there: a forecast has {}",
          step, contents->record->future);
  return (*starts)[static_cast<std::size_t>(window)] + contents->record->past + step;
}

}  // namespace

std::int64_t SeriesWindows::size() const { return contents_ == nullptr ? 0 : std::ssize(*starts_); }

Dataset SeriesWindows::data() const {
  if (contents_ == nullptr) return {};
  const SeriesRecord& record = *contents_->record;
  std::vector<Column> inputs;
  inputs.push_back({.name = "past"});
  inputs.back().source = std::make_shared<RowsSource>(contents_, starts_, contents_->past,
                                                      contents_->channels, 0, record.past);
  if (contents_->known_channels > 0) {
    inputs.push_back({.name = "future"});
    inputs.back().source =
        std::make_shared<RowsSource>(contents_, starts_, contents_->known,
                                     contents_->known_channels, record.past, record.future);
  }
  if (!record.entity.empty()) {
    std::vector<std::int32_t> ids;
    for (const std::int64_t start : *starts_) ids.push_back(contents_->part_of(start).id);
    const std::int64_t count = std::ssize(ids);
    inputs.push_back({.name = "entity", .data = Tensor(std::move(ids), {count, 1})});
  }
  std::vector<Column> targets;
  for (std::size_t i = 0; i < contents_->target_count(); ++i) {
    targets.push_back({.name = record.inputs[i].column});
    targets.back().source = std::make_shared<TargetSource>(contents_, starts_, i);
  }
  return {std::move(inputs), std::move(targets), {.name = contents_->name}};
}

double SeriesWindows::actual(std::int64_t window, std::int64_t step, std::size_t target) const {
  const std::int64_t row = row_of(contents_.get(), starts_, window, step);
  return contents_->offset(target) + contents_->targets[place_in(*contents_, row, target)];
}

double SeriesWindows::persistence(std::int64_t window, std::size_t target) const {
  const std::int64_t row = row_of(contents_.get(), starts_, window, 0) - 1;
  return contents_->offset(target) + contents_->filled[place_in(*contents_, row, target)];
}

double SeriesWindows::seasonal_naive(std::int64_t window, std::int64_t step,
                                     std::size_t target) const {
  const std::int64_t row = row_of(contents_.get(), starts_, window, step);
  const std::int64_t season = contents_->record->season;
  const std::int64_t before = row - season * (step / season + 1);
  if (season <= 1 || before < contents_->part_of(row).first) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return contents_->offset(target) + contents_->filled[place_in(*contents_, before, target)];
}

SeriesPlace SeriesWindows::place(std::int64_t window, std::int64_t step) const {
  const std::int64_t row = row_of(contents_.get(), starts_, window, step);
  return {.entity = contents_->part_of(row).entity,
          .time = time_text(*contents_->record, contents_->time_of(row))};
}

const std::vector<std::string>& SeriesWindows::notes() const {
  return contents_ == nullptr ? kNoNotes : contents_->notes;
}

std::vector<std::string> SeriesTransform::targets() const {
  std::vector<std::string> names;
  if (empty()) return names;
  for (std::size_t i = 0; i < record_->targets.size(); ++i) {
    names.push_back(record_->inputs[i].column);
  }
  return names;
}
const std::string& SeriesTransform::time_column() const {
  return empty() ? kNoName : record_->time;
}
const std::string& SeriesTransform::entity_column() const {
  return empty() ? kNoName : record_->entity;
}
std::int64_t SeriesTransform::past() const { return empty() ? 0 : record_->past; }
std::int64_t SeriesTransform::future() const { return empty() ? 0 : record_->future; }
std::int64_t SeriesTransform::season() const { return empty() ? 1 : record_->season; }
std::vector<std::string> SeriesTransform::channels() const {
  return empty() ? std::vector<std::string>() : channel_names(*record_, false);
}
std::vector<std::string> SeriesTransform::known_channels() const {
  return empty() ? std::vector<std::string>() : channel_names(*record_, true);
}
std::int64_t SeriesTransform::entities() const {
  return empty() || record_->entity.empty() ? 0 : std::ssize(record_->entities) + 1;
}

TableOptions SeriesTransform::reading() const {
  return empty() ? TableOptions() : record_->learned.options();
}

SeriesWindows SeriesTransform::windows(const Table& rows) const {
  require(!empty(), "the series transform is empty; series_task() makes one");
  const Contents contents = read_series(rows, record_);
  auto starts = std::make_shared<const std::vector<std::int64_t>>(complete_windows(*contents));
  require<DataError>(!starts->empty(),
                     "'{}' has no window of {} steps and {} steps after them that have all targets",
                     rows.name(), record_->past, record_->future);
  return {contents, std::move(starts)};
}

std::string SeriesTransform::to_json() const { return empty() ? "" : json_of(*record_); }
SeriesTransform SeriesTransform::from_json(const std::string& text) {
  return SeriesTransform(std::make_shared<const SeriesRecord>(series_record_from(text)));
}

}  // namespace linnet

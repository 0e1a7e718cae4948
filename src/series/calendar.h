// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "series/series_record.h"

namespace linnet {

/// Returns the parts of the week in which the times of all series lie, where they pause between
/// these: business days, sessions. Empty where they do not, and where pauses explain fewer than
/// half of the steps that lack a time. `series`: times in order, `step`: at most a day.
std::vector<OpenTime> find_open_times(std::span<const std::vector<std::int64_t>> series,
                                      std::int64_t step);

/// Returns the next time of a calendar; the next step where there is none.
std::int64_t next_open(const SeriesRecord& record, std::int64_t time);

/// Returns how many steps between two times lack a row: none where the series pauses between them,
/// by its calendar or for a holiday of up to ten days. Nothing where the later one lies between two
/// steps. Counts up to `most`.
std::optional<std::int64_t> missing_between(const SeriesRecord& record, std::int64_t time,
                                            std::int64_t later, std::int64_t most);
/// Returns whether a pause between two times is more than the calendar's own.
bool is_holiday(const SeriesRecord& record, std::int64_t time, std::int64_t later);

/// Returns the steps of a week, and of the day that has most.
double steps_of_week(const SeriesRecord& record);
double steps_of_day(const SeriesRecord& record);

/// "Monday to Friday, 09:30 to 16:00".
std::string calendar_text(const SeriesRecord& record);

}  // namespace linnet

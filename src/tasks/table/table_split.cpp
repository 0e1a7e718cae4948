// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/join.h"
#include "base/random.h"
#include "table/contents.h"
#include "tasks/table/networks.h"

namespace linnet {
namespace {

using Rows = std::vector<std::int64_t>;

std::int64_t share_of(double share, std::size_t count) {
  return std::llround(share * static_cast<double>(count));
}

class Splitter {
 public:
  Splitter(const Table& table, const Rows& rows, const TableTaskOptions& options,
           std::vector<std::string>& notes)
      : table_(table), rows_(rows), options_(options), notes_(notes) {
    // No row of the fold chooses the epoch, but the share is still one of all rows.
    if (options.folds > 0) {
      const auto folds = static_cast<double>(options.folds);
      validation_ = options.validation * folds / (folds - 1);
    }
  }

  SplitRows at_random(std::optional<std::size_t> classes) {
    std::map<std::string_view, Rows> strata;
    for (const std::int64_t row : rows_) {
      strata[classes && options_.stratify ? whole_text(table_.text(row, *classes))
                                          : std::string_view()]
          .push_back(row);
    }
    SplitRows parts;
    std::uint64_t stratum = 0;
    std::size_t before = 0;  // rows of the strata before, so that folds are of equal size
    for (const auto& [text, of] : strata) {
      const std::uint64_t key = random_key(options_.seed, RandomStream::split, ++stratum);
      options_.folds > 0 ? split_fold(of, key, before, parts) : split_shares(of, key, parts);
      before += of.size();
    }
    if (classes) keep_classes(*classes, parts);
    return parts;
  }

  SplitRows by_group(std::optional<std::size_t> classes) {
    const std::size_t column = table_.find(options_.group);
    std::map<std::string_view, Rows> by_text;
    for (const std::int64_t row : rows_) {
      require<DataError>(!table_.missing(row, column), "{}: the group is missing",
                         table_.place(row, column));
      by_text[whole_text(table_.text(row, column))].push_back(row);
    }
    std::vector<Rows> all;
    for (auto& [text, of] : by_text) all.push_back(std::move(of));
    const Permutation rank(random_key(options_.seed, RandomStream::split, 1), all.size());
    std::vector<Rows> groups(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) groups[rank(i)] = std::move(all[i]);
    if (classes) count_holders(groups, *classes);
    const std::int64_t parts_needed =
        options_.folds > 0 ? options_.folds : 1 + (options_.test > 0) + (options_.validation > 0);
    require<DataError>(std::ssize(groups) >= parts_needed,
                       "the column '{}' of '{}' has {} groups; expected at least {}",
                       options_.group, table_.name(), groups.size(), parts_needed);
    SplitRows parts;
    options_.folds > 0 ? take_fold(groups, parts.test)
                       : take_groups(groups, options_.test, parts.test);
    take_groups(groups, options_.validation, parts.validation);
    for (const Rows& group : groups) append(parts.train, group);
    const auto count = [&](const Rows& part) {
      std::set<std::string_view> names;
      for (const std::int64_t row : part) names.insert(whole_text(table_.text(row, column)));
      return names.size();
    };
    notes_.push_back(fmt::format("groups of '{}': {} train, {} validate, {} test", options_.group,
                                 count(parts.train), count(parts.validation), count(parts.test)));
    if (bound_ > 0) {
      notes_.push_back(fmt::format(
          "{} of the groups of '{}' hold a class that no other group has, so they train", bound_,
          options_.group));
    }
    return parts;
  }

  SplitRows by_time(std::optional<std::size_t> classes) {
    const std::size_t column = table_.find(options_.time);
    std::vector<std::pair<double, std::int64_t>> order;
    for (const std::int64_t row : rows_) order.emplace_back(time_of(row, column), row);
    std::ranges::stable_sort(order, {}, &std::pair<double, std::int64_t>::first);
    // Rows of one time stay together, in the later part.
    const auto boundary = [&](std::size_t at) {
      while (at > 0 && at < order.size() && order[at].first == order[at - 1].first) --at;
      return at;
    };
    std::size_t end = order.size();
    std::size_t tested = order.size() - static_cast<std::size_t>(share_of(options_.test, end));
    if (options_.folds > 0) {
      const auto blocks = static_cast<std::size_t>(options_.folds) + 1;
      const auto fold = static_cast<std::size_t>(options_.fold);
      tested = boundary(order.size() * (fold + 1) / blocks);
      end = boundary(order.size() * (fold + 2) / blocks);
    }
    tested = boundary(tested);
    const std::size_t validated = boundary(
        tested - static_cast<std::size_t>(
                     share_of(options_.validation, options_.folds > 0 ? tested : order.size())));
    const bool measured = options_.folds > 0 || options_.test > 0;
    require<DataError>(validated > 0 && (tested < end || !measured) &&
                           (validated < tested || options_.validation == 0),
                       "the column '{}' of '{}' has too few different times for a split",
                       options_.time, table_.name());
    SplitRows parts;
    for (std::size_t i = 0; i < end; ++i) {
      Rows& part = i < validated ? parts.train : i < tested ? parts.validation : parts.test;
      part.push_back(order[i].second);
    }
    const auto begin = [&](const Rows& part) {
      return whole_text(table_.text(part.front(), column));
    };
    std::string note = fmt::format("split along '{}'", options_.time);
    if (!parts.validation.empty())
      note += fmt::format(", validation from {}", begin(parts.validation));
    if (!parts.test.empty()) note += fmt::format(", test from {}", begin(parts.test));
    notes_.push_back(std::move(note));
    if (classes) leave_out_unknown(*classes, parts);
    return parts;
  }

 private:
  static void append(Rows& to, const Rows& rows) { to.insert(to.end(), rows.begin(), rows.end()); }

  /// Splits one stratum; its last row stays with the training set.
  void split_shares(const Rows& rows, std::uint64_t key, SplitRows& to) const {
    const auto count = std::ssize(rows);
    const std::int64_t test =
        std::min<std::int64_t>(share_of(options_.test, rows.size()), count - 1);
    const std::int64_t validation =
        std::min<std::int64_t>(share_of(options_.validation, rows.size()), count - 1 - test);
    const Permutation rank(key, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto place = static_cast<std::int64_t>(rank(i));
      (place < test                ? to.test
       : place < test + validation ? to.validation
                                   : to.train)
          .push_back(rows[i]);
    }
  }

  /// Every folds-th row of a random order is the fold; of the others the share is validation.
  void split_fold(const Rows& rows, std::uint64_t key, std::size_t before, SplitRows& to) const {
    const auto folds = static_cast<std::size_t>(options_.folds);
    const Permutation rank(key, rows.size());
    Rows others;
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if ((rank(i) + before) % folds == static_cast<std::size_t>(options_.fold)) {
        to.test.push_back(rows[i]);
      } else {
        others.push_back(rows[i]);
        ranks.push_back(rank(i));
      }
    }
    if (others.empty()) return;
    std::vector<std::size_t> sorted(ranks);
    std::ranges::sort(sorted);
    const std::int64_t wanted =
        std::min<std::int64_t>(share_of(validation_, others.size()), std::ssize(others) - 1);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto place = std::ranges::lower_bound(sorted, ranks[i]) - sorted.begin();
      (place < wanted ? to.validation : to.train).push_back(others[i]);
    }
  }

  void count_holders(const std::vector<Rows>& groups, std::size_t target) {
    target_ = target;
    for (const Rows& group : groups) {
      for (const std::string_view text : texts_of(group, target)) ++holders_[text];
    }
    bound_ = std::ranges::count_if(groups, [&](const Rows& group) { return !is_free(group); });
  }
  /// Whether each class of the group is in another one that trains.
  bool is_free(const Rows& group) const {
    if (!target_) return true;
    const std::set<std::string_view> texts = texts_of(group, *target_);
    return std::ranges::all_of(texts, [&](std::string_view text) { return holders_.at(text) > 1; });
  }
  void take_group(const Rows& group, Rows& to) {
    append(to, group);
    if (!target_) return;
    for (const std::string_view text : texts_of(group, *target_)) --holders_[text];
  }

  /// Moves groups to a part until no further one brings it nearer to its share; one stays, and
  /// those that the training set needs for its classes.
  void take_groups(std::vector<Rows>& groups, double share, Rows& to) {
    const std::int64_t wanted = share_of(share, rows_.size());
    if (share == 0) return;
    std::vector<Rows> left;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::int64_t have = std::ssize(to);
      const bool nearer = std::abs(have + std::ssize(groups[i]) - wanted) < std::abs(have - wanted);
      const bool last = i + 1 == groups.size() && left.empty();
      if (nearer && !last && is_free(groups[i])) {
        take_group(groups[i], to);
      } else {
        left.push_back(std::move(groups[i]));
      }
    }
    groups = std::move(left);
  }

  /// Folds of nearly as many rows each: the largest group goes to the smallest fold.
  void take_fold(std::vector<Rows>& groups, Rows& to) {
    std::ranges::stable_sort(groups, std::ranges::greater(),
                             [](const Rows& g) { return g.size(); });
    std::vector<std::size_t> sizes(static_cast<std::size_t>(options_.folds));
    std::vector<Rows> left;
    for (Rows& group : groups) {
      const auto smallest = std::ranges::min_element(sizes);
      *smallest += group.size();
      if (smallest - sizes.begin() == options_.fold && is_free(group)) {
        take_group(group, to);
      } else {
        left.push_back(std::move(group));
      }
    }
    groups = std::move(left);
    // By size, the validation set would take the largest ones.
    const Permutation rank(random_key(options_.seed, RandomStream::split, 2), groups.size());
    std::vector<Rows> mixed(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) mixed[rank(i)] = std::move(groups[i]);
    groups = std::move(mixed);
  }

  double time_of(std::int64_t row, std::size_t column) const {
    const TableColumn& of = table_.columns()[column];
    require<DataError>(of.type != ColumnType::category && of.type != ColumnType::boolean,
                       "the column '{}' of '{}' is of the type {}; a split by time needs dates or "
                       "numbers",
                       of.name, table_.name(),
                       column_type_names()[static_cast<std::size_t>(of.type)]);
    const std::string_view text = table_.text(row, column);
    require<DataError>(!text.empty(), "{}: the time is missing", table_.place(row, column));
    if (of.type != ColumnType::date_time) return table_.number(row, column);
    const auto date = date_of(text, table_.contents()->dates[column]);
    require<DataError>(date.has_value(), "{}: expected a date; got '{}'", table_.place(row, column),
                       text);
    return static_cast<double>(date->day) * 86400 + date->seconds;
  }

  std::set<std::string_view> texts_of(const Rows& rows, std::size_t column) const {
    std::set<std::string_view> texts;
    for (const std::int64_t row : rows) texts.insert(whole_text(table_.text(row, column)));
    return texts;
  }

  /// Moves the rows of classes that the training set would lack into it.
  void keep_classes(std::size_t target, SplitRows& parts) const {
    const std::set<std::string_view> known = texts_of(parts.train, target);
    for (Rows* part : {&parts.validation, &parts.test}) {
      const auto unknown = std::stable_partition(part->begin(), part->end(), [&](std::int64_t row) {
        return known.contains(whole_text(table_.text(row, target)));
      });
      parts.train.insert(parts.train.end(), unknown, part->end());
      part->erase(unknown, part->end());
    }
  }

  /// Later rows can't be trained on, and earlier ones don't know their classes.
  void leave_out_unknown(std::size_t target, SplitRows& parts) {
    const std::set<std::string_view> known = texts_of(parts.train, target);
    std::size_t left_out = 0;
    for (Rows* part : {&parts.validation, &parts.test}) {
      left_out += std::erase_if(*part, [&](std::int64_t row) {
        return !known.contains(whole_text(table_.text(row, target)));
      });
    }
    if (left_out == 0) return;
    notes_.push_back(
        fmt::format("{} rows are left out, of classes that no earlier row has", left_out));
  }

  const Table& table_;
  const Rows& rows_;
  const TableTaskOptions& options_;
  std::vector<std::string>& notes_;
  double validation_ = 0;                   ///< share of the rows outside a fold
  std::optional<std::size_t> target_ = {};  ///< of classes that groups hold; else none
  std::map<std::string_view, std::int64_t> holders_ = {};  ///< of a class: groups that may train
  std::int64_t bound_ = 0;                                 ///< groups that hold a class alone
};

SplitRows split_in_order(const Table& table, const Rows& rows, std::optional<std::size_t> classes,
                         const TableTaskOptions& options, std::vector<std::string>& notes) {
  Splitter splitter(table, rows, options, notes);
  SplitRows parts = !options.group.empty()  ? splitter.by_group(classes)
                    : !options.time.empty() ? splitter.by_time(classes)
                                            : splitter.at_random(classes);
  for (auto* part : {&parts.train, &parts.validation, &parts.test}) std::ranges::sort(*part);
  return parts;
}

/// Why a part has no rows, and what to do.
std::string reason(const TableTaskOptions& options, bool classes) {
  if (!options.group.empty()) {
    return classes ? fmt::format(
                         "each class keeps a group of '{}' to train; more groups of each "
                         "class are needed",
                         options.group)
                   : fmt::format("the groups of '{}' are too few and too large; take another share",
                                 options.group);
  }
  if (!options.time.empty()) return "its rows are of classes that no earlier row has";
  if (options.folds > 0) return "its rows are the only ones of their classes; use fewer folds";
  if (!classes || !options.stratify) return "the rows are too few; take a larger share";
  return "each class has too few rows to give some; a random split (--split random) or a larger "
         "share takes some";
}

/// Warns of parts that are wanted and have no rows; of a fold that is an error.
void check_parts(const SplitRows& parts, const Table& table, bool classes,
                 const TableTaskOptions& options, std::vector<std::string>& notes) {
  require<DataError>(options.folds == 0 || !parts.test.empty(),
                     "fold {} of {} has no rows of '{}' to measure: {}", options.fold + 1,
                     options.folds, table.name(), reason(options, classes));
  std::vector<std::string> empty;
  if (options.validation > 0 && parts.validation.empty()) empty.emplace_back("validation");
  if (options.folds == 0 && options.test > 0 && parts.test.empty()) empty.emplace_back("test");
  if (empty.empty()) return;
  notes.push_back(fmt::format("warning: no row is left for the {} set: {}",
                              join(empty, " and the "), reason(options, classes)));
}

/// Warns of classes that the test set lacks, since no metric of it counts them.
void warn_of_classes(const SplitRows& parts, const Table& table, std::size_t target,
                     std::vector<std::string>& notes) {
  std::set<std::string_view> lacking;
  for (const std::int64_t row : parts.train) lacking.insert(whole_text(table.text(row, target)));
  const std::size_t all = lacking.size();
  for (const std::int64_t row : parts.test) lacking.erase(whole_text(table.text(row, target)));
  if (lacking.empty()) return;
  notes.push_back(fmt::format(
      "warning: the test set has no row of the class '{}'{}, so its metrics do not count {}",
      *lacking.begin(),
      lacking.size() == 1 ? "" : fmt::format(" and {} more of {}", lacking.size() - 1, all),
      lacking.size() == 1 ? "it" : "them"));
}

}  // namespace

void check_split(const TableTaskOptions& options) {
  require(options.validation >= 0 && options.test >= 0 && options.validation + options.test < 1,
          "validation and test are shares of the rows, together below 1; got {} and {}",
          options.validation, options.test);
  require(options.group.empty() || options.time.empty(),
          "a split is by group or by time; got the group '{}' and the time '{}'", options.group,
          options.time);
  if (options.folds == 0) return;
  require(options.folds >= 2, "expected at least 2 folds; got {}", options.folds);
  require(options.fold >= 0 && options.fold < options.folds, "expected a fold in [0, {}); got {}",
          options.folds, options.fold);
  require(options.validation < 1 - 1 / static_cast<double>(options.folds),
          "validation is a share of the rows, and below {} with {} folds; got {}",
          1 - 1 / static_cast<double>(options.folds), options.folds, options.validation);
}

SplitRows split_rows(const Table& table, const std::vector<std::int64_t>& rows,
                     std::optional<std::size_t> classes, const TableTaskOptions& options,
                     std::vector<std::string>& notes) {
  require<DataError>(std::ssize(rows) >= options.folds,
                     "'{}' has {} rows that a training can use; expected at least {}, one for each "
                     "fold",
                     table.name(), rows.size(), options.folds);
  SplitRows parts = split_in_order(table, rows, classes, options, notes);
  require<DataError>(!parts.train.empty(), "the split of '{}' leaves no row to train on",
                     table.name());
  check_parts(parts, table, classes.has_value(), options, notes);
  if (classes && options.folds == 0 && !parts.test.empty()) {
    warn_of_classes(parts, table, *classes, notes);
  }
  if (options.fold > 0) return parts;
  // A later fold that cannot be measured is known before the first one trains.
  TableTaskOptions later = options;
  for (later.fold = 1; later.fold < options.folds; ++later.fold) {
    std::vector<std::string> unused;
    check_parts(split_in_order(table, rows, classes, later, unused), table, classes.has_value(),
                later, unused);
  }
  return parts;
}

HeldOutFolds held_out_folds(const TableTaskOptions& options, std::int64_t rows, bool novelty) {
  require(options.validation_folds >= 0 && options.validation_folds <= kMostValidationFolds,
          "expected 1 to {} validation folds, or 0 for as many as suit the rows; got {}",
          kMostValidationFolds, options.validation_folds);
  const bool ordered = !options.group.empty() || !options.time.empty();
  const bool shared = ordered || novelty || !options.fitted.empty() || options.validation == 0;
  if (options.validation_folds > 1) {
    require(!shared,
            "validation folds are random parts of new members' training rows; leave them out with "
            "a group, a time, a novelty, a validation share of 0 and a model to start from");
    return {options.validation_folds, options.validation_folds};
  }
  if (options.validation_folds == 1 || shared || options.ensemble == 1) return {};
  if (rows < 2000) return {5, 5};
  return rows < 10000 ? HeldOutFolds{3, 5} : HeldOutFolds{};
}

std::vector<float> folds_of_rows(const Table& table, const std::vector<std::int64_t>& rows,
                                 std::optional<std::size_t> classes, const HeldOutFolds& folds,
                                 std::uint64_t seed) {
  std::map<std::string_view, std::vector<std::size_t>> strata;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    strata[classes ? whole_text(table.text(rows[i], *classes)) : std::string_view()].push_back(i);
  }
  std::vector<float> fold(rows.size(), -1);
  std::uint64_t stratum = 0;
  std::size_t before = 0;  // rows of the strata before, so that folds are of equal size
  for (const auto& [text, of] : strata) {
    const Permutation rank(random_key(seed, RandomStream::split, ++stratum, 1), of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      const auto part = static_cast<std::int64_t>(rank(i) + before) % folds.parts;
      if (part < folds.folds) fold[of[i]] = static_cast<float>(part);
    }
    before += of.size();
  }
  return fold;
}

}  // namespace linnet

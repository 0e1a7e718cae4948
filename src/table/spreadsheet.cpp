// SPDX-License-Identifier: Apache-2.0
// Office Open XML (ECMA-376), as much of it as a table needs.
#include "table/spreadsheet.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/counted.h"
#include "base/decimal.h"
#include "base/join.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "describe/nearest.h"
#include "formats/zip.h"
#include "table/dates.h"
#include "table/xml.h"

namespace linnet {
namespace {

using Attributes = std::span<const char* const>;

constexpr std::uint64_t kMostBytes = std::uint64_t{1}
                                     << 30;  // of all files that are read, unpacked
constexpr std::size_t kMostText = std::size_t{1} << 29;
constexpr std::size_t kMostCells = std::size_t{1} << 26;
constexpr std::size_t kMostMerged = std::size_t{1} << 20;  // ranges
constexpr std::uint32_t kMostRows = 1048576;
constexpr std::uint32_t kMostColumns = 16384;
constexpr std::size_t kPiece = 1 << 16;
constexpr double kLastDay = 2958465;  // 9999-12-31
constexpr std::string_view kCompute =
    "a spreadsheet program computes them: open the file there and save it";

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The files of an archive, of which few are read.
class Package {
 public:
  explicit Package(const std::filesystem::path& path) : zip_(path) {
    for (const ZipEntry& entry : zip_.entries()) files_.emplace(entry.name, &entry);
  }

  bool holds(const std::string& name) const { return files_.contains(name); }

  void read(const std::string& name, XmlHandlers handlers) {
    const auto found = files_.find(name);
    require<DataError>(found != files_.end(), "it lacks '{}'", name);
    read_ += found->second->bytes;
    require<DataError>(read_ <= kMostBytes, "it unpacks to more than {} bytes", kMostBytes);
    XmlReader reader(std::move(handlers));
    const ReadBytes read = ZipFile::open(*found->second);
    std::vector<char> piece(kPiece);
    std::uint64_t left = found->second->bytes;
    do {
      const std::size_t count = read(piece);
      left -= count;
      reader.feed({piece.data(), count}, left == 0);
    } while (left > 0);
  }

 private:
  ZipFile zip_;
  std::map<std::string, const ZipEntry*> files_;
  std::uint64_t read_ = 0;
};

/// A file that another one names.
struct Relation {
  std::string id = {};
  std::string type = {};  ///< the last part of its address: "worksheet"
  std::string target = {};
};

/// The files that `file` names, by its .rels beside it; none where that is missing.
std::vector<Relation> relations_of(Package& package, const std::string& file) {
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : file.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  const std::string path = folder + "_rels/" + name + ".rels";
  std::vector<Relation> relations;
  if (!package.holds(path)) return relations;
  const auto begin = [&](std::string_view element, Attributes attributes) {
    if (element != "Relationship") return;
    const std::string_view type = attribute(attributes, "Type");
    const std::string_view target = attribute(attributes, "Target");
    relations.push_back({.id = std::string(attribute(attributes, "Id")),
                         .type = std::string(type.substr(type.rfind('/') + 1)),
                         .target = target.starts_with('/') ? std::string(target.substr(1))
                                                           : folder + std::string(target)});
  };
  package.read(path, {.begin = begin, .end = [](auto) {}, .text = [](auto) {}});
  return relations;
}

std::string target_of(const std::vector<Relation>& relations, std::string_view type) {
  const auto found = std::ranges::find(relations, type, &Relation::type);
  return found == relations.end() ? "" : found->target;
}

/// What a number of a cell is shown as.
enum class Shown : std::uint8_t { number, date, date_and_time };

/// Of formats with a number of their own (ECMA-376, 18.8.30).
Shown shown_of(std::uint32_t format) {
  const auto between = [&](std::uint32_t least, std::uint32_t most) {
    return format >= least && format <= most;
  };
  if (format == 22) return Shown::date_and_time;
  return between(14, 17) || between(27, 31) || between(50, 54) || between(57, 58) || format == 36
             ? Shown::date
             : Shown::number;
}

/// Of a format's text, such as `dd/mm/yyyy hh:mm`. A time without a date is a number.
Shown shown_of(std::string_view code) {
  bool date = false;
  bool time = false;
  for (std::size_t i = 0; i < code.size() && code[i] != ';'; ++i) {
    switch (code[i]) {
      case '"': i = std::min(code.find('"', i + 1), code.size() - 1); break;
      case '[': i = std::min(code.find(']', i + 1), code.size() - 1); break;
      case '\\':
      case '_':
      case '*': ++i; break;
      case 'd':
      case 'D':
      case 'y':
      case 'Y': date = true; break;
      case 'h':
      case 'H':
      case 's':
      case 'S': time = true; break;
      default: break;
    }
  }
  if (!date) return Shown::number;
  return time ? Shown::date_and_time : Shown::date;
}

/// What each style of a cell shows.
std::vector<Shown> read_styles(Package& package, const std::string& path) {
  std::vector<Shown> styles;
  std::map<std::uint32_t, Shown> formats;
  bool cells = false;
  const auto begin = [&](std::string_view element, Attributes attributes) {
    const std::optional<std::uint32_t> format = whole(attribute(attributes, "numFmtId"));
    if (element == "numFmt" && format) {
      formats[*format] = shown_of(attribute(attributes, "formatCode"));
    } else if (element == "cellXfs") {
      cells = true;
    } else if (element == "xf" && cells) {
      const auto found = formats.find(format.value_or(0));
      styles.push_back(found == formats.end() ? shown_of(format.value_or(0)) : found->second);
    }
  };
  const auto end = [&](std::string_view element) {
    if (element == "cellXfs") cells = false;
  };
  if (package.holds(path)) package.read(path, {.begin = begin, .end = end, .text = [](auto) {}});
  return styles;
}

/// Texts that cells name by their number, without the phonetic ones.
struct SharedTexts {
  std::string all = {};
  std::vector<std::size_t> ends = {};

  std::optional<std::string_view> get(std::size_t i) const {
    if (i >= ends.size()) return std::nullopt;
    const std::size_t from = i == 0 ? 0 : ends[i - 1];
    return std::string_view(all).substr(from, ends[i] - from);
  }
};

SharedTexts read_shared(Package& package, const std::string& path) {
  SharedTexts shared;
  bool text = false;
  bool phonetic = false;
  const auto begin = [&](std::string_view element, Attributes /*attributes*/) {
    text = element == "t";
    phonetic = phonetic || element == "rPh";
  };
  const auto end = [&](std::string_view element) {
    text = false;
    if (element == "rPh") phonetic = false;
    if (element == "si") shared.ends.push_back(shared.all.size());
  };
  const auto add = [&](std::string_view piece) {
    if (text && !phonetic) shared.all += piece;
  };
  if (package.holds(path)) package.read(path, {.begin = begin, .end = end, .text = add});
  return shared;
}

/// The workbook's sheets, and how it counts days.
struct Workbook {
  struct Sheet {
    std::string name = {};
    std::string id = {};
    bool hidden = false;
  };
  std::vector<Sheet> sheets = {};
  bool from_1904 = false;
};

Workbook read_workbook(Package& package, const std::string& path) {
  Workbook workbook;
  const auto begin = [&](std::string_view element, Attributes attributes) {
    if (element == "sheet") {
      const std::string_view state = attribute(attributes, "state");
      workbook.sheets.push_back({.name = std::string(attribute(attributes, "name")),
                                 .id = std::string(attribute(attributes, "id")),
                                 .hidden = state == "hidden" || state == "veryHidden"});
    } else if (element == "workbookPr") {
      const std::string_view value = attribute(attributes, "date1904");
      workbook.from_1904 = value == "1" || value == "true";
    }
  };
  package.read(path, {.begin = begin, .end = [](auto) {}, .text = [](auto) {}});
  return workbook;
}

/// A date as text; nothing for a number beyond its range.
std::optional<std::string> date_text_of(double serial, Shown shown, bool from_1904) {
  if (!(serial >= 0 && serial <= kLastDay)) return std::nullopt;
  constexpr std::int64_t k1904 = -24107;  // days to 1970-01-01
  constexpr std::int64_t k1900 = -25569;  // 1899-12-30: Lotus 1-2-3 had a 29 February 1900
  constexpr double kFirstRight = 61;      // 1900-03-01
  auto day = static_cast<std::int64_t>(serial);
  auto seconds =
      static_cast<std::int64_t>(std::llround((serial - static_cast<double>(day)) * 86400));
  if (seconds == 86400) {
    seconds = 0;
    ++day;
  }
  day += from_1904 ? k1904 : k1900 + (serial < kFirstRight ? 1 : 0);
  const bool time = shown == Shown::date_and_time || seconds != 0;
  return date_text(time ? "%Y-%m-%d %H:%M:%S" : "%Y-%m-%d", day, seconds);
}

/// The cells of a sheet that hold something, row by row.
class Cells {
 public:
  Cells(const SharedTexts& shared, const std::vector<Shown>& styles, bool from_1904)
      : shared_(shared), styles_(styles), from_1904_(from_1904) {}

  XmlHandlers handlers() {
    return {.begin = [this](std::string_view name, Attributes a) { begin(name, a); },
            .end = [this](std::string_view name) { end(name); },
            .text =
                [this](std::string_view text) {
                  if (value_ && !phonetic_) text_ += text;
                }};
  }

  /// Gives cells that are merged below another one its value, and returns how many.
  std::size_t fill_merged() {
    const std::size_t before = cells_.size();
    const auto written = [&](std::uint32_t row, std::uint32_t column) {
      const std::span<const Cell> cells(cells_.data(), before);
      const auto found = std::ranges::lower_bound(cells, std::pair(row, column), {}, &Cell::place);
      return found != cells.end() && found->place() == std::pair(row, column)
                 ? static_cast<std::size_t>(found - cells.begin())
                 : before;
    };
    for (const Merged& merged : merged_) {
      const std::size_t top = written(merged.first, merged.column);
      if (top == before) continue;
      const std::uint32_t last = std::min(merged.last, cells_[before - 1].row);
      for (std::uint32_t row = merged.first + 1; row <= last; ++row) {
        if (written(row, merged.column) != before) continue;
        require<DataError>(cells_.size() < kMostCells, "it has more than {} cells", kMostCells);
        cells_.push_back({row, merged.column, cells_[top].begin, cells_[top].end});
      }
    }
    std::ranges::sort(cells_, {}, &Cell::place);
    const auto same = [](const Cell& a, const Cell& b) { return a.place() == b.place(); };
    cells_.erase(std::unique(cells_.begin(), cells_.end(), same), cells_.end());
    return cells_.size() - before;
  }

  /// Returns how many formulas came to nothing, since no program has computed them.
  std::size_t uncomputed() const { return uncomputed_; }

  /// A line for each row of the sheet, up to the last with a value: the columns that have any.
  std::string text() const {
    std::string text;
    if (cells_.empty()) return text;
    const auto [least, most] = std::ranges::minmax(cells_, {}, &Cell::column);
    std::uint32_t line = 1;
    std::size_t i = 0;
    while (i < cells_.size()) {
      std::size_t next = i;
      while (next < cells_.size() && cells_[next].row == cells_[i].row) ++next;
      const bool title = text.find_first_not_of('\n') == std::string::npos && next == i + 1 &&
                         most.column >= least.column + 2 && next < cells_.size();
      for (; line < cells_[i].row; ++line) text += '\n';
      if (!title) add_row(i, next, least.column, most.column, text);
      i = next;
      require<DataError>(text.size() <= kMostText, "it has more than {} bytes of text", kMostText);
    }
    return text;
  }

 private:
  struct Cell {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
    std::size_t begin = 0;  ///< in values_
    std::size_t end = 0;
    std::pair<std::uint32_t, std::uint32_t> place() const { return {row, column}; }
  };
  /// Cells of one column that are merged into the first one.
  struct Merged {
    std::uint32_t column = 0;
    std::uint32_t first = 0;  ///< row
    std::uint32_t last = 0;
  };

  void add_row(std::size_t i, std::size_t next, std::uint32_t least, std::uint32_t most,
               std::string& text) const {
    for (std::uint32_t column = least; column <= most; ++column) {
      if (column > least) text += ',';
      if (i == next || cells_[i].column != column) continue;
      text += std::string_view(values_).substr(cells_[i].begin, cells_[i].end - cells_[i].begin);
      ++i;
    }
  }

  void begin(std::string_view name, Attributes attributes) {
    if (name == "row") {
      const std::string_view number = attribute(attributes, "r");
      const std::uint32_t last = row_;
      row_ = number.empty() ? last + 1 : whole(number).value_or(0);
      column_ = 0;
      require<DataError>(row_ > last && row_ <= kMostRows,
                         "its row after row {} has the number '{}'", last, escaped(number));
    } else if (name == "c") {
      begin_cell(attributes);
    } else if (name == "f") {
      formula_ = true;
    } else if (name == "v" || name == "t") {
      value_ = true;
      has_value_ = true;
    } else if (name == "rPh") {
      phonetic_ = true;
    } else if (name == "mergeCell") {
      add_merged(attribute(attributes, "ref"));
    }
  }

  /// "A3:A5"; of a range of several columns the first one.
  void add_merged(std::string_view ref) {
    const std::size_t colon = ref.find(':');
    if (colon == std::string_view::npos || merged_.size() >= kMostMerged) return;
    const auto [column, first] = place_of(ref.substr(0, colon));
    const std::uint32_t last = place_of(ref.substr(colon + 1)).second;
    if (column >= 1 && column <= kMostColumns && first >= 1 && last > first) {
      merged_.push_back({column, first, last});
    }
  }

  /// The column and the row of "AB12"; 0 where it has none.
  static std::pair<std::uint32_t, std::uint32_t> place_of(std::string_view place) {
    std::uint32_t column = 0;
    while (!place.empty() && place.front() >= 'A' && place.front() <= 'Z' &&
           column <= kMostColumns) {
      column = 26 * column + static_cast<std::uint32_t>(place.front() - 'A') + 1;
      place.remove_prefix(1);
    }
    return {column, whole(place).value_or(0)};
  }

  void begin_cell(Attributes attributes) {
    const std::string_view place = attribute(attributes, "r");
    const std::uint32_t last = column_;
    column_ = last + 1;
    if (!place.empty()) column_ = place_of(place).first;
    require<DataError>(row_ > 0 && column_ > last && column_ <= kMostColumns,
                       "its cell '{}' is out of place", escaped(place));
    kind_ = attribute(attributes, "t");
    const std::size_t style = whole(attribute(attributes, "s")).value_or(0);
    shown_ = style < styles_.size() ? styles_[style] : Shown::number;
    text_.clear();
    formula_ = false;
    has_value_ = false;
  }

  void end(std::string_view name) {
    if (name == "v" || name == "t") value_ = false;
    if (name == "rPh") phonetic_ = false;
    if (name == "c") end_cell();
  }

  void end_cell() {
    if (formula_ && !has_value_) ++uncomputed_;
    if (kind_ == "e") return;
    const std::size_t begin = values_.size();
    if (kind_ == "s") {
      const std::optional<std::uint32_t> number = whole(text_);
      const auto text = number ? shared_.get(*number) : std::nullopt;
      require<DataError>(text.has_value(), "its cell in row {} has no text '{}'", row_,
                         escaped(text_));
      add_quoted(*text);
    } else if (kind_ == "str" || kind_ == "inlineStr" || kind_ == "d") {
      add_quoted(text_);
    } else if (kind_ == "b") {
      if (!text_.empty()) values_ += text_ == "0" ? "FALSE" : "TRUE";
    } else {
      add_number();
    }
    if (values_.size() == begin) return;
    require<DataError>(cells_.size() < kMostCells && values_.size() <= kMostText,
                       "it has more than {} cells or {} bytes of text", kMostCells, kMostText);
    cells_.push_back({row_, column_, begin, values_.size()});
  }

  void add_number() {
    double value = 0;
    const char* last = text_.data() + text_.size();
    const auto [end, error] = read_decimal(text_.data(), last, value);
    if (error != std::errc() || end != last) return add_quoted(text_);
    const auto date =
        shown_ == Shown::number ? std::nullopt : date_text_of(value, shown_, from_1904_);
    const bool digits = std::ranges::all_of(text_, [](char c) { return c >= '0' && c <= '9'; });
    values_ += date ? *date : digits ? text_ : fmt::format("{}", value);
  }

  void add_quoted(std::string_view text) {
    if (text.empty()) return;
    require<DataError>(values_.size() + text.size() <= kMostText,
                       "it has more than {} bytes of text", kMostText);
    values_ += '"';
    while (true) {
      const std::size_t end = std::min(text.find('"'), text.size());
      values_ += text.substr(0, end);
      if (end == text.size()) break;
      values_ += "\"\"";
      text.remove_prefix(end + 1);
    }
    values_ += '"';
  }

  const SharedTexts& shared_;
  const std::vector<Shown>& styles_;
  bool from_1904_;
  std::string values_;
  std::vector<Cell> cells_;
  std::vector<Merged> merged_;
  std::uint32_t row_ = 0;
  std::uint32_t column_ = 0;
  std::string kind_;
  Shown shown_ = Shown::number;
  std::string text_;
  bool formula_ = false;    // the cell has one
  bool has_value_ = false;  // the cell
  std::size_t uncomputed_ = 0;
  bool value_ = false;
  bool phonetic_ = false;
};

/// The place of the sheet that is read.
std::size_t find_sheet(const Workbook& workbook, const std::string& sheet) {
  std::vector<std::string> names;
  for (const Workbook::Sheet& one : workbook.sheets) names.push_back(one.name);
  require<DataError>(!names.empty(), "it has no sheets");
  if (sheet.empty()) {
    const auto shown = std::ranges::find(workbook.sheets, false, &Workbook::Sheet::hidden);
    return shown == workbook.sheets.end()
               ? 0
               : static_cast<std::size_t>(shown - workbook.sheets.begin());
  }
  const auto found = std::ranges::find(names, sheet);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::optional<std::uint32_t> number = whole(sheet);
  if (number && *number >= 1 && *number <= names.size()) return *number - 1;
  constexpr std::size_t kMostListed = 30;
  names.resize(std::min(names.size(), kMostListed));
  fail<DataError>("it has no sheet '{}'; it has {}{}", escaped(sheet), listed(names),
                  did_you_mean(sheet, names));
}

SheetText read(const std::filesystem::path& path, const std::string& sheet) {
  Package package(path);
  std::string book = target_of(relations_of(package, ""), "officeDocument");
  if (book.empty()) book = "xl/workbook.xml";
  require<DataError>(
      package.holds(book) && book.ends_with(".xml"),
      "it is an archive without a workbook of .xlsx; save the table as .xlsx or CSV");
  const Workbook workbook = read_workbook(package, book);
  const std::vector<Relation> relations = relations_of(package, book);
  std::vector<Workbook::Sheet> sheets;
  const auto relation_of = [&](const Workbook::Sheet& one) {
    return std::ranges::find(relations, one.id, &Relation::id);
  };
  Workbook tables{.from_1904 = workbook.from_1904};
  for (const Workbook::Sheet& one : workbook.sheets) {
    const auto relation = relation_of(one);
    if (relation != relations.end() && relation->type == "worksheet") tables.sheets.push_back(one);
  }
  const std::size_t place = find_sheet(tables, sheet);
  const Workbook::Sheet& taken = tables.sheets[place];
  const SharedTexts shared = read_shared(package, target_of(relations, "sharedStrings"));
  const std::vector<Shown> styles = read_styles(package, target_of(relations, "styles"));
  Cells cells(shared, styles, workbook.from_1904);
  package.read(relation_of(taken)->target, cells.handlers());
  const std::size_t filled = cells.fill_merged();
  SheetText made{.text = cells.text()};
  const std::size_t uncomputed = cells.uncomputed();
  require<DataError>(!made.text.empty() || uncomputed == 0,
                     "its sheet '{}' holds formulas without their results alone; {}",
                     escaped(taken.name), kCompute);
  require<DataError>(!made.text.empty(), "its sheet '{}' is empty", escaped(taken.name));
  if (tables.sheets.size() > 1) {
    made.note =
        fmt::format("'{}' has {} sheets; the table is '{}'{}", path.string(), tables.sheets.size(),
                    escaped(taken.name), sheet.empty() ? " (--sheet takes another)" : "");
  }
  if (filled > 0) {
    made.note += fmt::format("{}{} of '{}' below one that {} merged with {} its value",
                             made.note.empty() ? "" : "; ", counted(filled, "cell"), path.string(),
                             filled == 1 ? "it is" : "they are", filled == 1 ? "has" : "have");
  }
  if (uncomputed > 0) {
    made.note += fmt::format("{}{} of '{}' without a result {} empty; {}",
                             made.note.empty() ? "" : "; ", counted(uncomputed, "formula"),
                             path.string(), uncomputed == 1 ? "is" : "are", kCompute);
  }
  return made;
}

}  // namespace

bool is_zip(std::string_view start) { return start.starts_with("PK\x03\x04"); }

SheetText read_sheet(const std::filesystem::path& path, const std::string& sheet) {
  try {
    return in_memory("the sheet", [&] { return read(path, sheet); });
  } catch (const OutOfMemory&) {
    throw;
  } catch (const DataError& error) {
    const std::string_view what = error.what();
    if (what.starts_with("cannot read")) throw;  // the archive, which names its path
    fail_again<DataError>(error, "cannot read '{}': {}", path.string(), what);
  }
}

}  // namespace linnet

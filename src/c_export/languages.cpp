// SPDX-License-Identifier: Apache-2.0
// The four languages in which functions are written. "@name value" begins an entry, which ends
// before the next; ":num" is a type, names of functions follow those of forms.
#include <algorithm>
#include <initializer_list>

#include "c_export/language.h"

namespace linnet {
namespace {

constexpr std::string_view kUntyped = R"(
@:num
@:int
@:text
@:list
@:texts
@:row
)";

constexpr std::string_view kPython = R"(
@name Python
@comment #
@head import math


@function def {0}({1}):
@exported def {0}({1}):
@loop for {0} in range({2}):
@branch if {0}:
@otherwise else:
@declare {1} = {2}
@raise raise ValueError({0})
@choice ({1} if {0} else {2})
@numbers {0} = [
{1}]

@texts {0} = [{1}]

@tanh math.tanh({0})
@fabs abs({0})
@fmax max({0}, {1})
@div (({0}) // ({1}))
@whole int({0})
@zeros [0.0] * ({0})
@count len({0})
@size len({0})
@part {0}[{1}:{2}]
@lower {0}.lower()
@same {0} == {1}
@joined {0} + {1}
@given {0} is not None
@named dict(zip({0}, {1}))
@nested {name: dict(zip({1}, row)) for name, row in zip({0}, {2})}
@cut [{0}[k:k + {1}] for k in range(0, len({0}), {1})]
@NULL None
@|| or
@&& and
)";

constexpr std::string_view kBraces = R"(
@comment //
@branch if ({0}) {
@otherwise } else {
@end }
@stop ;
@choice ({0} ? {1} : {2})
@NULL null
@quotient {0} / {1}
)";

constexpr std::string_view kMathObject = R"(
@exp Math.exp({0})
@log Math.log({0})
@log1p Math.log1p({0})
@expm1 Math.expm1({0})
@sqrt Math.sqrt({0})
@tanh Math.tanh({0})
@sin Math.sin({0})
@cos Math.cos({0})
@fabs Math.abs({0})
@pow Math.pow({0}, {1})
@floor Math.floor({0})
@ceil Math.ceil({0})
@fmax Math.max({0}, {1})
)";

constexpr std::string_view kScript = R"(
@name JavaScript
@head "use strict";


@loop for (let {0} = {1}; {0} < {2}; ++{0}) {
@declare let {1} = {2};
@raise throw new Error({0});
@function function {0}({1}) {
@exported function {0}({1}) {
@numbers const {0} = [
{1}];

@texts const {0} = [{1}];

@div Math.floor(({0}) / ({1}))
@whole Math.trunc({0})
@zeros new Array({0}).fill(0)
@count {0}.length
@size {0}.length
@part {0}.substring({1}, {2})
@lower {0}.toLowerCase()
@same {0} === {1}
@joined {0} + {1}
@given {0} !== null
@named Object.fromEntries({0}.map((name, i) => [name, {1}[i]]))
@nested Object.fromEntries({0}.map((name, i) => [name, Object.fromEntries({1}.map((column, k) => [column, {2}[i][k]]))]))
@cut Array.from({length: {0}.length / {1}}, (_, k) => {0}.slice(k * {1}, (k + 1) * {1}))
)";

constexpr std::string_view kJava = R"(
@name Java
@head import java.util.*;

public final class {0} {
    private {0}() {}


@tail }

@function private static {2}{0}({1}) {
@exported public static {2}{0}({1}) {
@loop for (int {0} = {1}; {0} < {2}; ++{0}) {
@declare {0}{1} = {2};
@raise throw new IllegalArgumentException({0});
@numbers     private static final double[] {0} = table(
{1});

@texts     private static final String[] {0} = {{1}};

@reserved abstract assert boolean break byte case catch char class const continue default do double else enum
extends false final finally float for goto if implements import instanceof int interface long native
new null package permits private protected public record return sealed short static strictfp super
switch synchronized this throw throws transient true try var void volatile while yield _
Arrays CharSequence Double Float IllegalArgumentException LinkedHashMap Locale Long Map Math Number
NumberFormatException Object String System
@:num double
@:int int
@:text String
@:list double[]
@:out double[]
@:texts String[]
@:none void
@:row Map<String, ?>
@:named Map<String, Double>
@:nested Map<String, Map<String, Double>>
@:lists double[][]
@div (({0}) / ({1}))
@whole (int) ({0})
@zeros new double[{0}]
@count {0}.length
@size {0}.length()
@part {0}.substring({1}, {2})
@lower {0}.toLowerCase(Locale.ROOT)
@same {0}.equals({1})
@joined {0} + {1}
@given {0} != null
)";

constexpr std::string_view kPhp = R"(
@name PHP
@head final class {0} {

@tail }

@function private static function {0}({1}) {
@exported public static function {0}({1}) {
@loop for ({0} = {1}; {0} < {2}; ++{0}) {
@declare {1} = {2};
@raise throw new \InvalidArgumentException({0});
@reserved abstract and array as bool break callable case catch class clone const continue declare default die
do echo else elseif empty enddeclare endfor endforeach endif endswitch endwhile enum eval exit
extends false final finally float fn for foreach function global goto if implements include
include_once instanceof insteadof int interface isset iterable list match mixed namespace never new
null numeric object or parent print private protected public readonly require require_once resource
return self static string switch throw trait true try unset use var void while xor yield
arrayaccess arrayiterator arrayobject closure countable datetime error exception generator
invalidargumentexception iterator stdclass stringable throwable traversable
@variable $
@own self::
@numbers     const {0} = [
{1}];

@texts     const {0} = [{1}];

@:out &
@exp exp({0})
@log log({0})
@log1p log1p({0})
@expm1 expm1({0})
@sqrt sqrt({0})
@tanh tanh({0})
@sin sin({0})
@cos cos({0})
@fabs abs({0})
@pow pow({0}, {1})
@floor floor({0})
@ceil ceil({0})
@fmax max({0}, {1})
@div intdiv({0}, {1})
@quotient fdiv({0}, {1})
@whole (int)({0})
@zeros array_fill(0, {0}, 0.0)
@count count({0})
@size strlen({0})
@part substr({0}, {1}, {2} - ({1}))
@lower strtolower({0})
@same {0} === {1}
@joined {0} . {1}
@given {0} !== null
@named array_combine({0}, {1})
@nested array_combine({0}, array_map(fn($row) => array_combine({1}, $row), {2}))
@cut array_chunk({0}, {1})
)";

constexpr std::string_view kPythonPrelude = R"(
# What math and / refuse is infinite, or no number.
def quotient(a, b):
    return a / b if b != 0.0 else a * math.copysign(math.inf, b)


def exp(x):
    return math.exp(x) if x < 709.0 else x * math.inf


def expm1(x):
    return math.expm1(x) if x < 709.0 else x * math.inf


def log(x):
    return math.log(x) if x > 0.0 else -math.inf if x == 0.0 else math.nan


def log1p(x):
    return math.log1p(x) if x > -1.0 else -math.inf if x == -1.0 else math.nan


def sqrt(x):
    return math.sqrt(x) if x >= 0.0 else math.nan


def sin(x):
    return math.sin(x) if math.isfinite(x) else math.nan


def cos(x):
    return math.cos(x) if math.isfinite(x) else math.nan


def floor(x):
    return float(math.floor(x)) if math.isfinite(x) else x


def ceil(x):
    return float(math.ceil(x)) if math.isfinite(x) else x


def pow(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        pass
    except ValueError:
        if x != 0.0:
            return math.nan
    return -math.inf if math.copysign(1.0, x) < 0.0 and y % 2.0 == 1.0 else math.inf


def field(row, column):
    if column not in row:
        raise ValueError("the row has no column " + repr(column))
    value = row[column]
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and abs(value) < 1e15 and value == math.floor(value):
        value = int(value)
    return str(value).strip()


def is_text(row, column):
    return isinstance(row[column], str)


def parsed(text, column):
    try:
        number = float(text) if set(text) <= set("-+.0123456789eE") else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("column " + repr(column) + ": expected a finite number; got " + repr(text))
    return number

)";

constexpr std::string_view kScriptPrelude = R"(
function field(row, column) {
    const value = row[column];
    if (value === undefined) throw new Error("the row has no column '" + column + "'");
    return value === null || value !== value ? "" : String(value).trim();
}

function is_text(row, column) {
    return typeof row[column] === "string";
}

function parsed(text, column) {
    const number = Number(text);
    if (!/^[-+.0-9eE]+$/.test(text) || !Number.isFinite(number)) {
        throw new Error("column '" + column + "': expected a finite number; got '" + text + "'");
    }
    return number;
}

)";

constexpr std::string_view kJavaPrelude = R"(
    private static String field(Map<String, ?> row, String column) {
        if (!row.containsKey(column)) {
            throw new IllegalArgumentException("the row has no column '" + column + "'");
        }
        Object value = row.get(column);
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            if (number != number) return "";
            if (number == Math.rint(number) && Math.abs(number) < 1e15) return Long.toString((long) number);
        }
        return value == null ? "" : value.toString().trim();
    }

    private static boolean is_text(Map<String, ?> row, String column) {
        return row.get(column) instanceof CharSequence;
    }

    private static double parsed(String text, String column) {
        double number = Double.NaN;
        try {
            if (text.matches("[-+.0-9eE]+")) number = Double.parseDouble(text);
        } catch (NumberFormatException error) {
            // Said below.
        }
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            throw new IllegalArgumentException("column '" + column + "': expected a finite number; got '" + text + "'");
        }
        return number;
    }

    private static Map<String, Double> named(String[] names, double[] values) {
        Map<String, Double> map = new LinkedHashMap<>();
        for (int i = 0; i < names.length; ++i) map.put(names[i], values[i]);
        return map;
    }

    private static Map<String, Map<String, Double>> nested(String[] names, String[] columns, double[][] rows) {
        Map<String, Map<String, Double>> map = new LinkedHashMap<>();
        for (int i = 0; i < names.length; ++i) map.put(names[i], named(columns, rows[i]));
        return map;
    }

    private static double[][] cut(double[] all, int width) {
        double[][] rows = new double[all.length / width][];
        for (int i = 0; i < rows.length; ++i) rows[i] = Arrays.copyOfRange(all, i * width, (i + 1) * width);
        return rows;
    }

    private static double[] table(String... lines) {
        return Arrays.stream(lines).flatMap(line -> Arrays.stream(line.split(","))).mapToDouble(Double::parseDouble)
            .toArray();
    }

)";

constexpr std::string_view kPhpPrelude = R"(
    private static function field(array $row, string $column): string {
        if (!array_key_exists($column, $row)) {
            throw new \InvalidArgumentException("the row has no column '" . $column . "'");
        }
        $value = $row[$column];
        if ($value === null || (is_float($value) && is_nan($value))) return "";
        if (is_bool($value)) return $value ? "true" : "false";
        return trim((string)$value);
    }

    private static function is_text(array $row, string $column): bool {
        return is_string($row[$column]);
    }

    private static function parsed(string $text, string $column): float {
        if (!preg_match("/^[-+.0-9eE]+\\z/", $text) || !is_numeric($text) || !is_finite((float)$text)) {
            throw new \InvalidArgumentException("column '" . $column . "': expected a finite number; got '" . $text . "'");
        }
        return (float)$text;
    }

)";

/// Returns the language whose entries stand in `texts`; later ones win.
Language language_from(std::initializer_list<std::string_view> texts, std::string_view prelude) {
  Language language;
  for (const std::string_view text : texts) {
    for (std::size_t from = 2; from < text.size();) {
      const std::size_t end = std::min(text.find("\n@", from), text.size() - 1);
      const std::string_view one = text.substr(from, end - from);
      const std::size_t blank = std::min(one.find(' '), one.size());
      const std::size_t value = std::min(blank + 1, one.size());
      language.entries.insert_or_assign(one.substr(0, blank), one.substr(value));
      from = end + 2;
    }
  }
  language.prelude = prelude;
  return language;
}

Language script_from(std::string_view more) {
  return language_from({kUntyped, kBraces, kMathObject, kScript, more}, kScriptPrelude);
}

}  // namespace

const Language* language_of(std::string_view extension) {
  // A .js is one that a page loads as a plain script, too.
  static const std::map<std::string_view, Language> kLanguages{
      {"py", language_from({kUntyped, kPython}, kPythonPrelude)},
      {"mjs", script_from("\n@exported export function {0}({1}) {\n")},
      {"cjs", script_from("\n@tail module.exports = { {0} };\n\n")},
      {"js",
       script_from("\n@tail if (typeof module !== \"undefined\") module.exports = { {0} };\n\n")},
      {"java", language_from({kBraces, kMathObject, kJava}, kJavaPrelude)},
      {"php", language_from({kUntyped, kBraces, kPhp}, kPhpPrelude)}};
  const auto found = kLanguages.find(extension);
  return found == kLanguages.end() ? nullptr : &found->second;
}

}  // namespace linnet

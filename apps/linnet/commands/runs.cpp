// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "commands/commands.h"
#include "config/given.h"
#include "html/html_plot.h"
#include "report/html_report.h"
#include "report/json.h"
#include "report/runs.h"
#include "serve/http_server.h"
#include "serve/pages.h"

namespace linnet::command {
namespace {

struct RunsOptions {
  GivenOptions given;
  std::vector<std::string> folders;
  std::string page;
  bool json = false;
  bool serve = false;
  HttpOptions http;
};

struct Runs {
  std::vector<Json> runs;
  std::vector<std::string> problems;  ///< sentences on what cannot be read
};

Runs read_runs(const RunsOptions& options) {
  const std::vector<std::filesystem::path> paths(options.folders.begin(), options.folders.end());
  Runs found;
  for (const auto& folder : find_runs(paths, found.problems)) {
    found.runs.push_back(run_json(folder));
    for (const Json& problem : found.runs.back()["problems"]) {
      found.problems.push_back(problem.get<std::string>());
    }
  }
  return found;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void replace(std::string& page, std::string_view mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  LINNET_ASSERT(at != std::string::npos);
  page.replace(at, mark.size(), text);
}

/// Returns the page in the style of a report, without runs.
std::string empty_page() {
  std::string page(kRunsPage);
  replace(page, "/*STYLE*/", page_style());
  replace(page, "const COLOURS = [];", "const COLOURS = " + Json(plot_colours()).dump() + ";");
  return page;
}

/// Returns the page with the runs in it, for a file. In a script's text no "</script>" may stand.
std::string page_of(const std::vector<Json>& runs) {
  std::string data = text_of(runs);
  for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3) {
    data.replace(at, 2, "<\\/");
  }
  std::string page = empty_page();
  replace(page, "const DATA = null;", "const DATA = " + data + ";");
  return page;
}

int show(const RunsOptions& options) {
  if (options.serve) {
    options.given.refuse({"--html", "--json"}, "one answer", "--serve follows the runs");
  } else {
    options.given.refuse({"--host", "--port"}, "--serve", "it is not given");
  }
  const auto [runs, problems] = read_runs(options);  // also before it serves: slips are said
  for (const std::string& problem : problems) print_note("{}", problem);
  if (options.serve) {
    HttpServer server(options.http);
    server.get("/",
               [] { return HttpAnswer{.body = empty_page(), .type = "text/html; charset=utf-8"}; });
    server.get("/runs.json", [&options]() -> HttpAnswer {
      try {
        return {.body = text_of(read_runs(options).runs) + "\n"};
      } catch (const Error& error) {
        return http_error(404, error.what());
      }
    });
    server.run_until_signal();
    return kSuccess;
  }
  if (!options.page.empty()) write_file_atomically(options.page, page_of(runs));
  if (options.json) {
    print_json(runs);
  } else {
    print_out(runs_table(runs));
  }
  return kSuccess;
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  auto o = std::make_shared<RunsOptions>();
  CLI::App* command =
      app.add_subcommand("runs", "Compares trainings in a table, a page or a live page");
  command->add_option("DIR", o->folders, "Run folders, or folders of run folders; default: runs");
  command->add_option("--html", o->page, "Write a page with all curves to this file");
  command->add_flag("--json", o->json, "Print one JSON array");
  command->add_flag("--serve", o->serve, "Serve a page that follows running trainings");
  command->add_option("--host", o->http.host, "Address to listen on")->capture_default_str();
  command->add_option("--port", o->http.port, "Port to listen on; 0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->footer("Example: linnet runs runs --serve");
  command->callback([&action, o, command] {
    o->given = GivenOptions(*command);
    if (o->folders.empty()) o->folders = {"runs"};
    action = [o] { return show(*o); };
  });
}

}  // namespace linnet::command

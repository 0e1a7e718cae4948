// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "serve/access_log.h"
#include "serve/model_server.h"

namespace linnet::command {
namespace {

struct ServeOptions {
  GivenOptions given;
  std::vector<std::string> models;
  std::string access_log = "off";
  DeviceOptions on;
  int threads = 0;
  std::int64_t most_megabytes = 8;
  std::int64_t memory_megabytes = 0;
  std::int64_t samples = 1024;
  std::int64_t queue = 8192;
  std::int64_t timeout = 10'000;
  std::int64_t request_seconds = 30;
  std::int64_t drain_seconds = 10;
  HttpOptions http;
  BatcherOptions batches;
};

int serve(ServeOptions options) {
  // What a large request needed goes back to the system, instead of staying with one of the
  // threads.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  options.http.limits.most_bytes = static_cast<std::size_t>(options.most_megabytes) << 20;
  options.http.limits.request = std::chrono::seconds(options.request_seconds);
  options.http.limits.drain = std::chrono::seconds(options.drain_seconds);
  options.batches.queue = static_cast<std::size_t>(options.queue);
  options.batches.limit = std::chrono::milliseconds(options.timeout);
  ModelOptions on{.threads = options.threads};
  apply(options.on, on);
  check_used(options.given, on);
  options.http.log = access_log(options.access_log);
  std::vector<ServedPath> models;
  for (const std::string& text : options.models) models.push_back(served_path_of(text));
  const std::int64_t megabytes =
      options.memory_megabytes == 0 ? 16 * options.most_megabytes : options.memory_megabytes;
  require(megabytes >= 16 * options.most_megabytes,
          "--max-memory {} is less than 16 times --max-body {}, which a request may need",
          megabytes, options.most_megabytes);
  const RequestLimits limits{.samples =
                                 static_cast<std::size_t>(std::min(options.samples, options.queue)),
                             .body = options.http.limits.most_bytes,
                             .bytes = static_cast<std::size_t>(megabytes) << 20};
  ModelServer server(models, on, options.http, options.batches, limits);
  server.run_until_signal();
  return kSuccess;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto o = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Answers predictions over HTTP, with a page to try the model");
  command
      ->add_option("MODEL", o->models,
                   "Run folders, or trained models (.safetensors), each perhaps as NAME=MODEL; one "
                   "that is replaced is loaded again")
      ->required();
  command->add_option("--host", o->http.host, "Address to listen on")->capture_default_str();
  command->add_option("--port", o->http.port, "Port to listen on; 0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_option("--batch", o->batches.most, "Maximum number of samples in a batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->option_defaults()->group("Limits");
  command->add_option("--max-body", o->most_megabytes, "Maximum size of a request in megabytes")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option(
          "--max-memory", o->memory_megabytes,
          "Megabytes that all requests together may need to be read and answered, at least "
          "16 times --max-body; 0: 16 times --max-body")
      ->check(CLI::Range(0, 1 << 20));
  command
      ->add_option("--max-samples", o->samples,
                   "Maximum number of samples in a request; one with more gets status 413")
      ->capture_default_str()
      ->check(at_least(1));
  command
      ->add_option("--max-queue", o->queue,
                   "Maximum number of waiting samples; further requests get status 503")
      ->capture_default_str()
      ->check(at_least(1));
  command
      ->add_option("--timeout", o->timeout,
                   "Milliseconds after which a waiting request gets status 503")
      ->capture_default_str()
      ->check(at_least(1));
  command
      ->add_option("--connections", o->http.limits.connections,
                   "Maximum number of open connections; idle and slow ones make room for new ones")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--peer-connections", o->http.limits.peer_connections,
                   "Maximum number of open connections of one address")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--request-time", o->request_seconds,
                   "Seconds within which a whole request must arrive, and its answer be fetched")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  command
      ->add_option("--drain", o->drain_seconds,
                   "Seconds for requests under way when the server is told to end (SIGTERM)")
      ->capture_default_str()
      ->check(CLI::Range(0, 3600));
  command->option_defaults()->group("Options");
  command->add_option("--allow-host", o->http.hosts,
                      "Name under which clients may ask, beside localhost, --host and addresses; "
                      "may be repeated");
  command
      ->add_option("--access-log", o->access_log,
                   "Lines on standard error, one for each answer: off, text or json")
      ->capture_default_str()
      ->check(CLI::IsMember(access_log_names()));
  add_device_options(*command, o->on);
  add_threads_option(*command, o->threads);
  set_most_used(*command, {"--port", "--host", "--batch", "--threads", "--device"});
  command->footer(
      "POST /predict takes an image, a text, rows of a table (CSV) or JSON, of a model of series "
      "the last\n"
      "rows, which the forecast follows; GET /model, /healthz and /metrics describe model and "
      "server.\n"
      "Example: linnet serve runs/demo, then\n"
      "         curl --data-binary @photo.png -H 'Content-Type: image/png' localhost:8080/predict");
  act(*command, o, action, serve);
}

}  // namespace linnet::command

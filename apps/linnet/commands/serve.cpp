// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "base/check.h"
#include "commands/commands.h"
#include "config/device.h"
#include "config/options.h"
#include "nn/definition.h"
#include "report/saved_run.h"
#include "serve/server.h"

namespace linnet::command {
namespace {

struct ServeOptions {
  std::string model;
  DeviceOptions on;
  int threads = 0;
  std::int64_t most_megabytes = 8;
  std::int64_t queue = 1024;
  std::int64_t timeout = 10'000;
  ServerOptions server;
};

/// While it lives, the polite signals to end wait for wait(); threads that are made meanwhile hold
/// them too.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

int serve(ServeOptions options) {
  options.server.most_bytes = static_cast<std::size_t>(options.most_megabytes) << 20;
  options.server.batches.queue = static_cast<std::size_t>(options.queue);
  options.server.batches.limit = std::chrono::milliseconds(options.timeout);
  ModelOptions on{.threads = options.threads};
  apply(options.on, on);
  const SavedRun run = find_run(options.model);
  Model model = load_model(run, on);
  std::error_code error;
  const bool texts = model.network().definition().inputs[0].dtype == DType::i32 &&
                     std::filesystem::exists(run.vocabulary, error);
  const HeldSignals signals;
  Server server(std::move(model), texts ? run.words() : std::vector<std::string>{}, options.server);
  std::thread answering([&] { server.run(); });
  fmt::print("http://{}:{}/\n", options.server.host, server.port());
  std::fflush(stdout);
  signals.wait();
  server.stop();
  answering.join();
  return kSuccess;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto o = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Answer predictions over HTTP, with a page to try");
  command->add_option("MODEL", o->model, "A run folder, or a trained model (.safetensors)")
      ->required();
  command->add_option("--host", o->server.host, "Address to listen on")->capture_default_str();
  command->add_option("--port", o->server.port, "Port to listen on; 0: any that is free")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_option("--batch", o->server.batches.most, "Samples that are predicted at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->add_option("--max-body", o->most_megabytes, "Megabytes of a request, at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--max-queue", o->queue, "Samples that may wait; more get status 503")
      ->capture_default_str()
      ->check(at_least(1));
  command->add_option("--timeout", o->timeout, "Milliseconds until a request gets status 503")
      ->capture_default_str()
      ->check(at_least(1));
  command
      ->add_option("--connections", o->server.connections,
                   "Connections that are answered at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  add_device_options(*command, o->on);
  command->add_option("--threads", o->threads, "Processors to use; 0: all")->check(at_least(0));
  command->footer(
      "POST /predict takes an image, a text or JSON; GET /model, /healthz and /metrics tell about "
      "it.\n"
      "Example: linnet serve runs/demo, then\n"
      "         curl --data-binary @photo.png -H 'Content-Type: image/png' localhost:8080/predict");
  command->callback([&action, o] { action = [o] { return serve(*o); }; });
}

}  // namespace linnet::command

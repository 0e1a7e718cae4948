// SPDX-License-Identifier: Apache-2.0
// A fit that was stopped after any step, and continued, is one that never stopped.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

namespace fs = std::filesystem;

Network forgetful() {
  return Network({2},
                 {Dense{.units = 8}, BatchNorm{}, ReLU{}, Dropout{.rate = 0.3}, Dense{.units = 2}});
}

/// One kind of training.
struct Case {
  Network network = forgetful();
  Objective objective = {};
  FitOptions options = {};
  Dataset data = circle_data(70);

  Trainer trainer(int threads) const {
    TrainerOptions how{.seed = 8};
    how.metrics = {{.name = "brier", .values = [](const Expression& y, const Expression& t) {
                      return square(softmax(y) - t);
                    }}};
    return Trainer(Model(network, {.device = "cpu", .threads = threads, .seed = 3}), objective,
                   how);
  }
};

/// All numbers of a fit that do not depend on the time.
std::vector<double> numbers_of(const History& history) {
  std::vector<double> numbers{history.stopped_early ? 1.0 : 0.0};
  for (const EpochReport& epoch : history.epochs) {
    numbers.insert(numbers.end(), epoch.step_losses.begin(), epoch.step_losses.end());
    numbers.push_back(epoch.learning_rate);
    for (const Evaluation* part : {&epoch.train, &epoch.validation, &epoch.test}) {
      numbers.insert(numbers.end(),
                     {part->loss, part->accuracy, static_cast<double>(part->samples)});
      for (const auto& [name, value] : part->metrics) numbers.push_back(value);
    }
  }
  return numbers;
}

struct Fitted {
  std::vector<double> numbers;
  State state;
  State best;
};

Fitted fitted(const Case& how, Trainer trainer, const Checkpoints& checkpoints,
              Callback* callback = nullptr) {
  FitOptions options = how.options;
  options.checkpoints = checkpoints;
  options.callback = callback;
  Fitted result;
  result.numbers = numbers_of(trainer.fit(how.data, options));
  result.state = trainer.state();
  if (options.keep_best) result.best = trainer.best().weights();
  return result;
}

void expect_same(const Fitted& a, const Fitted& b, const std::string& where) {
  EXPECT_EQ(a.numbers, b.numbers) << where;
  EXPECT_TRUE(same_bits(a.state, b.state)) << where;
  EXPECT_TRUE(same_bits(a.best, b.best)) << where;
}

Checkpoints every_step(const fs::path& folder) {
  Checkpoints checkpoints;
  checkpoints.folder = folder;
  checkpoints.every_steps = 1;
  checkpoints.keep = 1000;
  return checkpoints;
}

Checkpoints resumed(const fs::path& folder) {
  Checkpoints checkpoints;
  checkpoints.folder = folder;
  checkpoints.resume = true;
  return checkpoints;
}

/// Continues from each checkpoint of a whole fit; returns how many there were.
std::size_t continue_everywhere(const Case& how, const std::string& where) {
  const TemporaryFolder folder;
  const Fitted plain = fitted(how, how.trainer(2), {});
  expect_same(fitted(how, how.trainer(2), every_step(folder / "all")), plain, where + " written");
  const std::vector<fs::path> files = checkpoint_files(folder / "all");
  int threads = 0;
  for (const fs::path& file : files) {
    const fs::path one = folder / ("one-" + file.filename().string());
    fs::create_directory(one);
    fs::copy(file, one / file.filename());
    const std::string name = where + ' ' + file.filename().string();
    expect_same(fitted(how, how.trainer(1 + threads++ % 3), resumed(one)), plain, name);
    Trainer loaded = how.trainer(2);
    loaded.load_state(read_state(file));
    expect_same(fitted(how, loaded, {}), plain, name + " loaded");
  }
  return files.size();
}

Case small_case() {
  Case how;
  how.objective.optimizer = Adam{.learning_rate = 0.01};
  how.options = {.epochs = 2, .batch = 16};
  return how;
}

TEST(Resume, FromEveryStepOfEveryOptimizer) {
  for (const Optimizer& optimizer :
       std::vector<Optimizer>{SGD{.learning_rate = 0.1}, SGD{.learning_rate = 0.1, .momentum = 0.9},
                              Adam{.learning_rate = 0.01}, AdamW{.learning_rate = 0.01},
                              RMSprop{.learning_rate = 0.01, .momentum = 0.9},
                              Adagrad{.learning_rate = 0.05}, Lion{.learning_rate = 0.001},
                              Muon{.learning_rate = 0.01}}) {
    Case how = small_case();
    how.objective.optimizer = optimizer;
    EXPECT_EQ(continue_everywhere(how, std::to_string(optimizer.index())), 10U);
  }
}

TEST(Resume, FromEveryStepOfEverySchedule) {
  for (const Schedule& schedule :
       std::vector<Schedule>{StepDecay{.every_epochs = 0.5, .gamma = 0.3},
                             CosineDecay{.floor = 0.1}, OneCycle{}, Piecewise{},
                             Plateau{.factor = 0.5, .patience = 0, .threshold = 0.5},
                             ScheduleFunction([](double epoch, std::uint64_t step) {
                               return 1 / (1 + epoch + 0.01 * static_cast<double>(step));
                             })}) {
    Case how = small_case();
    how.options.epochs = 3;
    how.options.drop_last = true;
    how.objective.schedule = schedule;
    how.objective.warmup = {.epochs = 0.6};
    EXPECT_EQ(continue_everywhere(how, std::to_string(schedule.index())), 12U);
  }
}

TEST(Resume, WithAllElseThatAFitKeeps) {
  const auto [data, held_out] = datasets::digits(90, 0, 4).train.split(0.2, {.seed = 2});
  Case how;
  how.network = Network({28, 28, 1},
                        {Rescale{}, Conv2d{.filters = 2}, MaxPool2d{.size = 4}, ReLU{}, BatchNorm{},
                         Dropout{.rate = 0.2}, Flatten{}, Dense{.units = 10, .name = "fc"}});
  how.data = data;
  how.objective.optimizer = Adam{.learning_rate = 0.02};
  how.objective.schedule = Plateau{.factor = 0.5, .patience = 0, .threshold = 0.2};
  how.objective.clip = {.norm = 0.7, .value = 0.1};
  how.objective.average = {.decay = 0.9, .warmup = true};
  how.objective.trains = {{.name = "fc.*", .learning_rate_factor = 0.5, .weight_decay = 0.01},
                          {.name = "conv2d_1.*"}};
  for (const std::int64_t shards : {1, 2}) {
    how.options = {.epochs = 3, .batch = 16, .shards = shards};
    how.options.validation = held_out;
    how.options.test = datasets::digits(0, 40, 9).test;
    how.options.keep_best = true;
    how.options.augment.flip = 0.5;
    how.options.augment.mixup = 0.2;
    continue_everywhere(how, "shards " + std::to_string(shards));
  }
}

TEST(Resume, EarlyStoppingWaitsAsBefore) {
  Case how = small_case();
  how.objective.optimizer = SGD{.learning_rate = 5};  // so that the loss soon rises
  how.options.epochs = 30;
  how.options.patience = 2;
  how.options.keep_best = true;
  how.options.watch = {"brier", Better::smaller};
  how.options.validation = circle_data(40, 5);
  const Fitted whole = fitted(how, how.trainer(2), {});
  EXPECT_EQ(whole.numbers.front(), 1) << "it stops early";
  continue_everywhere(how, "early");
}

TEST(Resume, DataThatAreMadeWhenTheyAreNeeded) {
  Case how = small_case();
  how.data = how.data.map("x", {.record = Shape{2}, .dtype = DType::f32, .seed = 4},
                          [](const Tensor& from, Tensor& to, const RecordPlace& place) {
                            const auto in = from.as<std::uint8_t>();
                            const auto out = to.as_writable<float>();
                            for (std::size_t i = 0; i < out.size(); ++i) {
                              out[i] = static_cast<float>(in[i]) / 255 +
                                       static_cast<float>(place.key % 7) / 70;
                            }
                          });
  for (const std::int64_t shards : {1, 2}) {
    how.options.shards = shards;
    how.options.prefetch = 2;
    continue_everywhere(how, "made " + std::to_string(shards));
  }
}

/// Asks for a stop after so many looks.
struct Stopper : Callback {
  explicit Stopper(int looks) : left(looks) {}
  bool stop_requested() override { return --left < 0; }
  void on_stop() override { ++stops; }
  void on_checkpoint(const CheckpointReport& report) override { reports.push_back(report); }
  int left;
  int stops = 0;
  std::vector<CheckpointReport> reports;
};

TEST(Resume, AStopSavesFirst) {
  Case how = small_case();
  how.objective.average = {.decay = 0.9};  // a stop within an evaluation finds it in use
  how.options.epochs = 3;
  how.options.keep_best = true;
  how.options.validation = circle_data(300, 5);
  const Fitted whole = fitted(how, how.trainer(2), {});
  int looks = 0;
  for (bool stopped = true; stopped; ++looks) {
    const TemporaryFolder folder;
    Checkpoints checkpoints = resumed(folder / "c");
    checkpoints.every_epoch = false;
    checkpoints.every_seconds = 0;
    Stopper stopper(looks);
    FitOptions options = how.options;
    options.checkpoints = checkpoints;
    options.callback = &stopper;
    stopped = how.trainer(2).fit(how.data, options).interrupted;
    EXPECT_EQ(stopper.stops, stopped ? 1 : 0);
    ASSERT_FALSE(stopper.reports.empty());
    expect_same(fitted(how, how.trainer(1), checkpoints), whole, std::to_string(looks));
  }
  EXPECT_GT(looks, 6);
}

TEST(Resume, OneThatIsDueAtTheEndOfAnEpochIsWritten) {
  const TemporaryFolder folder;
  Case how = small_case();  // 5 steps an epoch
  how.options.epochs = 4;
  Checkpoints checkpoints = every_step(folder / "steps");
  checkpoints.every_epoch = false;
  checkpoints.every_seconds = 0;
  checkpoints.every_steps = 5;
  fitted(how, how.trainer(1), checkpoints);
  EXPECT_EQ(checkpoint_files(checkpoints.folder).size(), 4U);
  checkpoints.folder = folder / "time";
  checkpoints.every_steps = 0;
  checkpoints.every_seconds = 1e-9;
  fitted(how, how.trainer(1), checkpoints);
  EXPECT_GE(checkpoint_files(checkpoints.folder).size(), 4U);
}

TEST(Resume, TheAverageThatTrainLeaves) {
  const Splits data{.train = circle_data(70), .validation = circle_data(100, 5)};
  for (const bool keep_best : {false, true}) {
    TrainingOptions how{.epochs = 3,
                        .batch = 16,
                        .optimizer = Adam{.learning_rate = 0.05},
                        .average = {.decay = 0.9, .warmup = true},
                        .keep_best = keep_best};
    Model whole(forgetful(), {.device = "cpu", .threads = 2, .seed = 3});
    train(whole, data, how);
    int looks = 0;
    for (bool stopped = true; stopped; ++looks) {
      const TemporaryFolder folder;
      how.checkpoints = resumed(folder / "c");
      how.checkpoints.every_seconds = 0;
      Stopper stopper(looks);
      Model first(forgetful(), {.device = "cpu", .threads = 2, .seed = 3});
      stopped = train(first, data, how, &stopper).interrupted;
      Model second(forgetful(), {.device = "cpu", .threads = 1, .seed = 4});
      train(second, data, how);
      EXPECT_TRUE(same_bits(second.weights(), whole.weights())) << keep_best << ' ' << looks;
    }
    EXPECT_GT(looks, 3);
  }
}

TEST(Resume, AStopAfterThePatienceEnd) {
  Case how = small_case();
  how.objective.optimizer = Adam{.learning_rate = 0.5};  // soon no better
  how.options.epochs = 30;
  how.options.patience = 1;
  how.options.keep_best = true;
  how.options.validation = circle_data(100, 5);
  how.options.test = circle_data(300, 6);
  const Fitted whole = fitted(how, how.trainer(2), {});
  int within = 0;  // stops in the evaluation of the test set, when the patience had ended
  int looks = 0;
  for (bool stopped = true; stopped; ++looks) {
    const TemporaryFolder folder;
    Stopper stopper(looks);
    FitOptions options = how.options;
    options.checkpoints = resumed(folder / "c");
    options.checkpoints.every_epoch = false;
    options.checkpoints.every_seconds = 0;
    options.callback = &stopper;
    const History history = how.trainer(2).fit(how.data, options);
    stopped = history.interrupted;
    within += stopped && history.stopped_early ? 1 : 0;
    expect_same(fitted(how, how.trainer(1), resumed(folder / "c")), whole, std::to_string(looks));
  }
  EXPECT_GT(within, 0);
}

TEST(Resume, AgainAndAgain) {
  Case how = small_case();
  how.options.epochs = 4;
  const Fitted whole = fitted(how, how.trainer(2), {});
  const TemporaryFolder folder;
  int fits = 0;
  for (bool stopped = true; stopped; ++fits) {
    Stopper stopper(1);
    FitOptions options = how.options;
    options.checkpoints = resumed(folder / "c");
    options.callback = &stopper;
    stopped = how.trainer(2).fit(how.data, options).interrupted;
  }
  EXPECT_GT(fits, 3);
  expect_same(fitted(how, how.trainer(2), resumed(folder / "c")), whole, "all");
}

TEST(Resume, OtherOptionsAndDataAreNamed) {
  const Case how = small_case();
  const TemporaryFolder folder;
  const fs::path at = folder / "c";
  fitted(how, how.trainer(2), resumed(at));
  const std::string file = checkpoint_files(at).front().string();
  const auto refusal = [&](const std::function<void(Case&)>& change) {
    Case other = how;
    change(other);
    Trainer trainer = other.trainer(2);
    const State before = trainer.state();
    const std::string message = message_of([&] { fitted(other, trainer, resumed(at)); });
    EXPECT_TRUE(same_bits(trainer.state(), before)) << message;
    const std::string begin = "the checkpoint '" + file + "' was written by a fit with ";
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
  };
  EXPECT_EQ(refusal([](Case& c) { c.options.batch = 8; }), "batch 16; this one has 8");
  EXPECT_EQ(refusal([](Case& c) { c.options.epochs = 3; }), "epochs 2; this one has 3");
  EXPECT_EQ(refusal([](Case& c) { c.options.shuffle = false; }),
            "shuffle true; this one has false");
  EXPECT_EQ(refusal([](Case& c) { c.objective.optimizer = Adam{.learning_rate = 0.02}; }),
            "optimizer learning_rate 0.01; this one has 0.02");
  EXPECT_EQ(refusal([](Case& c) { c.objective.schedule = CosineDecay{}; }),
            "optimizer decay constant; this one has cosine");
  EXPECT_EQ(refusal([](Case& c) { c.objective.schedule = Plateau{}; }),
            "schedule constant; this one has plateau factor=0.1 patience=10 threshold=0.0001 "
            "floor=0");
  EXPECT_EQ(refusal([](Case& c) { c.objective.average.decay = 0.5; }),
            "average decay=0 warmup=false; this one has decay=0.5 warmup=false");
  EXPECT_TRUE(refusal([](Case& c) {
                c.objective.loss_options.label_smoothing = 0.1;
              }).starts_with("samples and losses "));
  EXPECT_TRUE(refusal([](Case& c) {
                c.objective.custom_loss = [](const Expression& y, const Expression& target) {
                  return square(y - target);
                };
              }).starts_with("samples and losses "));
  EXPECT_TRUE(refusal([](Case& c) {
                c.data = circle_data(70, 2);
              }).starts_with("training set 70 samples, checksum "));
  EXPECT_TRUE(refusal([](Case& c) {
                c.options.validation = circle_data(20, 2);
              }).starts_with("validation set none; this one has 20 samples, checksum "));
  EXPECT_TRUE(refusal([](Case& c) {
                c.network = Network({2}, {Dense{.units = 8}, ReLU{}, Dense{.units = 2}});
              }).starts_with("network of 58 parameters, checksum "));
  EXPECT_EQ(message_of([&] { fitted(how, how.trainer(2), every_step(at)); }),
            "the folder '" + at.string() +
                "' has checkpoints of another fit; continue that fit (Checkpoints::resume) or name "
                "another folder");
}

/// Notes what it is told of the checkpoint that a fit continues.
struct Notes : Callback {
  void on_resume(const ResumeReport& report) override { resumed = report; }
  ResumeReport resumed;
};

TEST(Resume, ADamagedCheckpointIsNamedAndTheOneBeforeTaken) {
  const Case how = small_case();
  const TemporaryFolder folder;
  const fs::path at = folder / "c";
  const Fitted whole = fitted(how, how.trainer(2), every_step(at));
  const std::vector<fs::path> files = checkpoint_files(at);
  const auto damage = [](const fs::path& file) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
    stream.put('\x55');
    stream.put('\x55');
  };
  for (std::size_t i = 0; i < 3; ++i) damage(files[i]);
  Notes notes;
  Checkpoints checkpoints = resumed(at);
  checkpoints.keep = 1000;
  expect_same(fitted(how, how.trainer(2), checkpoints, &notes), whole, "damaged");
  EXPECT_EQ(notes.resumed.file, files[3]);
  EXPECT_EQ(notes.resumed.step, 7U);
  EXPECT_EQ(notes.resumed.epoch, 2);
  EXPECT_EQ(notes.resumed.epochs.size(), 1U);
  ASSERT_EQ(notes.resumed.notes.size(), 3U);
  EXPECT_EQ(notes.resumed.notes[0], "cannot read '" + files[0].string() +
                                        "': it is damaged: its bytes do not match its checksum");
  EXPECT_EQ(checkpoint_files(at).front(), files[0]) << "written again";
  EXPECT_EQ(std::ranges::count(checkpoint_files(at), files[1]), 1)
      << "damaged ones before the newest stay until it is their turn";
  for (const fs::path& file : checkpoint_files(at)) damage(file);
  EXPECT_EQ(message_of([&] { fitted(how, how.trainer(2), checkpoints); }),
            "no checkpoint in '" + at.string() + "' can be read; cannot read '" +
                files[0].string() + "': it is damaged: its bytes do not match its checksum");
}

TEST(Resume, TheBestAndTheLastOnesStay) {
  Case how = small_case();
  how.objective.optimizer = SGD{.learning_rate = 5};
  how.options.epochs = 8;
  how.options.validation = circle_data(40, 5);
  const TemporaryFolder folder;
  Checkpoints checkpoints = resumed(folder / "c");
  checkpoints.every_steps = 2;
  checkpoints.keep = 3;
  FitOptions options = how.options;
  options.checkpoints = checkpoints;
  const History history = how.trainer(2).fit(how.data, options);
  const auto best = std::ranges::min_element(history.epochs, {}, [](const EpochReport& epoch) {
    return epoch.validation.loss;
  });
  ASSERT_LT(best->epoch, 7) << "the test shows something";
  std::vector<std::string> names;
  for (const fs::path& file : checkpoint_files(folder / "c")) {
    names.push_back(file.filename().string());
  }
  const auto name = [](std::int64_t step) {
    const std::string digits = std::to_string(step);
    return "checkpoint-" + std::string(12 - digits.size(), '0') + digits + ".safetensors";
  };
  EXPECT_EQ(names, (std::vector<std::string>{name(40), name(38), name(36), name(5 * best->epoch)}));
}

TEST(Resume, AFailedSaveIsReportedOrEndsTheFit) {
  const Case how = small_case();
  const Fitted whole = fitted(how, how.trainer(2), {});
  const TemporaryFolder folder;
  const auto with_full_disk = [&](const std::function<void()>& act) {
    rlimit old{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{100, old.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
    act();
    ::setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
  };
  Stopper reports(1000);
  Checkpoints checkpoints = resumed(folder / "c");
  checkpoints.on_failed_save = OnFailedSave::proceed;
  with_full_disk(
      [&] { expect_same(fitted(how, how.trainer(2), checkpoints, &reports), whole, "full"); });
  ASSERT_EQ(reports.reports.size(), 2U);
  EXPECT_EQ(reports.reports[0].error,
            "the checkpoint of step 5 could not be saved: cannot write '" +
                reports.reports[0].file.string() + "': File too large");
  EXPECT_TRUE(fs::is_empty(folder / "c"));
  checkpoints.on_failed_save = OnFailedSave::stop;
  with_full_disk([&] {
    EXPECT_EQ(message_of([&] { fitted(how, how.trainer(2), checkpoints); }),
              reports.reports[0].error);
  });
}

TEST(Resume, AnOwnLoopSkipsWhatIsDone) {
  const Dataset data = circle_data(70);
  const TemporaryFolder folder;
  const auto steps = [&](Trainer trainer, int until, bool save) {
    int step = static_cast<int>(trainer.steps());
    while (step < until) {
      for (const Batch& batch : trainer.batches(data, {.size = 16})) {
        if ((batch.epoch() - 1) * 5 + batch.position() / 16 < step) continue;
        if (step == until) break;
        trainer.step(batch);
        ++step;
      }
    }
    if (save) write_state(folder / "state", trainer.state());
    return trainer.state();
  };
  const Case how = small_case();
  const State whole = steps(how.trainer(2), 13, false);
  steps(how.trainer(2), 8, true);
  Trainer other = how.trainer(1);
  other.load_state(read_state(folder / "state"));
  EXPECT_TRUE(same_bits(steps(other, 13, false), whole));
}

}  // namespace
}  // namespace linnet::testing

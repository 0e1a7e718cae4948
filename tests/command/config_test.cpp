// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/error.h>
#include <linnet/expression.h>
#include <linnet/layers.h>
#include <linnet/trainer.h>
#include <linnet/zoo.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/optimizer.h"
#include "describe/setting_json.h"
#include "model/optimizers.h"
#include "model/options.h"

namespace linnet::command {
namespace {

namespace fs = std::filesystem;

/// Writes configurations into a folder of its own and reads them back.
class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string name = testing::TempDir() + "linnet-config-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "config.toml";
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  Job read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_config(path_);
  }

  /// The message of the error, without the folder.
  std::string error(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::string prefix = folder_.string() + "/";
      return message.rfind(prefix, 0) == 0 ? message.substr(prefix.size()) : message;
    }
    return "no error";
  }

  fs::path folder_;
  fs::path path_;
};

const std::string kNetwork = R"([network]
input = [28, 28, 1]
layers = [
  {type = "flatten"},
  {type = "dense", units = 10},
]
)";

TEST_F(ConfigTest, LeavesTheDefaultsWhereNothingIsSaid) {
  const Job job = read(kNetwork);
  const TrainingOptions defaults;
  EXPECT_EQ(job.name, "config");
  EXPECT_EQ(job.data, "");
  EXPECT_EQ(job.network.parameters(), 7850);
  EXPECT_EQ(job.training.epochs, defaults.epochs);
  EXPECT_EQ(job.training.batch, defaults.batch);
  EXPECT_EQ(std::get<Adam>(job.training.optimizer).learning_rate, 1e-3);
  EXPECT_TRUE(std::holds_alternative<Constant>(job.training.schedule));
  EXPECT_TRUE(job.training.trains.empty());
  EXPECT_EQ(job.model.device, "auto");
}

TEST_F(ConfigTest, ReadsEveryTable) {
  const Job job = read(kNetwork + R"(
[data]
path = "images"
validation = 0.25
[optimizer]
kind = "sgd"
learning_rate = 1
momentum = 0.9
nesterov = true
[schedule]
kind = "cosine"
warmup_epochs = 2
floor = 0.1
[training]
epochs = 7
batch = 32
seed = 11
loss = "cross_entropy"
patience = 3
shuffle = false
threads = 2
device = "cpu"
clip_norm = 1.5
clip_value = 0.5
trains = [{name = "dense*", learning_rate_factor = 0.5}, {name = "*", weight_decay = 0}]
precision = "bf16"
graph = 16
conv_engine = "legacy"
deterministic = false
)");
  EXPECT_EQ(job.data, (folder_ / "images").string());
  EXPECT_EQ(job.validation, 0.25);
  const SGD& sgd = std::get<SGD>(job.training.optimizer);
  EXPECT_EQ(sgd.learning_rate, 1.0);
  EXPECT_EQ(sgd.momentum, 0.9);
  EXPECT_TRUE(sgd.nesterov);
  EXPECT_EQ(job.training.clip.norm, 1.5);
  EXPECT_EQ(job.training.clip.value, 0.5);
  EXPECT_EQ(std::get<CosineDecay>(job.training.schedule).floor, 0.1);
  EXPECT_EQ(job.training.warmup.epochs, 2);
  ASSERT_EQ(job.training.trains.size(), 2U);
  EXPECT_EQ(job.training.trains[0].name, "dense*");
  EXPECT_EQ(job.training.trains[0].learning_rate_factor, 0.5);
  EXPECT_FALSE(job.training.trains[0].weight_decay.has_value());
  EXPECT_EQ(job.training.trains[1].weight_decay, 0.0);
  EXPECT_EQ(job.training.epochs, 7);
  EXPECT_EQ(job.training.batch, 32);
  EXPECT_EQ(job.training.seed, 11U);
  EXPECT_EQ(job.model.seed, 11U);
  EXPECT_EQ(job.training.loss, Loss::cross_entropy);
  EXPECT_EQ(job.training.patience, 3);
  EXPECT_FALSE(job.training.shuffle);
  EXPECT_EQ(job.model.threads, 2);
  EXPECT_EQ(job.model.device, "cpu");
  EXPECT_EQ(job.model.precision, Precision::bf16);
  EXPECT_EQ(job.model.cuda.graph_steps, 16);
  EXPECT_FALSE(job.model.cuda.cudnn);
  EXPECT_FALSE(job.model.cuda.deterministic);
}

TEST_F(ConfigTest, AnotherKindOfOptimizerKeepsWhatTheFileNames) {
  const Job job = read(kNetwork + R"(
[optimizer]
kind = "adamw"
learning_rate = 0.001
weight_decay = 0.05
[schedule]
kind = "cosine"
warmup_epochs = 2
floor = 0.25
[training]
drop_last = true
clip_norm = 1.5
)");
  EXPECT_TRUE(job.training.drop_last);
  const SGD sgd_now = std::get<SGD>(optimizer_of_kind(job, "sgd"));
  EXPECT_EQ(sgd_now.learning_rate, 0.001);
  EXPECT_EQ(sgd_now.weight_decay, 0.05);
  EXPECT_EQ(sgd_now.momentum, 0);
  EXPECT_EQ(job.training.warmup.epochs, 2);
  EXPECT_EQ(job.training.clip.norm, 1.5);
  EXPECT_EQ(std::get<LinearDecay>(schedule_of_kind(job, "linear")).floor, 0.25);
  EXPECT_EQ(std::get<OneCycle>(schedule_of_kind(job, "one_cycle")).start, OneCycle{}.start);
  // As if the file had said it: what it leaves out is the new kind's default.
  const Job plain = read(kNetwork + "[optimizer]\nkind = \"adamw\"\n");
  const SGD other = std::get<SGD>(optimizer_of_kind(plain, "sgd"));
  EXPECT_EQ(other.learning_rate, SGD{}.learning_rate);
  EXPECT_EQ(other.weight_decay, 0);
  const Job built_in = workload("mnist-cnn");
  EXPECT_EQ(std::get<SGD>(optimizer_of_kind(built_in, "sgd")).learning_rate, 4e-3);
}

/// The defaults of a kind alone, whatever the file names of it.
TEST_F(ConfigTest, ReadsEveryOptimizerAndSchedule) {
  for (const std::string& kind : optimizers().names()) {
    const bool has_rate = !is_least_squares_kind(kind);
    const Job job =
        read(kNetwork + fmt::format("[optimizer]\nkind = \"{}\"\n{}weight_decay = 0.5\n", kind,
                                    has_rate ? "learning_rate = 0.25\n" : ""));
    Json record;
    add_update_options(record, job.training);
    EXPECT_EQ(record["optimizer"], kind);
    EXPECT_EQ(record["learning_rate"], has_rate ? Json(0.25) : Json());
    EXPECT_EQ(record["optimizer_settings"]["weight_decay"], 0.5);
  }
  for (const std::string& kind : schedules().names()) {
    const Job job = read(kNetwork + fmt::format("[schedule]\nkind = \"{}\"\n", kind));
    Json record;
    add_update_options(record, job.training);
    EXPECT_EQ(record["schedule"], kind);
  }
  const Job job = read(kNetwork + "[schedule]\nkind = \"plateau\"\npatience = 3\n");
  EXPECT_EQ(std::get<Plateau>(job.training.schedule).patience, 3);
}

/// Lists too: the places of a piecewise schedule, what Muon leaves out, the weights of classes.
TEST_F(ConfigTest, ARecordGivesEverySettingBack) {
  for (const Kind<Optimizer>& kind : optimizers().all()) {
    Json record;
    add_update_options(record, {.optimizer = kind.example});
    const Optimizer read = optimizers().read(setting_from(record["optimizer_settings"]), "",
                                             record["optimizer"].get<std::string>());
    EXPECT_EQ(Setting(optimizers().fields_of(read, true)),
              Setting(optimizers().fields_of(kind.example, true)))
        << record["optimizer_settings"];
  }
  for (const Kind<Schedule>& kind : schedules().all()) {
    Json record;
    add_update_options(record, {.schedule = kind.example});
    const Schedule read = schedules().read(setting_from(record["schedule_settings"]), "",
                                           record["schedule"].get<std::string>());
    EXPECT_EQ(Setting(schedules().fields_of(read, true)),
              Setting(schedules().fields_of(kind.example, true)))
        << record["schedule_settings"];
  }
  TrainingOptions training{.loss = Loss::cross_entropy,
                           .loss_options = {.label_smoothing = 0.25, .class_weights = {1, 2, 0.5}}};
  training.output_losses = {{.output = "b",
                             .loss = Loss::binary_cross_entropy,
                             .weight = 0.5,
                             .options = {.positive_weights = {3, 4}}}};
  Json record;
  add_update_options(record, training);
  EXPECT_EQ(record["loss"], "cross_entropy");
  LossOptions read;
  Json given = record["loss_settings"];
  for (const char* unset : {"ignore_index", "positive_weights"}) given.erase(unset);
  description_of<LossOptions>().read(&read, setting_from(given), "");
  EXPECT_EQ(read, training.loss_options);
  EXPECT_EQ(record["output_losses"][0]["output"], "b");
  EXPECT_EQ(record["output_losses"][0]["weight"], 0.5);
  EXPECT_EQ(record["output_losses"][0]["options"]["positive_weights"], Json({3.0, 4.0}));
}

TEST_F(ConfigTest, ReadsWhatRestsAndWhatIsWhitened) {
  const Job job = read(kNetwork + R"([training]
freeze = [{name = "dense*", after = 1, until = 3}, "*.bias"]
whiten = {layer = "stem", samples = 100, epsilon = 0.25}
)");
  ASSERT_EQ(job.training.freeze.size(), 2U);
  EXPECT_EQ(job.training.freeze[0].name, "dense*");
  EXPECT_EQ(job.training.freeze[0].after, 1);
  EXPECT_EQ(job.training.freeze[0].until, 3);
  EXPECT_EQ(job.training.freeze[1].name, "*.bias");
  EXPECT_FALSE(job.training.freeze[1].until.has_value());
  EXPECT_EQ(job.training.whiten.layer, "stem");
  EXPECT_EQ(job.training.whiten.samples, 100);
  EXPECT_EQ(job.training.whiten.epsilon, 0.25);
  Json record;
  add_update_options(record, job.training);
  EXPECT_EQ(record["freeze"],
            Json::parse(R"([{"name": "dense*", "after": 1, "until": 3}, {"name": "*.bias"}])"));
  EXPECT_EQ(record["whiten"], Json::parse(R"({"layer": "stem", "samples": 100, "epsilon": 0.25})"));
  const auto mistake = [&](const std::string& line) {
    return error(kNetwork + "[training]\n" + line + "\n");
  };
  EXPECT_EQ(mistake("freeze = \"stem\""),
            "config.toml:8:10: 'freeze' in [training] must be an array of tables such as {name = "
            "\"conv*\", after = 2}; got a string");
  EXPECT_EQ(mistake("freeze = [{after = 2}]"),
            "config.toml:8:11: freeze 1 of [training] needs the key 'name'");
  EXPECT_EQ(mistake("freeze = [\"a\", {name = \"b\", until = 0}]"),
            "config.toml:8:37: 'until' in freeze 2 of [training] must be in [1, 1e9]; got 0");
  EXPECT_EQ(mistake("freeze = [{name = \"b\", form = 0}]"),
            "config.toml:8:24: unknown key 'form' in freeze 1 of [training]; freeze takes name, "
            "after, until");
  EXPECT_EQ(read(kNetwork + "[training]\nwhiten = \"stem\"\n").training.whiten.layer, "stem");
  EXPECT_EQ(mistake("whiten = {samples = 10}"),
            "config.toml:8:10: whiten of [training] needs the key 'layer'");
  EXPECT_EQ(mistake("whiten = 3"),
            "config.toml:8:10: 'whiten' in [training] must be the name of a layer, or a table with "
            "the key 'layer'; got an integer");
}

TEST_F(ConfigTest, AnOptimizerTakesItsOwnFieldsAlone) {
  EXPECT_EQ(
      error(kNetwork + "[optimizer]\nkind = \"sgd\"\nalpha = 0.9\n"),
      "config.toml:9:1: unknown key 'alpha' in [optimizer]; sgd takes learning_rate, momentum, "
      "nesterov, weight_decay");
  EXPECT_EQ(
      error(kNetwork + "[optimizer]\nmomentum = 0.9\n"),
      "config.toml:8:1: unknown key 'momentum' in [optimizer]; adam takes learning_rate, beta1, "
      "beta2, epsilon, weight_decay");
  EXPECT_EQ(error(kNetwork + "[schedule]\nkind = \"cosine\"\ngamma = 0.9\n"),
            "config.toml:9:1: unknown key 'gamma' in [schedule]; cosine takes epochs, floor, "
            "warmup_epochs");
  EXPECT_EQ(error(kNetwork + "[training]\ntrains = [{name = \"*\", zzzzz = 2}]\n"),
            "config.toml:8:24: unknown key 'zzzzz' in [training.trains 1]");
  EXPECT_EQ(error(kNetwork + "[training]\ntrains = [3]\n"),
            "config.toml:8:11: [training.trains 1] must be a table such as {name = \"dense*\"}");
  EXPECT_EQ(error(kNetwork + "[training]\ntrains = 3\n"),
            "config.toml:8:10: 'trains' in [training] must be an array of tables; got an integer");
}

TEST_F(ConfigTest, ReadsDevicesAndGraphsInEveryForm) {
  const auto model = [&](const std::string& line) {
    return read(kNetwork + "[training]\n" + line + "\n").model;
  };
  for (const char* device : {"auto", "cpu", "cuda", "cuda:1", "cuda:GPU-00112233"}) {
    EXPECT_EQ(model(fmt::format("device = \"{}\"", device)).device, device);
  }
  EXPECT_EQ(model("graph = \"off\"").cuda.graph_steps, 0);
  EXPECT_EQ(model("graph = \"4\"").cuda.graph_steps, 4);
  EXPECT_EQ(model("graph = \"epoch\"").cuda.graph_steps, CudaOptions::kWholeEpoch);
  EXPECT_TRUE(model("graph = \"epoch\"").cuda.graph_required)
      << "what is asked for is not replaced";
  EXPECT_EQ(model("").cuda.graph_steps, CudaOptions::kWholeEpoch);
  EXPECT_FALSE(model("").cuda.graph_required);
  EXPECT_EQ(model("").precision, Precision::automatic);
  EXPECT_TRUE(model("").cuda.cudnn);
  EXPECT_TRUE(model("").cuda.deterministic);
  EXPECT_EQ(error(kNetwork + "[training]\ndevice = \"cdua\"\n"),
            "config.toml:8:10: 'device' in [training]: expected auto, cpu, cuda, cuda:INDEX or "
            "cuda:UUID; got 'cdua'; did you mean 'cuda'?");
  for (const char* graph : {"-3", "0", "10001", "\"abc\"", "true", "1.5"}) {
    EXPECT_EQ(
        error(fmt::format("{}[training]\ngraph = {}\n", kNetwork, graph)),
        "config.toml:8:9: 'graph' in [training] must be off, epoch or an integer in [1, 10000]; "
        "got " +
            std::string(graph));
  }
}

TEST_F(ConfigTest, TheExampleIsTheBuiltInWorkload) {
  const Job job = read_config(LINNET_EXAMPLES "/mnist.toml");
  const Job built_in = workload("mnist-cnn");
  EXPECT_EQ(job.network.to_json(), built_in.network.to_json());
  EXPECT_EQ(job.training.epochs, built_in.training.epochs);
  EXPECT_EQ(job.training.batch, built_in.training.batch);
  Json update;
  Json built_in_update;
  add_update_options(update, job.training);
  add_update_options(built_in_update, built_in.training);
  EXPECT_EQ(update, built_in_update);
  EXPECT_EQ(job.training.loss_options, built_in.training.loss_options);
  EXPECT_EQ(job.training.augment, built_in.training.augment);
}

TEST_F(ConfigTest, BranchesAndOwnLayersMakeTheNetworkThatTheyDescribe) {
  const Job job = read_config(LINNET_EXAMPLES "/branches.toml");
  const auto conv_norm = [](std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                            const std::string& name = "") -> Layer {
    return Sequential{.layers = {Conv2d{.filters = filters,
                                        .kernel = kernel,
                                        .stride = stride,
                                        .padding = Padding2d::same(),
                                        .bias = false},
                                 BatchNorm{}, ReLU{}},
                      .kind = "conv_norm",
                      .name = name};
  };
  FunctionalNetwork functional;
  const Expression image = functional.input("image", {28, 28, 1});
  const Expression stem = image | Rescale{} | conv_norm(8, 3, 2);
  const Expression shapes =
      stem | Sequential{.layers = {Residual{.body = {conv_norm(8, 3, 1)}}}, .kind = "res_block"} |
      MaxPool2d{};
  const Expression ink = stem | conv_norm(4, 1, 1, "thin") | AvgPool2d{};
  const Expression digit = concat({shapes, ink}, 2) | Flatten{} | Dense{.units = 10};
  EXPECT_EQ(job.network.to_json(), functional.build({{"digit", digit}}).to_json());
}

TEST_F(ConfigTest, NetworksOfSeveralInputsAndOutputsTrain) {
  const Job job = read(R"([network]
inputs = { hint = [2], words = [3] }
outputs = ["left", "sum"]
[[network.paths]]
from = "words"
layers = [{ type = "embedding", vocabulary = 5, features = 4 }, { type = "global_avg_pool1d" }]
to = "text"
[[network.paths]]
from = ["hint", "text"]
layers = [{ type = "dense", units = 8 }, { type = "relu" }]
to = "both"
[[network.paths]]
from = "both"
layers = [{ type = "dense", units = 2 }]
to = "left"
[[network.paths]]
from = ["both", "both"]
join = "add"
layers = [{ type = "dense", units = 1 }]
to = "sum"
[training]
epochs = 30
batch = 8
)");
  EXPECT_EQ(job.network.input_names(), (std::vector<std::string>{"hint", "words"}));
  EXPECT_EQ(job.network.output_names(), (std::vector<std::string>{"left", "sum"}));
  std::vector<float> hints;
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> left;
  std::vector<float> sums;
  for (int i = 0; i < 64; ++i) {
    const auto x = static_cast<float>(i % 8) / 8;
    hints.insert(hints.end(), {x, 1 - x});
    for (int k = 0; k < 3; ++k) words.push_back((i + k) % 5);
    left.push_back(i % 8 < 4 ? 1 : 0);
    sums.push_back(x);
  }
  const Dataset data({{"hint", Tensor(std::move(hints), {64, 2})},
                      {"words", Tensor(std::move(words), {64, 3})}},
                     {{"left", Tensor(std::move(left), {64})},
                      {"sum", Tensor(std::move(sums), {64, 1})}});
  Model model(job.network, {.device = "cpu"});
  Trainer trainer(model, {.optimizer = Adam{.learning_rate = 0.01}});
  const History history = trainer.fit(data, {.epochs = 30, .batch = 8});
  EXPECT_LT(history.epochs.back().train.loss, 0.5 * history.epochs.front().train.loss);
}

constexpr const char* kTwins = R"([network]
inputs = { first = [4], second = [4] }
outputs = ["distance"]
[network.blocks]
encoder = [{ type = "dense", units = 3 }, { type = "relu" }]
[[network.paths]]
from = "first"
block = "encoder"
to = "a"
[[network.paths]]
from = "second"
block = "encoder"
to = "b"
[[network.paths]]
from = ["a", "b"]
layers = [{ type = "dense", units = 1 }]
to = "distance"
)";

TEST_F(ConfigTest, PathsOfOneBlockShareItsWeights) {
  FunctionalNetwork functional;
  const Block encoder = block("encoder", {Dense{.units = 3}, ReLU{}});
  const Expression a = encoder(functional.input("first", {4}));
  const Expression b = encoder(functional.input("second", {4}));
  const Network network = functional.build({{"distance", concat({a, b}, 0) | Dense{.units = 1}}});
  const Network read_network = read(kTwins).network;
  EXPECT_EQ(read_network.parameters(), (4 + 1) * 3 + 6 + 1);
  EXPECT_EQ(read_network.to_json(), network.to_json());
}

TEST_F(ConfigTest, MistakesInBlocksNameThePlace) {
  const auto with = [&](const std::string& old, const std::string& changed) {
    std::string text = kTwins;
    text.replace(text.find(old), old.size(), changed);
    return error(text);
  };
  EXPECT_EQ(with("block = \"encoder\"", "block = \"encode\""),
            "config.toml:8:9: [network.paths 1]: unknown block 'encode'; did you mean 'encoder'?");
  EXPECT_EQ(with("to = \"a\"", "to = \"a\"\nlayers = []"),
            "config.toml:8:9: [network.paths 1] expected 'layers' or 'block'; got both");
  EXPECT_EQ(with("second = [4]", "second = [5]").substr(0, 70),
            "config.toml:12:9: [block 'encoder'] expected inputs for the shared wei");
  EXPECT_EQ(with("{ type = \"relu\" }", "{ type = \"rel\" }"),
            "config.toml:5:52: unknown layer type 'rel' in [network.blocks] encoder layer 2; did "
            "you mean 'relu'?");
  EXPECT_EQ(with("encoder = [", "encoder = 3 #["),
            "config.toml:5:11: 'encoder' in [network.blocks] must be an array of tables; got an "
            "integer");
}

TEST_F(ConfigTest, MistakesInPathsNameThePath) {
  const auto with = [&](const std::string& inputs, const std::string& path) {
    return error("[network]\ninputs = " + inputs + "\noutputs = [\"y\"]\n[[network.paths]]\n" +
                 path);
  };
  const std::string x = "{ x = [4] }";
  EXPECT_EQ(with(x, "from = \"z\"\nto = \"y\"\n"),
            "config.toml:5:8: [network.paths 1]: expected an input or an earlier path; got 'z'; "
            "known are x");
  EXPECT_EQ(with(x, "from = \"x\"\nlayer = []\nto = \"y\"\n"),
            "config.toml:6:1: unknown key 'layer' in [network.paths 1]; did you mean 'layers'?");
  EXPECT_EQ(with(x, "from = \"x\"\n"), "config.toml:4:1: [network.paths 1] needs the key 'to'");
  EXPECT_EQ(
      with(x, "from = [\"x\", \"x\"]\njoin = \"ad\"\nto = \"y\"\n"),
      "config.toml:6:8: 'join' in [network.paths 1] must be concat, add or multiply; got 'ad'; "
      "did you mean 'add'?");
  EXPECT_EQ(with(x, "from = \"x\"\nlayers = [{type = \"conv2d\", filters = 2}]\nto = \"y\"\n"),
            "config.toml:6:11: [conv2d 'conv2d_1'] expected images (N, H, W, C); got (N, 4)");
  EXPECT_EQ(with(x, "from = \"x\"\nto = \"x\"\n"),
            "config.toml:4:1: [network.paths 1]: another input or path has the name 'x'");
  EXPECT_EQ(
      with(x, "from = \"x\"\nto = \"z\"\n"),
      "config.toml:3:11: [network]: expected an input or an earlier path; got 'y'; known are x or "
      "z");
  EXPECT_EQ(
      with("{ x = 4 }", "from = \"x\"\nto = \"y\"\n"),
      "config.toml:2:16: 'x' in [network] inputs must be an array of integers; got an integer");
  EXPECT_EQ(error("[network]\ninput = [4]\npaths = []\n"),
            "config.toml:2:9: [network] has 'input' and 'paths'; expected 'input' and 'layers' "
            "for a sequence, or 'inputs', 'paths' and 'outputs' for a network of branches");
}

TEST_F(ConfigTest, MistakesInOwnLayersNameTheLayerAndThePlace) {
  const auto with = [&](const std::string& own, const std::string& use) {
    return error("[layers.wide]\n" + own + "\n[network]\ninput = [4]\nlayers = [\n" + use +
                 "\n]\n");
  };
  const std::string own =
      "parameters = [\"units\"]\nlayers = [{ type = \"dense\", units = \"$units\" }]";
  EXPECT_EQ(with(own, "{ type = \"wide\", units = 3 }"), "no error");
  EXPECT_EQ(with(own, "{ type = \"wide\" }"),
            "config.toml:7:1: [network.layers 1] needs the key 'units'");
  EXPECT_EQ(with(own, "{ type = \"wide\", unit = 3 }"),
            "config.toml:7:18: unknown key 'unit' in [network.layers 1]; did you mean 'units'?");
  EXPECT_EQ(
      with(own, "{ type = \"wid\", units = 3 }"),
      "config.toml:7:10: unknown layer type 'wid' in [network.layers 1]; did you mean 'wide'?");
  // A value is wrong where it is given, a key where the own layer is described.
  EXPECT_EQ(with(own, "{ type = \"wide\", units = 0 }"),
            "config.toml:7:26: 'units' in [network.layers 1].layers 1 must be at least 1; got 0");
  EXPECT_EQ(with("layers = [{ type = \"dense\", unitz = 3 }]", "{ type = \"wide\" }"),
            "config.toml:2:29: unknown key 'unitz' in [network.layers 1].layers 1; did you mean "
            "'units'?");
  EXPECT_EQ(with("parameters = [\"units\"]\nlayers = [{ type = \"dense\", units = \"$unit\" }]",
                 "{ type = \"wide\", units = 3 }"),
            "config.toml:3:37: [layers.wide] has no parameter 'unit'; did you mean 'units'?");
  EXPECT_EQ(with("layers = [{ type = \"wide\" }]", "{ type = \"wide\" }"),
            "config.toml:2:11: [layers.wide] contains itself");
  EXPECT_EQ(error("[layers.dense]\nlayers = []\n[network]\ninput = [4]\nlayers = []\n"),
            "config.toml:1:9: [layers.dense] has the name of a layer type");
  EXPECT_EQ(with("layer = []", "{ type = \"wide\" }"),
            "config.toml:2:1: unknown key 'layer' in [layers.wide]; did you mean 'layers'?");
}

TEST_F(ConfigTest, OldNamesSayTheNewOnes) {
  const std::string old = "deviation";  // wording: ok
  EXPECT_EQ(error("[network]\ninput = [4]\nlayers = [{type = \"normalize\", " + old + " = 2}]\n"),
            "config.toml:3:32: unknown key '" + old +
                "' in [network.layers 1]; it is called 'std' now");
}

TEST_F(ConfigTest, NamesTheNearestKeyWithLineAndColumn) {
  EXPECT_EQ(error("[network]\ninput = [28, 28, 1]\nlayers = [\n"
                  "  {type = \"conv2d\", filters = 4, kernal = 3},\n]\n"),
            "config.toml:4:34: unknown key 'kernal' in [network.layers 1]; did you mean 'kernel'?");
  EXPECT_EQ(error(kNetwork + "[training]\nepoch = 3\n"),
            "config.toml:8:1: unknown key 'epoch' in [training]; did you mean 'epochs'?");
  EXPECT_EQ(error(kNetwork + "[trainig]\nepochs = 3\n"),
            "config.toml:7:2: unknown key 'trainig' in the file; did you mean 'training'?");
  EXPECT_EQ(
      error(kNetwork + "[optimizer]\nzzzzzzzz = 3\n"),
      "config.toml:8:1: unknown key 'zzzzzzzz' in [optimizer]; adam takes learning_rate, beta1, "
      "beta2, epsilon, weight_decay");
}

TEST_F(ConfigTest, NamesTheNearestChoice) {
  EXPECT_EQ(error("[network]\ninput = [4]\nlayers = [{type = \"dens\", units = 3}]\n"),
            "config.toml:3:19: unknown layer type 'dens' in [network.layers 1]; did you mean "
            "'dense'?");
  EXPECT_EQ(
      error(kNetwork + "[optimizer]\nkind = \"adan\"\n"),
      "config.toml:8:8: 'kind' in [optimizer] must be sgd, adam, adamw, rmsprop, adagrad, lion, "
      "muon or levenberg_marquardt; got 'adan'; did you mean 'adam'?");
}

TEST_F(ConfigTest, RefusesWrongTypesAndRanges) {
  EXPECT_EQ(error(kNetwork + "[training]\nepochs = \"five\"\n"),
            "config.toml:8:10: 'epochs' in [training] must be an integer; got a string");
  EXPECT_EQ(error(kNetwork + "[training]\nepochs = 2.5\n"),
            "config.toml:8:10: 'epochs' in [training] must be an integer; got a number");
  EXPECT_EQ(error(kNetwork + "[training]\nbatch = 0\n"),
            "config.toml:8:9: 'batch' in [training] must be at least 1; got 0");
  EXPECT_EQ(error(kNetwork + "[training]\nshuffle = 1\n"),
            "config.toml:8:11: 'shuffle' in [training] must be true or false; got an integer");
  EXPECT_EQ(error(kNetwork + "[data]\nvalidation = 1.0\n"),
            "config.toml:8:14: 'validation' in [data] must lie in [0, 1); got 1");
  EXPECT_EQ(error("training = 3\n" + kNetwork),
            "config.toml:1:12: 'training' in the file must be a table; got an integer");
  EXPECT_EQ(error("[network]\ninput = [28, 0]\nlayers = []\n"),
            "config.toml:2:9: 'input' in [network] must hold integers from 1 to 2147483647");
  EXPECT_EQ(error("[network]\ninput = [4]\nlayers = [3]\n"),
            "config.toml:3:11: [network.layers 1] must be a table such as {type = \"relu\"}");
}

TEST_F(ConfigTest, ReadsCheckpoints) {
  const auto read_every = [&](const std::string& every) {
    return read(kNetwork + "[training]\ncheckpoint_every = \"" + every + "\"\n")
        .training.checkpoints;
  };
  EXPECT_EQ(read(kNetwork).training.checkpoints.every_seconds, 600);
  EXPECT_EQ(read_every("30s").every_seconds, 30);
  EXPECT_EQ(read_every("0.5h").every_seconds, 1800);
  EXPECT_EQ(read_every("500steps").every_steps, 500);
  EXPECT_EQ(read_every("500steps").every_seconds, 0);
  EXPECT_EQ(read_every("epoch").every_seconds, 0);
  const Job job =
      read(kNetwork + "[training]\nkeep_checkpoints = 5\non_failed_save = \"continue\"\n");
  EXPECT_EQ(job.training.checkpoints.keep, 5);
  EXPECT_EQ(job.training.checkpoints.on_failed_save, OnFailedSave::proceed);
  for (const char* bad : {"", "10", "min", "-1min", "0s", "1.5steps", "1e99h", "10min 3s"}) {
    EXPECT_EQ(error(kNetwork + "[training]\ncheckpoint_every = \"" + bad + "\"\n"),
              fmt::format("config.toml:8:20: 'checkpoint_every' in [training]: expected a time "
                          "(30s, 10m, 2h), a number of steps (500steps) or epoch; got '{}'",
                          bad));
  }
}

TEST_F(ConfigTest, ANetworkMayBeMissingWhereAModelIsGiven) {
  const Job job =
      parse_config("[training]\nepochs = 3\n", "config.toml", {.from = "model.safetensors"});
  EXPECT_EQ(job.training.epochs, 3);
  EXPECT_EQ(job.configuration, "[training]\nepochs = 3\n");
}

TEST_F(ConfigTest, NamesWhatIsMissing) {
  EXPECT_EQ(error("[training]\nepochs = 3\n"), "config.toml:1:1: the file needs the key 'network'");
  EXPECT_EQ(error("[network]\nlayers = []\n"), "config.toml:1:1: [network] needs the key 'input'");
  EXPECT_EQ(error("[network]\ninput = [4]\nlayers = [{type = \"dense\"}]\n"),
            "config.toml:3:11: [network.layers 1] needs the key 'units'");
  EXPECT_EQ(error("[network]\ninput = [4]\nlayers = [{units = 3}]\n"),
            "config.toml:3:11: [network.layers 1] needs the key 'type'");
}

TEST_F(ConfigTest, ALayerThatDoesNotFitHasItsPlace) {
  const std::string message = error(
      "[network]\ninput = [28, 1]\nlayers = [\n  {type = \"conv2d\", filters = 3, name = "
      "\"head\"},\n]\n");
  EXPECT_EQ(message.rfind("config.toml:4:3: ", 0), 0U) << message;
  EXPECT_NE(message.find("head"), std::string::npos) << message;
}

TEST_F(ConfigTest, ReadsPaddingAndSizesInEveryForm) {
  const auto output = [&](const std::string& layer) {
    return read("[network]\ninput = [8, 8, 1]\nlayers = [{type = \"conv2d\", filters = 2, " +
                layer + "}]\n")
        .network.output_shape();
  };
  EXPECT_EQ(output("kernel = 3"), (Shape{6, 6, 2}));
  EXPECT_EQ(output("kernel = 3, padding = \"same\""), (Shape{8, 8, 2}));
  EXPECT_EQ(output("kernel = 3, padding = 2"), (Shape{10, 10, 2}));
  EXPECT_EQ(output("kernel = [3, 1]"), (Shape{6, 8, 2}));
  EXPECT_EQ(output("kernel = 2, stride = [2, 4]"), (Shape{4, 2, 2}));
  EXPECT_EQ(error("[network]\ninput = [8, 8, 1]\nlayers = [{type = \"max_pool2d\", size = [2]}]\n"),
            "config.toml:3:40: 'size' in [network.layers 1] must be an integer or [height, width]; "
            "got an array");
}

TEST_F(ConfigTest, SaysWhereTheFileIsDamaged) {
  EXPECT_EQ(error("[network\n").rfind("config.toml:1:9: ", 0), 0U) << error("[network\n");
  EXPECT_THROW(read_config(folder_ / "none.toml"), Error);
}

}  // namespace
}  // namespace linnet::command

// SPDX-License-Identifier: Apache-2.0
// Trainings on several ranks, which are threads of this process: the bits of one rank.
#include <gtest/gtest.h>
#include <linnet/datasets.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "model/shard_layout.h"
#include "networks/networks.h"
#include "pixels.h"
#include "thread_ranks.h"

namespace linnet::testing {
namespace {

Network with_batch_norm() {
  return Network({8, 8, 1}, {Rescale{}, Conv2d{.filters = 4}, BatchNorm{}, ReLU{}, Flatten{},
                             Dense{.units = 5}});
}

/// What a training leaves, which must not depend on the number of ranks.
struct Left {
  std::vector<float> weights;
  std::vector<double> losses;  ///< of training and validation, by epoch
  bool operator==(const Left&) const = default;
};

struct How {
  Network network = with_dropout();
  Objective objective = {};
  FitOptions options = {.epochs = 2, .batch = 16, .shards = 4};
  int threads = 1;
  Dataset data = pixels(54);  // 3 batches of 16 and one of 6
  bool side_by_side = false;
  bool sync_batch_norm = false;
  std::size_t bucket_bytes = TrainerOptions{}.bucket_bytes;
  RankReduce reduce = RankReduce::tree;
};

Left trained(const How& how, const Ranks& ranks) {
  Model model(how.network, {.device = "cpu", .threads = how.threads, .seed = 3});
  Trainer trainer(model, how.objective,
                  {.seed = 9,
                   .side_by_side = how.side_by_side,
                   .sync_batch_norm = how.sync_batch_norm,
                   .bucket_bytes = how.bucket_bytes,
                   .ranks = ranks});
  const History history = trainer.fit(how.data, how.options);
  Left left{.weights = all_weights(model), .losses = {}};
  for (const EpochReport& epoch : history.epochs) {
    left.losses.push_back(epoch.train.loss);
    left.losses.push_back(epoch.validation.loss);
  }
  return left;
}

/// Returns what each of so many ranks is left with.
std::vector<Left> on_ranks(int size, const How& how) {
  std::vector<Left> all(static_cast<std::size_t>(size));
  const auto body = [&](const Ranks& ranks) {
    all[static_cast<std::size_t>(ranks.rank())] = trained(how, ranks);
  };
  const std::vector<std::string> failures = run_ranks(size, body, {}, how.reduce);
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  return all;
}

void equals_one_rank(const How& how, const std::string& name) {
  const Left one = trained(how, {});
  for (const int size : {2, 4}) {
    if (how.options.shards < size) continue;
    for (const Left& left : on_ranks(size, how)) {
      EXPECT_EQ(left.weights, one.weights) << name << " on " << size;
      // Without a validation set its loss is NaN on both.
      for (std::size_t i = 0; i < one.losses.size(); ++i) {
        EXPECT_TRUE(left.losses[i] == one.losses[i] || std::isnan(one.losses[i]))
            << name << ' ' << left.losses[i] << ' ' << one.losses[i];
      }
    }
  }
}

TEST(Ranks, GiveTheBitsOfOneRank) {
  How plain;
  equals_one_rank(plain, "dropout");
  How norms{.network = with_batch_norm()};
  equals_one_rank(norms, "batch norm");
  How two;
  two.options.shards = 2;
  EXPECT_EQ(trained(two, {}).weights, trained(two, {}).weights);
  equals_one_rank(two, "a shard each");
  How threads;
  threads.threads = 2;
  equals_one_rank(threads, "threads");
  How held_out;
  held_out.options.validation = pixels(20, 7);
  equals_one_rank(held_out, "validation");
}

TEST(Ranks, GiveTheBitsOfOneRankForNetworksOfTheBenchmarks) {
  const std::vector<std::pair<std::string, Network>> networks{{"digits", workloads::mnist_cnn()},
                                                              {"small images",
                                                               workloads::vgg_cifar10()},
                                                              {"texts", workloads::gru_imdb()}};
  for (const auto& [name, network] : networks) {
    const How how{.network = network,
                  .options = {.epochs = 1, .batch = 12, .shards = 4},
                  .data = datasets::synthetic(network, Loss::cross_entropy, 18, 5)};
    equals_one_rank(how, name);
  }
}

TEST(Ranks, CountWeightsAndClipAsOneRankDoes) {
  How how;
  how.objective.loss_options.class_weights = {0.2, 3, 1, 0.5, 7};
  how.objective.loss_options.l2 = 0.01;
  how.objective.clip = {.norm = 0.5};
  how.objective.average = {.decay = 0.9};
  equals_one_rank(how, "weights");
}

/// Losses whose labels count differently: a rank sums the whole validation set, so neither ranks
/// nor batches change its loss. The rate is so small that no weight changes.
TEST(Ranks, MeasureTheLossOfTheWholeValidationSet) {
  How how{.network = Network({8, 8, 1}, {Rescale{}, Flatten{}, Dense{.units = 5}})};
  how.objective.optimizer = SGD{.learning_rate = 1e-30};
  how.objective.loss_options.class_weights = {0.2, 3, 1, 0.5, 7};
  how.objective.loss_options.ignore_index = 2;
  how.options.validation = pixels(21, 7);
  const auto loss = [&](std::int64_t batch, int ranks) {
    how.options.batch = batch;
    return (ranks == 1 ? trained(how, {}) : on_ranks(ranks, how).back()).losses.back();
  };
  const double whole = loss(21, 1);
  for (const std::int64_t batch : {4, 8, 21}) {
    for (const int ranks : {1, 2}) EXPECT_NEAR(loss(batch, ranks), whole, 2e-6) << batch << ranks;
  }
}

TEST(Ranks, MayHaveNoRowsOfABatch) {
  How how;
  how.options.batch = 17;  // the last batch has 3 samples in 8 shards
  how.options.shards = 8;
  equals_one_rank(how, "empty");
}

TEST(Ranks, SumGradientsWhileTheyAreFound) {
  How how;
  how.options.batch = 17;  // the last batch has 3 samples, and one rank none of them
  how.network = Network({8, 8, 1}, {Rescale{}, Flatten{}, Dense{.units = 1500}, ReLU{},
                                    Dense{.units = 1500}, ReLU{}, Dense{.units = 5}});
  equals_one_rank(how, "several buckets");
  how.options.shards = 2;
  equals_one_rank(how, "two ranks");
}

TEST(Ranks, SumInBucketsOfAnySize) {
  How how;
  how.network = Network({8, 8, 1}, {Rescale{}, Flatten{}, Dense{.units = 400}, ReLU{},
                                    Dense{.units = 300}, ReLU{}, Dense{.units = 5}});
  how.options.shards = 2;
  // 600 KB: the last layers first, each bucket ends where a parameter does.
  const auto buckets = [&](std::size_t bytes) {
    return gradient_buckets(how.network.definition(), bytes).size();
  };
  EXPECT_EQ(buckets(1), 6U);
  EXPECT_EQ(buckets(std::size_t{400} << 10), 2U);
  EXPECT_EQ(buckets(std::size_t{4} << 20), 1U);
  const Left one = trained(how, {});
  for (const std::size_t bytes : {1U, 400U << 10, 4U << 20}) {
    how.bucket_bytes = bytes;
    for (const Left& left : on_ranks(2, how)) EXPECT_EQ(left.weights, one.weights) << bytes;
  }
  how.bucket_bytes = 0;
  EXPECT_EQ(message_of([&] { trained(how, {}); }),
            "[trainer] expected bucket_bytes to be at least 1; got 0");
}

/// Returns |a - b| / |b|.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

TEST(Ranks, SumInTheEnginesOrderWhereThatIsAskedFor) {
  How how;
  const Left tree = trained(how, {});
  how.reduce = RankReduce::fast;
  const std::vector<Left> fast = on_ranks(4, how);
  EXPECT_LT(distance(fast[0].weights, tree.weights), 1e-5);
  EXPECT_NE(fast[0].weights, tree.weights);
  for (const Left& left : fast) EXPECT_EQ(left.weights, fast[0].weights);
}

TEST(Ranks, NormalizeByTheWholeBatchWhereThatIsAskedFor) {
  How how{.network = with_batch_norm(), .options = {.epochs = 1, .batch = 18, .shards = 1}};
  how.objective.optimizer = SGD{.learning_rate = 0.1};
  const Left whole = trained(how, {});
  how.options.shards = 0;
  EXPECT_GT(distance(on_ranks(2, how)[0].weights, whole.weights), 1e-3);  // of each part
  how.sync_batch_norm = true;
  for (const int size : {2, 4}) {
    for (const Left& left : on_ranks(size, how)) {
      EXPECT_LT(distance(left.weights, whole.weights), 1e-5) << size;
      EXPECT_NEAR(left.losses[0], whole.losses[0], 1e-5);
    }
  }
}

TEST(Ranks, ComputeLeavesSideBySide) {
  const auto equals_sequence = [](How how, const std::string& name) {
    how.side_by_side = false;
    const Left sequence = trained(how, {});
    how.side_by_side = true;
    for (const int threads : {1, 3}) {
      how.threads = threads;
      EXPECT_EQ(trained(how, {}).weights, sequence.weights) << name << " on " << threads;
    }
    for (const Left& left : on_ranks(2, how)) {
      EXPECT_EQ(left.weights, sequence.weights) << name << " on ranks";
    }
  };
  equals_sequence({}, "dropout");
  equals_sequence({.network = with_batch_norm()}, "batch norm");
  // The last batch has 6 samples, in two of 8 leaves none.
  equals_sequence({.options = {.epochs = 2, .batch = 16, .shards = 8}}, "empty");
  // Leaves of 4 and 5 rows; the last batch has 3.
  equals_sequence({.options = {.epochs = 2, .batch = 17, .shards = 4}}, "unequal");
}

TEST(Ranks, NormalizeByTheWholeBatchSideBySide) {
  for (const std::int64_t batch : {18, 16}) {  // leaves of 4 and 5 rows; of 4, the last ones of 1
    How how{.network = with_batch_norm(), .options = {.epochs = 1, .batch = batch, .shards = 1}};
    how.objective.optimizer = SGD{.learning_rate = 0.1};
    const Left whole = trained(how, {});
    how.sync_batch_norm = true;
    how.options.shards = 4;
    const std::vector<Left> ranks = on_ranks(4, how);
    how.side_by_side = true;
    const Left lanes = trained(how, {});
    EXPECT_LT(distance(lanes.weights, whole.weights), 1e-5) << batch;
    EXPECT_EQ(lanes.weights, ranks[0].weights) << batch;
    how.threads = 3;
    EXPECT_EQ(trained(how, {}).weights, lanes.weights) << batch;
    how.threads = 1;
    EXPECT_EQ(on_ranks(2, how)[1].weights, lanes.weights) << batch;  // two leaves on each
  }
}

TEST(Ranks, RefuseNormsOfAWholeBatchThatIsNotThere) {
  How how{.network = with_batch_norm(), .options = {.epochs = 1, .batch = 16, .shards = 4}};
  how.sync_batch_norm = true;
  const auto refused = [&] {
    return run_ranks(2, [&](const Ranks& ranks) { trained(how, ranks); })[0];
  };
  EXPECT_NE(refused().find("got 4 shards on 2 ranks, one after the other"), std::string::npos);
  how.options.shards = 0;
  how.data = pixels(33);
  EXPECT_NE(refused().find("a sample of every batch in each of 2 shards; a batch has 1"),
            std::string::npos);
}

TEST(Ranks, AreOneShardEachByDefault) {
  How how;
  how.options.shards = 0;
  const std::vector<Left> two = on_ranks(2, how);
  how.options.shards = 2;
  EXPECT_EQ(two[0].weights, trained(how, {}).weights);
  EXPECT_EQ(two[1].weights, two[0].weights);
}

TEST(Ranks, StepsOfALoopOfYourOwnAreTheBitsOfAFit) {
  How how;
  how.options.epochs = 1;
  const Left fit = trained(how, {});
  std::vector<std::vector<float>> weights(2);
  const auto failures = run_ranks(2, [&](const Ranks& ranks) {
    Model model(how.network, {.device = "cpu", .threads = 1, .seed = 3});
    const bool side_by_side = ranks.rank() == 1;  // which changes no bit
    Trainer trainer(model, {}, {.seed = 9, .side_by_side = side_by_side, .ranks = ranks});
    for (const Batch& batch : trainer.batches(pixels(54), {.size = 16, .shards = 4})) {
      trainer.step(batch);
    }
    weights[static_cast<std::size_t>(ranks.rank())] = all_weights(model);
  });
  EXPECT_EQ(failures, std::vector<std::string>(2, ""));
  EXPECT_EQ(weights[0], fit.weights);
  EXPECT_EQ(weights[1], fit.weights);
}

TEST(Ranks, RefuseToTrainDifferentThings) {
  const auto messages = [](const std::function<void(How&, int)>& change) {
    return run_ranks(2, [&](const Ranks& ranks) {
      How how;
      change(how, ranks.rank());
      trained(how, ranks);
    });
  };
  const auto batches = messages([](How& how, int rank) { how.options.batch = 16 << rank; });
  for (const std::string& message : batches) {
    EXPECT_NE(message.find("batch"), std::string::npos) << message;
    EXPECT_NE(message.find("16"), std::string::npos) << message;
  }
  const auto networks = messages([](How& how, int rank) {
    if (rank == 1) how.network = with_batch_norm();
  });
  for (const std::string& message : networks) {
    EXPECT_NE(message.find("network"), std::string::npos) << message;
  }
  const auto buckets = messages([](How& how, int rank) { how.bucket_bytes = 1024U << rank; });
  for (const std::string& message : buckets) {
    EXPECT_NE(message.find("bucket_bytes differs between ranks: 1024 on rank 0, 2048 on rank 1"),
              std::string::npos)
        << message;
  }
}

/// Asks to stop after the first epoch, on one rank alone.
class Stops final : public Callback {
 public:
  explicit Stops(bool asks) : asks_(asks) {}
  void on_epoch(const EpochReport&) override { asked_ = asks_; }
  bool stop_requested() override { return asked_; }

 private:
  bool asks_;
  bool asked_ = false;
};

TEST(Ranks, StopTogetherWhereOneIsAsked) {
  std::vector<std::size_t> epochs(2);
  const auto failures = run_ranks(2, [&](const Ranks& ranks) {
    Stops callback(ranks.rank() == 1);
    Trainer trainer(Model(with_dropout(), {.device = "cpu", .threads = 1}), {}, {.ranks = ranks});
    const History history =
        trainer.fit(pixels(54), {.epochs = 5, .batch = 16, .shards = 2, .callback = &callback});
    EXPECT_TRUE(history.interrupted);
    epochs[static_cast<std::size_t>(ranks.rank())] = history.epochs.size();
  });
  EXPECT_EQ(failures, std::vector<std::string>(2, ""));
  EXPECT_EQ(epochs[0], epochs[1]);
  EXPECT_LT(epochs[0], 4U);
}

TEST(Ranks, NameTheRankThatEnded) {
  const auto failures = run_ranks(4,
                                  [&](const Ranks& ranks) {
                                    How how;
                                    how.options.epochs = 50;
                                    trained(how, ranks);
                                  },
                                  {.kind = RankFault::ends, .rank = 2, .exchange = 40});
  for (const int rank : {0, 1, 3}) {
    const std::string& message = failures[static_cast<std::size_t>(rank)];
    EXPECT_NE(message.find("rank 2"), std::string::npos) << message;
    EXPECT_NE(message.find(" in the sum of gradients at step "), std::string::npos) << message;
  }
}

TEST(Ranks, NameWhatIsNotFiniteOnAll) {
  const auto failures = run_ranks(2, [&](const Ranks& ranks) {
    How how;
    how.objective.optimizer = SGD{.learning_rate = 1e30};
    how.options.epochs = 20;
    trained(how, ranks);
  });
  for (const std::string& message : failures) {
    EXPECT_NE(message.find("became NaN or infinite"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace linnet::testing

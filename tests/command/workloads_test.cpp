// SPDX-License-Identifier: Apache-2.0
#include "config/workloads.h"

#include <gtest/gtest.h>
#include <linnet/error.h>

#include "report/json.h"

namespace linnet::command {
namespace {

/// The table with one workload more, which nothing else names.
Json extended_table() {
  Json table = workload_table();
  table["workloads"].push_back(Json::parse(R"({
      "name": "only-in-the-table",
      "network": {"function": "vgg_cifar10", "image": [24, 24, 1], "classes": 7},
      "data": "digits",
      "recipe": {"training": {"epochs": 3, "batch": 5, "loss": "mse"},
                 "optimizer": {"kind": "sgd", "learning_rate": 0.25},
                 "schedule": {"kind": "cosine"}, "augment": {"flip": 0.5}},
      "bench": {"schedule": {"kind": "constant"}},
      "sizes": {"train": {"published": [9, 100, 2, 4]}}})"));
  return table;
}

TEST(Workloads, WhatStandsInTheTableAloneIsKnown) {
  const Json table = extended_table();
  EXPECT_EQ(workload_names(table).back(), "only-in-the-table");
  const Job job = workload("only-in-the-table", table);
  EXPECT_EQ(job.network.input_shape(), (Shape{24, 24, 1}));
  EXPECT_EQ(job.network.output_shape(), Shape{7});
  EXPECT_EQ(job.data, "digits");
  EXPECT_EQ(job.training.epochs, 3);
  EXPECT_EQ(job.training.batch, 5);
  EXPECT_EQ(job.training.loss, Loss::mse);
  EXPECT_EQ(std::get<SGD>(job.training.optimizer).learning_rate, 0.25);
  EXPECT_TRUE(std::holds_alternative<CosineDecay>(job.training.schedule));
  EXPECT_EQ(job.training.augment.flip, 0.5);
  const Job published = published_workload("only-in-the-table", table);
  EXPECT_TRUE(std::holds_alternative<Constant>(published.training.schedule));
  EXPECT_EQ(std::get<SGD>(published.training.optimizer).learning_rate, 0.25);
  const BenchSize size = published.published.at("train");
  EXPECT_EQ(size.batch, 9);
  EXPECT_EQ(size.samples, 100);
  EXPECT_EQ(size.warmup, 2);
  EXPECT_EQ(size.epochs, 4);
}

TEST(Workloads, EachHasTheParametersOfTheTable) {
  for (const Json& entry : workload_table().at("workloads")) {
    const Job job = workload(entry.at("name"));
    EXPECT_EQ(job.network.parameters(), entry.at("parameters").get<std::int64_t>()) << job.name;
    EXPECT_NO_THROW(published_workload(job.name)) << job.name;
    if (!job.for_images) continue;
    EXPECT_EQ(network_for(job, {64, 48, 1}).input_shape(), (Shape{64, 48, 1})) << job.name;
  }
}

TEST(Workloads, AMistakeInTheTableIsNamed) {
  const auto error = [](const char* key, const Json& value) {
    Json table = extended_table();
    table["workloads"].back()[key] = value;
    try {
      workload("only-in-the-table", table);
    } catch (const Error& mistake) {
      return std::string(mistake.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("network", {{"function", "vgg_cifar11"}}),
            "workloads.json names the network 'vgg_cifar11', which neither "
            "benchmarks/networks/networks.cpp nor the model zoo has");
  EXPECT_NE(error("recipe", {{"training", {{"epoch", 3}}}}).find("unknown key 'epoch'"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::command

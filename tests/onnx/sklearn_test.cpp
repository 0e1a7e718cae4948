// SPDX-License-Identifier: Apache-2.0
// Pipelines of scikit-learn (tests/fixtures/make_sklearn_fixtures.py): operators of ai.onnx.ml.
#include <gtest/gtest.h>
#include <linnet/dataset.h>
#include <linnet/onnx.h>
#include <linnet/predictor.h>
#include <linnet/tensor.h>
#include <linnet/trainer.h>

#include <cmath>
#include <filesystem>

#include "base/files.h"
#include "message_of.h"
#include "onnx/byte_models.h"
#include "onnx/onnx_bytes.h"
#include "onnx/schema.h"
#include "temporary_folder.h"

namespace linnet {
namespace {

using testing::message_of;
using testing::OnnxBytes;

const std::filesystem::path kPipelines = LINNET_SKLEARN_FIXTURES;
const ModelOptions kOneThread{.device = "cpu", .threads = 1};

/// Compares outputs with what onnxruntime gave: labels by name, the scores otherwise.
void expect_results(const std::string& name, const std::vector<Column>& outputs) {
  for (const Column& output : outputs) {
    const bool labels = output.name.ends_with("label");
    const Tensor wanted = read_npy(kPipelines / (name + (labels ? "_labels.npy" : "_y.npy")));
    ASSERT_EQ(output.data.shape().elements(), wanted.shape().elements()) << output.name;
    const auto got = output.data.as<float>();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float want = wanted.as<float>()[i];
      EXPECT_NEAR(got[i], want, labels ? 0 : 1e-5F * std::max(1.0F, std::abs(want)))
          << output.name << " " << i;
    }
  }
}

class Pipeline : public ::testing::TestWithParam<const char*> {};

TEST_P(Pipeline, gives_what_onnxruntime_gave_and_is_saved_and_exported) {
  const std::string name = GetParam();
  OnnxImport import = import_onnx(kPipelines / (name + ".onnx"), {}, kOneThread);
  const Dataset rows({{import.inputs[0].name, read_npy(kPipelines / (name + "_x.npy"))}}, {});
  expect_results(name, import.model.predict_all(rows, 5));
  const testing::TemporaryFolder folder;
  import.model.save(folder / "m.safetensors");
  Model loaded = Model::load(folder / "m.safetensors", kOneThread);
  expect_results(name, loaded.predict_all(rows, 5));
  EXPECT_EQ(loaded.class_names(), import.model.class_names());
  export_onnx(import.model, folder / "m.onnx");
  OnnxImport again = import_onnx(folder / "m.onnx", {}, kOneThread);
  expect_results(name, again.model.predict_all(rows, 5));
  EXPECT_EQ(again.model.class_names(), import.model.class_names());
  const onnx::ModelProto theirs = onnx::read_model(kPipelines / (name + ".onnx"));
  const onnx::ModelProto ours = onnx::read_model(folder / "m.onnx");
  ASSERT_EQ(ours.outputs.size(), theirs.outputs.size());
  for (std::size_t i = 0; i < ours.outputs.size(); ++i) {
    EXPECT_EQ(ours.outputs[i].name, theirs.outputs[i].name) << "in the file's order";
  }
}

INSTANTIATE_TEST_SUITE_P(Onnx, Pipeline,
                         ::testing::Values("logistic", "two_classes", "gaps", "columns", "sgd",
                                           "mlp", "pca", "polynomial", "binary", "bayes", "means",
                                           "svc", "svc_probability", "svr", "forest", "boosting",
                                           "neighbours", "neighbours_cdist", "neighbours_value",
                                           "neighbours_weighted", "missing"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Pipelines, name_their_classes) {
  const auto names = [](const std::string& name) {
    return import_onnx(kPipelines / (name + ".onnx"), {}, kOneThread).model.class_names();
  };
  const std::vector<std::string> flowers{"setosa", "versicolor", "virginica"};
  for (const char* name : {"logistic", "mlp", "bayes", "forest", "svc_probability"}) {
    EXPECT_EQ(names(name), flowers) << name;
  }
  EXPECT_EQ(names("two_classes"), (std::vector<std::string>{"3", "4"}));
  EXPECT_EQ(names("columns"), std::vector<std::string>{});  // 0, 1, 2
}

TEST(Pipelines, train_further) {
  OnnxImport import = import_onnx(kPipelines / "svr.onnx", {}, kOneThread);
  const Tensor x = read_npy(kPipelines / "svr_x.npy");
  const Tensor y(std::vector<float>(static_cast<std::size_t>(x.shape()[0]), 3), {x.shape()[0], 1});
  const Dataset data({{import.inputs[0].name, x}}, {{"y", y}});
  TrainingOptions options{.epochs = 20, .batch = 6, .optimizer = Adam{.learning_rate = 0.05}};
  const auto report = train(import.model, data, options);
  EXPECT_LT(report.epochs.back().train.loss, report.epochs.front().train.loss);
}

std::string refusal_of(const OnnxBytes& model) {
  const testing::TemporaryFolder folder;
  testing::write_quickly(folder / "m.onnx", model.bytes());
  return message_of([&] { import_onnx(folder / "m.onnx", {}, kOneThread); });
}

/// A tree of x, (N, 4), whose attributes tests change.
struct Tree {
  std::vector<std::int64_t> tree{0, 0, 0, 0, 0};
  std::vector<std::int64_t> nodes{0, 1, 2, 3, 4};
  std::vector<std::int64_t> features{3, 0, 1, 0, 0};
  std::vector<std::int64_t> if_true{1, 0, 3, 0, 0};
  std::vector<std::int64_t> if_false{2, 0, 4, 0, 0};
  std::vector<std::string> modes{"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<float> values{0, 0, 0, 0, 0};
  std::vector<std::int64_t> leaves{1, 3, 4};
  std::vector<std::int64_t> targets{0, 0, 0};

  std::string refusal(std::int64_t target_count = 1) const {
    OnnxBytes model;
    model.nodes = {OnnxBytes::learned(
        "TreeEnsembleRegressor", {"x"}, {"y"},
        {OnnxBytes::integers("nodes_treeids", tree), OnnxBytes::integers("nodes_nodeids", nodes),
         OnnxBytes::integers("nodes_featureids", features),
         OnnxBytes::integers("nodes_truenodeids", if_true),
         OnnxBytes::integers("nodes_falsenodeids", if_false),
         OnnxBytes::texts("nodes_modes", modes), OnnxBytes::numbers("nodes_values", values),
         OnnxBytes::integers("target_treeids", {0, 0, 0}),
         OnnxBytes::integers("target_nodeids", leaves), OnnxBytes::integers("target_ids", targets),
         OnnxBytes::numbers("target_weights", {1, 2, 3}),
         OnnxBytes::integer("n_targets", target_count)})};
    return refusal_of(model);
  }
};

TEST(Trees, that_are_none_are_refused) {
  const auto says = [](const std::function<void(Tree&)>& change, const char* what) {
    Tree t;
    change(t);
    EXPECT_NE(t.refusal().find(what), std::string::npos) << t.refusal();
  };
  EXPECT_EQ(Tree{}.refusal(), "");
  says([](Tree& t) { t.if_false[2] = 0; }, "tree 0 has a cycle");  // the root is its own descendant
  says(
      [](Tree& t) {  // tree 7 is one branch, which leads to itself and to a leaf
        t.tree = {0, 7, 7, 0, 0};
        t.nodes = {0, 1, 2, 3, 4};
        t.modes = {"BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
        t.if_true = {3, 0, 2, 0, 0};
        t.if_false = {4, 0, 1, 0, 0};
      },
      "tree 7 has a cycle");
  says([](Tree& t) { t.if_false[2] = 3; }, "two parents");
  says([](Tree& t) { t.if_false[2] = 9; }, "no node 9");
  says([](Tree& t) { t.if_false[2] = std::int64_t{1} << 60; }, "no node");
  says([](Tree& t) { t.if_true[0] = 3; }, "two parents");
  says([](Tree& t) { t.modes[2] = "LEAF"; }, "two roots");
  says(
      [](Tree& t) {  // the first tree is the leaf 9
        t.tree = {9, 7, 7, 7, 7};
        t.modes = {"LEAF", "LEAF", "LEAF", "LEAF", "LEAF"};
      },
      "tree 7 has two roots");
  says([](Tree& t) { t.nodes[4] = 3; }, "two nodes 3");
  says([](Tree& t) { t.tree[4] = 1; }, "no node 4");
  says([](Tree& t) { t.features[0] = 4; }, "expected 0 to 3");
  says([](Tree& t) { t.features[0] = -1; }, "reads feature -1");
  says([](Tree& t) { t.modes[0] = "BRANCH_GT"; }, "one ensemble");
  says([](Tree& t) { t.modes[0] = t.modes[2] = "BRANCH_IN"; }, "BRANCH_IN");
  says([](Tree& t) { t.leaves[0] = 2; }, "no leaf 2");
  says([](Tree& t) { t.leaves[0] = 3; }, "leaf 3 of tree 0 has two weights for 0");
  says([](Tree& t) { t.targets[0] = 1; }, "expected an id of 0 to 0");
  says([](Tree& t) { t.targets.pop_back(); }, "attributes of one length");
  says([](Tree& t) { t.values.pop_back(); }, "attributes of one length");
  says([](Tree& t) { t.features.pop_back(); }, "attributes of one length");
  says(
      [](Tree& t) {  // two nodes lead to each other, beside a tree that is whole
        t.tree.assign(5, 7);
        t.modes = {"LEAF", "BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF"};
        t.if_true = {0, 2, 1, 0, 0};
        t.if_false = {0, 3, 4, 0, 0};
        t.leaves = {0, 3, 4};
      },
      "tree 7 has a cycle");
  EXPECT_NE(Tree{}.refusal(std::int64_t{1} << 62).find("are not supported"), std::string::npos);
  EXPECT_NE(Tree{}.refusal(-1).find("targets"), std::string::npos);
  Tree deep;  // a chain of 200 branches
  deep.features.clear();
  deep.nodes.clear();
  deep.if_true.clear();
  deep.if_false.clear();
  deep.modes.clear();
  for (std::int64_t i = 0; i < 401; ++i) {
    const bool leaf = i % 2 == 1 || i == 400;
    deep.nodes.push_back(i);
    deep.features.push_back(0);
    deep.modes.emplace_back(leaf ? "LEAF" : "BRANCH_LEQ");
    deep.if_true.push_back(leaf ? 0 : i + 1);
    deep.if_false.push_back(leaf ? 0 : i + 2);
  }
  deep.tree.assign(401, 0);
  deep.values.assign(401, 0);
  EXPECT_NE(deep.refusal().find("tree 0 is more than 128 levels deep"), std::string::npos)
      << deep.refusal();
}

TEST(Pipelines, name_what_is_not_supported) {
  const auto refused = [](const std::string& op, const std::vector<std::string>& attributes) {
    OnnxBytes model;
    model.nodes = {OnnxBytes::learned(op, {"x"}, {"y"}, attributes)};
    return refusal_of(model);
  };
  const auto says = [&](const std::string& op, const std::vector<std::string>& attributes,
                        const char* what) {
    EXPECT_NE(refused(op, attributes).find(what), std::string::npos) << refused(op, attributes);
  };
  using B = OnnxBytes;
  says("TfIdfVectorizer", {}, "[TfIdfVectorizer 'n'] this operator is not supported");
  EXPECT_EQ(refused("Scaler", {B::numbers("offset", {1}), B::numbers("scale", {1, 2, 3, 4})}), "");
  says("Scaler", {B::numbers("offset", {1, 2})}, "one for each feature of");
  says("Scaler", {B::numbers("scale", {1}), B::integer("odd", 1)}, "'odd' is not supported");
  says("Scaler", {B::numbers("scale", {HUGE_VALF})}, "expected finite numbers");
  says("Imputer", {}, "got 0");
  says("Normalizer", {B::text("norm", "L3")}, "got 'L3'");
  says("OneHotEncoder", {B::texts("cats_strings", {"a"})}, "a network takes numbers");
  says("OneHotEncoder", {B::integers("cats_int64s", {})}, "at least one category");
  says("OneHotEncoder", {B::integers("cats_int64s", {1 << 30})}, "too large");
  says("LabelEncoder", {B::texts("keys_strings", {"a"})}, "a network takes numbers");
  says("LabelEncoder", {B::numbers("keys_floats", {1, 1}), B::numbers("values_floats", {1, 2})},
       "keys that differ");
  says("LabelEncoder", {B::numbers("keys_floats", {1}), B::numbers("values_floats", {1, 2})},
       "a value for each of 1 keys");
  says("ZipMap", {B::integers("classlabels_int64s", {0, 1})},
       "a column for each of 2 class labels");
  OnnxBytes idle;  // a ZipMap that gives nothing
  idle.nodes = {B::learned("ZipMap", {"x"}, {}, {B::integers("classlabels_int64s", {3, 1, 2, 0})}),
                B::node("Identity", {"x"}, {"y"}, "i")};
  EXPECT_EQ(refusal_of(idle), "");
  says("LabelEncoder",
       {B::numbers("keys_floats", {1}), B::numbers("values_floats", {1}),
        B::tensor_attribute("default_tensor", B::floats("", {2}, {1, 2}))},
       "expected default_tensor to hold one number; got 2");
  const std::vector<float> w(8, 1);
  const std::string coefficients = B::numbers("coefficients", w);
  says("LinearClassifier", {coefficients, B::numbers("intercepts", {1, 2})}, "class labels");
  says("LinearClassifier",
       {coefficients, B::numbers("intercepts", {1, 2, 3}), B::integers("classlabels_ints", {0, 1})},
       "an intercept for each of 2 classes");
  says("LinearRegressor", {coefficients, B::integer("targets", 3)}, "3 targets of 4 features");
  says("LinearRegressor", {coefficients, B::integer("targets", 0)}, "0 targets");
  says("LinearRegressor", {coefficients, B::integer("targets", std::int64_t{1} << 61)}, "targets");
  const std::vector<std::string> svm{B::integers("classlabels_ints", {0, 1}),
                                     B::integers("vectors_per_class", {1, 1}),
                                     B::numbers("support_vectors", w),
                                     B::numbers("coefficients", {1, 1}), B::numbers("rho", {0})};
  const auto changed = [&](std::size_t i, const std::string& to) {
    std::vector<std::string> other = svm;
    other[i] = to;
    return other;
  };
  says("SVMClassifier", changed(1, B::integers("vectors_per_class", {1, -1})), "got -1");
  says("SVMClassifier", changed(1, B::integers("vectors_per_class", {1, std::int64_t{1} << 62})),
       "support vectors");
  says("SVMClassifier", changed(1, B::integers("vectors_per_class", {0, 0})), "coefficients for 0");
  says("SVMClassifier", changed(2, B::numbers("support_vectors", {1})), "got 1 numbers");
  says("SVMClassifier", changed(4, B::numbers("rho", {0, 1})), "numbers in rho");
  says("SVMRegressor", {coefficients, B::numbers("rho", {0}), B::integer("n_supports", 3)},
       "3 coefficients");
  OnnxBytes text;
  text.type = 8;
  text.nodes = {B::node("Identity", {"x"}, {"y"}, "n")};
  EXPECT_NE(refusal_of(text).find("the input 'x' holds strings"), std::string::npos)
      << refusal_of(text);
}

/// Nearest neighbours: a loop over the rows c, (3, 4), of which each step has a graph.
OnnxBytes neighbours(const std::vector<std::string>& nodes, const std::string& out = "out") {
  using B = OnnxBytes;
  std::string graph;
  for (const std::string& node : nodes) protobuf::put_bytes(graph, 1, node);
  for (const char* name : {"a", "b"}) protobuf::put_bytes(graph, 11, B::value(name, {4}));
  for (const std::string& name : {std::string("state"), out}) {
    protobuf::put_bytes(graph, 12, B::value(name, {4}));
  }
  std::string body;
  protobuf::put_bytes(body, 1, "body");
  protobuf::put_bytes(body, 6, graph);
  protobuf::put_integer(body, 20, 5);
  B model;
  model.initializers = {B::floats("c", {3, 4}, {0, 0, 0, 0, 1, 2, 3, 4, 4, 5, 6, 7})};
  model.nodes = {B::node("Scan", {"x", "c"}, {"last", "d"}, "n",
                         {body, B::integer("num_scan_inputs", 1)}),
                 B::node("Transpose", {"d"}, {"y"}, "t", {B::integers("perm", {1, 0})})};
  return model;
}

TEST(Pipelines, take_distances_to_constant_rows) {
  using B = OnnxBytes;
  const std::vector<std::string> axes{B::integers("axes", {1}), B::integer("keepdims", 0)};
  const std::string state = B::node("Identity", {"a"}, {"state"}, "");
  const std::string apart = B::node("Sub", {"b", "a"}, {"e"}, "");
  const std::string squares = B::node("ReduceSumSquare", {"e"}, {"out"}, "", axes);
  // Samples 0 1 2 3 and 4 5 6 7.
  testing::expect_near(testing::computed(neighbours({state, apart, squares}), 2),
                       testing::floats({14, 4, 64, 126, 36, 0}, {2, 3}), 0);
  const std::string sum = B::node("ReduceSum", {"m"}, {"out"}, "", axes);
  testing::expect_near(
      testing::computed(neighbours({state, apart, B::node("Abs", {"e"}, {"m"}, ""), sum}), 2),
      testing::floats({6, 4, 16, 22, 12, 0}, {2, 3}), 0);
  const auto refuses = [&](const std::vector<std::string>& nodes, const std::string& out = "out") {
    EXPECT_NE(
        testing::refusal(neighbours(nodes, out)).find("expected a graph that computes distances"),
        std::string::npos)
        << testing::refusal(neighbours(nodes, out));
  };
  refuses({});
  refuses({apart, squares});
  refuses({state, squares});
  refuses({state, apart, sum});
  refuses({state, apart, squares}, "state");
  refuses({state, B::node("Sub", {"a", "a"}, {"e"}, ""), squares});
  refuses({state, B::node("Sub", {"b", "a"}, {"e"}, "", {B::integer("axis", 0)}), squares});
  refuses({state, B::learned("Sub", {"b", "a"}, {"e"}, {}), squares});
  refuses(
      {state, apart,
       B::node("ReduceSumSquare", {"e"}, {"out"}, "", {axes[0], axes[1], B::integer("other", 0)})});
  refuses({state, B::node("Mul", {"a", "b"}, {"e"}, ""), squares});
  refuses({state, apart, B::node("ReduceSumSquare", {"e"}, {"out"}, "")});
  refuses({state, B::node("Identity", {"f"}, {"e"}, ""), B::node("Identity", {"e"}, {"f"}, ""),
           squares});  // a cycle
  refuses({state, B::node("Sub", {}, {"e"}, ""), B::node("ReduceSumSquare", {}, {"out"}, "")});
  OnnxBytes narrow = neighbours({state, apart, squares});
  narrow.initializers = {B::floats("c", {4, 3}, std::vector<float>(12, 0))};
  EXPECT_NE(testing::refusal(narrow).find("expected rows of as many features as the samples"),
            std::string::npos)
      << testing::refusal(narrow);
}

// Each third byte of good files damaged, and the files cut there: an Error, or a network.
TEST(Pipelines, survive_damage) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"forest", "svc_probability", "columns", "neighbours"}) {
    const std::string good = read_file(kPipelines / (std::string(name) + ".onnx"));
    int accepted = 0;
    const auto take = [&](const std::string& bytes) {
      testing::write_quickly(folder / "m.onnx", bytes);
      if (message_of([&] { import_onnx(folder / "m.onnx", {}, kOneThread); }).empty()) ++accepted;
    };
    for (std::size_t i = 0; i < good.size(); i += 5) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      take(bytes);
      take(good.substr(0, i));
    }
    EXPECT_GT(accepted, 0) << name;  // names and weights may be others
  }
}

}  // namespace
}  // namespace linnet

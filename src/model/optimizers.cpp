// SPDX-License-Identifier: Apache-2.0
#include "model/optimizers.h"

#include "base/check.h"

namespace linnet {
namespace {

void set(UpdateSettings& to, const SGD& o) {
  require(!o.nesterov || o.momentum > 0, "[sgd] nesterov needs a momentum above 0; got {}",
          o.momentum);
  to.rule = o.momentum == 0 ? UpdateRule::sgd
            : o.nesterov    ? UpdateRule::nesterov
                            : UpdateRule::momentum;
  to.momentum = o.momentum;
}

template <class O>  // Adam or AdamW
void set_adam(UpdateSettings& to, UpdateRule rule, const O& o) {
  to.rule = rule;
  to.beta1 = o.beta1;
  to.beta2 = o.beta2;
  to.epsilon = o.epsilon;
}

void set(UpdateSettings& to, const Adam& o) { set_adam(to, UpdateRule::adam, o); }
void set(UpdateSettings& to, const AdamW& o) { set_adam(to, UpdateRule::adamw, o); }

void set(UpdateSettings& to, const RMSprop& o) {
  to.rule = o.momentum == 0 ? UpdateRule::rmsprop : UpdateRule::rmsprop_momentum;
  to.alpha = o.alpha;
  to.epsilon = o.epsilon;
  to.momentum = o.momentum;
}

void set(UpdateSettings& to, const Adagrad& o) {
  to.rule = UpdateRule::adagrad;
  to.initial_sum = o.initial_accumulator_value;
  to.epsilon = o.epsilon;
}

void set(UpdateSettings& to, const Lion& o) {
  to.rule = UpdateRule::lion;
  to.beta1 = o.beta1;
  to.beta2 = o.beta2;
}

void set(UpdateSettings& to, const Muon& o) {
  to.rule = UpdateRule::muon;
  to.momentum = o.momentum;
  to.alpha = o.nesterov ? o.momentum : 1;
  to.iterations = o.iterations;
  to.normalizes_weights = o.normalize_weights;
  to.adam_rate = o.adam_learning_rate;
  to.beta1 = o.adam_beta1;
  to.beta2 = o.adam_beta2;
  to.epsilon = o.adam_epsilon;
}

/// Its steps are another program's, which follows no rule; see LevenbergMarquardtSteps.
void set(UpdateSettings& to, const LevenbergMarquardt&) { to.rule = UpdateRule::sgd; }

template <class O>
Field learning_rate() {
  return field<&O::learning_rate>("learning_rate").at_least(0).finite();
}
template <class O>
Field weight_decay() {
  return field<&O::weight_decay>("weight_decay").at_least(0).finite();
}

Kinds<Optimizer> described() {
  Kinds<Optimizer> all;
  all.add("sgd", "SGD",
          {learning_rate<SGD>(), field<&SGD::momentum>("momentum").from_to_below(0, 1),
           field<&SGD::nesterov>("nesterov"), weight_decay<SGD>()},
          SGD{.learning_rate = 0.1, .momentum = 0.9});
  all.add("adam", "Adam",
          {learning_rate<Adam>(), field<&Adam::beta1>("beta1").from_to_below(0, 1),
           field<&Adam::beta2>("beta2").from_to_below(0, 1),
           field<&Adam::epsilon>("epsilon").above(0).finite(), weight_decay<Adam>()},
          Adam{.learning_rate = 4e-3});
  all.add("adamw", "AdamW",
          {learning_rate<AdamW>(), field<&AdamW::beta1>("beta1").from_to_below(0, 1),
           field<&AdamW::beta2>("beta2").from_to_below(0, 1),
           field<&AdamW::epsilon>("epsilon").above(0).finite(), weight_decay<AdamW>()},
          AdamW{.weight_decay = 0.05});
  all.add("rmsprop", "RMSprop",
          {learning_rate<RMSprop>(), field<&RMSprop::alpha>("alpha").from_to_below(0, 1),
           field<&RMSprop::epsilon>("epsilon").above(0).finite(),
           field<&RMSprop::momentum>("momentum").from_to_below(0, 1), weight_decay<RMSprop>()},
          RMSprop{.learning_rate = 1e-3, .momentum = 0.9});
  all.add(
      "adagrad", "Adagrad",
      {learning_rate<Adagrad>(),
       field<&Adagrad::initial_accumulator_value>("initial_accumulator_value").at_least(0).finite(),
       field<&Adagrad::epsilon>("epsilon").above(0).finite(), weight_decay<Adagrad>()},
      Adagrad{.learning_rate = 0.1});
  all.add("lion", "Lion",
          {learning_rate<Lion>(), field<&Lion::beta1>("beta1").from_to_below(0, 1),
           field<&Lion::beta2>("beta2").from_to_below(0, 1), weight_decay<Lion>()},
          Lion{.learning_rate = 3e-4, .weight_decay = 0.1});
  all.add("muon", "Muon",
          {learning_rate<Muon>(), field<&Muon::momentum>("momentum").from_to_below(0, 1),
           field<&Muon::nesterov>("nesterov"),
           field<&Muon::iterations>("iterations").between(1, 20),
           field<&Muon::normalize_weights>("normalize_weights"), weight_decay<Muon>(),
           field<&Muon::exclude>("exclude"),
           field<&Muon::adam_learning_rate>("adam_learning_rate").at_least(0).finite(),
           field<&Muon::adam_beta1>("adam_beta1").from_to_below(0, 1),
           field<&Muon::adam_beta2>("adam_beta2").from_to_below(0, 1),
           field<&Muon::adam_epsilon>("adam_epsilon").above(0).finite()},
          Muon{.learning_rate = 0.02, .exclude = {"dense_2.*"}, .adam_learning_rate = 3e-3});
  all.add("levenberg_marquardt", "LevenbergMarquardt",
          {field<&LevenbergMarquardt::damping>("damping").above(0).finite(),
           weight_decay<LevenbergMarquardt>()},
          LevenbergMarquardt{.damping = 0.01, .weight_decay = 1e-5});
  return all;
}

}  // namespace

const Kinds<Optimizer>& optimizers() {
  static const Kinds<Optimizer> kAll = described();
  return kAll;
}

std::string_view name_of(const Optimizer& optimizer) {
  return optimizers().find(optimizer)->fields.kind;
}

double* learning_rate_of(Optimizer& optimizer) {
  return std::visit(
      [](auto& o) -> double* {
        if constexpr (requires { o.learning_rate; }) return &o.learning_rate;
        return nullptr;
      },
      optimizer);
}

const double* learning_rate_of(const Optimizer& optimizer) {
  return learning_rate_of(const_cast<Optimizer&>(optimizer));
}

bool is_least_squares(const Optimizer& optimizer) {
  return std::holds_alternative<LevenbergMarquardt>(optimizer);
}

bool is_least_squares_kind(std::string_view name) { return name == name_of(LevenbergMarquardt{}); }

void set_optimizer(UpdateSettings& to, const Optimizer& optimizer) {
  optimizers().check(optimizer);
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.learning_rate; }) {
          to.learning_rate = o.learning_rate;
        } else {
          to.learning_rate = 0;
        }
        to.weight_decay = o.weight_decay;
        set(to, o);
      },
      optimizer);
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#include "datasets/digit_strokes.h"

#include <array>
#include <cmath>
#include <numbers>

namespace linnet {
namespace {

using Form = std::vector<Stroke>;

/// Part of an ellipse around (x, y); 0 degrees is right, 90 is down, 270 is up.
Stroke arc(float x, float y, float radius_x, float radius_y, int from, int to) {
  constexpr int kMostDegrees = 20;  // between two corners: below what a pixel shows
  const int steps = (std::abs(to - from) + kMostDegrees - 1) / kMostDegrees;
  Stroke stroke;
  for (int i = 0; i <= steps; ++i) {
    const double degrees = from + static_cast<double>(to - from) * i / steps;
    const double angle = degrees * std::numbers::pi / 180.0;
    stroke.push_back({x + radius_x * static_cast<float>(std::cos(angle)),
                      y + radius_y * static_cast<float>(std::sin(angle))});
  }
  return stroke;
}

Stroke joined(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::array<std::vector<Form>, 10> all_forms() {
  const Stroke stem{{0.5F, 0}, {0.5F, 1}};
  const Stroke flag{{0.22F, 0.22F}, {0.5F, 0}};
  const Stroke seven{{0.05F, 0}, {0.95F, 0}, {0.35F, 1}};
  const Stroke six_loop = arc(0.5F, 0.7F, 0.4F, 0.3F, 0, 360);
  const Stroke nine_loop = arc(0.5F, 0.3F, 0.38F, 0.3F, 0, 360);
  const Stroke two_bow = arc(0.5F, 0.28F, 0.42F, 0.28F, 190, 395);
  return {{
      {{arc(0.5F, 0.5F, 0.42F, 0.5F, 0, 360)}, {arc(0.5F, 0.5F, 0.33F, 0.5F, -70, 270)}},
      {{stem}, {stem, flag}, {stem, flag, {{0.22F, 1}, {0.78F, 1}}}},
      {{joined(two_bow, {{0.06F, 1}, {0.96F, 1}})},
       {joined(two_bow, {{0.2F, 0.86F}, {0.08F, 0.96F}, {0.3F, 0.88F}, {0.95F, 1}})}},
      {{joined(arc(0.48F, 0.26F, 0.38F, 0.26F, 200, 440),
               arc(0.46F, 0.75F, 0.45F, 0.25F, 275, 520))},
       {joined({{0.1F, 0}, {0.9F, 0}, {0.45F, 0.42F}}, arc(0.46F, 0.71F, 0.45F, 0.29F, 280, 515))}},
      {{{{0.64F, 0}, {0.05F, 0.66F}, {0.98F, 0.66F}}, {{0.66F, 0}, {0.66F, 1}}},
       {{{0.14F, 0}, {0.08F, 0.56F}, {0.92F, 0.56F}}, {{0.74F, 0.05F}, {0.7F, 1}}}},
      {{joined({{0.9F, 0}, {0.2F, 0}, {0.14F, 0.44F}}, arc(0.45F, 0.68F, 0.45F, 0.32F, 230, 505))}},
      {{arc(0.85F, 0.7F, 0.75F, 0.7F, 270, 180), six_loop},
       {{{0.7F, 0}, {0.3F, 0.34F}, {0.11F, 0.66F}}, six_loop}},
      {{seven}, {seven, {{0.3F, 0.5F}, {0.82F, 0.5F}}}},
      {{arc(0.5F, 0.24F, 0.33F, 0.24F, 0, 360), arc(0.5F, 0.74F, 0.42F, 0.26F, 0, 360)}},
      {{nine_loop, {{0.88F, 0.3F}, {0.8F, 1}}}, {nine_loop, arc(0.15F, 0.3F, 0.73F, 0.7F, 0, 90)}},
  }};
}

}  // namespace

const std::vector<std::vector<Stroke>>& digit_forms(int digit) {
  static const std::array<std::vector<Form>, 10> forms = all_forms();
  return forms.at(static_cast<std::size_t>(digit));
}

}  // namespace linnet

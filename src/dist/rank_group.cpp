// SPDX-License-Identifier: Apache-2.0
#include "dist/rank_group.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/check.h"

namespace linnet {
namespace {

// What a rank says of its settings, or of anything else that is gathered, is small.
constexpr std::uint64_t kMostText = std::uint64_t{1} << 26;

std::span<std::byte> bytes_of(std::uint64_t& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}
std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

/// Texts, each after its length.
std::string packed(std::span<const std::string> texts) {
  std::string all;
  for (const std::string& text : texts) {
    const std::uint64_t length = text.size();
    all.append(reinterpret_cast<const char*>(&length), sizeof length);
    all += text;
  }
  return all;
}

std::vector<std::string> unpacked(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    std::uint64_t length = 0;
    require(all.size() - at >= sizeof length, "a message between ranks is damaged");
    std::copy_n(all.data() + at, sizeof length, reinterpret_cast<char*>(&length));
    at += sizeof length;
    require(length <= all.size() - at, "a message between ranks is damaged");
    texts.push_back(all.substr(at, length));
    at += length;
  }
  return texts;
}

std::string value_of(const std::map<std::string, std::string>& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "none" : found->second;
}

void broadcast_bytes(Communicator& ranks, std::span<std::byte> bytes) {
  // Those below 2 bit have the bytes after a round, rank 0 first.
  for (int bit = 1; bit < ranks.size() && !bytes.empty(); bit *= 2) {
    if (ranks.rank() < bit) {
      ranks.exchange(ranks.rank() + bit, bytes, {});
    } else if (ranks.rank() < 2 * bit) {
      ranks.exchange(ranks.rank() - bit, {}, bytes);
    }
  }
}

}  // namespace

std::string broadcast_text(Communicator& ranks, std::string text) {
  std::uint64_t length = text.size();
  broadcast_bytes(ranks, bytes_of(length));
  require(length <= kMostText, "a message between ranks is damaged");
  text.resize(length);
  broadcast_bytes(ranks, bytes_of(text));
  return text;
}

RankGroup::RankGroup(std::unique_ptr<Communicator> communicator, int local_rank, RankReduce reduce)
    : communicator_(std::move(communicator)),
      tree_(*communicator_),
      local_rank_(local_rank),
      reduce_(reduce) {
  require(std::has_single_bit(static_cast<unsigned>(communicator_->size())),
          "expected a power of two as the number of ranks; got {}", communicator_->size());
}

RankGroup::~RankGroup() { communicator_.reset(); }  // before the memory that it may write to

void RankGroup::sum(std::span<float> values, const std::string& name) {
  named(name, [&] {
    if (reduce_ == RankReduce::fast) {
      if (size() > 1) communicator_->sum(values);
    } else {
      tree_.sum(values);
    }
  });
}

void RankGroup::sum(std::span<double> values, const std::string& name) {
  named(name, [&] { tree_.sum(values); });
}

void RankGroup::broadcast(std::span<std::byte> bytes, const std::string& name) {
  named(name, [&] { broadcast_bytes(*communicator_, bytes); });
}

std::string RankGroup::broadcast(std::string text, const std::string& name) {
  return named(name, [&] { return broadcast_text(*communicator_, std::move(text)); });
}

std::vector<std::string> RankGroup::gather(const std::string& text, const std::string& name) {
  return named(name, [&] {
    std::vector<std::string> texts{text};
    for (int bit = 1; bit < size(); bit *= 2) {
      const int partner = rank() ^ bit;
      std::string mine = packed(texts);
      std::uint64_t sent = mine.size();
      std::uint64_t length = 0;
      communicator_->exchange(partner, bytes_of(sent), bytes_of(length));
      require(length <= kMostText, "a message between ranks is damaged");
      std::string other(length, '\0');
      communicator_->exchange(partner, bytes_of(mine), bytes_of(other));
      const std::vector<std::string> theirs = unpacked(other);
      texts.insert(partner < rank() ? texts.begin() : texts.end(), theirs.begin(), theirs.end());
    }
    return texts;
  });
}

std::uint64_t RankGroup::max(std::uint64_t value, const std::string& name) {
  return named(name, [&] {
    for (int bit = 1; bit < size(); bit *= 2) {
      std::uint64_t other = 0;
      communicator_->exchange(rank() ^ bit, bytes_of(value), bytes_of(other));
      value = std::max(value, other);
    }
    return value;
  });
}

void RankGroup::check_equal(const std::map<std::string, std::string>& settings,
                            const std::string& name) {
  if (size() == 1) return;
  std::vector<std::string> flat;
  for (const auto& [key, value] : settings) {
    flat.push_back(key);
    flat.push_back(value);
  }
  std::vector<std::map<std::string, std::string>> all;
  std::set<std::string> keys;
  for (const std::string& text : gather(packed(flat), name)) {
    const std::vector<std::string> words = unpacked(text);
    require(words.size() % 2 == 0, "a message between ranks is damaged");
    all.emplace_back();
    for (std::size_t i = 0; i < words.size(); i += 2) {
      all.back()[words[i]] = words[i + 1];
      keys.insert(words[i]);
    }
  }
  for (const std::string& key : keys) {
    const std::string first = value_of(all.front(), key);
    for (std::size_t r = 1; r < all.size(); ++r) {
      const std::string other = value_of(all[r], key);
      require(other == first, "{} differs between ranks: {} on rank 0, {} on rank {}", key, first,
              other, r);
    }
  }
}

Ranks RankAccess::make(std::unique_ptr<Communicator> communicator, int local_rank,
                       RankReduce reduce) {
  Ranks ranks;
  ranks.group_ = std::make_shared<RankGroup>(std::move(communicator), local_rank, reduce);
  return ranks;
}

}  // namespace linnet

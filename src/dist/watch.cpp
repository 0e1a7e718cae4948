// SPDX-License-Identifier: Apache-2.0
#include "dist/watch.h"

#include <fcntl.h>
#include <linnet/ranks.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"

namespace linnet {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kGreeting = "linnet ranks 1";
// What a stranger may make this process keep.
constexpr std::size_t kMostFromRank = std::size_t{1} << 20;
constexpr std::size_t kMostFromFirst = std::size_t{1} << 30;
// Messages of a rank that ended in order are on their way for so long at most.
constexpr auto kGrace = 1s;

// Kinds of frames: a rank joins (J) and is refused (N) or begins (G); says a text (T) and gets all
// texts (A); lives (B), is done (Y), ends and says why (E); rank 0 says of another that it is lost
// (L), ends (E) or is done (Y).

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

std::string with_rank(int rank, const std::string& text) {
  return std::to_string(rank) + ":" + text;
}

std::pair<int, std::string> rank_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  require(colon != std::string::npos && colon > 0 && colon < 8 &&
              text.find_first_not_of("0123456789") == colon,
          "a message between ranks is damaged");
  return {std::stoi(text.substr(0, colon)), text.substr(colon + 1)};
}

}  // namespace

struct RankWatch::Peer {
  Peer(int rank, Socket socket, std::size_t most)
      : rank(rank), stream(std::move(socket), most), heard(Clock::now()) {}
  int rank;
  FrameStream stream;
  Clock::time_point heard;
  bool gone = false;
};

RankWatch::RankWatch(const WatchOptions& options, Socket listener) : options_(options) {
  join_as_first(std::move(listener));
  start();
}

RankWatch::RankWatch(const WatchOptions& options, const std::vector<std::string>& hosts, std::uint16_t port)
    : options_(options) {
  join(hosts, port);
  start();
}

void RankWatch::join_as_first(Socket listener) {
  const auto end = Clock::now() + seconds(options_.start_seconds);
  std::vector<std::unique_ptr<Peer>> strangers;
  const std::string expected = fmt::format("{}:{}:{}", kGreeting, options_.size, options_.token);
  while (peers_.size() + 1 < static_cast<std::size_t>(options_.size)) {
    if (Clock::now() >= end) {
      std::string missing;
      int first = -1;
      for (int rank = 1; rank < options_.size; ++rank) {
        if (peers_.contains(rank)) continue;
        if (first < 0) first = rank;
        missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
      }
      const std::string sentence =
          fmt::format("expected {} ranks; these did not come in {:g} s: {}", options_.size,
                      options_.start_seconds, missing);
      for (auto& [rank, peer] : peers_) peer->stream.post('N', sentence);
      throw RankError(first, sentence);
    }
    std::vector<pollfd> files{{listener.file(), POLLIN, 0}};
    for (const auto& peer : strangers) files.push_back({peer->stream.socket().file(), POLLIN, 0});
    ::poll(files.data(), files.size(), 50);
    while (std::optional<Socket> socket = accept_from(listener)) {
      strangers.push_back(std::make_unique<Peer>(-1, std::move(*socket), kMostFromRank));
    }
    for (auto& stranger : strangers) {
      try {
        if (!stranger->stream.fill()) stranger->gone = true;
        const std::optional<Frame> frame = stranger->stream.next();
        if (!frame) {
          if (Clock::now() - stranger->heard > 5s) stranger->gone = true;
          continue;
        }
        const auto [rank, greeting] = rank_of(frame->text);
        std::string why;
        if (frame->kind != 'J' || greeting != expected) {
          why = fmt::format("rank {} does not belong to this job of {} ranks: it says '{}'", rank,
                            options_.size, greeting);
        } else if (rank < 1 || rank >= options_.size) {
          why = fmt::format("expected a rank below {}; got {}", options_.size, rank);
        } else if (peers_.contains(rank)) {
          why = fmt::format("rank {} is there already; another process has the same number", rank);
        }
        if (!why.empty()) {
          stranger->stream.post('N', why);
          stranger->gone = true;
          continue;
        }
        stranger->rank = rank;
        stranger->heard = Clock::now();
        peers_[rank] = std::move(stranger);
      } catch (const Error&) {
        stranger->gone = true;  // no rank of ours says such things
      }
    }
    std::erase_if(strangers, [](const auto& peer) { return peer == nullptr || peer->gone; });
  }
  for (auto& [rank, peer] : peers_) {
    peer->stream.post('G');
    peer->heard = Clock::now();
    own_address_ = peer->stream.socket().address();
  }
}

void RankWatch::join(const std::vector<std::string>& hosts, std::uint16_t port) {
  const auto end = Clock::now() + seconds(options_.start_seconds);
  const std::string greeting =
      with_rank(options_.rank, fmt::format("{}:{}:{}", kGreeting, options_.size, options_.token));
  for (;;) {
    auto first = std::make_unique<Peer>(0, connect_to(hosts, port, end), kMostFromFirst);
    own_address_ = first->stream.socket().address();
    first->stream.post('J', greeting);
    for (bool open = true; open && Clock::now() < end + 3s;) {  // rank 0 knows who is missing
      pollfd wait{first->stream.socket().file(), POLLIN, 0};
      ::poll(&wait, 1, 50);
      open = first->stream.fill();
      const std::optional<Frame> frame = first->stream.next();
      if (!frame) continue;
      if (frame->kind == 'N') throw RankError(0, frame->text);
      require(frame->kind == 'G', "a message between ranks is damaged");
      first->heard = Clock::now();
      peers_[0] = std::move(first);
      return;
    }
    std::this_thread::sleep_for(50ms);  // what listened was of an earlier run, and is gone
    if (Clock::now() >= end) {
      throw RankError(0, fmt::format("rank 0 did not begin in {:g} s", options_.start_seconds));
    }
  }
}

void RankWatch::start() {
  period_ = seconds(options_.deadline_seconds / 20);
  // The last sign of life may be a period older than the end of life, and is seen a turn later.
  limit_ = seconds(options_.deadline_seconds) - 2 * period_;
  if (::pipe2(wake_.data(), O_CLOEXEC | O_NONBLOCK) != 0) fail("cannot make a pipe");
  last_turn_ = last_sign_ = Clock::now();
  thread_ = std::thread([this] { run(); });
}

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    on_change_ = nullptr;
  }
  wake();
  thread_.join();
  for (const int file : wake_) ::close(file);
}

void RankWatch::wake() { [[maybe_unused]] const ssize_t written = ::write(wake_[1], "", 1); }

void RankWatch::run() {
  for (bool stop = false; !stop;) {
    turn();
    std::vector<Frame> orders;
    {
      const std::lock_guard lock(mutex_);
      orders.swap(orders_);
      stop = stopping_;
    }
    for (const Frame& order : orders) {
      if (order.kind == 'T' && options_.rank == 0) {
        hear_text(0, order.text);
      } else {
        tell(order.kind, options_.rank, order.text);
      }
    }
  }
  if (whole()) tell('Y', options_.rank, "");
  // A socket that closes with bytes unread takes back what it has sent: the others close first.
  const auto end = Clock::now() + 200ms;
  for (auto& [rank, peer] : peers_) {
    while (peer->stream.pending() && !peer->gone && Clock::now() < end) {
      peer->stream.flush();
      std::this_thread::sleep_for(1ms);
    }
    if (!peer->gone) ::shutdown(peer->stream.socket().file(), SHUT_WR);
    while (!peer->gone && Clock::now() < end && peer->stream.fill()) {
      std::this_thread::sleep_for(1ms);
    }
  }
}

void RankWatch::turn() {
  std::vector<pollfd> files{{wake_[0], POLLIN, 0}};
  for (auto& [rank, peer] : peers_) {
    if (peer->gone) continue;
    const short events = peer->stream.pending() ? POLLIN | POLLOUT : POLLIN;
    files.push_back({peer->stream.socket().file(), events, 0});
  }
  const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(period_ / 2);
  ::poll(files.data(), files.size(), static_cast<int>(std::max<std::int64_t>(1, wait.count())));
  std::array<char, 64> drained;  // NOLINT
  while (::read(wake_[0], drained.data(), drained.size()) > 0) {
  }
  const Clock::time_point now = Clock::now();
  // Who was not running itself has heard nobody.
  const bool paused = now - last_turn_ > 4 * period_;
  longest_pause_ = std::max(longest_pause_, now - last_turn_);
  last_turn_ = now;
  const bool sign = now - last_sign_ >= period_;
  if (sign) last_sign_ = now;
  for (auto& [rank, peer] : peers_) {
    if (peer->gone) continue;
    if (paused) peer->heard = now;
    if (sign && !peer->stream.pending()) peer->stream.post('B');
    peer->stream.flush();
    read(*peer);
    if (!peer->gone) look(*peer, now);
  }
  // Whoever waits in an engine looks again when a grace period ends.
  std::function<void()> call;
  {
    const std::lock_guard lock(mutex_);
    if (!announced_) {
      announced_ = (lost_ == nullptr || now >= lost_->from) &&
                   std::all_of(done_.begin(), done_.end(),
                               [&](const auto& done) { return now >= done.second; });
      if (announced_) call = on_change_;
    }
    if (call) call();
  }
}

void RankWatch::read(Peer& peer) {
  try {
    const bool open = peer.stream.fill();
    while (const std::optional<Frame> frame = peer.stream.next()) {
      peer.heard = Clock::now();
      hear(peer, *frame);
    }
    if (open) return;
  } catch (const Error&) {
    lose(peer.rank, "sent what is not a message", 0s);
  }
  peer.gone = true;
  bool expected = false;
  {
    const std::lock_guard lock(mutex_);
    expected = done_.contains(peer.rank) || stopping_;
  }
  if (expected) return;
  if (longest_pause_ < limit_) return lose(peer.rank, "ended", 0s);
  // It was this rank that the others have given up.
  lose(options_.rank,
       fmt::format("was stopped for {:.0f} s",
                   std::chrono::duration<double>(longest_pause_).count()),
       0s);
}

void RankWatch::hear(Peer& peer, const Frame& frame) {
  const bool first = options_.rank == 0;
  switch (frame.kind) {
    case 'T':
      if (first) hear_text(peer.rank, rank_of(frame.text).second);
      return;
    case 'A': {
      const std::lock_guard lock(mutex_);
      for (std::size_t at = 0; at < frame.text.size();) {
        std::uint32_t length = 0;
        require(frame.text.size() - at >= sizeof length, "a message between ranks is damaged");
        std::memcpy(&length, frame.text.data() + at, sizeof length);
        at += sizeof length;
        require(length <= frame.text.size() - at, "a message between ranks is damaged");
        gathered_.push_back(frame.text.substr(at, length));
        at += length;
      }
      changed_.notify_all();
      return;
    }
    case 'Y':
    case 'E':
    case 'L': {
      const auto [said, text] = rank_of(frame.text);
      const int rank = first ? peer.rank : said;
      if (frame.kind == 'Y') return finish(rank);
      return lose(rank, text, frame.kind == 'E' ? Clock::duration(kGrace) : Clock::duration(0));
    }
    default: return;  // a sign of life
  }
}

void RankWatch::hear_text(int rank, const std::string& text) {
  std::string all;
  {
    const std::lock_guard lock(mutex_);
    texts_[rank] = text;  // of this round: who has not got it says no other
    if (texts_.size() < static_cast<std::size_t>(options_.size)) return;
    for (const auto& [from, said] : texts_) {
      const auto length = static_cast<std::uint32_t>(said.size());
      all.append(reinterpret_cast<const char*>(&length), sizeof length);
      all += said;
      gathered_.push_back(said);
    }
    texts_.clear();
    changed_.notify_all();
  }
  for (auto& [to, peer] : peers_) peer->stream.post('A', all);
}

void RankWatch::look(Peer& peer, Clock::time_point now) {
  const auto silence = now - peer.heard;
  if (silence < limit_) return;
  const double waited = std::chrono::duration<double>(silence).count();
  lose(peer.rank, fmt::format("did not answer for {:.0f} s", std::max(waited, 1.0)), 0s);
  peer.gone = true;
}

void RankWatch::lose(int rank, const std::string& how, Clock::duration grace) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_ != nullptr) return;
    lost_ = std::make_unique<Loss>(Loss{rank, how, Clock::now() + grace});
    announced_ = false;
    lost_flag_ = true;
    attention_ = true;
    changed_.notify_all();
  }
  if (options_.rank == 0) tell(grace > 0s ? 'E' : 'L', rank, how, rank);
}

void RankWatch::finish(int rank) {
  {
    const std::lock_guard lock(mutex_);
    done_[rank] = Clock::now() + kGrace;
    announced_ = false;
    attention_ = true;
  }
  if (options_.rank == 0) tell('Y', rank, "", rank);
}

void RankWatch::tell(char kind, int rank, const std::string& text, int except) {
  for (auto& [to, peer] : peers_) {
    if (to != except && !peer->gone) peer->stream.post(kind, with_rank(rank, text));
  }
}

std::vector<std::string> RankWatch::gather(const std::string& text) {
  require(text.size() < kMostFromRank, "a message between ranks is too long");
  {
    const std::lock_guard lock(mutex_);
    gathered_.clear();
    orders_.push_back({'T', text});
  }
  wake();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !gathered_.empty() || lost_ != nullptr; });
  if (gathered_.empty()) throw_lost();
  return gathered_;
}

void RankWatch::on_change(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  on_change_ = std::move(changed);
}

void RankWatch::throw_lost() const {
  throw RankError(lost_->rank, fmt::format("rank {} {}", lost_->rank, lost_->how));
}

void RankWatch::check(int partner) const {
  if (!attention_) return;
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (lost_ != nullptr && now >= lost_->from) throw_lost();
  const auto done = done_.find(partner);
  if (done != done_.end() && now >= done->second) {
    throw RankError(partner, fmt::format("rank {} had ended", partner));
  }
}

void RankWatch::explain(int partner, const std::string& broken) const {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit_, [&] { return lost_ != nullptr; });
    if (lost_ != nullptr) throw_lost();
  }
  throw RankError(partner, partner < 0 ? fmt::format("another rank: {}", broken)
                                       : fmt::format("rank {}: {}", partner, broken));
}

void RankWatch::leave(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_ != nullptr) return;
    orders_.push_back({'E', fmt::format("ended ({})", reason)});
  }
  wake();
}

}  // namespace linnet

// SPDX-License-Identifier: Apache-2.0
#include "serve/http_loop.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <tuple>

#include "base/check.h"

namespace linnet::command {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kIdle{60};              // between two requests
constexpr seconds kDiscard{2};            // until what a refused client sends is no longer read
constexpr std::size_t kSmall = 64 << 10;  // bytes of a body that always has room
constexpr int kMostAccepted = 64;         // before the others get their turn

Descriptor event() {
  Descriptor made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  require(made.open(), "the system has no file descriptor left");
  return made;
}

void wake(const Descriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof one);
}

bool woken(const Descriptor& event) {
  std::uint64_t count = 0;
  return ::read(event.get(), &count, sizeof count) > 0;
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 64> text{};
  ::gmtime_r(&now, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %T GMT", &parts)};
}

}  // namespace

HttpLoop::HttpLoop(Listener listener, const HttpLimits& limits, Begin begin, HttpLog log)
    : listener_(std::move(listener)),
      limits_(limits),
      begin_(std::move(begin)),
      log_(std::move(log)),
      ending_(event()),
      answered_(event()) {}

void HttpLoop::answer(std::uint64_t connection, HttpAnswer answer) {
  {
    const std::lock_guard lock(mutex_);
    answers_.emplace_back(connection, std::move(answer));
  }
  wake(answered_);
}

void HttpLoop::run() {
  std::vector<pollfd> polled;
  std::vector<std::uint64_t> ids;  // of polled, after the first three
  while (!draining_ || (!connections_.empty() && Clock::now() < drained_)) {
    polled = {{ending_.get(), POLLIN, 0},
              {answered_.get(), POLLIN, 0},
              {takes_more() ? listener_.socket.get() : -1, POLLIN, 0}};
    ids.clear();
    for (const auto& [id, connection] : connections_) {
      const bool reads =
          connection.state == State::reading || connection.state == State::discarding;
      const bool writes = connection.state == State::writing;
      polled.push_back({connection.socket.get(),
                        static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
      ids.push_back(id);
    }
    ::poll(polled.data(), polled.size(), timeout());
    if (woken(ending_)) drain();
    if (woken(answered_)) take_answers();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const short happened = polled[i + 3].revents;
      const auto found = connections_.find(ids[i]);
      if (found == connections_.end()) continue;
      const State state = found->second.state;
      if (state == State::answering && (happened & (POLLHUP | POLLERR)) != 0) {
        found->second.socket.close();
        enter(found->second, State::gone, Clock::duration::max());
      } else if (state == State::writing && happened != 0) {
        write(ids[i]);
      } else if ((state == State::reading || state == State::discarding) && happened != 0) {
        read(ids[i]);
      }
      const auto left = connections_.find(ids[i]);
      if (left != connections_.end() && left->second.deadline <= Clock::now()) expire(ids[i]);
    }
    if (polled[2].revents != 0) accept_all();
  }
}

int HttpLoop::timeout() const {
  Clock::time_point first = draining_ ? drained_ : Clock::time_point::max();
  for (const auto& [id, connection] : connections_) first = std::min(first, connection.deadline);
  if (Clock::now() < accepts_) first = std::min(first, accepts_);
  if (first == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(first - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

bool HttpLoop::may_be_dropped(const Connection& connection) {
  return connection.state == State::discarding || connection.state == State::reading;
}

bool HttpLoop::takes_more() const {
  if (draining_ || Clock::now() < accepts_) return false;
  return std::ssize(connections_) < limits_.connections ||
         std::ranges::any_of(connections_,
                             [](const auto& item) { return may_be_dropped(item.second); });
}

bool HttpLoop::make_room(const std::string& peer) {
  const Connections::value_type* worst = nullptr;
  const auto badness = [&](const Connection& connection) {
    return std::tuple(peers_[connection.peer], !connection.proven, Clock::now() - connection.since);
  };
  for (const auto& item : connections_) {
    const Connection& connection = item.second;
    if (!may_be_dropped(connection) || (!peer.empty() && connection.peer != peer)) continue;
    if (worst == nullptr || badness(connection) > badness(worst->second)) worst = &item;
  }
  if (worst != nullptr) drop(worst->first);
  return worst != nullptr;
}

void HttpLoop::accept_all() {
  for (int i = 0; i < kMostAccepted && takes_more(); ++i) {
    if (std::ssize(connections_) >= limits_.connections && !make_room("")) return;
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    Descriptor socket(::accept4(listener_.socket.get(), reinterpret_cast<sockaddr*>(&address),
                                &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.open()) {
      if ((errno == EMFILE || errno == ENFILE) && make_room("")) continue;
      if (errno != EAGAIN && errno != ECONNABORTED) accepts_ = Clock::now() + milliseconds(100);
      return;
    }
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const std::string peer = peer_of(address);
    const bool too_many = peers_[peer] >= limits_.peer_connections && !make_room(peer);
    ++peers_[peer];
    Connection& connection =
        connections_.try_emplace(next_++, std::move(socket), peer, limits_.most_bytes)
            .first->second;
    enter(connection, State::reading, limits_.request);
    if (too_many) {
      refuse(connection, 503,
             fmt::format("the server has {} connections of {}, which is the most that one address "
                         "may have",
                         limits_.peer_connections, peer));
    }
  }
}

void HttpLoop::enter(Connection& connection, State state, Clock::duration time) {
  connection.state = state;
  connection.since = Clock::now();
  connection.deadline =
      time == Clock::duration::max() ? Clock::time_point::max() : connection.since + time;
}

void HttpLoop::hold(Connection& connection, std::size_t bytes) {
  held_ += bytes - connection.held;
  connection.held = bytes;
}

void HttpLoop::drop(std::uint64_t id) {
  Connection& connection = connections_.at(id);
  hold(connection, 0);
  const auto peer = peers_.find(connection.peer);
  if (--peer->second == 0) peers_.erase(peer);
  connections_.erase(id);
}

void HttpLoop::read(std::uint64_t id) {
  Connection& connection = connections_.at(id);
  std::array<char, 64 << 10> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read into
  const ssize_t count = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return drop(id);
  if (connection.state == State::discarding) return;
  connection.in.append(bytes.data(), static_cast<std::size_t>(count));
  parse(id, connection);
}

void HttpLoop::parse(std::uint64_t id, Connection& connection) {
  try {
    connection.parser.put(connection.in);
    if (!connection.begun && connection.parser.begun(connection.in)) {
      connection.begun = true;
      enter(connection, State::reading, limits_.request);
    }
    hold(connection, connection.parser.body_bytes());
    if (connection.held > kSmall && held_ > 8 * limits_.most_bytes) {
      return refuse(connection, 503, "too many large requests are being read");
    }
    if (connection.parser.wants_continue()) {
      // The first bytes of an answer, which always fit into the socket's buffer.
      constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
      ::send(connection.socket.get(), kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL);
    }
    if (!connection.parser.done()) return;
    HttpRequest request = connection.parser.take();
    connection.proven = true;
    connection.keep = request.keep;
    connection.old = request.old;
    connection.head = request.method == "HEAD";
    connection.method = request.method;
    connection.path = request.path;
    enter(connection, State::answering, Clock::duration::max());
    begin_(id, std::move(request));
  } catch (const HttpRefusal& refusal) {
    refuse(connection, refusal.status, refusal.sentence);
  }
}

void HttpLoop::refuse(Connection& connection, int status, const std::string& sentence) {
  connection.keep = false;
  hold(connection, 0);
  respond(connection, http_error(status, sentence));
}

void HttpLoop::respond(Connection& connection, const HttpAnswer& answer) {
  if (log_) {
    const std::chrono::duration<double> took = Clock::now() - connection.since;
    log_({.peer = connection.peer,
          .method = std::exchange(connection.method, ""),
          .path = std::exchange(connection.path, ""),
          .status = answer.status,
          .bytes = answer.body.size(),
          .seconds = took.count()});
  }
  connection.keep = connection.keep && !draining_;
  connection.out = fmt::format(
      "HTTP/1.1 {} {}\r\nDate: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "X-Content-Type-Options: nosniff\r\n",
      answer.status, http_reason(answer.status), date(), answer.type, answer.body.size());
  if (!answer.allow.empty()) connection.out += fmt::format("Allow: {}\r\n", answer.allow);
  if (answer.status == 503) connection.out += "Retry-After: 1\r\n";
  if (!connection.keep) connection.out += "Connection: close\r\n";
  if (connection.keep && connection.old) connection.out += "Connection: keep-alive\r\n";
  connection.out += "\r\n";
  if (!connection.head) connection.out += answer.body;
  connection.written = 0;
  enter(connection, State::writing, limits_.request);
}

void HttpLoop::take_answers() {
  std::vector<std::pair<std::uint64_t, HttpAnswer>> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const auto& [id, answer] : answers) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    if (found->second.state == State::gone) {
      drop(id);
      continue;
    }
    hold(found->second, 0);
    respond(found->second, answer);
    write(id);
  }
}

void HttpLoop::write(std::uint64_t id) {
  Connection& connection = connections_.at(id);
  const std::string_view rest = std::string_view(connection.out).substr(connection.written);
  const ssize_t count = ::send(connection.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
  if (count < 0) {
    if (errno != EAGAIN && errno != EINTR) drop(id);
    return;
  }
  connection.written += static_cast<std::size_t>(count);
  if (connection.written < connection.out.size()) return;
  connection.out = {};
  if (!connection.keep) {
    ::shutdown(connection.socket.get(), SHUT_WR);
    connection.in = {};
    return enter(connection, State::discarding, kDiscard);
  }
  connection.begun = false;
  enter(connection, State::reading, kIdle);
  parse(id, connection);  // the client may have sent the next one already
}

void HttpLoop::expire(std::uint64_t id) {
  Connection& connection = connections_.at(id);
  if (connection.state == State::reading && connection.begun) {
    return refuse(connection, 408,
                  fmt::format("the whole request did not arrive within {} s",
                              limits_.request.count()));
  }
  drop(id);
}

void HttpLoop::drain() {
  draining_ = true;
  drained_ = Clock::now() + limits_.drain;
  listener_.socket.close();
  std::vector<std::uint64_t> idle;
  for (const auto& [id, connection] : connections_) {
    if (connection.state == State::reading && !connection.begun) idle.push_back(id);
  }
  for (const std::uint64_t id : idle) drop(id);
}

}  // namespace linnet::command

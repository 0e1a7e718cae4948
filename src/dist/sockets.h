// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace linnet {

using Clock = std::chrono::steady_clock;

/// A TCP socket, closed at the end.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  int file() const { return file_; }
  bool open() const { return file_ >= 0; }
  /// Returns the address of this end, e.g. "10.0.0.1".
  std::string address() const;
  std::uint16_t port() const;

 private:
  int file_ = -1;
};

/// Listens on a host's address, or on all where it is empty or not this machine's. port 0: any.
/// Throws Error.
Socket listen_on(const std::string& host, std::uint16_t port);
/// Returns a connection that has come; nothing where none has.
std::optional<Socket> accept_from(const Socket& listener);
/// Connects to the first of these hosts that answers, again and again until `end`. Throws Error.
Socket connect_to(const std::vector<std::string>& hosts, std::uint16_t port, Clock::time_point end);
/// Returns the addresses of this machine, loopback last.
std::vector<std::string> own_addresses();

/// A message: what it is, and its contents.
struct Frame {
  char kind = 0;
  std::string text;
};

/// Frames over a socket, without ever waiting.
class FrameStream {
 public:
  /// most: bytes of the longest frame that is accepted.
  FrameStream(Socket socket, std::size_t most) : socket_(std::move(socket)), most_(most) {}
  const Socket& socket() const { return socket_; }
  /// Queues a frame and sends what the system takes.
  void post(char kind, const std::string& text = {});
  /// Sends what the system takes.
  void flush();
  bool pending() const { return !out_.empty(); }
  /// Reads what has come; returns false at the end of the stream and after an error.
  bool fill();
  /// Returns the next whole frame. Throws Error for one that is too long.
  std::optional<Frame> next();

 private:
  Socket socket_;
  std::size_t most_;
  std::string in_;
  std::string out_;
};

}  // namespace linnet

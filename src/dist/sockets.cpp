// SPDX-License-Identifier: Apache-2.0
#include "dist/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/check.h"

namespace linnet {
namespace {

using namespace std::chrono_literals;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

/// Returns null with a sentence where a name is unknown.
Addresses resolve(const std::string& host, std::uint16_t port, int flags, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   std::to_string(port).c_str(), &hints, &found);
  if (status != 0) why = ::gai_strerror(status);
  return {status == 0 ? found : nullptr, &::freeaddrinfo};
}

void prepare(int file) {
  const int on = 1;
  ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(file, F_SETFL, O_NONBLOCK);
}

Socket make_socket(const addrinfo& address) {
  return Socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

Socket try_to_listen(const std::string& host, std::uint16_t port, std::string& why) {
  const Addresses found = resolve(host, port, AI_PASSIVE, why);
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    Socket socket = make_socket(*at);
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket.file(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6) {
      ::setsockopt(socket.file(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (socket.open() && ::bind(socket.file(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::listen(socket.file(), SOMAXCONN) == 0) {
      ::fcntl(socket.file(), F_SETFL, O_NONBLOCK);
      return socket;
    }
    why = std::strerror(errno);
  }
  return {};
}

Socket try_to_connect(const std::string& host, std::uint16_t port, Clock::time_point end,
                      std::string& why) {
  const Addresses found = resolve(host, port, 0, why);
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    Socket socket = make_socket(*at);
    if (!socket.open()) continue;
    prepare(socket.file());
    if (::connect(socket.file(), at->ai_addr, at->ai_addrlen) != 0) {
      why = std::strerror(errno);
      if (errno != EINPROGRESS) continue;
      pollfd wait{socket.file(), POLLOUT, 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      why = "no answer";
      if (::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 2000))) <= 0)
        continue;
      int error = 0;
      socklen_t length = sizeof error;
      ::getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &error, &length);
      why = std::strerror(error);
      if (error != 0) continue;
    }
    return socket;
  }
  return {};
}

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text.data(),
                text.size());
  } else if (address->sa_family == AF_INET6) {
    const in6_addr& six = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six)) {
      ::inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
    } else {
      ::inet_ntop(AF_INET6, &six, text.data(), text.size());
    }
  }
  return text.data();
}

}  // namespace

Socket::~Socket() {
  if (file_ >= 0) ::close(file_);
}
Socket::Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

std::string Socket::address() const {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(file_, reinterpret_cast<sockaddr*>(&own), &length);
  return text_of(reinterpret_cast<const sockaddr*>(&own));
}

std::uint16_t Socket::port() const {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(file_, reinterpret_cast<sockaddr*>(&own), &length);
  if (own.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(own).sin_port);
  return ntohs(reinterpret_cast<const sockaddr_in6&>(own).sin6_port);
}

Socket listen_on(const std::string& host, std::uint16_t port) {
  std::string why;
  if (!host.empty()) {
    Socket socket = try_to_listen(host, port, why);
    if (socket.open()) return socket;
  }
  // A name may stand for an address that another machine translates.
  Socket socket = try_to_listen("", port, why);
  require(socket.open(), "rank 0 cannot listen on port {}: {}", port, why);
  return socket;
}

std::optional<Socket> accept_from(const Socket& listener) {
  const int file = ::accept4(listener.file(), nullptr, nullptr, SOCK_CLOEXEC);
  if (file < 0) return std::nullopt;
  prepare(file);
  return Socket(file);
}

Socket connect_to(const std::vector<std::string>& hosts, std::uint16_t port,
                  Clock::time_point end) {
  for (std::string why;;) {
    for (const std::string& host : hosts) {
      Socket socket = try_to_connect(host, port, end, why);
      if (socket.open()) return socket;
    }
    require(Clock::now() < end, "rank 0 cannot be reached at {}, port {}: {}",
            hosts.empty() ? "" : hosts.front(), port, why);
    std::this_thread::sleep_for(50ms);
  }
}

std::vector<std::string> own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {"127.0.0.1"};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, &::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* at = first; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
    if ((at->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const std::string text = text_of(at->ifa_addr);
    if (!text.empty() && !text.starts_with("fe80:")) addresses.push_back(text);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

void FrameStream::post(char kind, const std::string& text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  out_.append(reinterpret_cast<const char*>(&length), sizeof length);
  out_ += kind;
  out_ += text;
  flush();
}

void FrameStream::flush() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.file(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      if (sent < 0 && errno == EINTR) continue;
      // Nobody reads what is left of a broken stream; fill() sees its end.
      if (sent < 0 && errno != EAGAIN) out_.clear();
      return;
    }
    out_.erase(0, static_cast<std::size_t>(sent));
  }
}

bool FrameStream::fill() {
  std::array<char, 65536> bytes;  // NOLINT: filled by recv
  for (;;) {
    const ssize_t got = ::recv(socket_.file(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      in_.append(bytes.data(), static_cast<std::size_t>(got));
      if (in_.size() > most_ + sizeof(std::uint32_t) + 1 + bytes.size()) return true;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && errno == EAGAIN;
  }
}

std::optional<Frame> FrameStream::next() {
  constexpr std::size_t head = sizeof(std::uint32_t) + 1;
  if (in_.size() < head) return std::nullopt;
  std::uint32_t length = 0;
  std::memcpy(&length, in_.data(), sizeof length);
  if (length > most_) fail("a message of {} bytes is too long", length);
  if (in_.size() < head + length) return std::nullopt;
  Frame frame{in_[sizeof length], in_.substr(head, length)};
  in_.erase(0, head + length);
  return frame;
}

}  // namespace linnet

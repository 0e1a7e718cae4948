// SPDX-License-Identifier: Apache-2.0
#include "serve/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/check.h"

namespace linnet::command {
namespace {

std::string reason(int error, int port) {
  switch (error) {
    case EADDRINUSE: return "the port is in use";
    case EACCES: return fmt::format("port {} needs other rights", port);
    case EADDRNOTAVAIL: return "this machine has no such address";
    default: return std::strerror(error);
  }
}

template <class Address>
Address address_of(const sockaddr_storage& storage) {
  Address address;
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? address_of<sockaddr_in6>(address).sin6_port
                                             : address_of<sockaddr_in>(address).sin_port);
}

}  // namespace

void Descriptor::close() {
  if (open()) ::close(std::exchange(number_, -1));
}

Listener listen_on(const std::string& host, int port) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* all = nullptr;
  const int unknown = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &all);
  require(unknown == 0, "cannot listen on '{}': the host is unknown ({})", host,
          ::gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(all, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* at = all; at != nullptr; at = at->ai_next) {
    Descriptor socket(
        ::socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol));
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (socket.open() && ::bind(socket.get(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::listen(socket.get(), SOMAXCONN) == 0) {
      const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
      std::string url = fmt::format("http://{}:{}/", name, port_of(socket.get()));
      return {.socket = std::move(socket), .url = std::move(url)};
    }
    error = errno;
  }
  fail("cannot listen on {}:{}: {}", host, port, reason(error, port));
}

std::string peer_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto of = address_of<sockaddr_in>(address);
    return ::inet_ntop(AF_INET, &of.sin_addr, text, sizeof text);
  }
  auto of = address_of<sockaddr_in6>(address);
  if (IN6_IS_ADDR_V4MAPPED(&of.sin6_addr)) {
    return ::inet_ntop(AF_INET, &of.sin6_addr.s6_addr[12], text, sizeof text);
  }
  if (IN6_IS_ADDR_LOOPBACK(&of.sin6_addr)) return "::1";
  std::fill(std::begin(of.sin6_addr.s6_addr) + 8, std::end(of.sin6_addr.s6_addr), 0);
  return fmt::format("{}/64", ::inet_ntop(AF_INET6, &of.sin6_addr, text, sizeof text));
}

bool is_address(const std::string& host) {
  in6_addr into{};
  return ::inet_pton(AF_INET, host.c_str(), &into) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &into) == 1;
}

}  // namespace linnet::command

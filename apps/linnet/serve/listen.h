// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

struct sockaddr_storage;

namespace linnet::command {

/// A file descriptor, which it closes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

/// A socket that takes connections, and its address in a browser.
struct Listener {
  Descriptor socket;
  std::string url;
};

/// Listens on the first address of a host that allows it. Throws Error that says whether the host
/// is unknown, is another machine's, or the port is in use or forbidden.
Listener listen_on(const std::string& host, int port);

/// Returns the address of the other end, without its port: "127.0.0.1". Of IPv6 the network,
/// "2001:db8::/64", since one machine has all addresses of it.
std::string peer_of(const sockaddr_storage& address);

/// Returns whether a host is an address, which no name server can point elsewhere.
bool is_address(const std::string& host);

}  // namespace linnet::command

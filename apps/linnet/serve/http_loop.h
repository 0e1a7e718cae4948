// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/http_parser.h"
#include "serve/listen.h"

namespace linnet::command {

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
  std::string allow = {};  ///< methods, where another one was asked for
};

/// {"error": sentence}
HttpAnswer http_error(int status, const std::string& sentence);

/// What an access log says of one answer.
struct HttpLogEntry {
  std::string peer;
  std::string method;  ///< "" of a request that was refused before all of it was there
  std::string path;
  int status;
  std::size_t bytes;  ///< of the answer's body
  double seconds;     ///< from the whole request, or the first byte of one that was refused
};
using HttpLog = std::function<void(const HttpLogEntry&)>;

/// Says how much a server takes of its clients.
struct HttpLimits {
  std::size_t most_bytes = std::size_t{8} << 20;  ///< of a body; of all together eight times that
  int connections = 256;                          ///< open at the same time
  int peer_connections = 128;                     ///< of them of one address
  std::chrono::seconds request{30};  ///< until a request is there as a whole, or an answer fetched
  std::chrono::seconds drain{10};    ///< for what is under way when the server is to end
};

/// Reads requests of many connections and writes their answers, in one thread, so that no client
/// can hold a thread by being slow. Where all connections are in use, the one that has said nothing
/// whole for the longest time makes room.
class HttpLoop {
 public:
  using Clock = std::chrono::steady_clock;
  /// Is called in the loop's thread with each request; it must return at once, and somebody must
  /// call answer() for this connection later.
  using Begin = std::function<void(std::uint64_t connection, HttpRequest request)>;

  /// `log`: is called in the loop's thread with each answer; may be empty.
  HttpLoop(Listener listener, const HttpLimits& limits, Begin begin, HttpLog log);
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  /// Works until end() has been called and all requests are answered, or their time is over.
  void run();
  /// Answers a request. Thread-safe.
  void answer(std::uint64_t connection, HttpAnswer answer);
  /// Lets run() end. A signal handler may write to end_descriptor() instead.
  int end_descriptor() const { return ending_.get(); }

 private:
  enum class State {
    reading,     ///< a request
    answering,   ///< somebody does
    writing,     ///< the answer
    discarding,  ///< the rest of what the client sends, so that it sees why it was refused
    gone,        ///< the client left while somebody answers
  };
  struct Connection {
    Connection(Descriptor open, std::string from, std::size_t most_bytes)
        : socket(std::move(open)), peer(std::move(from)), parser(most_bytes) {}

    Descriptor socket;
    std::string peer;
    HttpParser parser;
    State state = State::reading;
    std::string in;           ///< read, but not parsed
    std::string out;          ///< to be written
    std::size_t written = 0;  ///< of `out`
    std::size_t held = 0;     ///< bytes of the body in memory
    bool proven = false;      ///< it has sent a whole request
    bool begun = false;       ///< a request, of which some bytes are there
    bool keep = false;        ///< another request may follow the answer
    bool head = false;        ///< the answer has no body
    bool old = false;         ///< HTTP/1.0
    std::string method;       ///< of the request
    std::string path;
    Clock::time_point since;     ///< when its state began
    Clock::time_point deadline;  ///< of its state
  };
  using Connections = std::map<std::uint64_t, Connection>;

  int timeout() const;  ///< for poll()
  static bool may_be_dropped(const Connection& connection);
  void accept_all();
  /// Drops the connection that has waited for the longest time for a whole request, one that has
  /// never sent any if there is, of this peer; "": of the one with the most connections. Returns
  /// whether there was one.
  bool make_room(const std::string& peer);
  void drain();
  void take_answers();
  void read(std::uint64_t id);
  void parse(std::uint64_t id, Connection& connection);
  void write(std::uint64_t id);
  void expire(std::uint64_t id);
  void enter(Connection& connection, State state, Clock::duration time);
  void respond(Connection& connection, const HttpAnswer& answer);
  void refuse(Connection& connection, int status, const std::string& sentence);
  void hold(Connection& connection, std::size_t bytes);
  void drop(std::uint64_t id);
  bool takes_more() const;

  Listener listener_;
  HttpLimits limits_;
  Begin begin_;
  HttpLog log_;
  Descriptor ending_;
  Descriptor answered_;
  Connections connections_;
  std::map<std::string, int> peers_;  ///< connections of each
  std::uint64_t next_ = 0;
  std::size_t held_ = 0;  ///< bytes of all bodies
  bool draining_ = false;
  Clock::time_point drained_;  ///< when draining ends
  Clock::time_point accepts_;  ///< when connections are accepted again
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, HttpAnswer>> answers_;
};

}  // namespace linnet::command

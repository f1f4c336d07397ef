// Reader takes the bytes of a connection and makes Requests of them (HTTP/1.0 and 1.1, by Beast). Any bytes
// may come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/exchange.h"

namespace ty {

inline constexpr uint32_t kHeadLimit = 16 * 1024;
inline constexpr uint64_t kBodyLimit = 4 << 20;
inline constexpr uint64_t kBulkLimit = 64 << 20;

class Reader {
 public:
  Reader();
  ~Reader();

  // Takes bytes and returns how many were used; what was not used must be given again with more behind it.
  // Stops behind the head and behind the end of the message.
  size_t Feed(std::string_view bytes);

  bool began() const;  // of this message
  bool has_head() const;
  bool done() const;
  int trouble() const;  // 0, or the status to refuse with: 400, 413, 431. Nothing more is read then.

  Request TakeRequest();   // once there is a head; without body
  std::string TakeBody();  // what has come of it since the last call
  void Next();             // forgets the message: the next one begins

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
  int trouble_ = 0;
};

}  // namespace ty

// Errors are values. An Error says what class of trouble, which field of the input (a JSON pointer, or empty)
// and a message that tells the user what to do.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/message.h"

namespace ty {

enum class Code {
  kInvalid,      // the input is wrong: exit 2, HTTP 422
  kNotFound,     // no such thing: exit 3, HTTP 404
  kConflict,     // right input, wrong moment: exit 1, HTTP 409
  kUnavailable,  // the yard, a disk or a tool cannot now: exit 4 (client) or 1, HTTP 503
  kInternal,     // ours to mend: exit 1, HTTP 500
};

struct Error {
  Code code = Code::kInternal;
  Message message;
  std::string field;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> Fail(Code code, Message message, std::string field = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(field)});
}
inline tl::unexpected<Error> Invalid(Message message, std::string field = {}) {
  return Fail(Code::kInvalid, std::move(message), std::move(field));
}
inline tl::unexpected<Error> NotFound(Message message, std::string field = {}) {
  return Fail(Code::kNotFound, std::move(message), std::move(field));
}
inline tl::unexpected<Error> Conflict(Message message, std::string field = {}) {
  return Fail(Code::kConflict, std::move(message), std::move(field));
}
inline tl::unexpected<Error> Forward(const Error& error) {
  return tl::unexpected<Error>(error);
}

}  // namespace ty

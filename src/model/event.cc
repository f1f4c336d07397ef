#include "model/event.h"

#include <boost/json.hpp>

namespace ty {

// Written by hand: `data` already is JSON, and a yard writes many of these.
std::string ToJsonLine(const Event& event) {
  std::string line;
  line.reserve(128 + event.data.size());
  line += "{\"seq\":" + std::to_string(event.seq);
  line += ",\"at\":\"" + FormatIso(event.at);
  line += "\",\"kind\":" + boost::json::serialize(boost::json::string_view(event.kind));
  line += ",\"task\":" + (event.task ? std::to_string(event.task->value) : "null");
  line += ",\"attempt\":" + (event.attempt > 0 ? std::to_string(event.attempt) : "null");
  line += ",\"data\":" + (event.data.empty() ? "{}" : event.data) + "}";
  return line;
}

}  // namespace ty

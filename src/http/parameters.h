// Parameters reads the query of a call, which the route has found known already. The first mistake is kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "http/exchange.h"

namespace ty {

class Parameters {
 public:
  explicit Parameters(const Request& request) : request_(request) {}

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  std::string Text(std::string_view name) const;
  int64_t Number(std::string_view name, int64_t otherwise, int64_t least, int64_t most);
  // A number with or without a fraction.
  std::optional<double> Real(std::string_view name);
  double Real(std::string_view name, double otherwise, double least, double most);
  Duration Seconds(std::string_view name, Duration otherwise, Duration most);
  std::optional<Time> At(std::string_view name);
  std::string Choice(std::string_view name, const std::vector<std::string>& known);

  const std::optional<Error>& error() const { return error_; }

 private:
  const std::string* Find(std::string_view name) const;
  void Complain(Message message, std::string_view name);

  const Request& request_;
  std::optional<Error> error_;
};

}  // namespace ty

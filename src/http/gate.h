// Gate is the one chokepoint: every request passes it before it is routed, whatever it asks for. Pure and
// total: no header makes it throw. No address, name or agent grants anything; only the Unix socket's peer or
// a session does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace ty {

enum class HostKind : uint8_t { kOurs, kForeign, kMalformed };
// localhost, 127.0.0.1 and [::1] with any port, or one of `names` with any port.
HostKind JudgeHost(std::string_view host, const std::vector<std::string>& names);

struct GateSettings {
  std::vector<std::string> hosts;  // configured names, besides the loopback ones
};

// A refusal, or nothing: pass on.
std::optional<Response> Refusal(const Request& request, const GateSettings& settings);

// Who may: answered from the route and the peer alone.
enum class Access : uint8_t { kPublic, kSession, kSocket };
bool MayEnter(Access access, const Peer& peer);

// "/api/v1/tasks/a%20b" -> {"api", "v1", "tasks", "a b"}. Each part is decoded once; one with %, \, control
// bytes or broken UTF-8 then, or that is . or .., is refused: no name here has those, and no path is ever
// made of them.
std::optional<std::vector<std::string>> DecodePath(std::string_view raw);
// "a=1&b=x%20y", decoded; nullopt when an escape is broken.
std::optional<std::vector<std::pair<std::string, std::string>>> DecodeQuery(std::string_view raw);

}  // namespace ty

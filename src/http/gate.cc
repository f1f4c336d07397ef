#include "http/gate.h"

#include <strings.h>

#include <algorithm>

#include "base/text.h"
#include "http/reader.h"
#include "http/render.h"
#include "msg/api.h"

namespace ty {

namespace {

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || ::strncasecmp(a.data(), b.data(), a.size()) == 0);
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  int port = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + (c - '0');
  }
  return port <= 65535;
}

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
int HexValue(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

std::optional<std::string> Unescape(std::string_view raw, bool plus_is_space) {
  std::string text;
  text.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); i++) {
    if (raw[i] == '%') {
      if (i + 2 >= raw.size() || !IsHex(raw[i + 1]) || !IsHex(raw[i + 2])) return std::nullopt;
      text += static_cast<char>(HexValue(raw[i + 1]) * 16 + HexValue(raw[i + 2]));
      i += 2;
    } else {
      text += plus_is_space && raw[i] == '+' ? ' ' : raw[i];
    }
  }
  return text;
}

Response Refuse(int status, const Request& request, Message message, std::string field = {}) {
  return ProblemResponse(status, Error{Code::kInvalid, std::move(message), std::move(field)},
                         request.language);
}

// A browser sends an Origin; it must be the very host it talks to. "null" never is.
bool OriginIsHost(std::string_view origin, std::string_view host) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (origin.substr(0, scheme.size()) == scheme && Same(origin.substr(scheme.size()), host)) return true;
  }
  return false;
}

// Somebody follows a link to one of the pages, from a mail or from the file that `trainyard open` writes. The
// pages are the same for everybody and hold nothing; what they then ask comes from our own origin.
bool IsVisit(const Request& request) {
  return request.method == "GET" && request.Header("Sec-Fetch-Mode") == "navigate" &&
         request.Header("Sec-Fetch-Dest") == "document" && !request.target.starts_with("/api/");
}

bool IsType(std::string_view header, std::string_view type) {
  const size_t end = std::min(header.find(';'), header.size());
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  std::string_view bare = header.substr(0, std::min(end, header.size()));
  while (!bare.empty() && (bare.back() == ' ' || bare.back() == '\t')) bare.remove_suffix(1);
  return Same(bare, type);
}

}  // namespace

HostKind JudgeHost(std::string_view host, const std::vector<std::string>& names) {
  if (host.empty()) return HostKind::kMalformed;
  for (char c : host) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f)
      return HostKind::kMalformed;
  }
  std::string_view name = host, port;
  bool has_port = false;
  if (host.front() == '[') {
    const size_t close = host.find(']');
    if (close == std::string_view::npos) return HostKind::kMalformed;
    name = host.substr(0, close + 1);
    const std::string_view rest = host.substr(close + 1);
    if (!rest.empty()) {
      if (rest.front() != ':') return HostKind::kMalformed;
      has_port = true;
      port = rest.substr(1);
    }
  } else if (const size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    has_port = true;
    name = host.substr(0, colon);
    port = host.substr(colon + 1);
  }
  if (name.empty() || (has_port && !IsPort(port))) return HostKind::kMalformed;
  if (Same(name, "localhost") || name == "127.0.0.1" || name == "[::1]") return HostKind::kOurs;
  for (const std::string& ours : names) {
    if (Same(name, ours)) return HostKind::kOurs;
  }
  return HostKind::kForeign;
}

std::optional<Response> Refusal(const Request& request, const GateSettings& settings) {
  if (request.target.empty() || request.target.front() != '/')
    return Refuse(400, request, msg::ApiMalformed{});
  if (!request.peer.socket) {
    const std::string_view host = request.Header("Host");
    if (request.Count("Host") != 1) return Refuse(400, request, msg::ApiBadHost{}, "Host");
    switch (JudgeHost(host, settings.hosts)) {
      case HostKind::kMalformed:
        return Refuse(400, request, msg::ApiBadHost{}, "Host");
      case HostKind::kForeign:
        return Refuse(421, request, msg::ApiForeignHost{.host = Printable(host)}, "Host");
      case HostKind::kOurs:
        break;
    }
    const size_t origins = request.Count("Origin");
    if (origins > 1 || (origins == 1 && !OriginIsHost(request.Header("Origin"), host))) {
      return Refuse(403, request, msg::ApiForeignOrigin{}, "Origin");
    }
    const std::string_view site = request.Header("Sec-Fetch-Site");
    if (request.Count("Sec-Fetch-Site") > 0 && !IsVisit(request) && site != "same-origin" && site != "none") {
      return Refuse(403, request, msg::ApiForeignOrigin{}, "Sec-Fetch-Site");
    }
  }
  const bool reads = request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
  if (!reads) {
    const bool bulk = request.target.substr(0, request.target.find('?')) == "/api/v1/tasks/bulk";
    const char* wanted = bulk ? "application/x-ndjson" : "application/json";
    if (request.Count("Content-Type") != 1 || !IsType(request.Header("Content-Type"), wanted)) {
      return Refuse(415, request, msg::ApiNeedsType{.type = wanted}, "Content-Type");
    }
  }
  return std::nullopt;
}

bool MayEnter(Access access, const Peer& peer) {
  if (access == Access::kPublic || (peer.socket && peer.trusted)) return true;
  return access == Access::kSession && !peer.socket && peer.session;
}

std::optional<std::vector<std::string>> DecodePath(std::string_view raw) {
  std::vector<std::string> parts;
  if (raw.empty() || raw.front() != '/') return std::nullopt;
  raw.remove_prefix(1);
  while (true) {
    const size_t end = std::min(raw.find('/'), raw.size());
    std::optional<std::string> part = Unescape(raw.substr(0, end), false);
    if (!part || !IsUtf8(*part) || *part == "." || *part == "..") return std::nullopt;
    for (char c : *part) {
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '%' || c == '\\') return std::nullopt;
    }
    parts.push_back(std::move(*part));
    if (end == raw.size()) return parts;
    raw.remove_prefix(end + 1);
  }
}

std::optional<std::vector<std::pair<std::string, std::string>>> DecodeQuery(std::string_view raw) {
  std::vector<std::pair<std::string, std::string>> query;
  while (!raw.empty()) {
    const size_t end = std::min(raw.find('&'), raw.size());
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(std::min(end + 1, raw.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = Unescape(pair.substr(0, equals), true);
    std::optional<std::string> value = Unescape(equals < pair.size() ? pair.substr(equals + 1) : "", true);
    if (!name || !value || !IsUtf8(*name) || !IsUtf8(*value)) return std::nullopt;
    query.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

}  // namespace ty

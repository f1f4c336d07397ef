#include "http/assets.h"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>

#include "posix/files.h"

namespace ty {

namespace {

constexpr size_t kFileLimit = 32 << 20;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || ::strncasecmp(a.data(), b.data(), a.size()) == 0);
}

// Calls `take` with each part between commas, until it says false.
template <class Take>
void EachPart(std::string_view list, Take take) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view part = Trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (!part.empty() && !take(part)) return;
  }
}

// "q=0", "q=0.000": never; any other weight is a yes, as we prefer by size.
bool IsRefused(std::string_view parameters) {
  const std::string_view q = Trimmed(parameters);
  if (q.size() < 3 || (q[0] != 'q' && q[0] != 'Q') || q[1] != '=') return false;
  return q.substr(2).find_first_not_of("0.") == std::string_view::npos;
}

// Whether a coding is wanted: named itself, or by *.
bool Allows(std::string_view accept, std::string_view coding) {
  std::optional<bool> named, any;
  EachPart(accept, [&](std::string_view part) {
    const size_t semicolon = std::min(part.find(';'), part.size());
    const std::string_view name = Trimmed(part.substr(0, semicolon));
    const bool yes = semicolon == part.size() || !IsRefused(part.substr(semicolon + 1));
    if (Same(name, coding)) named = yes;
    if (name == "*") any = yes;
    return true;
  });
  return named.value_or(any.value_or(false));
}

}  // namespace

const Asset* FindAsset(std::span<const Asset> assets, std::string_view path) {
  const auto found =
      std::find_if(assets.begin(), assets.end(), [path](const Asset& a) { return a.path == path; });
  return found == assets.end() ? nullptr : &*found;
}

const char* NameOf(Encoding encoding) {
  return encoding == Encoding::kBrotli ? "br" : encoding == Encoding::kGzip ? "gzip" : "";
}

Encoding ChooseEncoding(std::string_view accept, const Asset& asset) {
  if (!asset.brotli.empty() && Allows(accept, "br")) return Encoding::kBrotli;
  if (!asset.gzip.empty() && Allows(accept, "gzip")) return Encoding::kGzip;
  return Encoding::kPlain;
}

std::string_view FormOf(const Asset& asset, Encoding encoding) {
  return encoding == Encoding::kBrotli ? asset.brotli
         : encoding == Encoding::kGzip ? asset.gzip
                                       : asset.plain;
}

std::string TagOf(const Asset& asset, Encoding encoding) {
  const std::string name = NameOf(encoding);
  return "\"" + std::string(asset.digest) + (name.empty() ? "" : "-" + name) + "\"";
}

bool NamesTag(std::string_view if_none_match, std::string_view tag) {
  bool named = false;
  EachPart(if_none_match, [&](std::string_view part) {
    if (part.starts_with("W/")) part.remove_prefix(2);
    named = part == tag || part == "*";
    return !named;
  });
  return named;
}

std::string_view TypeOfFile(std::string_view path) {
  struct Type {
    std::string_view ending, type;
  };
  static constexpr Type kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (const Type& type : kTypes) {
    if (path.ends_with(type.ending)) return type.type;
  }
  return "application/octet-stream";
}

std::optional<std::string> ReadWebFile(const std::string& folder, std::string_view path) {
  SysResult<UniqueFd> here = OpenFolder(folder);
  const size_t slash = path.find('/');
  if (here && slash != std::string_view::npos) {
    const std::string first(path.substr(0, slash));
    path.remove_prefix(slash + 1);
    if (first.starts_with('.')) return std::nullopt;
    here = OpenAt(here->get(), first.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  }
  const std::string name(path);
  if (!here || name.empty() || name[0] == '.' || name.find('/') != std::string::npos) return std::nullopt;
  SysResult<UniqueFd> file = OpenAt(here->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat about {};
  if (!file || ::fstat(file->get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  SysResult<std::string> bytes = ReadAllAt(file->get(), kFileLimit);
  if (!bytes) return std::nullopt;
  return std::move(*bytes);
}

}  // namespace ty

// Files of a task: its output folder and the logs of its attempts. Scripts write there what they like, so no
// link is followed, and what is given out is never more than an attachment.
#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>

#include "base/paths.h"
#include "base/text.h"
#include "http/api.h"
#include "http/parameters.h"
#include "http/render.h"
#include "ingest/log_file.h"
#include "msg/files.h"
#include "posix/browse.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kMostFiles = 2000;
constexpr size_t kMostLookedAt = 50'000;
constexpr int kDepth = 16;
constexpr int64_t kMostBytes = 64 << 20;

// Of an attempt's folder only what tells how it went. The spec holds variables, which may be secret.
bool IsToldOfAttempts(std::string_view name) {
  return name == "head.json" || name == "log" || name.starts_with("log.");
}

struct Listed {
  std::string path, where;
  int64_t bytes = 0, modified_ns = 0;
};
struct Listing {
  std::vector<Listed> files;
  bool cut = false;
};

using Attempts = std::vector<std::pair<int, Ulid>>;  // numbers and folders

Listing List(const std::string& home, TaskId task, const Attempts& attempts) {
  Listing listing;
  FoundFiles out = FindFiles(home, "tasks/" + std::to_string(task.value), kMostLookedAt, kDepth);
  listing.cut = out.cut;
  for (FoundFile& file : out.files)
    listing.files.push_back({"out/" + file.path, "output", file.bytes, file.modified_ns});
  for (const auto& [number, uid] : attempts) {
    FoundFiles found = FindFiles(home, "attempts/" + uid.Text(), kMostFiles, 2);
    for (FoundFile& file : found.files) {
      if (!IsToldOfAttempts(file.path)) continue;
      const std::string path = "attempts/" + std::to_string(number) + "/" + file.path;
      listing.files.push_back({path, "attempt", file.bytes, file.modified_ns});
    }
  }
  std::sort(listing.files.begin(), listing.files.end(), [](const Listed& a, const Listed& b) {
    return a.modified_ns != b.modified_ns ? a.modified_ns > b.modified_ns : a.path < b.path;
  });
  if (listing.files.size() > kMostFiles) {
    listing.files.resize(kMostFiles);
    listing.cut = true;
  }
  return listing;
}

// Where a path as listed lies below the state folder; nothing when it names none that is told of.
std::optional<std::string> PlaceOf(const std::string& path, TaskId task, const Attempts& attempts) {
  if (path.starts_with("out/")) return "tasks/" + std::to_string(task.value) + path.substr(3);
  constexpr std::string_view kAttempts = "attempts/";
  if (!path.starts_with(kAttempts)) return std::nullopt;
  const size_t slash = path.find('/', kAttempts.size());
  if (slash == std::string::npos) return std::nullopt;
  const std::string number = path.substr(kAttempts.size(), slash - kAttempts.size());
  const std::string name = path.substr(slash + 1);
  if (!IsNumber(number) || !IsToldOfAttempts(name) || name.find('/') != std::string::npos)
    return std::nullopt;
  for (const auto& [known, uid] : attempts) {
    if (std::to_string(known) == number) return "attempts/" + uid.Text() + "/" + name;
  }
  return std::nullopt;
}

struct Content {
  std::string bytes;
  int64_t size = 0;
};

Result<Content> ReadContent(const std::string& home, const std::string& place, const std::string& shown,
                            int64_t offset, int64_t limit) {
  SysResult<UniqueFd> file = OpenBelow(home, place);
  if (!file && (file.error() == ENOENT || file.error() == EINVAL))
    return NotFound(msg::FilesNone{.path = Printable(shown)}, "path");
  if (!file && (file.error() == ELOOP || file.error() == ENOTDIR))
    return Conflict(msg::FilesNotAFile{.path = Printable(shown)}, "path");
  if (!file) {
    return Fail(Code::kUnavailable,
                msg::FilesUnreadable{.path = Printable(shown), .why = std::strerror(file.error())});
  }
  Content content;
  content.size = SizeOf(file->get());
  const int64_t wanted = std::min(limit, content.size - std::min(offset, content.size));
  content.bytes = ReadRange(file->get(), offset, static_cast<size_t>(wanted));
  return content;
}

// RFC 8187: every byte that is not plainly a letter of a name is written in hex.
std::string Attachment(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  std::string header = "attachment; filename*=UTF-8''";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
        c == '-') {
      header += c;
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      header += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return header;
}

}  // namespace

void Api::WithAttempts(const CallPtr& call,
                       std::function<void(TaskId, std::vector<std::pair<int, Ulid>>)> then) {
  Select(call, [this, call, then = std::move(then)](TaskId id) {
    Fetch<Result<TaskRecord>>(
        backend_, [id](Rows& rows) { return rows.FindTask(id); },
        [call, id, then](Result<TaskRecord> record) {
          if (!record) return call->Refuse(record.error());
          Attempts attempts;
          for (const Attempt& attempt : record->attempts) attempts.emplace_back(attempt.number, attempt.uid);
          then(id, std::move(attempts));
        });
  });
}

void Api::ListFiles(CallPtr call) {
  WithAttempts(call, [this, call](TaskId task, Attempts attempts) {
    AtDesk<Listing>(
        settings_.file_desk, [home = settings_.home, task, attempts] { return List(home, task, attempts); },
        [call](Listing listing) {
          json::array items;
          items.reserve(listing.files.size());
          for (const Listed& file : listing.files) {
            items.push_back(json::object{{"path", ToJsonText(file.path)},
                                         {"where", file.where},
                                         {"bytes", file.bytes},
                                         {"modified_at", FormatIso(FromNanos(file.modified_ns))}});
          }
          call->Answer(json::object{{"items", std::move(items)}, {"cut", listing.cut}});
        });
  });
}

void Api::GetFile(CallPtr call) {
  Parameters query(call->request);
  const std::string path = query.Text("path");
  const int64_t offset = query.Number("offset", 0, 0, INT64_MAX);
  const int64_t limit = query.Number("limit", kMostBytes, 1, kMostBytes);
  if (query.error()) return call->Refuse(*query.error());
  WithAttempts(call, [this, call, path, offset, limit](TaskId task, const Attempts& attempts) {
    const std::optional<std::string> place = PlaceOf(path, task, attempts);
    if (!place) return call->Refuse(Error{Code::kNotFound, msg::FilesNone{.path = Printable(path)}, "path"});
    AtDesk<Result<Content>>(
        settings_.file_desk,
        [home = settings_.home, place = *place, path, offset, limit] {
          return ReadContent(home, place, path, offset, limit);
        },
        [call, path](Result<Content> content) {
          if (!content) {
            const bool barred = content.error().code == Code::kConflict;
            return call->Refuse(barred ? 403 : StatusOf(content.error()), content.error());
          }
          Response response;
          response.type = "application/octet-stream";
          response.body = std::move(content->bytes);
          response.headers.emplace_back("X-File-Size", std::to_string(content->size));
          response.headers.emplace_back("Content-Disposition", Attachment(path));
          response.headers.emplace_back("Content-Security-Policy", "sandbox; default-src 'none'");
          call->Answer(std::move(response));
        });
  });
}

}  // namespace ty

// Logs by byte range, their tail and their head. The files are the user's to play with: nothing but a plain
// file of ours is read, and a link or a pipe put in its place is not followed.
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/log_gaps.h"
#include "base/paths.h"
#include "base/text.h"
#include "http/api.h"
#include "http/body.h"
#include "http/parameters.h"
#include "http/render.h"
#include "http/whose_log.h"
#include "ingest/ingest.h"
#include "ingest/log_file.h"
#include "msg/head.h"
#include "msg/task.h"
#include "posix/fd.h"
#include "posix/files.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr Duration kTick = milliseconds(50);
constexpr size_t kHeadFileLimit = 256 * 1024;

}  // namespace

int StatusOfLog(const Error& error) {
  return error.code == Code::kConflict ? 403 : StatusOf(error);
}

Status CheckRank(const FoundAttempt& found, int rank) {
  if (rank == kNoRank || found.number == 0 || rank < found.ranks) return {};
  const std::string task = std::to_string(found.task.value);
  if (found.ranks == 0)
    return NotFound(msg::TaskNoRanks{.attempt = found.number, .task = task, .rank = rank}, "rank");
  return NotFound(
      msg::TaskNoRank{.attempt = found.number, .task = task, .rank = rank, .last = found.ranks - 1}, "rank");
}

std::string LogPath(const FoundAttempt& found, int rank, const std::string& home) {
  const AttemptPaths paths{StatePaths{home}.Attempt(found.uid)};
  return found.ranks == 0 ? paths.Log() : paths.Log(rank);
}

void Api::FindAttempt(TaskId id, int wanted, std::function<void(Result<FoundAttempt>)> then) {
  backend_.Describe(
      id, [this, id, wanted, then = std::move(then)](std::optional<TaskView> view, int64_t last_event) {
        FoundAttempt found{.task = id, .open = view.has_value(), .last_event = last_event};
        auto take = [](FoundAttempt& into, const Attempt& attempt, bool ranks) {
          into.number = attempt.number;
          into.uid = attempt.uid;
          into.ended = attempt.state == AttemptState::kEnded;
          into.ranks = ranks ? attempt.processes : 0;
          into.failed_rank = attempt.outcome ? attempt.outcome->failed_rank : std::nullopt;
        };
        if (view) {
          found.count = view->task.attempts;
          const bool current = view->attempt && (wanted == 0 || wanted == view->attempt->number);
          if (current) take(found, *view->attempt, view->task.wish.ranks);
          if (current || found.count == 0) return then(found);
        }
        Fetch<Result<TaskRecord>>(
            backend_, [id](Rows& rows) { return rows.FindTask(id); },
            [found, wanted, take, then](Result<TaskRecord> record) mutable {
              if (!record) return then(Forward(record.error()));
              // It may have ended, or begun anew, since the Yard was asked.
              found.open = found.open && !IsEnded(record->task);
              found.count = std::max(found.count, record->task.attempts);
              for (const Attempt& attempt : record->attempts) {
                if (wanted == 0 || attempt.number == wanted) take(found, attempt, record->task.wish.ranks);
              }
              then(found);
            });
      });
}

// One request for bytes, which may wait for them: the file is looked at each 50 ms, and the Yard is asked
// again when something durable happened, which may be the end of the attempt or the start of one.
class LogFollower : public std::enable_shared_from_this<LogFollower> {
 public:
  LogFollower(Api& api, CallPtr call, TaskId task) : api_(api), call_(std::move(call)), task_(task) {}

  void Begin() {
    Parameters query(call_->request);
    wanted_ = static_cast<int>(query.Number("attempt", 0, 1, 1'000'000));
    rank_ = static_cast<int>(query.Number("rank", kNoRank, 0, kMostRanks));
    offset_ = query.Number("offset", 0, INT64_MIN + 1, INT64_MAX);
    limit_ = query.Number("limit", 1 << 20, 1, 4 << 20);
    const Duration wait = query.Seconds("wait", {}, seconds(600));
    if (query.error()) return call_->Refuse(*query.error());
    if (wait > Duration{}) {
      patience_ = api_.loop_.After(wait, [self = shared_from_this()] { self->GiveUp(); });
      call_->WhenGone([self = shared_from_this()] { self->GiveUp(); });
    }
    Look();
  }

 private:
  void Look() {
    api_.FindAttempt(task_, wanted_, [self = shared_from_this()](Result<FoundAttempt> found) {
      if (self->call_->answered()) return;
      if (!found) return self->End([&] { self->call_->Refuse(found.error()); });
      self->found_ = *found;
      self->Proceed();
    });
  }

  void Proceed() {
    const bool to_come = wanted_ > found_.count && found_.number == 0;
    if (to_come && (!found_.open || !patience_ || wanted_ > found_.count + 1)) {
      return End([&] {
        call_->Refuse(
            Error{Code::kNotFound,
                  msg::TaskNoAttempt{
                      .task = std::to_string(task_.value), .attempt = wanted_, .count = found_.count},
                  "attempt"});
      });
    }
    if (Status there = CheckRank(found_, rank_); !there) return End([&] { call_->Refuse(there.error()); });
    if (found_.number == 0 && (!found_.open || !patience_)) return Give();
    if (found_.number != 0) {
      if (!Measure()) return;
      if (size_ > offset_ || found_.ended || !patience_) return Give();
      Tick();
    }
    news_ = api_.backend_.AwaitEvents(found_.last_event, [self = shared_from_this()] { self->Look(); });
  }

  void Tick() {
    tick_ = api_.loop_.After(kTick, [self = shared_from_this()] {
      if (self->call_->answered() || !self->Measure()) return;
      if (self->size_ > self->offset_) return self->Give();
      self->Tick();
    });
  }

  int Rank() const { return std::max(rank_, 0); }

  // The size now; false when the call has been refused.
  bool Measure() {
    if (file_uid_ != found_.uid) file_.Reset();
    if (!file_) {
      file_uid_ = found_.uid;
      Result<UniqueFd> opened = OpenLog(LogPath(found_, Rank(), api_.settings_.home));
      if (!opened) {
        End([&] { call_->Refuse(StatusOfLog(opened.error()), opened.error()); });
        return false;
      }
      file_ = std::move(*opened);
    }
    size_ = file_ ? SizeOf(file_.get()) : 0;
    if (offset_ < 0) offset_ = std::max<int64_t>(0, size_ + offset_);
    return true;
  }

  void GiveUp() {
    if (call_->answered()) return;
    patience_.reset();
    if (found_.number != 0 && !Measure()) return;
    Give();
  }

  void Give() {
    Response response;
    response.type = "application/octet-stream";
    int64_t begin = std::max<int64_t>(0, offset_);
    LogGaps gaps;
    if (file_ && size_ > begin) {
      response.body = ReadRange(file_.get(), begin, static_cast<size_t>(std::min(limit_, size_ - begin)));
      gaps = ReadGaps(LogPath(found_, Rank(), api_.settings_.home));
      begin = LeaveOut(gaps, begin, response.body);
    }
    const bool ended = found_.number == 0 ? !found_.open : found_.ended;
    response.headers.emplace_back("X-Task", std::to_string(task_.value));
    response.headers.emplace_back("X-Attempt", std::to_string(found_.number));
    if (found_.number != 0 && found_.ranks > 0) {
      response.headers.emplace_back("X-Rank", std::to_string(Rank()));
      response.headers.emplace_back("X-Ranks", std::to_string(found_.ranks));
      if (found_.failed_rank)
        response.headers.emplace_back("X-Failed-Rank", std::to_string(*found_.failed_rank));
    }
    response.headers.emplace_back("X-Log-Offset", std::to_string(begin));
    response.headers.emplace_back("X-Log-Size", std::to_string(size_));
    if (!gaps.empty()) response.headers.emplace_back("X-Log-Gaps", GapsText(gaps));
    response.headers.emplace_back("X-Log-Ended", ended ? "true" : "false");
    End([&] { call_->Answer(std::move(response)); });
  }

  // No answer has a byte of a gap: one that would begin in it begins behind it, one that would reach into it
  // ends before it. Going on where the bytes end steps over it. Returns where they begin.
  static int64_t LeaveOut(const LogGaps& gaps, int64_t begin, std::string& bytes) {
    const LogGap* gap = GapFrom(gaps, begin);
    if (gap != nullptr && gap->from <= begin) {
      bytes.erase(0, static_cast<size_t>(gap->to - begin));
      begin = gap->to;
      gap = GapFrom(gaps, begin);
    }
    if (gap != nullptr) bytes.resize(std::min(bytes.size(), static_cast<size_t>(gap->from - begin)));
    return begin;
  }

  // Every way out: the waits go, so that nothing keeps this alive.
  template <class Last>
  void End(Last last) {
    auto self = shared_from_this();
    patience_.reset();
    tick_.reset();
    news_.reset();
    last();
  }

  Api& api_;
  CallPtr call_;
  TaskId task_;
  int wanted_ = 0, rank_ = kNoRank;
  int64_t offset_ = 0, limit_ = 0;
  FoundAttempt found_;
  UniqueFd file_;
  Ulid file_uid_;
  int64_t size_ = 0;
  std::shared_ptr<void> patience_, tick_, news_;
};

void Api::GetLog(CallPtr call) {
  Select(call, [this, call](TaskId id) { std::make_shared<LogFollower>(*this, call, id)->Begin(); });
}

void Api::WithAttempt(const CallPtr& call,
                      std::function<void(const FoundAttempt&, std::string folder)> then) {
  Parameters query(call->request);
  const int wanted = static_cast<int>(query.Number("attempt", 0, 1, 1'000'000));
  if (query.error()) return call->Refuse(*query.error());
  Select(call, [this, call, wanted, then = std::move(then)](TaskId id) {
    FindAttempt(id, wanted, [this, call, wanted, then](Result<FoundAttempt> found) {
      if (!found) return call->Refuse(found.error());
      if (wanted != 0 && found->number == 0) {
        return call->Refuse(
            Error{Code::kNotFound,
                  msg::TaskNoAttempt{
                      .task = std::to_string(found->task.value), .attempt = wanted, .count = found->count},
                  "attempt"});
      }
      then(*found, StatePaths{settings_.home}.Attempt(found->uid));
    });
  });
}

void Api::MeasureLog(TaskId task, int attempt, int rank, std::function<void(Result<LogSize>)> then) {
  FindAttempt(
      task, attempt,
      [task, attempt, rank, home = settings_.home, then = std::move(then)](Result<FoundAttempt> found) {
        if (!found) return then(Forward(found.error()));
        if (found->number == 0)
          return then(NotFound(msg::TaskNoAttempt{
              .task = std::to_string(task.value), .attempt = attempt, .count = found->count}));
        if (Status there = CheckRank(*found, rank); !there) return then(Forward(there.error()));
        LogSize log{.ended = found->ended, .path = LogPath(*found, std::max(rank, 0), home)};
        log.size = SizeOfLog(log.path).value_or(0);
        then(std::move(log));
      });
}

std::optional<int64_t> Api::SizeOfLog(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  return about.st_size;
}

// Without a named rank, that of the one which failed: it tells why.
void Api::GetTail(CallPtr call) {
  Parameters query(call->request);
  const int named = static_cast<int>(query.Number("rank", kNoRank, 0, kMostRanks));
  if (query.error()) return call->Refuse(*query.error());
  WithAttempt(call, [this, call, named](const FoundAttempt& found, const std::string&) {
    if (Status there = CheckRank(found, named); !there) return call->Refuse(there.error());
    const int rank = named == kNoRank ? found.failed_rank.value_or(0) : named;
    LogTail tail;
    if (found.number != 0) {
      const std::string path = LogPath(found, rank, settings_.home);
      Result<UniqueFd> plain = OpenLog(path);
      if (!plain) return call->Refuse(StatusOfLog(plain.error()), plain.error());
      if (*plain) tail = ReadLogTail(path);
    }
    json::array lines;
    for (const std::string& line : tail.lines) lines.push_back(ToJsonText(line));
    call->Answer(json::object{{"attempt", found.number},
                              {"rank", found.ranks == 0 ? json::value(nullptr) : json::value(rank)},
                              {"lines", std::move(lines)},
                              {"exception", ToJsonText(tail.exception)}});
  });
}

void Api::GetHead(CallPtr call) {
  WithAttempt(call, [this, call](const FoundAttempt& found, const std::string& folder) {
    json::array items;
    if (found.number != 0) {
      Result<UniqueFd> plain = OpenLog(AttemptPaths{folder}.Head());
      if (!plain) return call->Refuse(StatusOfLog(plain.error()), plain.error());
      SysResult<std::string> text =
          *plain ? ReadAllAt(plain->get(), kHeadFileLimit) : SysResult<std::string>(std::string());
      Result<json::value> head = text ? ParseJson(*text) : Result<json::value>(json::value());
      if (head && head->is_array()) {
        for (const json::value& one : head->as_array()) {
          if (Result<Message> message = ParseMessage(one))
            items.push_back(RenderMessage(*message, call->language()));
        }
      }
    }
    // An edit since the submit is seen only once the attempt is on its way: it is no part of the file.
    using Seen = Result<std::optional<Attempt>>;
    Fetch<Seen>(
        backend_,
        [task = found.task, number = found.number](Rows& rows) { return rows.FindAttempt(task, number); },
        [call, items = std::make_shared<json::array>(std::move(items))](Seen seen) {
          if (seen && *seen && !(*seen)->changed_code.empty()) {
            std::string files;
            for (const std::string& file : (*seen)->changed_code)
              files += (files.empty() ? "" : ", ") + Printable(file);
            items->push_back(RenderMessage(msg::HeadCodeChanged{.files = files}, call->language()));
          }
          call->Answer(json::object{{"items", std::move(*items)}});
        });
  });
}

}  // namespace ty

// Lines of a log by number, as a terminal shows them, and the search in them. Both read files, so both are
// answered at the logs' desk.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "http/api.h"
#include "http/parameters.h"
#include "http/render.h"
#include "http/whose_log.h"
#include "ingest/log_shelf.h"
#include "msg/api.h"
#include "msg/log.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kLongestPattern = 1000;

Message WordsOf(const LogGap& gap) {
  if (gap.why == LogGap::Why::kLimit) return msg::LogGapLimit{.size = gap.size()};
  return msg::LogGapDisk{.size = gap.size()};
}

json::object RenderLine(const LogLine& line, Language language) {
  if (line.gap) return {{"text", Render(WordsOf(*line.gap), language)}, {"cut", false}};
  return {{"text", ToJsonText(line.text)}, {"cut", line.cut}};
}

json::object RenderLines(const LinesFound& found, const FoundAttempt& attempt, int rank, Language language) {
  json::array items;
  items.reserve(found.lines.size());
  for (const LogLine& line : found.lines) items.push_back(RenderLine(line, language));
  const bool over = attempt.number == 0 ? !attempt.open : attempt.ended;
  return {
      {"attempt", attempt.number}, {"rank", attempt.ranks == 0 ? json::value(nullptr) : json::value(rank)},
      {"first", found.first},      {"total", found.total},
      {"whole", found.whole},      {"ended", over && found.whole},
      {"size", found.size},        {"items", std::move(items)}};
}

json::object RenderMatches(const MatchesFound& found) {
  json::array items;
  items.reserve(found.matches.size());
  for (const LogMatch& match : found.matches)
    items.push_back(json::object{{"line", match.line}, {"text", ToJsonText(match.text)}});
  return {{"items", std::move(items)},
          {"next", found.next ? json::value(*found.next) : json::value(nullptr)}};
}

}  // namespace

void Api::WithLog(const CallPtr& call,
                  std::function<void(const FoundAttempt&, int rank, const std::string& path)> then) {
  Parameters query(call->request);
  const int named = static_cast<int>(query.Number("rank", kNoRank, 0, kMostRanks));
  if (query.error()) return call->Refuse(*query.error());
  WithAttempt(call,
              [this, call, named, then = std::move(then)](const FoundAttempt& found, const std::string&) {
                if (Status there = CheckRank(found, named); !there) return call->Refuse(there.error());
                const int rank = std::max(named, 0);
                then(found, rank, found.number == 0 ? std::string() : LogPath(found, rank, settings_.home));
              });
}

void Api::GetLines(CallPtr call) {
  Parameters query(call->request);
  const int64_t from = query.Number("from", 0, INT64_MIN + 1, INT64_MAX);
  const int count = static_cast<int>(query.Number("count", 500, 1, 2000));
  if (query.error()) return call->Refuse(*query.error());
  WithLog(call, [this, call, from, count](const FoundAttempt& found, int rank, const std::string& path) {
    using Found = Result<LinesFound>;
    AtDesk<Found>(
        settings_.log_desk,
        [this, path, from, count]() -> Found {
          return path.empty() ? LinesFound{} : shelf_->Lines(path, from, count);
        },
        [this, call, found, rank, path](Found lines) {
          if (!lines) return call->Refuse(StatusOfLog(lines.error()), lines.error());
          call->Answer(RenderLines(*lines, found, rank, call->language()));
          if (!lines->whole) CountOn(path);
        });
  });
}

// Nobody waits for it: whoever asks next finds more counted. Questions that came meanwhile go first.
void Api::CountOn(const std::string& path) {
  AtDesk<bool>(
      settings_.log_desk, [this, path] { return shelf_->GoOn(path); },
      [this, path](bool more) {
        if (more && settings_.log_desk) CountOn(path);
      });
}

void Api::SearchLog(CallPtr call) {
  Parameters query(call->request);
  const std::string text = query.Text("q");
  const bool regex = query.Choice("regex", {"true", "false"}) == "true";
  const bool case_counts = query.Choice("case", {"true", "false"}) == "true";
  const int64_t from = query.Number("from", 0, 0, INT64_MAX);
  const int limit = static_cast<int>(query.Number("limit", 200, 1, 1000));
  if (query.error()) return call->Refuse(*query.error());
  if (text.empty() || text.size() > kLongestPattern || !IsUtf8(text))
    return call->Refuse(Error{Code::kInvalid, msg::LogPatternLength{.most = kLongestPattern}, "q"});
  Result<LogPattern> pattern = LogPattern::Make(text, regex, case_counts);
  if (!pattern) return call->Refuse(pattern.error());

  WithLog(call,
          [this, call, pattern = *pattern, from, limit](const FoundAttempt&, int, const std::string& path) {
            using Found = Result<MatchesFound>;
            AtDesk<Found>(
                settings_.log_desk,
                [this, path, pattern, from, limit]() -> Found {
                  return path.empty() ? MatchesFound{} : shelf_->Search(path, pattern, from, limit);
                },
                [call](Found matches) {
                  if (!matches) return call->Refuse(StatusOfLog(matches.error()), matches.error());
                  call->Answer(RenderMatches(*matches));
                });
          });
}

void Api::ForgetLogs() {
  shelf_->Clear();
}

}  // namespace ty

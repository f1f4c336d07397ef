// The metrics of a task: what there is, and ranges of points for a chart (docs/formats/points.md).
#include "series/series.h"

#include <boost/json.hpp>
#include <cstring>

#include "base/text.h"
#include "http/api.h"
#include "http/parameters.h"
#include "http/render.h"
#include "msg/api.h"
#include "msg/task.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr int64_t kLongestTag = 1000;
constexpr size_t kMostNamed = 20;  // metrics in a refusal

json::object RenderPart(const SeriesPart& part) {
  return {{"attempt", part.attempt},
          {"points", part.points},
          {"first_step", part.first_step},
          {"last_step", part.last_step},
          {"last", RenderNumber(part.last)},
          {"least", part.least ? json::value(*part.least) : json::value(nullptr)},
          {"most", part.most ? json::value(*part.most) : json::value(nullptr)},
          {"nan", part.nan},
          {"inf", part.infinite}};
}

void Put(std::string& body, double number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  body.append(bytes, sizeof bytes);
}
void Put(std::string& body, const std::vector<Dot>& dots) {
  for (const Dot& dot : dots) Put(body, dot.x);
  for (const Dot& dot : dots) Put(body, dot.y);
}

constexpr std::string_view kMagic = "TYP1";

std::string EncodePoints(const PointsQuery& query, std::string_view axis, const PointsAnswer& answer) {
  json::array parts;
  size_t numbers = 0;
  for (const PointsPart& part : answer.parts) {
    parts.push_back(json::object{{"attempt", part.attempt},
                                 {"points", part.points},
                                 {"given", part.dots.size()},
                                 {"marks", part.marks.size()},
                                 {"smooth", part.smooth.size()},
                                 {"exact", part.exact}});
    numbers += 2 * (part.dots.size() + part.marks.size() + part.smooth.size());
  }
  std::string header = json::serialize(json::object{
      {"tag", ToJsonText(query.tag)}, {"x", axis}, {"version", answer.version}, {"parts", std::move(parts)}});
  header.resize((header.size() + 7) / 8 * 8, ' ');  // all before it is 8 bytes
  const auto length = static_cast<uint32_t>(header.size());
  std::string body(kMagic);
  body.reserve(8 + header.size() + numbers * sizeof(double));
  body.append(reinterpret_cast<const char*>(&length), sizeof length);
  body += header;
  for (const PointsPart& part : answer.parts) {
    Put(body, part.dots);
    for (const auto& [x, mark] : part.marks) Put(body, x);
    for (const auto& [x, mark] : part.marks) Put(body, static_cast<double>(mark));
    Put(body, part.smooth);
  }
  return body;
}

Error NoMetric(TaskId task, const std::string& tag, const SeriesList& list) {
  const std::string number = std::to_string(task.value), shown = Printable(tag);
  if (list.items.empty()) return {Code::kNotFound, msg::TaskNoMetrics{.task = number, .tag = shown}, "tag"};
  std::string known;
  for (size_t i = 0; i < std::min(list.items.size(), kMostNamed); ++i)
    known += (known.empty() ? "" : ", ") + Printable(list.items[i].tag);
  if (list.items.size() > kMostNamed) known += ", …";
  return {Code::kNotFound, msg::TaskNoMetric{.task = number, .tag = shown, .known = known}, "tag"};
}

struct Wanted {
  PointsQuery query;
  std::string axis;
};
Result<Wanted> ReadWanted(const Request& request) {
  Parameters parameters(request);
  Wanted wanted;
  PointsQuery& query = wanted.query;
  query.tag = parameters.Text("tag");
  wanted.axis = parameters.Has("x") ? parameters.Choice("x", {"step", "time", "elapsed"}) : "step";
  query.axis = wanted.axis == "time" ? Axis::kTime : wanted.axis == "elapsed" ? Axis::kElapsed : Axis::kStep;
  query.from = parameters.Real("from");
  query.to = parameters.Real("to");
  query.pixels = static_cast<int>(parameters.Number("px", 800, 10, 8000));
  query.smooth = parameters.Real("smooth", 0, 0, 0.999);
  if (parameters.error()) return Forward(*parameters.error());
  const auto length = static_cast<int64_t>(query.tag.size());
  if (length == 0 || length > kLongestTag)
    return Invalid(msg::ApiTextLength{.name = "tag", .most = kLongestTag, .size = length}, "tag");
  if (query.from && query.to && *query.from > *query.to)
    return Invalid(msg::ApiRange{.from = parameters.Text("from"), .to = parameters.Text("to")}, "from");
  return wanted;
}

}  // namespace

void Api::WithTask(const CallPtr& call, std::function<void(TaskId)> then) {
  Select(call, [this, call, then = std::move(then)](TaskId id) {
    FindAttempt(id, 0, [call, id, then](Result<FoundAttempt> found) {
      if (!found) return call->Refuse(found.error());
      then(id);
    });
  });
}

void Api::ListSeries(CallPtr call) {
  WithTask(call, [this, call](TaskId id) {
    auto list = std::make_shared<SeriesList>();
    backend_.ReadSeries(
        [list, id](SeriesStore& series) { *list = series.List(id); },
        [list, call] {
          json::array items;
          for (const SeriesFacts& facts : list->items) {
            json::array parts;
            for (const SeriesPart& part : facts.parts) parts.push_back(RenderPart(part));
            items.push_back(json::object{{"tag", ToJsonText(facts.tag)}, {"parts", std::move(parts)}});
          }
          call->Answer(json::object{{"version", list->version}, {"items", std::move(items)}});
        });
  });
}

void Api::GetPoints(CallPtr call) {
  Result<Wanted> wanted = ReadWanted(call->request);
  if (!wanted) return call->Refuse(wanted.error());
  WithTask(call, [this, call, wanted = std::move(*wanted)](TaskId id) {
    auto answer = std::make_shared<Result<std::string>>();
    backend_.ReadSeries(
        [answer, id, wanted](SeriesStore& series) {
          const PointsAnswer points = series.Points(id, wanted.query);
          if (points.known) {
            *answer = EncodePoints(wanted.query, wanted.axis, points);
          } else {
            *answer = tl::unexpected(NoMetric(id, wanted.query.tag, series.List(id)));
          }
        },
        [answer, call] {
          if (!*answer) return call->Refuse(answer->error());
          Response response;
          response.type = "application/octet-stream";
          response.body = std::move(**answer);
          call->Answer(std::move(response));
        });
  });
}

}  // namespace ty

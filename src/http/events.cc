#include <boost/json.hpp>

#include "http/api.h"
#include "http/parameters.h"
#include "model/event.h"

namespace ty {

namespace {

Response RenderEvents(const std::vector<Event>& events, int64_t since) {
  Response response;
  response.body = "{\"items\":[";
  for (size_t i = 0; i < events.size(); i++) {
    if (i > 0) response.body += ',';
    response.body += ToJsonLine(events[i]);
  }
  response.body += "],\"next\":" + std::to_string(events.empty() ? since : events.back().seq) + "}";
  return response;
}

}  // namespace

// A long poll: what is there is given at once; else one wake of the Yard, or the end of the wait, asks once
// more.
void Api::ListEvents(CallPtr call) {
  Parameters query(call->request);
  const int64_t since = query.Number("since", 0, 0, INT64_MAX);
  const int limit = static_cast<int>(query.Number("limit", 1000, 1, 10000));
  const Duration wait = query.Seconds("wait", {}, seconds(600));
  if (query.error()) return call->Refuse(*query.error());

  using Found = Result<std::vector<Event>>;
  auto read = [since, limit](Rows& rows) { return rows.ListEvents(since, limit); };
  auto give = [this, call, read, since] {
    Fetch<Found>(backend_, read, [call, since](Found events) {
      if (!events) return call->Refuse(events.error());
      call->Answer(RenderEvents(*events, since));
    });
  };
  if (wait <= Duration{}) return give();
  Fetch<Found>(backend_, read, [this, call, since, wait, give](Found events) {
    if (!events) return call->Refuse(events.error());
    if (!events->empty()) return call->Answer(RenderEvents(*events, since));
    struct Waits {
      std::shared_ptr<void> events, timer;
    };
    auto waits = std::make_shared<Waits>();
    auto end = [waits, give] {
      const Waits gone = std::exchange(*waits, {});
      if (gone.timer) give();
    };
    waits->timer = loop_.After(wait, end);
    waits->events = backend_.AwaitEvents(since, end);
    call->WhenGone(end);
  });
}

}  // namespace ty

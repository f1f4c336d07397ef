#include "cli/demo_facts.h"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

namespace ty {

namespace {

namespace json = boost::json;

struct Seen {
  int64_t seq = 0;
  std::string kind;
  int64_t task = 0;
  int64_t attempt = 0;
  const json::object* data = nullptr;

  std::string Text(const char* key) const {
    const json::value* value = data == nullptr ? nullptr : data->if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
  }
  std::optional<double> Number(const char* key) const {
    const json::value* value = data == nullptr ? nullptr : data->if_contains(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->to_number<double>();
  }
};

int64_t Integer(const json::object& object, const char* key) {
  const json::value* value = object.if_contains(key);
  return value != nullptr && value->is_number() ? value->to_number<int64_t>() : 0;
}

std::vector<Seen> Read(const json::array& events) {
  std::vector<Seen> list;
  for (const json::value& event : events) {
    if (!event.is_object()) continue;
    const json::object& object = event.as_object();
    Seen seen;
    seen.seq = Integer(object, "seq");
    seen.task = Integer(object, "task");
    seen.attempt = Integer(object, "attempt");
    if (const json::value* kind = object.if_contains("kind"); kind != nullptr && kind->is_string()) {
      seen.kind = std::string(kind->as_string());
    }
    if (const json::value* data = object.if_contains("data"); data != nullptr && data->is_object()) {
      seen.data = &data->as_object();
    }
    list.push_back(std::move(seen));
  }
  return list;
}

// A lease from its grant to its release (or the end of the log).
struct Span {
  int64_t task = 0;
  std::string device;
  int64_t from = 0, to = INT64_MAX;
  double share = 0;
};

std::vector<Span> LeasesIn(const std::vector<Seen>& events) {
  std::vector<Span> leases;
  for (const Seen& seen : events) {
    if (seen.kind == "lease.granted") {
      leases.push_back(
          {seen.task, seen.Text("device"), seen.seq, INT64_MAX, seen.Number("share_milli").value_or(0)});
    } else if (seen.kind == "lease.released") {
      for (Span& lease : leases) {
        if (lease.task == seen.task && lease.device == seen.Text("device") && lease.to == INT64_MAX)
          lease.to = seen.seq;
      }
    }
  }
  return leases;
}

// No other lease on A's device inside any lease of A, which holds it whole.
DemoFact AExclusive(const std::vector<Span>& leases, const DemoTasks& tasks) {
  DemoFact fact{"a_exclusive", false, {}};
  for (const Span& mine : leases) {
    if (mine.task != tasks.a) continue;
    fact.events.push_back(mine.from);
    if (mine.to != INT64_MAX) fact.events.push_back(mine.to);
    if (mine.share != 1000) return fact;
    for (const Span& other : leases) {
      if (other.task != tasks.a && other.device == mine.device && other.from < mine.to &&
          mine.from < other.to)
        return fact;
    }
  }
  fact.holds = !fact.events.empty();
  return fact;
}

// Two attempts; the first ended in data loading trouble; the second starts from the last checkpoint of the
// first and its first progress is not behind that checkpoint.
DemoFact ARestarted(const std::vector<Seen>& events, const DemoTasks& tasks) {
  DemoFact fact{"a_restarted_from_checkpoint", false, {}};
  const Seen *ended = nullptr, *saved = nullptr, *started = nullptr, *mark = nullptr;
  int64_t attempts = 0;
  for (const Seen& seen : events) {
    if (seen.task != tasks.a) continue;
    attempts = std::max(attempts, seen.attempt);
    if (seen.attempt == 1 && seen.kind == "attempt.ended") ended = &seen;
    if (seen.attempt == 1 && seen.kind == "checkpoint.saved") saved = &seen;
    if (seen.attempt == 2 && seen.kind == "attempt.started" && started == nullptr) started = &seen;
    if (seen.attempt == 2 && seen.kind == "progress.mark" && mark == nullptr) mark = &seen;
  }
  if (ended == nullptr || saved == nullptr || started == nullptr || mark == nullptr) return fact;
  fact.events = {saved->seq, ended->seq, started->seq, mark->seq};
  const json::value* outcome = ended->data->if_contains("outcome");
  if (outcome == nullptr || !outcome->is_object()) return fact;
  auto is = [&](const char* key, std::string_view text) {
    const json::value* value = outcome->as_object().if_contains(key);
    return value != nullptr && value->is_string() && value->as_string() == text;
  };
  fact.holds = attempts == 2 && is("kind", "failed") && is("class", "data_loading") &&
               started->Text("resume") == saved->Text("path") && !saved->Text("path").empty() &&
               mark->Number("done").value_or(-1) >= saved->Number("step").value_or(0);
  return fact;
}

// C was queued while B held its device and starts on it once B's lease is over.
DemoFact CStartedWhenBFreed(const std::vector<Seen>& events, const std::vector<Span>& leases,
                            const DemoTasks& tasks) {
  DemoFact fact{"c_started_when_b_freed", false, {}};
  auto of = [&](int64_t task) {
    return std::find_if(leases.begin(), leases.end(), [&](const Span& lease) { return lease.task == task; });
  };
  auto b = of(tasks.b), c = of(tasks.c);
  auto submitted = std::find_if(events.begin(), events.end(), [&](const Seen& seen) {
    return seen.kind == "task.submitted" && seen.task == tasks.c;
  });
  if (b == leases.end() || c == leases.end() || submitted == events.end()) return fact;
  fact.events = {submitted->seq, b->to, c->from};
  fact.holds = c->device == b->device && submitted->seq < b->to && b->to < c->from;
  return fact;
}

DemoFact AllSucceeded(const std::vector<Seen>& events, const DemoTasks& tasks) {
  DemoFact fact{"all_succeeded", false, {}};
  for (const Seen& seen : events) {
    if (seen.kind != "task.ended") continue;
    if (seen.task != tasks.a && seen.task != tasks.b && seen.task != tasks.c) continue;
    const json::value* outcome = seen.data == nullptr ? nullptr : seen.data->if_contains("outcome");
    if (outcome == nullptr || !outcome->is_object()) return fact;
    const json::value* kind = outcome->as_object().if_contains("kind");
    if (kind == nullptr || !kind->is_string() || kind->as_string() != "succeeded") return fact;
    fact.events.push_back(seen.seq);
  }
  fact.holds = fact.events.size() == 3;
  return fact;
}

}  // namespace

std::vector<DemoFact> ComputeDemoFacts(const json::array& raw, const DemoTasks& tasks) {
  const std::vector<Seen> events = Read(raw);
  const std::vector<Span> leases = LeasesIn(events);
  return {AExclusive(leases, tasks), ARestarted(events, tasks), CStartedWhenBFreed(events, leases, tasks),
          AllSucceeded(events, tasks)};
}

std::vector<double> LossesOf(const json::array& raw, int64_t task) {
  std::vector<double> losses;
  for (const Seen& seen : Read(raw)) {
    if (seen.task != task || seen.kind != "progress.mark" || seen.data == nullptr) continue;
    const json::value* metrics = seen.data->if_contains("metrics");
    if (metrics == nullptr || !metrics->is_object()) continue;
    const json::value* loss = metrics->as_object().if_contains("loss");
    if (loss == nullptr) loss = metrics->as_object().if_contains("val_loss");
    if (loss != nullptr && loss->is_number()) losses.push_back(loss->to_number<double>());
  }
  return losses;
}

}  // namespace ty

#include "cli/demo_facts.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "cli/answer.h"
#include "msg/cli.h"

namespace ty {

namespace {

namespace json = boost::json;

constexpr int64_t kOpen = INT64_MAX;

struct Seen {
  int64_t seq = 0;
  Time at;
  std::string kind;
  int64_t task = 0;
  int64_t attempt = 0;
  json::value data;

  bool Is(std::string_view what, int64_t whose) const { return kind == what && task == whose; }
};

std::vector<Seen> Read(const json::array& events) {
  std::vector<Seen> list;
  for (const json::value& event : events) {
    const json::value* data = At(event, "data");
    list.push_back({IntAt(event, "seq").value_or(0), ParseIso(TextAt(event, "at")).value_or(Time()),
                    TextAt(event, "kind"), IntAt(event, "task").value_or(0),
                    IntAt(event, "attempt").value_or(0), data == nullptr ? json::value() : *data});
  }
  return list;
}

// A stretch of the record, both ends left out.
struct Stretch {
  int64_t from = 0, to = kOpen;
  Time from_at, to_at;

  bool Holds(const Seen& seen) const { return from < seen.seq && seen.seq < to; }
  bool Meets(const Stretch& other) const { return from < other.to && other.from < to; }
  Duration length() const { return to_at - from_at; }
};

// From its grant to its release, or the end of the record.
struct Lease : Stretch {
  int64_t task = 0;
  std::string device, label;
  std::vector<std::pair<int64_t, int>> shares;  // seq of the change, thousandths from there on

  int smallest_share() const {
    int smallest = 1000;
    for (const auto& [seq, milli] : shares) smallest = std::min(smallest, milli);
    return smallest;
  }
};

std::vector<Lease> LeasesIn(const std::vector<Seen>& events) {
  std::vector<Lease> leases;
  for (const Seen& seen : events) {
    const std::string device = TextAt(seen.data, "device");
    const int milli = static_cast<int>(IntAt(seen.data, "share_milli").value_or(0));
    if (seen.kind == "lease.granted") {
      const std::string label = TextAt(seen.data, "label");
      leases.push_back({{seen.seq, kOpen, seen.at, events.back().at},
                        seen.task,
                        device,
                        label.empty() ? device : label,
                        {{seen.seq, milli}}});
      continue;
    }
    auto lease = std::find_if(leases.begin(), leases.end(), [&](const Lease& one) {
      return one.task == seen.task && one.device == device && one.to == kOpen;
    });
    if (lease == leases.end()) continue;
    if (seen.kind == "lease.changed") lease->shares.emplace_back(seen.seq, milli);
    if (seen.kind == "lease.released") {
      lease->to = seen.seq;
      lease->to_at = seen.at;
    }
  }
  return leases;
}

double Seconds(Duration length) {
  return std::chrono::duration<double>(length).count();
}

// As a sentence says it.
double Rounded(double number) {
  return std::round(number * 100) / 100;
}

class Story {
 public:
  Story(const json::array& events, const DemoTasks& tasks)
      : events_(Read(events)), leases_(LeasesIn(events_)), a_(tasks.a), b_(tasks.b), c_(tasks.c) {
    FindTogether();
  }

  DemoFact AExclusive() const;
  DemoFact ARestarted() const;
  DemoFact Shared() const;
  DemoFact TookTurns() const;
  DemoFact Alone() const;
  DemoFact RateUp() const;

 private:
  // Where both were on one device, for the longest time.
  void FindTogether() {
    for (const Lease& b : leases_) {
      for (const Lease& c : leases_) {
        if (b.task != b_ || c.task != c_ || b.device != c.device || !b.Meets(c)) continue;
        const Stretch both{std::max(b.from, c.from), std::min(b.to, c.to), std::max(b.from_at, c.from_at),
                           std::min(b.to_at, c.to_at)};
        if (b_lease_ != nullptr && both.length() <= both_.length()) continue;
        both_ = both;
        b_lease_ = &b;
        c_lease_ = &c;
      }
    }
  }

  bool Apart(DemoFact& fact) const {
    if (b_lease_ == nullptr) fact.seen = msg::CliDemoSeenApart{};
    return b_lease_ == nullptr;
  }

  // From B's release on, as long as C has the device; nothing when C was over first.
  std::optional<Stretch> After(DemoFact& fact) const {
    if (Apart(fact)) return std::nullopt;
    if (c_lease_->to <= b_lease_->to) {
      fact.seen = msg::CliDemoSeenCFirst{};
      return std::nullopt;
    }
    return Stretch{b_lease_->to, c_lease_->to, b_lease_->to_at, c_lease_->to_at};
  }

  // Somebody else's lease on the device within the stretch.
  const Lease* Other(const Stretch& stretch, const std::string& device, int64_t but) const {
    for (const Lease& lease : leases_) {
      if (lease.device == device && lease.task != but && lease.Meets(stretch)) return &lease;
    }
    return nullptr;
  }

  // The progress marks of a task in there, those left out that do not rise.
  std::vector<const Seen*> Rising(const Stretch& stretch, int64_t task) const {
    std::vector<const Seen*> marks;
    for (const Seen& seen : events_) {
      if (!seen.Is("progress.mark", task) || !stretch.Holds(seen)) continue;
      if (marks.empty() || Done(seen) > Done(*marks.back())) marks.push_back(&seen);
    }
    return marks;
  }
  static double Done(const Seen& mark) { return RealAt(mark.data, "done").value_or(0); }

  // Done per second; nothing when there was no progress. Adds what it rests on.
  std::optional<double> Rate(const Stretch& stretch, int64_t task, std::vector<int64_t>& rests_on) const {
    const std::vector<const Seen*> marks = Rising(stretch, task);
    if (marks.size() < 2) return std::nullopt;
    const double took = Seconds(marks.back()->at - marks.front()->at);
    if (took <= 0) return std::nullopt;
    rests_on.insert(rests_on.end(), {marks.front()->seq, marks.back()->seq});
    return (Done(*marks.back()) - Done(*marks.front())) / took;
  }

  std::string NameOf(int64_t task) const {
    if (task == a_) return "A";
    if (task == b_) return "B";
    return task == c_ ? "C" : std::to_string(task);
  }

  std::vector<Seen> events_;
  std::vector<Lease> leases_;
  int64_t a_, b_, c_;
  Stretch both_;
  const Lease *b_lease_ = nullptr, *c_lease_ = nullptr;
};

DemoFact Story::AExclusive() const {
  DemoFact fact{"a_exclusive"};
  for (const Lease& mine : leases_) {
    if (mine.task != a_) continue;
    fact.events.push_back(mine.from);
    if (mine.to != kOpen) fact.events.push_back(mine.to);
    if (const int share = mine.smallest_share(); share != 1000) {
      fact.seen = msg::CliDemoSeenNotWhole{.percent = share / 10, .device = mine.label};
    } else if (const Lease* other = Other(mine, mine.device, a_)) {
      fact.events.push_back(other->from);
      fact.seen = msg::CliDemoSeenOtherThere{.task = NameOf(other->task), .device = mine.label};
    }
    if (!fact.seen.empty()) return fact;
  }
  fact.holds = !fact.events.empty();
  if (!fact.holds) fact.seen = msg::CliDemoSeenNoLease{.task = "A"};
  return fact;
}

DemoFact Story::ARestarted() const {
  DemoFact fact{"a_restarted_from_checkpoint"};
  const Seen *ended = nullptr, *saved = nullptr, *started = nullptr, *mark = nullptr;
  int64_t attempts = 0;
  for (const Seen& seen : events_) {
    if (seen.task != a_) continue;
    attempts = std::max(attempts, seen.attempt);
    if (seen.attempt == 1 && seen.kind == "checkpoint.saved") saved = &seen;
    if (seen.attempt == 1 && seen.kind == "attempt.ended") ended = &seen;
    if (seen.attempt == 2 && seen.kind == "attempt.started") started = &seen;
    if (seen.attempt == 2 && seen.kind == "progress.mark" && mark == nullptr) mark = &seen;
  }
  for (const Seen* seen : {saved, ended, started, mark})
    if (seen != nullptr) fact.events.push_back(seen->seq);
  auto but = [&fact](Message seen) {
    fact.seen = std::move(seen);
    return fact;
  };

  if (attempts != 2 || ended == nullptr || started == nullptr)
    return but(msg::CliDemoSeenRuns{.count = attempts});
  const json::value* outcome = At(ended->data, "outcome");
  const std::string kind = outcome == nullptr ? "" : TextAt(*outcome, "kind");
  const std::string failure = outcome == nullptr ? "" : TextAt(*outcome, "class");
  if (kind != "failed" || failure != "data_loading")
    return but(msg::CliDemoSeenFirstEnd{.how = failure.empty() ? kind : kind + ", " + failure});
  if (saved == nullptr || saved->seq > ended->seq) return but(msg::CliDemoSeenNoCheckpoint{});
  const std::string path = TextAt(saved->data, "path"), resume = TextAt(started->data, "resume");
  if (resume != path || path.empty())
    return but(msg::CliDemoSeenOtherCheckpoint{.resume = resume, .path = path});
  if (mark == nullptr) return but(msg::CliDemoSeenNoProgress{.task = "A"});
  const int64_t step = IntAt(saved->data, "step").value_or(0), done = std::llround(Done(*mark));
  if (done < step) return but(msg::CliDemoSeenBehind{.done = done, .step = step});
  fact.holds = true;
  return but(msg::CliDemoSeenResumed{.step = step});
}

DemoFact Story::Shared() const {
  DemoFact fact{"b_c_shared"};
  if (Apart(fact)) return fact;
  fact.events = {b_lease_->from, c_lease_->from};
  const double length = Rounded(Seconds(both_.length()));
  if (both_.length() < kDemoTogether) {
    fact.seen = msg::CliDemoSeenTogetherShort{
        .device = b_lease_->label, .length = length, .least = Seconds(kDemoTogether)};
    return fact;
  }
  for (int64_t task : {b_, c_}) {
    const std::vector<const Seen*> marks = Rising(both_, task);
    if (marks.size() < 2) {
      fact.seen = msg::CliDemoSeenNoProgress{.task = NameOf(task)};
      return fact;
    }
    fact.events.insert(fact.events.end(), {marks.front()->seq, marks.back()->seq});
  }
  if (both_.to != kOpen) fact.events.push_back(both_.to);
  fact.holds = true;
  fact.seen = msg::CliDemoSeenTogether{.device = b_lease_->label, .length = length};
  return fact;
}

// One of two that take turns, as far as the record has been read.
struct Sharer {
  int64_t task;
  bool runs = false, frozen = false;
  bool froze_here = false;  // its last freeze is within the stretch
  int turns = 0;            // freezes with their thaws within it

  bool awake() const { return runs && !frozen; }
  // Whether the event says that it sleeps or wakes.
  bool Take(const Seen& seen, bool here) {
    if (seen.kind == "attempt.started") {
      runs = true;
      frozen = false;
    } else if (seen.kind == "attempt.ended" || seen.kind == "attempt.lost") {
      runs = false;
    } else if (seen.kind == "attempt.frozen") {
      frozen = true;
      froze_here = here;
    } else if (seen.kind == "attempt.thawed") {
      turns += frozen && froze_here && here;
      frozen = false;
    } else {
      return false;
    }
    return true;
  }
};

DemoFact Story::TookTurns() const {
  DemoFact fact{"b_c_took_turns"};
  if (Apart(fact)) return fact;
  Sharer b{b_}, c{c_};
  bool both = false;
  Time since;  // when both were
  Duration longest{};
  auto look = [&](Time at) {
    if (both) longest = std::max(longest, at - since);
    const bool now = b.awake() && c.awake();
    if (now && !both) since = at;
    both = now;
  };
  for (const Seen& seen : events_) {
    if (seen.seq >= both_.to) break;
    if (seen.task != b_ && seen.task != c_) continue;
    const bool here = both_.Holds(seen);
    if (!(seen.task == b_ ? b : c).Take(seen, here) || !here) continue;
    if (seen.kind == "attempt.frozen" || seen.kind == "attempt.thawed") fact.events.push_back(seen.seq);
    look(seen.at);
  }
  look(both_.to_at);

  if (b.turns < kDemoTurns || c.turns < kDemoTurns) {
    fact.seen = msg::CliDemoSeenTurnsFew{.b = b.turns, .c = c.turns};
  } else if (longest > kDemoBothAwake) {
    fact.seen = msg::CliDemoSeenBothRan{.length = Rounded(Seconds(longest))};
  } else {
    fact.holds = true;
    fact.seen = msg::CliDemoSeenTurns{.b = b.turns, .c = c.turns};
  }
  return fact;
}

DemoFact Story::Alone() const {
  DemoFact fact{"c_alone_after_b"};
  const std::optional<Stretch> after = After(fact);
  if (!after) return fact;
  fact.events = {after->from};
  if (const Lease* other = Other(*after, c_lease_->device, c_)) {
    fact.events.push_back(other->from);
    fact.seen = msg::CliDemoSeenOtherThere{.task = NameOf(other->task), .device = c_lease_->label};
    return fact;
  }
  const auto& [changed, share] = c_lease_->shares.back();
  if (share != 1000 || changed < after->from) {
    fact.seen = msg::CliDemoSeenNotGrown{.device = c_lease_->label, .percent = share / 10};
    return fact;
  }
  fact.events.push_back(changed);
  const std::vector<const Seen*> marks = Rising(*after, c_);
  if (marks.size() < 2) {
    fact.seen = msg::CliDemoSeenNoProgress{.task = "C"};
    return fact;
  }
  fact.events.insert(fact.events.end(), {marks.front()->seq, marks.back()->seq});
  if (after->to != kOpen) fact.events.push_back(after->to);
  fact.holds = true;
  fact.seen = msg::CliDemoSeenAlone{.device = c_lease_->label, .length = Rounded(Seconds(after->length()))};
  return fact;
}

DemoFact Story::RateUp() const {
  DemoFact fact{"c_rate_up_after_b"};
  fact.measured = true;
  const std::optional<Stretch> after = After(fact);
  if (!after) return fact;
  const std::optional<double> beside = Rate(both_, c_, fact.events);
  const std::optional<double> alone = Rate(*after, c_, fact.events);
  if (!beside) {
    fact.seen = msg::CliDemoSeenRateUnknownDuring{};
  } else if (!alone) {
    fact.seen = msg::CliDemoSeenRateUnknownAfter{};
  } else {
    fact.number = *alone / *beside;
    fact.holds = *fact.number >= kDemoRateUp;
    const double times = Rounded(*fact.number);
    if (fact.holds) fact.seen = msg::CliDemoSeenRate{.times = times};
    if (!fact.holds) fact.seen = msg::CliDemoSeenRateLow{.times = times, .least = kDemoRateUp};
  }
  return fact;
}

}  // namespace

std::vector<DemoFact> ComputeDemoFacts(const json::array& events, const DemoTasks& tasks) {
  const Story story(events, tasks);
  std::vector<DemoFact> facts = {story.AExclusive(), story.ARestarted(), story.Shared(),
                                 story.TookTurns(),  story.Alone(),      story.RateUp()};
  for (DemoFact& fact : facts) {
    std::sort(fact.events.begin(), fact.events.end());
    fact.events.erase(std::unique(fact.events.begin(), fact.events.end()), fact.events.end());
  }
  return facts;
}

std::vector<double> LossesOf(const json::array& events, int64_t task) {
  std::vector<double> losses;
  for (const json::value& event : events) {
    if (TextAt(event, "kind") != "progress.mark" || IntAt(event, "task").value_or(0) != task) continue;
    const json::value* data = At(event, "data");
    const json::value* metrics = data == nullptr ? nullptr : At(*data, "metrics");
    if (metrics == nullptr) continue;
    std::optional<double> loss = RealAt(*metrics, "loss");
    if (!loss) loss = RealAt(*metrics, "val_loss");
    if (loss) losses.push_back(*loss);
  }
  return losses;
}

}  // namespace ty

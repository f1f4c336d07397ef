#include "http/live.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "http/api.h"
#include "http/body.h"
#include "http/render.h"
#include "msg/live.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kMostTopics = 64, kMostEarly = 64;
constexpr size_t kMuch = 1 << 20;        // on its way to one browser: topics wait
constexpr size_t kFarTooMuch = 4 << 20;  // a browser that asks on and on and reads nothing
constexpr Duration kBeat = seconds(10);
constexpr int kMostStalls = 3;  // beats
constexpr Duration kEventsPeriod = milliseconds(250);
constexpr int64_t kEventsPage = 500, kMostBehind = 5000;
constexpr size_t kNameLimit = 100;
constexpr int64_t kMostNumber = 1'000'000, kNoRank = -2;  // of attempts and ranks
constexpr const char* kKnown = "yard, devices, running, queue, task/N, log/N/ATTEMPT/RANK, series/N, events";

enum class Source : uint8_t { kRoute, kQueue, kLog, kSeries };

std::string Quoted(std::string_view text) {
  return json::serialize(json::value(ToJsonText(text)));
}
std::string Head(std::string_view topic, int64_t seq) {
  return "{\"topic\":" + Quoted(topic) + ",\"seq\":" + std::to_string(seq);
}

// "12" of "task/12"; -1: it is no number of ours.
int64_t NumberOf(std::string_view word) {
  return IsNumber(std::string(word)) ? ParseInt(word).value_or(-1) : -1;
}

std::vector<std::string_view> Split(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t slash = name.find('/');
    parts.push_back(name.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    name.remove_prefix(slash + 1);
  }
}

}  // namespace

struct LiveTopic {
  std::string name;
  Language language = Language::kEnglish;
  Source source = Source::kRoute;
  std::string target;  // of kRoute and kSeries
  TaskId task;         // of kLog
  int attempt = 0, rank = -1;
  std::string log_path;  // where it lies, once that is known
  bool over = false;     // a log that has ended: nothing will change

  // Without news a topic that rests in itself is looked at more and more seldom, down to `slowest`.
  Duration period{}, slowest{}, pause{};

  Frame frame;
  size_t value_at = 0;   // where in the frame the value begins
  uint64_t version = 0;  // 0: never read
  bool reading = false, resting = false;
  bool again = false;  // something happened meanwhile
  bool moved = false;  // of kQueue: who is in it or in which order has changed
  std::shared_ptr<void> timer;
  std::set<LiveClient*> clients;

  std::string_view value() const {
    return frame ? std::string_view(*frame).substr(value_at, frame->size() - value_at - 1)
                 : std::string_view();
  }
};

namespace {

// Null: there is no such topic.
std::shared_ptr<LiveTopic> MakeTopic(const std::string& name, Language language) {
  LiveTopic topic;
  topic.name = name;
  topic.language = language;
  topic.period = milliseconds(500);
  topic.slowest = seconds(1);
  const std::vector<std::string_view> parts = Split(name);
  const int64_t number = parts.size() > 1 ? NumberOf(parts[1]) : -1;
  if (name == "yard" || name == "devices") {
    topic.target = name == "yard" ? "/api/v1/status" : "/api/v1/devices";
    topic.period = seconds(1);
    topic.slowest = seconds(2);
  } else if (name == "running") {
    topic.target = "/api/v1/tasks?state=running";
  } else if (name == "queue") {
    topic.source = Source::kQueue;
  } else if (parts[0] == "task" && parts.size() == 2 && number > 0) {
    topic.target = "/api/v1/tasks/" + std::to_string(number);
  } else if (parts[0] == "series" && parts.size() == 2 && number > 0) {
    topic.source = Source::kSeries;
    topic.target = "/api/v1/tasks/" + std::to_string(number) + "/series";
  } else if (parts[0] == "log" && parts.size() == 4 && number > 0) {
    const int64_t attempt = NumberOf(parts[2]), rank = parts[3] == "-" ? kNoRank : NumberOf(parts[3]);
    if (attempt < 1 || attempt > kMostNumber || (rank < 0 && rank != kNoRank) || rank > kMostNumber)
      return nullptr;
    topic.source = Source::kLog;
    topic.task = TaskId{number};
    topic.attempt = static_cast<int>(attempt);
    topic.rank = rank == kNoRank ? -1 : static_cast<int>(rank);
    topic.period = topic.slowest = milliseconds(250);
  } else {
    return nullptr;
  }
  topic.pause = topic.period;
  return std::make_shared<LiveTopic>(std::move(topic));
}

struct Wish {
  std::vector<std::string> sub, unsub;
  std::optional<int64_t> since;
  std::optional<json::value> ping;
};

std::optional<std::vector<std::string>> Names(const json::value& value) {
  if (!value.is_array() || value.get_array().size() > 4 * kMostTopics) return std::nullopt;
  std::vector<std::string> names;
  for (const json::value& one : value.get_array()) {
    if (!one.is_string() || one.get_string().size() > kNameLimit) return std::nullopt;
    names.emplace_back(one.get_string());
  }
  return names;
}

// One of the three frames, and nothing besides.
std::optional<Wish> ParseWish(std::string_view frame) {
  Result<json::value> parsed = ParseJson(frame);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const json::object& object = parsed->get_object();
  Wish wish;
  int verbs = 0;
  for (const auto& [key, value] : object) {
    if (key == "sub" || key == "unsub") {
      auto names = Names(value);
      if (!names) return std::nullopt;
      (key == "sub" ? wish.sub : wish.unsub) = std::move(*names);
      verbs++;
    } else if (key == "ping" && value.is_number()) {
      wish.ping = value;
      verbs++;
    } else if (key == "since" && value.is_int64() && value.get_int64() >= 0) {
      wish.since = value.get_int64();
    } else {
      return std::nullopt;
    }
  }
  if (verbs != 1 || (wish.since && !object.contains("sub"))) return std::nullopt;
  return wish;
}

}  // namespace

// ---- One stream

bool LiveClient::slow() const {
  return line_->pending() > kMuch;
}

void LiveClient::Send(std::string frame) const {
  line_->Send(std::make_shared<const std::string>(std::move(frame)));
}

void LiveClient::Take(std::string_view frame) {
  if (hub_ == nullptr) return;
  if (greeted_) return Obey(frame);
  if (early_.size() == kMostEarly) return Leave(kBadFrame);
  early_.emplace_back(frame);
}

void LiveClient::Obey(std::string_view frame) {
  const auto self = shared_from_this();  // a frame may end the stream
  std::optional<Wish> wish = ParseWish(frame);
  if (!wish) return Leave(kBadFrame);
  if (line_->pending() > kFarTooMuch) return Leave(kTooSlow);
  if (wish->ping) Send("{\"pong\":" + json::serialize(*wish->ping) + "}");
  for (const std::string& name : wish->sub) {
    if (hub_ != nullptr) Subscribe(name, wish->since);
  }
  for (const std::string& name : wish->unsub) {
    if (hub_ != nullptr) Unsubscribe(name);
  }
}

void LiveClient::Subscribe(const std::string& name, std::optional<int64_t> since) {
  const bool known = topics_.count(name) != 0 || (name == "events" && events_);
  if (!known && topics_.size() + (events_ ? 1 : 0) >= kMostTopics) {
    const Error error{Code::kConflict, msg::LiveTooMany{.limit = int64_t{kMostTopics}}, {}};
    return Send(Head(name, hub_->seq_) +
                ",\"problem\":" + json::serialize(RenderProblem(StatusOf(error), error, language_)) + "}");
  }
  if (name == "events") return hub_->Follow(*this, since);
  hub_->Join(*this, name);
}

void LiveClient::Unsubscribe(const std::string& name) {
  if (name == "events") return events_.reset();
  hub_->Part(*this, name);
}

void LiveClient::Sent() {
  if (hub_ == nullptr) return;
  moved_ = true;
  if (slow()) return;
  for (auto& [name, subscription] : topics_) hub_->Give(*this, subscription);
  if (events_ && events_->cursor < hub_->seq_ && !events_->reading && !events_->rest)
    hub_->CatchUp(shared_from_this(), false);
}

void LiveClient::Gone() {
  if (hub_ == nullptr) return;
  const auto self = shared_from_this();
  while (!topics_.empty()) hub_->Part(*this, topics_.begin()->first);
  events_.reset();
  std::exchange(hub_, nullptr)->Forget(self);
  line_.reset();
}

void LiveClient::Leave(int code) {
  const auto self = shared_from_this();
  const auto line = line_;
  Gone();
  if (line) line->Close(code);
}

// ---- All streams

LiveHub::LiveHub(Settings settings, Api& api, Loop& loop)
    : settings_(std::move(settings)), api_(api), loop_(loop) {}
LiveHub::~LiveHub() {
  for (const auto& client : clients_) {
    client->hub_ = nullptr;
    client->line_.reset();
    client->topics_.clear();
  }
}

std::shared_ptr<LiveClient> LiveHub::Open(std::shared_ptr<LiveLine> line, Language language,
                                          std::string browser) {
  auto client = std::make_shared<LiveClient>(*this, std::move(line), language, std::move(browser));
  clients_.insert(client);
  if (!beat_) beat_ = loop_.After(kBeat, [this] { Beat(); });
  api_.LastEvent([weak = std::weak_ptr(client), alive = std::weak_ptr(alive_), this](int64_t last) {
    const auto client = weak.lock();
    if (alive.expired() || !client || client->hub_ == nullptr) return;
    seq_ = std::max(seq_, last);
    Greet(client);
  });
  return client;
}

void LiveHub::Greet(const std::shared_ptr<LiveClient>& client) {
  client->Send("{\"hello\":" +
               json::serialize(json::object{{"instance", settings_.instance},
                                            {"version", settings_.version},
                                            {"seq", seq_},
                                            {"now", FormatIso(settings_.now())}}) +
               "}");
  client->greeted_ = true;
  if (!std::exchange(follows_, true)) AwaitNews();
  for (const std::string& frame : std::exchange(client->early_, {})) {
    if (client->hub_ != nullptr) client->Obey(frame);
  }
}

void LiveHub::Forget(const std::shared_ptr<LiveClient>& client) {
  clients_.erase(client);
  if (!clients_.empty()) return;
  follows_ = false;
  news_.reset();
  news_rest_.reset();
  beat_.reset();
}

void LiveHub::SignedOut(const std::string& browser) {
  const std::vector<std::shared_ptr<LiveClient>> all(clients_.begin(), clients_.end());
  for (const auto& client : all) {
    const bool its = browser.empty() ? !client->browser_.empty() : client->browser_ == browser;
    if (its) client->Leave(kSignedOut);
  }
}

void LiveHub::CloseAll() {
  const std::vector<std::shared_ptr<LiveClient>> all(clients_.begin(), clients_.end());
  for (const auto& client : all) client->Leave(kGoingAway);
}

// A stream that lives keeps its browser signed in.
void LiveHub::Beat() {
  const auto frame = std::make_shared<const std::string>("{\"beat\":\"" + FormatIso(settings_.now()) + "\"}");
  const std::vector<std::shared_ptr<LiveClient>> all(clients_.begin(), clients_.end());
  for (const auto& client : all) {
    if (client->hub_ == nullptr) continue;
    if (!client->browser_.empty() && !api_.StillSignedIn(client->browser_)) {
      client->Leave(kSignedOut);
      continue;
    }
    const bool stalls = client->line_->pending() > 0 && !client->moved_;
    client->stalls_ = stalls ? client->stalls_ + 1 : 0;
    client->moved_ = false;
    if (client->stalls_ >= kMostStalls) {
      client->Leave(kTooSlow);
    } else if (client->greeted_ && !client->slow()) {
      client->line_->Send(frame);
    }
  }
  beat_.reset();
  if (!clients_.empty()) beat_ = loop_.After(kBeat, [this] { Beat(); });
}

// The same way as everybody's questions, so that the answers are the same.
void LiveHub::Ask(const std::string& target, Language language, Answer then) {
  Request request;
  request.method = "GET";
  request.target = target;
  request.peer = {.socket = true, .trusted = true};
  request.language = language;
  auto call = std::make_shared<Call>(
      std::move(request), [then = std::move(then), alive = std::weak_ptr(alive_)](Response response) {
        if (!alive.expired()) then(response.status == 200, std::move(response.body));
      });
  if (api_.Admit(call)) api_.Handle(call);
}

// ---- Topics

std::shared_ptr<LiveTopic> LiveHub::FindTopic(const std::string& name, Language language) {
  const auto found = topics_.find({name, language});
  if (found != topics_.end()) return found->second;
  auto topic = MakeTopic(name, language);
  if (topic) topics_.emplace(std::pair(name, language), topic);
  return topic;
}

void LiveHub::Join(LiveClient& client, const std::string& name) {
  const auto topic = FindTopic(name, client.language_);
  if (!topic) {
    const Error error{Code::kNotFound, msg::LiveNoTopic{.topic = Printable(name), .known = kKnown}, {}};
    return client.Send(Head(name, seq_) +
                       ",\"problem\":" + json::serialize(RenderProblem(404, error, client.language_)) + "}");
  }
  topic->clients.insert(&client);
  LiveClient::Subscription& subscription = client.topics_[name];
  subscription = {topic, 0};
  if (topic->reading) return;  // it comes to all
  if (topic->version > 0 && (topic->resting || topic->over)) return Give(client, subscription);
  Read(topic, true);
}

void LiveHub::Part(LiveClient& client, const std::string& name) {
  const auto found = client.topics_.find(name);
  if (found == client.topics_.end()) return;
  const std::shared_ptr<LiveTopic> topic = found->second.topic;
  client.topics_.erase(found);
  topic->clients.erase(&client);
  if (!topic->clients.empty()) return;
  topic->timer.reset();
  topics_.erase({topic->name, topic->language});
}

void LiveHub::Give(LiveClient& client, LiveClient::Subscription& subscription) {
  const LiveTopic& topic = *subscription.topic;
  if (topic.version == 0 || subscription.given == topic.version || client.slow()) return;
  subscription.given = topic.version;
  client.line_->Send(topic.frame);
}

// `afresh`: something has happened; else it is only time to look again.
void LiveHub::Read(const std::shared_ptr<LiveTopic>& topic, bool afresh) {
  topic->reading = true;
  topic->again = false;
  topic->timer.reset();
  Answer arrived = [this, weak = std::weak_ptr(topic), seq = seq_](bool good, std::string body) {
    if (const auto topic = weak.lock()) Arrived(topic, seq, good, std::move(body));
  };
  switch (topic->source) {
    case Source::kRoute:
      return Ask(topic->target, topic->language, std::move(arrived));
    case Source::kQueue:
      return ReadQueue(std::move(arrived));
    case Source::kLog:
      return ReadLog(topic, afresh, std::move(arrived));
    case Source::kSeries:
      return Ask(topic->target, topic->language, [arrived = std::move(arrived)](bool good, std::string body) {
        const Result<json::value> whole = ParseJson(body);
        const json::value* version =
            whole && whole->is_object() ? whole->get_object().if_contains("version") : nullptr;
        if (good && version != nullptr) body = "{\"version\":" + json::serialize(*version) + "}";
        arrived(good, std::move(body));
      });
  }
}

void LiveHub::ReadQueue(Answer then) {
  api_.CountQueue([then = std::move(then), alive = std::weak_ptr(alive_)](const YardView& yard) {
    if (alive.expired()) return;
    then(true, json::serialize(json::object{
                   {"waiting", yard.waiting - yard.held}, {"held", yard.held}, {"paused", yard.paused}}));
  });
}

void LiveHub::ReadLog(const std::shared_ptr<LiveTopic>& topic, bool afresh, Answer then) {
  auto tell = [](int64_t size, bool ended) {
    return "{\"size\":" + std::to_string(size) + ",\"ended\":" + (ended ? "true" : "false") + "}";
  };
  // Whose log it is does not change between two looks; how long it is does.
  if (!afresh && !topic->log_path.empty()) {
    if (const std::optional<int64_t> size = Api::SizeOfLog(topic->log_path))
      return then(true, tell(*size, false));
  }
  api_.MeasureLog(topic->task, topic->attempt, topic->rank,
                  [weak = std::weak_ptr(topic), then = std::move(then), alive = std::weak_ptr(alive_),
                   tell](Result<LogSize> log) {
                    const auto topic = weak.lock();
                    if (alive.expired() || !topic) return;
                    if (!log)
                      return then(false, json::serialize(RenderProblem(StatusOf(log.error()), log.error(),
                                                                       topic->language)));
                    topic->log_path = log->path;
                    topic->over = log->ended;
                    then(true, tell(log->size, log->ended));
                  });
}

void LiveHub::Arrived(const std::shared_ptr<LiveTopic>& topic, int64_t seq, bool good, std::string body) {
  topic->reading = false;
  if (topic->clients.empty()) return;
  if (!good) return Refuse(topic, seq, body);
  const bool moved = std::exchange(topic->moved, false);
  if (topic->version == 0 || moved || topic->value() != body) {
    std::string frame = Head(topic->name, seq) + ",\"value\":";
    topic->value_at = frame.size();
    frame += body + "}";
    topic->frame = std::make_shared<const std::string>(std::move(frame));
    topic->version++;
    topic->pause = topic->period;
  } else {
    topic->pause = std::min(topic->pause * 2, topic->slowest);
  }
  for (LiveClient* client : topic->clients) Give(*client, client->topics_[topic->name]);
  topic->resting = true;
  topic->timer = loop_.After(topic->period, [this, weak = std::weak_ptr(topic)] {
    if (const auto topic = weak.lock()) Rested(topic);
  });
}

void LiveHub::Rested(const std::shared_ptr<LiveTopic>& topic) {
  topic->resting = false;
  topic->timer.reset();
  if (topic->again) return Read(topic, true);
  if (topic->over) return;
  if (topic->pause <= topic->period) return Read(topic, false);
  topic->timer = loop_.After(topic->pause - topic->period, [this, weak = std::weak_ptr(topic)] {
    if (const auto topic = weak.lock()) Read(topic, false);
  });
}

// The topic has ended for everybody; whoever wants it again asks again.
void LiveHub::Refuse(const std::shared_ptr<LiveTopic>& topic, int64_t seq, const std::string& problem) {
  const auto frame =
      std::make_shared<const std::string>(Head(topic->name, seq) + ",\"problem\":" + problem + "}");
  const std::set<LiveClient*> clients = topic->clients;
  for (LiveClient* client : clients) {
    client->line_->Send(frame);
    Part(*client, topic->name);
  }
}

// ---- Events

void LiveHub::AwaitNews() {
  news_ = api_.AwaitEvents(seq_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired() && follows_) ReadNews();
  });
}

void LiveHub::ReadNews() {
  Ask("/api/v1/events?limit=" + std::to_string(kEventsPage) + "&since=" + std::to_string(seq_),
      Language::kEnglish, [this, since = seq_](bool good, std::string page) {
        if (!follows_) return;
        if (since != seq_) return ReadNews();  // some were skipped meanwhile
        // {"items":[…],"next":4712}: the number stands behind the last colon.
        const std::optional<int64_t> next = good && page.size() > 2
                                                ? ParseInt(std::string_view(page).substr(
                                                      page.rfind(':') + 1, page.size() - page.rfind(':') - 2))
                                                : std::nullopt;
        TakeNews(since, page, next.value_or(since));
      });
}

void LiveHub::TakeNews(int64_t since, const std::string& page, int64_t next) {
  seq_ = std::max(since, next);
  // Inside a text every quote has a backslash before it, so this finds kinds alone.
  bool queue = false;
  for (const char* kind : {"\"kind\":\"task.", "\"kind\":\"attempt.planned", "\"kind\":\"attempt.started",
                           "\"kind\":\"queue.", "\"kind\":\"daemon."})
    queue = queue || page.find(kind) != std::string::npos;

  const auto frame = std::make_shared<const std::string>(Head("events", seq_) + ",\"value\":" + page + "}");
  const std::vector<std::shared_ptr<LiveClient>> clients(clients_.begin(), clients_.end());
  for (const auto& client : clients) {
    if (!client->events_ || seq_ == since) continue;
    LiveClient::Events& events = *client->events_;
    if (events.reading || events.rest) continue;
    if (events.cursor == since && !client->slow()) {
      events.cursor = seq_;
      client->line_->Send(frame);
    } else if (events.cursor < seq_ && !client->slow()) {
      CatchUp(client, false);
    }
  }

  std::vector<std::shared_ptr<LiveTopic>> topics;
  for (const auto& [key, topic] : topics_) topics.push_back(topic);
  for (const auto& topic : topics) {
    if (topic->over || topic->clients.empty() || seq_ == since) continue;
    if (topic->source == Source::kQueue) {
      if (!queue) continue;
      topic->moved = true;
    }
    if (topic->reading || topic->resting) {
      topic->again = true;
    } else {
      Read(topic, true);
    }
  }

  const bool more = next - since >= kEventsPage;
  if (more) {
    // Nobody reads a flood to its end, and neither do we.
    api_.LastEvent([this, alive = std::weak_ptr(alive_)](int64_t last) {
      if (!alive.expired() && follows_ && last - seq_ > kMostBehind) SkipNews(last);
    });
  }
  news_rest_ = loop_.After(kEventsPeriod, [this, more] { more ? ReadNews() : AwaitNews(); });
}

void LiveHub::SkipNews(int64_t last) {
  seq_ = last;
  for (const auto& [key, topic] : topics_) {
    topic->again = true;
    topic->moved = topic->source == Source::kQueue;
  }
  for (const auto& client : clients_) {
    if (client->events_ && !client->slow() && !client->events_->reading) Resync(*client, seq_);
  }
}

// Too far behind, or of another life of the yard: replaying would help nobody.
bool LiveHub::Resync(LiveClient& client, int64_t last) {
  LiveClient::Events& events = *client.events_;
  if (events.cursor <= last && last - events.cursor <= kMostBehind) return false;
  events.cursor = last;
  client.Send(Head("events", last) + ",\"resync\":true}");
  return true;
}

void LiveHub::Follow(LiveClient& client, std::optional<int64_t> since) {
  client.events_.emplace();
  client.events_->reading = true;
  api_.LastEvent([this, alive = std::weak_ptr(alive_), weak = client.weak_from_this(), since](int64_t last) {
    const auto client = weak.lock();
    if (alive.expired() || !client || client->hub_ == nullptr || !client->events_) return;
    client->events_->reading = false;
    client->events_->cursor = since.value_or(last);
    if (!Resync(*client, last)) CatchUp(client, true);
  });
}

// `first`: answered even if there is nothing new.
void LiveHub::CatchUp(const std::shared_ptr<LiveClient>& client, bool first) {
  if (!first && Resync(*client, seq_)) return;
  client->events_->reading = true;
  const int64_t cursor = client->events_->cursor;
  Ask("/api/v1/events?limit=" + std::to_string(kEventsPage) + "&since=" + std::to_string(cursor),
      client->language_, [this, weak = std::weak_ptr(client), cursor, first](bool good, std::string page) {
        const auto client = weak.lock();
        if (!client || client->hub_ == nullptr || !client->events_ || client->events_->cursor != cursor)
          return;
        client->events_->reading = false;
        if (!good) {
          client->events_.reset();
          return client->Send(Head("events", seq_) + ",\"problem\":" + page + "}");
        }
        const size_t colon = page.rfind(':');
        const int64_t next =
            ParseInt(std::string_view(page).substr(colon + 1, page.size() - colon - 2)).value_or(cursor);
        if (next == cursor && !first) return;
        client->events_->cursor = next;
        client->Send(Head("events", std::max(seq_, next)) + ",\"value\":" + page + "}");
        RestEvents(*client);
      });
}

void LiveHub::RestEvents(LiveClient& client) {
  client.events_->rest = loop_.After(kEventsPeriod, [this, weak = client.weak_from_this()] {
    const auto client = weak.lock();
    if (!client || client->hub_ == nullptr || !client->events_) return;
    const auto rest = std::exchange(client->events_->rest, nullptr);
    if (client->events_->cursor < seq_ && !client->slow()) CatchUp(client, false);
  });
}

}  // namespace ty

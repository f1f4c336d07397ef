// LiveHub feeds the live streams of docs/formats/live.md. It reads a topic by asking the Api as any client
// would, once for all streams that want it, and not at all when none does. Pure but for the Api and the Loop:
// what carries the frames is behind LiveLine. Everything here happens on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "http/exchange.h"
#include "words/words.h"

namespace ty {

class Api;
class LiveHub;
struct LiveTopic;

using Frame = std::shared_ptr<const std::string>;

// Close codes of a stream.
inline constexpr int kGoingAway = 1001, kBadFrame = 1008, kTooSlow = 1013, kSignedOut = 4401;

// One stream's way to its browser.
class LiveLine {
 public:
  virtual ~LiveLine() = default;
  virtual void Send(Frame frame) = 0;
  virtual size_t pending() const = 0;  // bytes handed over and not sent yet
  // Nothing is sent or taken after it; kTooSlow does not wait for what is pending.
  virtual void Close(int code) = 0;
};

// What a stream's browser wants, and what it has been given.
class LiveClient : public std::enable_shared_from_this<LiveClient> {
 public:
  LiveClient(LiveHub& hub, std::shared_ptr<LiveLine> line, Language language, std::string browser)
      : hub_(&hub), line_(std::move(line)), language_(language), browser_(std::move(browser)) {}

  // From the line.
  void Take(std::string_view frame);
  void Sent();  // some of what was pending has gone
  void Gone();  // the other end went away

 private:
  friend class LiveHub;
  struct Subscription {
    std::shared_ptr<LiveTopic> topic;
    uint64_t given = 0;  // version of the topic that was sent
  };
  struct Events {
    int64_t cursor = 0;  // the last one that was sent
    bool reading = false;
    std::shared_ptr<void> rest;  // before the next frame
  };

  void Obey(std::string_view frame);
  void Subscribe(const std::string& name, std::optional<int64_t> since);
  void Unsubscribe(const std::string& name);
  void Leave(int code);
  void Send(std::string frame) const;
  bool slow() const;

  LiveHub* hub_;  // null once the stream has ended
  std::shared_ptr<LiveLine> line_;
  Language language_;
  std::string browser_;  // that is signed in; empty on the Unix socket
  bool greeted_ = false;
  std::vector<std::string> early_;  // frames that came before the greeting went out
  std::map<std::string, Subscription> topics_;
  std::optional<Events> events_;
  bool moved_ = false;
  int stalls_ = 0;  // beats in a row without anything sent
};

class LiveHub {
 public:
  struct Settings {
    std::string instance, version;
    std::function<Time()> now;
  };
  LiveHub(Settings settings, Api& api, Loop& loop);
  ~LiveHub();

  std::shared_ptr<LiveClient> Open(std::shared_ptr<LiveLine> line, Language language, std::string browser);
  void SignedOut(const std::string& browser);  // its streams end; empty: those of all browsers
  void CloseAll();                             // the server stops

  size_t streams() const { return clients_.size(); }
  size_t topics() const { return topics_.size(); }

 private:
  friend class LiveClient;
  using Answer = std::function<void(bool good, std::string body)>;

  void Greet(const std::shared_ptr<LiveClient>& client);
  void Forget(const std::shared_ptr<LiveClient>& client);
  void Beat();
  void Ask(const std::string& target, Language language, Answer then);

  // Topics: read, sent, at rest for a period, read again.
  std::shared_ptr<LiveTopic> FindTopic(const std::string& name, Language language);
  void Join(LiveClient& client, const std::string& name);
  void Part(LiveClient& client, const std::string& name);
  void Read(const std::shared_ptr<LiveTopic>& topic, bool afresh);
  void ReadQueue(Answer then);
  void ReadLog(const std::shared_ptr<LiveTopic>& topic, bool afresh, Answer then);
  void Arrived(const std::shared_ptr<LiveTopic>& topic, int64_t seq, bool good, std::string body);
  void Rested(const std::shared_ptr<LiveTopic>& topic);
  void Refuse(const std::shared_ptr<LiveTopic>& topic, int64_t seq, const std::string& problem);
  static void Give(LiveClient& client, LiveClient::Subscription& subscription);

  // Events: one cursor for all that keep up.
  void AwaitNews();
  void ReadNews();
  void TakeNews(int64_t since, const std::string& page, int64_t next);
  void SkipNews(int64_t last);
  void Follow(LiveClient& client, std::optional<int64_t> since);
  void CatchUp(const std::shared_ptr<LiveClient>& client, bool first);
  void RestEvents(LiveClient& client);
  bool Resync(LiveClient& client, int64_t last);

  Settings settings_;
  Api& api_;
  Loop& loop_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::set<std::shared_ptr<LiveClient>> clients_;
  std::map<std::pair<std::string, Language>, std::shared_ptr<LiveTopic>> topics_;
  int64_t seq_ = 0;  // the last event we know of
  bool follows_ = false;
  std::shared_ptr<void> news_, news_rest_, beat_;
};

}  // namespace ty

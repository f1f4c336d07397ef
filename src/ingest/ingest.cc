// The thread that follows. It looks at every followed attempt four times a second, sleeps while there is
// none, and serves each in turn a bounded piece, so that one flood delays nobody. The end of an attempt is
// read at once.
#include "ingest/ingest.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <variant>

#include "base/log.h"
#include "ingest/follower.h"

namespace ty {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr auto kPeriod = milliseconds(250);
constexpr size_t kPiece = 256 << 10;
// What one attempt may make us read in a period: 8 MB/s, so that a log written at disk speed costs a few per
// cent of a core. Beyond it the follower falls behind and, when far, goes on from the end.
constexpr int kPieces = 8;

struct FinishAsked {
  Ulid attempt;
  std::string tail_of;
  std::function<void(LogTail)> done;
};
using Request = std::variant<Followed, FinishAsked>;

class ThreadIngest final : public Ingest {
 public:
  ThreadIngest(std::function<void(Observation)> observe, SeriesSink* sink)
      : observe_(std::move(observe)), sink_(sink), buffer_(kPiece, '\0'), thread_([this] { Run(); }) {}

  ~ThreadIngest() override {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    asked_.notify_one();
    thread_.join();
  }

  void Follow(Followed attempt) override {
    bool wake;
    {
      std::lock_guard lock(mutex_);
      requests_.emplace_back(std::move(attempt));
      wake = asleep_;  // else it looks by itself soon enough: a task of a few ms costs no extra switch
    }
    if (wake) asked_.notify_one();
  }

  void Finish(Ulid attempt, std::string tail_of, std::function<void(LogTail)> done) override {
    {
      std::lock_guard lock(mutex_);
      requests_.emplace_back(FinishAsked{attempt, std::move(tail_of), std::move(done)});
      urgent_ = true;
    }
    asked_.notify_one();
  }

 private:
  struct Reader {
    Reader(Followed followed, SeriesSink* sink) : follower(std::move(followed), sink) {}
    Follower follower;
    SteadyTime reported{};
    bool more = false;
    int pieces = 0;  // read in this period
  };

  void Run() {
    SteadyTime next = std::chrono::steady_clock::now();
    bool more = false;
    for (;;) {
      std::vector<Request> requests;
      {
        std::unique_lock lock(mutex_);
        auto woken = [this] { return closing_ || urgent_; };
        if (readers_.empty()) {
          asleep_ = true;
          asked_.wait(lock, [&] { return woken() || !requests_.empty(); });
          asleep_ = false;
        } else if (!more) {
          asked_.wait_until(lock, next, woken);
        }
        if (closing_ && requests_.empty()) return;
        requests.swap(requests_);
        urgent_ = false;
      }
      if (readers_.empty()) next = std::chrono::steady_clock::now() + kPeriod;
      for (Request& request : requests) Serve(request);
      const SteadyTime now = std::chrono::steady_clock::now();
      const bool due = now >= next;
      if (due) next = now + kPeriod;
      if (due || more) more = Look(now, due);
    }
  }

  void Serve(Request& request) {
    if (auto* followed = std::get_if<Followed>(&request)) {
      const Ulid attempt = followed->attempt;
      readers_.try_emplace(attempt, std::move(*followed), sink_);
      return;
    }
    auto& finish = std::get<FinishAsked>(request);
    if (auto found = readers_.find(finish.attempt); found != readers_.end()) {
      Follower& follower = found->second.follower;
      follower.ReadRest(buffer_);
      if (sink_ != nullptr) sink_->End(follower.key());
      if (std::optional<Observation> seen = follower.Take()) observe_(std::move(*seen));
      if (follower.unreadable() > 0) {
        Log("attempt " + finish.attempt.Text() + ": " + std::to_string(follower.unreadable()) +
            " lines of metrics.jsonl and checkpoints.jsonl could not be read");
      }
      if (finish.tail_of.empty()) finish.tail_of = follower.followed().log;
      readers_.erase(found);
    }
    if (finish.done) finish.done(finish.tail_of.empty() ? LogTail{} : ReadLogTail(finish.tail_of));
  }

  // One piece of each; a full look when it is due, else only those with more waiting. Returns whether any has
  // more.
  bool Look(SteadyTime now, bool due) {
    bool more = false;
    for (auto& [attempt, reader] : readers_) {
      if (due) reader.pieces = 0;
      if (!due && !reader.more) continue;
      reader.more = reader.follower.Read(buffer_) && ++reader.pieces < kPieces;
      more |= reader.more;
      if (due && !reader.more) reader.follower.Idle();
      if (now - reader.reported < kPeriod) continue;
      if (std::optional<Observation> seen = reader.follower.Take()) {
        reader.reported = now;
        observe_(std::move(*seen));
      }
    }
    return more;
  }

  std::function<void(Observation)> observe_;
  SeriesSink* sink_;
  std::string buffer_;
  std::unordered_map<Ulid, Reader> readers_;  // the thread's own

  std::mutex mutex_;
  std::condition_variable asked_;
  std::vector<Request> requests_;
  bool urgent_ = false;  // somebody waits for an end
  bool asleep_ = false;  // nothing is followed
  bool closing_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<Ingest> MakeIngest(std::function<void(Observation)> observe, SeriesSink* sink) {
  return std::make_unique<ThreadIngest>(std::move(observe), sink);
}

}  // namespace ty

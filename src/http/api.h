// Api answers the calls that passed the gate: one file a noun. It decides nothing about tasks; it asks the
// Backend.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "http/assets.h"
#include "http/backend.h"
#include "http/browsers.h"
#include "http/codes.h"
#include "http/exchange.h"
#include "http/gate.h"
#include "model/draft.h"

namespace ty {

class Api;
class LogShelf;
class Scout;

// One line a route, with who may use it; tests compare this with api/openapi.yaml.
struct Route {
  const char* method;
  const char* path;  // "/api/v1/tasks/{task}/log"
  Access access;
  void (Api::*answer)(CallPtr call);
  const char* parameters = "";  // names of the query's, with spaces between
  bool streams = false;         // the body goes to Api::OpenBulk
  bool upgrades = false;        // goes on as a live stream when it asks for one
};
const std::vector<Route>& Routes();

struct ApiSettings {
  std::string version;
  std::string home;             // state folder
  std::string owner, instance;  // for the public routes, which ask nobody
  Time started;
  std::function<std::string()> url;  // of the page; empty without a TCP listener
  std::function<Time()> now;
  std::function<void(bool cancelled)> on_down;  // `down` was asked and answered: end the daemon
  std::function<void(const std::string& browser)> on_signed_out;  // empty: every browser
  GateSettings gate;
  // Looks at what the yard rests on, and gives the JSON of a FindingList; from a thread of its own, later.
  std::function<void(Language, std::function<void(std::string)>)> doctor;
  std::span<const Asset> assets;  // of the page
  std::string web_folder;         // they are read from here instead, at each request
  // Where work is done that waits for a disk, one job after the other; empty: at once. Logs have a desk of
  // their own, so that a large file on its way holds up nobody who reads a log.
  using Desk = std::function<void(std::function<void()> job)>;
  Desk log_desk, file_desk;
  // The variables of a task that brings none: where its program is looked for before it is queued. Nothing:
  // nobody looks.
  std::optional<Variables> basics;
};

struct FoundAttempt {
  TaskId task;
  bool open = false;  // the task
  int count = 0;      // attempts so far
  int number = 0;     // 0: not there
  Ulid uid;
  bool ended = false;              // the attempt
  int ranks = 0;                   // how many; 0: it is one process with one log
  std::optional<int> failed_rank;  // of an ended one: the rank whose end is that of the whole
  int64_t last_event = 0;          // of the Yard, when it was asked
};

struct LogSize {
  int64_t size = 0;
  bool ended = false;
  std::string path;
};

class Api {
 public:
  Api(ApiSettings settings, Backend& backend, Loop& loop);
  ~Api();

  // Gate, access and route, in this order, from the head alone. True when the body is wanted and the call
  // goes on; false when it has been refused.
  bool Admit(const CallPtr& call);
  void Handle(const CallPtr& call);                         // once the body is there
  std::shared_ptr<BodySink> OpenBulk(const CallPtr& call);  // null: refused

  // upgrade.cc: a call that was admitted to a route that upgrades. True: its connection is to become a live
  // stream. False: it is to be handled as any other, or has been refused.
  bool MayUpgrade(const CallPtr& call);
  // What a live stream reads besides routes.
  void LastEvent(std::function<void(int64_t)> then);
  std::shared_ptr<void> AwaitEvents(int64_t after, std::function<void()> wake);
  void CountQueue(std::function<void(const YardView&)> then);
  void MeasureLog(TaskId task, int attempt, int rank, std::function<void(Result<LogSize>)> then);  // logs.cc
  static std::optional<int64_t> SizeOfLog(const std::string& path);  // nothing: it is not there
  bool StillSignedIn(const std::string& browser);                    // and notes that it is in use

  // session.cc
  void GetHealth(CallPtr call);
  void GetSession(CallPtr call);
  void CreateSession(CallPtr call);
  void EndSession(CallPtr call);
  void MintCode(CallPtr call);
  // page.cc
  void GetPage(CallPtr call);
  void GetAsset(CallPtr call);
  void GetIcon(CallPtr call);
  // upgrade.cc
  void OpenLive(CallPtr call);
  // status.cc
  void GetDoctor(CallPtr call);
  void GetStatus(CallPtr call);
  void StopDaemon(CallPtr call);
  // devices.cc
  void ListDevices(CallPtr call);
  void HoldDevices(CallPtr call);
  void ReleaseDevices(CallPtr call);
  // tasks.cc
  void ListTasks(CallPtr call);
  void GetTask(CallPtr call);
  void GetWhy(CallPtr call);
  // submit.cc
  void SubmitTask(CallPtr call);
  void SubmitTasks(CallPtr call);
  void PreviewTask(CallPtr call);
  // act.cc
  void CancelTasks(CallPtr call);
  void HoldTasks(CallPtr call);
  void ReleaseTasks(CallPtr call);
  void RetryTasks(CallPtr call);
  void RemoveTasks(CallPtr call);
  void SetPriority(CallPtr call);
  // logs.cc
  void GetLog(CallPtr call);
  void GetTail(CallPtr call);
  void GetHead(CallPtr call);
  // series.cc
  void ListSeries(CallPtr call);
  void GetPoints(CallPtr call);
  // lines.cc
  void GetLines(CallPtr call);
  void SearchLog(CallPtr call);
  void ForgetLogs();  // at the logs' desk, when nobody has asked for a while
  // files.cc
  void ListFiles(CallPtr call);
  void GetFile(CallPtr call);
  // queue.cc
  void PauseTheQueue(CallPtr call);
  void ResumeTheQueue(CallPtr call);
  // events.cc
  void ListEvents(CallPtr call);

 private:
  friend class ActOnTasks;
  friend class BulkSubmit;
  friend class LogFollower;

  // Whether folder and program are there: submit.cc.
  void LookAhead(const TaskSpec& spec, std::function<void(std::vector<Error>)> then);
  // With these faults, and those that the Yard sees besides.
  void RefuseWhole(const CallPtr& call, Draft draft, std::unordered_map<TaskId, OutcomeKind> ended,
                   std::vector<Error> more);
  // A file of the page; nothing when there is none.
  std::optional<Response> FindFile(const Request& request, const std::string& path) const;
  void GiveFile(const CallPtr& call, const std::string& path);
  std::optional<Response> PageNotFound(const Request& request) const;
  // Whose cookie it carries.
  void Recognize(const CallPtr& call);
  void TellSession(const CallPtr& call, bool signed_in, std::string cookie);
  void RemoveOpener(const std::string& path);
  // The task a selector names: 12, a name (newest) or @last; refuses the call when there is none.
  void Select(const CallPtr& call, std::function<void(TaskId)> then);
  void Act(CallPtr call, Verb verb);
  void ActOn(CallPtr call, DeviceVerb verb);
  void SetPaused(const CallPtr& call, bool paused);
  // The task that the path names, which is there; refuses the call when it is not.
  void WithTask(const CallPtr& call, std::function<void(TaskId)> then);
  // Attempt `wanted` of a task, or its newest (0). Number 0 in the answer: there is none such.
  void FindAttempt(TaskId id, int wanted, std::function<void(Result<FoundAttempt>)> then);
  // The attempt that the path and `attempt=` name; refuses the call when there is none such.
  void WithAttempt(const CallPtr& call, std::function<void(const FoundAttempt&, std::string folder)> then);
  // The log that path, `attempt=` and `rank=` name; an empty path before the first attempt.
  void WithLog(const CallPtr& call,
               std::function<void(const FoundAttempt&, int rank, const std::string& path)> then);
  // The task that the path names, and the numbers and folders of its attempts.
  void WithAttempts(const CallPtr& call, std::function<void(TaskId, std::vector<std::pair<int, Ulid>>)> then);
  void CountOn(const std::string& path);
  // `work` at a desk, `then` on the loop's thread.
  template <class T>
  void AtDesk(const ApiSettings::Desk& desk, std::function<T()> work, std::function<void(T)> then) {
    auto job = [this, work = std::move(work), then = std::move(then)]() mutable {
      auto kept = std::make_shared<T>(work());
      loop_.Post([then = std::move(then), kept = std::move(kept)] { then(std::move(*kept)); });
    };
    desk ? desk(std::move(job)) : job();
  }

  ApiSettings settings_;
  Backend& backend_;
  Loop& loop_;
  Codes codes_;
  std::map<std::string, std::shared_ptr<void>> openers_;  // by path; each goes with its timer
  Browsers browsers_;
  std::unique_ptr<Scout> scout_;     // null: nobody looks
  std::unique_ptr<LogShelf> shelf_;  // used at the logs' desk alone
};

// The selector of one word, by the rows of the store; numbers need none.
Result<TaskId> FindSelected(Rows& rows, const std::string& word);
bool IsNumber(const std::string& word);

}  // namespace ty

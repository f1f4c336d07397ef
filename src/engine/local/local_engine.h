// LocalEngine: one supervisor an attempt on this host. All of its state is on its own thread, which sleeps in
// epoll; callers hand over orders, slow work goes to the background.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include "engine/engine.h"
#include "engine/local/adopt.h"
#include "engine/local/background.h"
#include "engine/local/folder.h"
#include "posix/cgroups.h"
#include "wire/control.h"

namespace ty {

class LocalEngine final : public Engine {
 public:
  LocalEngine(LocalEngineSettings settings, std::string boot, CgroupRoot root,
              std::function<void(AttemptNews)> news);
  ~LocalEngine() override;  // supervisors and tasks go on
  Status Open();

  void Launch(LaunchOrder order) override;
  void Stop(Ulid attempt, StopOrder order) override;
  void Freeze(Ulid attempt, Duration deadline) override;
  void Thaw(Ulid attempt) override;
  void Adopt(std::vector<Attempt> open, std::function<void(std::vector<std::string> strays)> done) override;
  void Acknowledge(Ulid attempt) override;
  void Remove(Ulid attempt) override;
  std::string Containment() const override { return std::string(Name(root_.kind)); }

 private:
  // One attempt under supervision.
  struct Shim {
    Ulid attempt;
    uint64_t key = 0;  // tells its descriptors apart in epoll
    int pid = 0;       // 0: adopted, so not our child
    UniqueFd pidfd, link;
    bool running = false;     // was told
    bool ended = false;       // its end was told, and nothing is after it
    bool stuck = false;       // was told
    bool frozen = false;      // was told
    bool freezing = false;    // was asked, not answered
    bool unkillable = false;  // was told
    bool settling = false;    // a look at what it left is under way
    std::optional<Error> refusal;
    std::optional<StopOrder> stop;  // not handed over yet
  };
  struct Adoption {
    size_t left = 0;
    std::vector<std::string> strays;
    std::function<void(std::vector<std::string>)> done;
  };

  void Post(std::function<void()> act);
  void Run();
  void RunDue();
  void After(Duration delay, std::function<void()> act);

  AttemptFolder Folder(const Ulid& attempt) const { return {attempts_, attempt}; }
  Shim* Find(const Ulid& attempt);
  Shim& Add(const Ulid& attempt);
  void Watch(Shim& shim);
  void Unwatch(UniqueFd& fd);
  void Forget(Shim& shim);
  void Report(const Ulid& attempt, decltype(AttemptNews::what) what);
  void End(Shim& shim, decltype(AttemptNews::what) what);

  void DoLaunch(const LaunchOrder& order);
  void DoStop(const Ulid& attempt, StopOrder order);
  void HandOverStop(Shim& shim);
  void DoFreeze(const Ulid& attempt, Duration deadline);
  void DoThaw(const Ulid& attempt);
  void SetFrozen(Shim& shim, bool frozen);
  void SetUnkillable(Shim& shim);
  void DoAdopt(std::vector<Attempt> open, std::function<void(std::vector<std::string>)> done);
  void TakeOver(const Ulid& attempt, Finding finding);
  void AdoptionStep(const std::shared_ptr<Adoption>& adoption);
  void WatchStray(const Ulid& attempt, const Process& supervisor);
  void SweepCgroups();
  void OpenShimsCgroup();
  void OpenOomCounter();

  void OnLink(Shim& shim);
  void OnDeath(Shim& shim);
  void OnNews(Shim& shim, const wire::News& news);
  void Settle(const Ulid& attempt);
  std::string SpecFor(const LaunchOrder& order) const;

  const LocalEngineSettings settings_;
  const std::string attempts_, boot_;
  const CgroupRoot root_;
  const std::function<void(AttemptNews)> news_;
  UniqueFd epoll_, wake_, shims_cgroup_;
  // Empty: each attempt's leaf counts for itself, or nobody counts.
  std::string oom_counter_;
  UniqueFd oom_counter_file_;

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool closing_ = false;

  // The engine's thread only:
  std::unordered_map<uint64_t, Shim> shims_;
  std::unordered_map<Ulid, uint64_t> keys_;
  std::unordered_map<Ulid, std::optional<StopOrder>> adopting_;  // stops asked for meanwhile wait here
  std::multimap<int64_t, std::function<void()>> due_;            // monotonic
  uint64_t next_key_ = 1;

  Background background_;
  std::thread thread_;
};

}  // namespace ty

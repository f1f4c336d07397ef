// Stand-ins for the machine, so that a test can drive the real Yard on a clock of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "ingest/ingest.h"
#include "store/store.h"

namespace ty {

// Records what it is told; the test says what happens.
class FakeEngine final : public Engine {
 public:
  void Launch(LaunchOrder order) override { launched.push_back(std::move(order)); }
  void Stop(Ulid attempt, StopOrder order) override { stops.emplace_back(attempt, std::move(order)); }
  void Freeze(Ulid attempt, Duration deadline) override { freezes.emplace_back(attempt, deadline); }
  void Thaw(Ulid attempt) override { thaws.push_back(attempt); }
  void Adopt(std::vector<Attempt> open, std::function<void(std::vector<std::string>)> done) override {
    adopting = std::move(open);
    adopted = std::move(done);
  }
  void Acknowledge(Ulid attempt) override { acknowledged.push_back(attempt); }
  void Remove(Ulid attempt) override { removed.push_back(attempt); }
  std::string Containment() const override { return "fake"; }

  std::vector<LaunchOrder> launched;
  std::vector<std::pair<Ulid, StopOrder>> stops;
  std::vector<std::pair<Ulid, Duration>> freezes;
  std::vector<Ulid> thaws;
  std::vector<Ulid> acknowledged, removed;
  std::vector<Attempt> adopting;
  std::function<void(std::vector<std::string>)> adopted;
};

// Follows nothing; Finish answers at once with the tail the test has set.
class FakeIngest final : public Ingest {
 public:
  void Follow(Followed attempt) override { followed.push_back(std::move(attempt)); }
  void Finish(Ulid attempt, std::string tail_of, std::function<void(LogTail)> done) override {
    finished.emplace_back(attempt, std::move(tail_of));
    done(tail);
  }

  std::vector<Followed> followed;
  std::vector<std::pair<Ulid, std::string>> finished;  // with whose tail was asked for
  LogTail tail;
};

// Waits for each commit, so that after a Turn its receipt lies in the inbox; can refuse the next one.
class PatientStore final : public Store {
 public:
  explicit PatientStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}
  void Commit(Batch batch, std::function<void(Receipt)> done) override;
  void Read(std::function<void(Rows&)> read) override;

  std::vector<Batch> batches;
  std::optional<Error> refuse_next;

 private:
  std::unique_ptr<Store> store_;
};

}  // namespace ty

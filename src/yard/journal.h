// Journal gathers what one Turn changes, and what may happen once that is durable.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "store/store.h"

namespace ty {

class Journal {
 public:
  using Act = std::function<void(const Receipt&)>;

  void Write(Change change) { batch_.changes.push_back(std::move(change)); }
  void WantSpec(TaskId task) { batch_.specs_wanted.push_back(task); }
  void Then(Act act) { acts_.push_back(std::move(act)); }

  bool empty() const { return batch_.changes.empty() && batch_.specs_wanted.empty() && acts_.empty(); }
  bool HasChanges() const { return !batch_.changes.empty() || !batch_.specs_wanted.empty(); }

  std::pair<Batch, std::vector<Act>> Take() {
    return {std::exchange(batch_, {}), std::exchange(acts_, {})};
  }

 private:
  Batch batch_;
  std::vector<Act> acts_;
};

}  // namespace ty

// Journal gathers what one Turn changes, and what may happen once that is durable.
// What nobody waits for (that an attempt runs, how far it is) may be written patiently: it joins the next
// commit that is wanted, or makes one of its own a moment later. So a quick task costs no sync for having
// begun.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "store/store.h"

namespace ty {

class Journal {
 public:
  using Act = std::function<void(const Receipt&)>;

  void Write(Change change) {
    batch_.changes.push_back(std::move(change));
    wanted_ = wanted_ || !patient_;
  }
  void WantSpec(TaskId task) {
    batch_.specs_wanted.push_back(task);
    wanted_ = true;
  }
  void Then(Act act) {
    acts_.push_back(std::move(act));
    wanted_ = true;
  }

  bool empty() const { return batch_.changes.empty() && batch_.specs_wanted.empty() && acts_.empty(); }
  bool wanted() const { return wanted_; }

  std::pair<Batch, std::vector<Act>> Take() {
    wanted_ = false;
    return {std::exchange(batch_, {}), std::exchange(acts_, {})};
  }

  // While it lives, writes are patient.
  class Patience {
   public:
    explicit Patience(Journal& journal) : journal_(journal) { journal_.patient_ = true; }
    ~Patience() { journal_.patient_ = false; }

   private:
    Journal& journal_;
  };

 private:
  bool patient_ = false, wanted_ = false;
  Batch batch_;
  std::vector<Act> acts_;
};

// The spec that a batch wanted; null when it could not be read.
inline std::shared_ptr<const TaskSpec> SpecIn(const Receipt& receipt, TaskId task) {
  for (const auto& [wanted, spec] : receipt.specs) {
    if (wanted == task) return spec;
  }
  return nullptr;
}

}  // namespace ty

// ProgressRule decides which of all that a log says is the progress of the training:
//   what the helper library says wins over anything printed;
//   then epochs with a total, then steps and bars with a total, then a bare "12/100", then counts without a
//   total; a bar inside an epoch moves the fraction of that epoch; bars of evaluations and downloads move
//   nothing; of several bars the first one is the outermost and stays, until it is full or plainly dead.
#pragma once

#include <optional>
#include <string>

#include "model/task.h"
#include "wire/progress_line.h"

namespace ty {

class ProgressRule {
 public:
  void See(const ProgressReading& reading, bool with_metrics);
  void SeeHelper(Progress progress);
  const std::optional<Progress>& now() const { return now_; }

 private:
  void SeeEpoch(const ProgressReading& reading, bool with_metrics);
  bool SeeInside(double fraction);
  void SeeSource(const ProgressReading& reading, int rank);
  void Set(double done, const ProgressReading& reading);

  std::optional<Progress> now_;
  int rank_ = -1;

  // The epoch that is running, as far as the log tells.
  double epoch_ = 0;
  bool from_zero_ = false;  // an epoch 0 was seen: the number counts finished epochs
  bool open_ = false;       // its headline was seen, its end was not
  bool heads_ = false;      // headlines come at the start of an epoch: bars were seen inside one
  double base_ = 0, inside_ = 0;

  std::string source_;  // which bar or counter `now_` follows
  struct {
    std::string source;
    double done = 0;
    bool full = false;  // has run to its end since the followed one moved
  } other_;
};

}  // namespace ty

// What one line of a log says about how far a training is: "Epoch [3/20]", "step 40/200", tqdm's bars,
// "12/100 …". Only what the line itself says; which of several bars is the training's is for ingest to
// decide.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ty {

struct ProgressReading {
  enum class Kind { kEpoch, kBar, kStep, kPlain };
  Kind kind = Kind::kPlain;
  double done = 0;
  std::optional<double> total;
  std::string unit;              // "epoch", "step", or the unit a bar counts
  std::string label;             // text before a bar, "train"; or empty
  std::optional<double> inside;  // "Epoch 3/20: 45%|…": 0.45 of epoch 3 is done
  bool counted = false;  // an epoch bar's `done` counts finished epochs; a headline names the current one
  bool side = false;     // a bar of an evaluation, a download and the like: not the training's own
  bool weak = false;     // no total and not at the start of the line: counts only beside a metric
};

std::optional<ProgressReading> ReadProgress(std::string_view line);

// "[rank0]: ", "[default1]:" and spaces: what launchers put before a line.
std::string_view SkipLauncherPrefix(std::string_view line);

}  // namespace ty

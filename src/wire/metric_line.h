// The values one line of a log reports: loss=0.53, 'lr': 1e-4, "Train Loss: nan". NaN and infinities are
// values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ty {

using Metric = std::pair<std::string, double>;

// Names in lower case, a word like "train" before a name joined to it: "train_loss". Beside progress
// (`anchored`) every named number counts; elsewhere only names that trainings use for their metrics. At
// most 64.
std::vector<Metric> ReadMetrics(std::string_view line, bool anchored);

}  // namespace ty

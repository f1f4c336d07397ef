#include "wire/metric_line.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "wire/number.h"
#include "wire/progress_line.h"

namespace ty {

namespace {

constexpr size_t kLongest = 4096;
constexpr size_t kLongestName = 64;
constexpr size_t kMost = 64;

// Last part of a name that makes it a metric wherever it stands.
constexpr std::string_view kKnown[] = {
    "loss", "acc",  "accuracy", "lr",     "perplexity", "ppl",  "f1",   "auc",  "auroc",  "mae",
    "mse",  "rmse", "iou",      "miou",   "map",        "bleu", "wer",  "cer",  "reward", "psnr",
    "ssim", "fid",  "nll",      "recall", "elbo",       "top1", "top5", "dice", "kl"};
constexpr std::string_view kPlainest[] = {"loss", "acc", "accuracy", "lr"};  // also as in "loss 0.53"
constexpr std::string_view kKnownWhole[] = {"learning_rate", "grad_norm", "r2", "map50", "map50-95"};
// Numbers beside progress that are not measured by the training.
constexpr std::string_view kNever[] = {
    "epoch",       "epochs",     "ep",      "step",    "steps", "iter",        "iters",     "iteration",
    "iterations",  "batch",      "batches", "it",      "eta",   "time",        "rank",      "seed",
    "pid",         "port",       "v_num",   "version", "line",  "total",       "elapsed",   "remaining",
    "of",          "info",       "size",    "at",      "in",    "global_step", "max_steps", "num_epochs",
    "total_steps", "max_epochs", "update",  "updates", "cuda",  "gpu",         "device"};
constexpr std::string_view kPrefixes[] = {"train", "training", "val",  "valid", "validation", "test",
                                          "eval",  "avg",      "mean", "best",  "average",    "running"};

template <size_t N>
bool In(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsNameChar(char c) {
  return Is(c, kDigit | kLetter | kUnderscore | kNamePunctuation);
}

std::string_view LastPart(std::string_view name) {
  const size_t cut = name.find_last_of("/_.-@");
  return cut == std::string_view::npos ? name : name.substr(cut + 1);
}
bool IsKnown(std::string_view name) {
  return In(kKnownWhole, name) || In(kKnown, LastPart(name));
}

// nan, inf, 0.53, -1e-5, 91.2%, tensor(0.53, …), [1e-05]; nothing when a unit or more digits follow: 12ms,
// 3/20, 1:30.
std::optional<double> TakeValue(std::string_view line, size_t& at) {
  size_t here = at;
  if (here < line.size() && (line[here] == '\'' || line[here] == '"' || line[here] == '[')) ++here;
  if (here >= line.size()) return std::nullopt;
  if (IsLetter(line[here])) {
    if (std::string_view("tnaiNI").find(line[here]) == std::string_view::npos) return std::nullopt;
    for (std::string_view wrap : {"tensor(", "np.float32(", "np.float64(", "array("}) {
      if (line.substr(here, wrap.size()) == wrap) here += wrap.size();
    }
  }
  double sign = 1;
  if (here < line.size() && (line[here] == '-' || line[here] == '+')) sign = line[here++] == '-' ? -1 : 1;
  std::optional<double> value;
  for (std::string_view word : {"nan", "infinity", "inf"}) {
    if (!value && here < line.size() && IsLetter(line[here]) &&
        EqualsIgnoringCase(line.substr(here, word.size()), word)) {
      value = word == "nan" ? std::numeric_limits<double>::quiet_NaN()
                            : sign * std::numeric_limits<double>::infinity();
      here += word.size();
    }
  }
  if (!value) {
    value = TakeNumber(line, here);
    if (!value) return std::nullopt;
    *value *= sign;
    // "tensor(1.)" and "epoch 3." end in a point.
    if (here < line.size() && line[here] == '.' && (here + 1 == line.size() || !IsWordChar(line[here + 1])))
      ++here;
  }
  if (here < line.size() && line[here] == '%') {
    ++here;
    size_t next = here;  // "train: 30%|███" and "eval: 63% 63/100" are bars
    SkipSpaces(line, next);
    if (next < line.size() && (line[next] == '|' ? next == here : IsDigit(line[next]))) return std::nullopt;
  }
  if (here < line.size()) {
    const char next = line[here];
    if (IsWordChar(next) || next == '/' || next == '-' || static_cast<unsigned char>(next) >= 0x80)
      return std::nullopt;
    if ((next == ':' || next == '.') && here + 1 < line.size() && IsDigit(line[here + 1]))
      return std::nullopt;
  }
  at = here;
  return value;
}

}  // namespace

std::vector<Metric> ReadMetrics(std::string_view line, bool anchored) {
  std::vector<Metric> metrics;
  line = SkipLauncherPrefix(line.substr(0, kLongest));
  std::string_view before;  // the word just before this one
  for (size_t at = 0; at < line.size() && metrics.size() < kMost;) {
    if (!IsLetter(line[at])) {
      // A name does not begin inside a number or a word of another script.
      const bool glue = IsDigit(line[at]) || line[at] == '_' || static_cast<unsigned char>(line[at]) >= 0x80;
      ++at;
      while (glue && at < line.size() && IsNameChar(line[at])) ++at;
      continue;
    }
    const size_t begin = at;
    while (at < line.size() && IsNameChar(line[at])) ++at;
    const std::string_view word = line.substr(begin, at - begin);
    const std::string_view previous = std::exchange(before, word);

    size_t value_at = at;
    if (value_at < line.size() && (line[value_at] == '\'' || line[value_at] == '"')) ++value_at;
    SkipSpaces(line, value_at);
    const bool named = value_at < line.size() && (line[value_at] == ':' || line[value_at] == '=');
    if (named) {
      ++value_at;
      SkipSpaces(line, value_at);
    }
    // Most words are followed by no value: they cost nothing more.
    const std::optional<double> value = TakeValue(line, value_at);
    if (!value) continue;
    std::string name;
    for (char c : word.substr(0, word.find_last_not_of("-./") + 1)) name += Lower(c);
    const bool counts =
        named ? anchored || IsKnown(name) : (anchored ? IsKnown(name) : In(kPlainest, LastPart(name)));
    if (!counts || name.size() > kLongestName || In(kNever, name)) continue;
    if (!previous.empty() && previous.end() + 1 == word.begin()) {
      for (std::string_view prefix : kPrefixes) {
        if (!EqualsIgnoringCase(previous, prefix)) continue;
        name = std::string(prefix) + "_" + name;
        break;
      }
    }
    metrics.emplace_back(std::move(name), *value);
    before = {};
    at = value_at;
  }
  return metrics;
}

}  // namespace ty

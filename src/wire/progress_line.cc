#include "wire/progress_line.h"

#include <algorithm>
#include <cmath>

#include "wire/number.h"

namespace ty {

namespace {

using Kind = ProgressReading::Kind;

constexpr size_t kLongest = 4096;  // of a line that is looked at

// "3/20", "3 / 20", "3 of 20", at `at`; `scaled` allows 1.21G/4.98G.
struct Fraction {
  double done = 0, total = 0;
};
double TakeScale(std::string_view text, size_t& at) {
  if (at >= text.size()) return 1;
  constexpr std::string_view kScales = "kMGTPEZY";
  const size_t power = kScales.find(text[at]);
  if (power == std::string_view::npos) return 1;
  ++at;
  return std::pow(1000.0, static_cast<double>(power + 1));
}

std::optional<Fraction> TakeFraction(std::string_view text, size_t& at, bool scaled = false) {
  size_t here = at;
  Fraction fraction;
  std::optional<double> done = TakeNumber(text, here);
  if (!done) return std::nullopt;
  fraction.done = *done * (scaled ? TakeScale(text, here) : 1);
  SkipSpaces(text, here);
  if (text.substr(here, 1) == "/") {
    ++here;
  } else if (!scaled && text.substr(here, 3) == "of ") {
    here += 3;
  } else {
    return std::nullopt;
  }
  SkipSpaces(text, here);
  std::optional<double> total = TakeNumber(text, here);
  if (!total) return std::nullopt;
  fraction.total = *total * (scaled ? TakeScale(text, here) : 1);
  if (here < text.size() && (IsWordChar(text[here]) || text[here] == '/'))
    return std::nullopt;  // a date, a path
  if (fraction.total <= 0) return std::nullopt;
  at = here;
  return fraction;
}

struct Anchor {
  std::string_view word;
  Kind kind;
  bool alone;  // may stand without a total
};
constexpr Anchor kAnchors[] = {
    {"epoch", Kind::kEpoch, true}, {"epochs", Kind::kEpoch, false},  {"ep", Kind::kEpoch, false},
    {"step", Kind::kStep, true},   {"steps", Kind::kStep, false},    {"iter", Kind::kStep, true},
    {"iters", Kind::kStep, false}, {"iteration", Kind::kStep, true}, {"iterations", Kind::kStep, false},
    {"batch", Kind::kStep, false}, {"batches", Kind::kStep, false},  {"global_step", Kind::kStep, true},
    {"it", Kind::kStep, false},    {"update", Kind::kStep, false},   {"updates", Kind::kStep, false},
};

const Anchor* FindAnchor(std::string_view word) {
  if (word.size() < 2 || word.size() > 11) return nullptr;
  if (std::string_view("esibgu").find(Lower(word[0])) == std::string_view::npos) return nullptr;
  for (const Anchor& anchor : kAnchors) {
    if (EqualsIgnoringCase(word, anchor.word)) return &anchor;
  }
  return nullptr;
}

struct Found {
  const Anchor* anchor = nullptr;
  Fraction fraction;
  bool has_total = false;
  bool at_start = false;
  size_t end = 0;
};

// What follows an anchor word: ": [3/20]", "=30", " 3 of 20".
bool ReadAfter(std::string_view line, size_t at, Found& found) {
  if (at < line.size() && (line[at] == '\'' || line[at] == '"')) ++at;
  SkipSpaces(line, at);
  if (at < line.size() && (line[at] == ':' || line[at] == '=' || line[at] == '#')) ++at;
  SkipSpaces(line, at);
  if (at < line.size() && (line[at] == '[' || line[at] == '(' || line[at] == '\'' || line[at] == '"')) ++at;
  SkipSpaces(line, at);
  if (std::optional<Fraction> fraction = TakeFraction(line, at)) {
    found.fraction = *fraction;
    found.has_total = true;
    found.end = at;
    return true;
  }
  std::optional<double> done = TakeNumber(line, at);
  if (!done || (at < line.size() && (IsWordChar(line[at]) || line[at] == '/' || line[at] == '%')))
    return false;
  found.fraction.done = *done;
  found.end = at;
  return true;
}

// The anchors of a line, at most one of each kind: the first with a total, else the first at all.
void FindAnchors(std::string_view line, size_t start, Found& epoch, Found& step) {
  for (size_t at = 0; at < line.size();) {
    if (!IsLetter(line[at])) {
      // Skips what a word must not be glued to: "max_epoch", "--epochs", "v2.epoch".
      const bool glue = IsWordChar(line[at]) || line[at] == '-' || line[at] == '.';
      ++at;
      while (glue && at < line.size() && IsWordChar(line[at])) ++at;
      continue;
    }
    const size_t begin = at;
    while (at < line.size() && IsWordChar(line[at])) ++at;
    const Anchor* anchor = FindAnchor(line.substr(begin, at - begin));
    if (anchor == nullptr) continue;
    Found found;
    found.anchor = anchor;
    found.at_start = begin <= start + 2;  // behind a bracket or quote at most
    if (!ReadAfter(line, at, found) || (!found.has_total && !anchor->alone)) continue;
    Found& place = anchor->kind == Kind::kEpoch ? epoch : step;
    if (place.anchor == nullptr || (found.has_total && !place.has_total)) place = found;
    at = found.end;
  }
  // 第 3/20 轮
  constexpr std::string_view kOrdinal = "第", kRound = "轮";
  const size_t ordinal = line.find(kOrdinal);
  if (epoch.anchor == nullptr && ordinal != std::string_view::npos) {
    Found found;
    found.anchor = &kAnchors[0];
    size_t at = ordinal + kOrdinal.size();
    SkipSpaces(line, at);
    if (std::optional<Fraction> fraction = TakeFraction(line, at)) {
      SkipSpaces(line, at);
      if (line.substr(at, kRound.size()) != kRound) return;
      found.fraction = *fraction;
      found.has_total = true;
      found.end = at;
      epoch = found;
    }
  }
}

struct Bar {
  Fraction fraction;
  bool has_total = false;
  std::string_view label;
  std::string_view unit;
};

std::string_view Trim(std::string_view text, std::string_view these = " \t:|-") {
  const size_t first = text.find_first_not_of(these);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(these) - first + 1);
}

// "…, 4.4it/s" or "1.22s/it" inside the brackets after a bar: what it counts.
std::string_view UnitOf(std::string_view brackets) {
  const size_t per_second = brackets.find("/s");
  if (per_second != std::string_view::npos) {
    size_t begin = per_second;
    while (begin > 0 && IsLetter(brackets[begin - 1])) --begin;
    if (begin < per_second) return brackets.substr(begin, per_second - begin);
  }
  const size_t seconds_per = brackets.find("s/");
  if (seconds_per == std::string_view::npos) return {};
  size_t end = seconds_per + 2;
  while (end < brackets.size() && IsLetter(brackets[end])) ++end;
  return brackets.substr(seconds_per + 2, end - seconds_per - 2);
}

// tqdm: "desc:  45%|####5     | 45/100 [00:10<00:12, 4.4it/s, loss=0.53]", without its bar, or drawn with ━.
std::optional<Bar> FindBar(std::string_view line) {
  for (size_t percent = line.find('%'); percent != std::string_view::npos;
       percent = line.find('%', percent + 1)) {
    size_t begin = percent;
    while (begin > 0 && (IsDigit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    if (begin == percent) continue;
    size_t at = percent + 1;
    const bool drawn = at < line.size() && line[at] == '|';
    if (drawn) {
      at = line.find('|', at + 1);
      if (at == std::string_view::npos) continue;
      ++at;
    } else {
      while (at < line.size() && (line[at] == ' ' || static_cast<unsigned char>(line[at]) >= 0x80)) ++at;
    }
    SkipSpaces(line, at);
    std::optional<Fraction> fraction = TakeFraction(line, at, true);
    if (!fraction) continue;
    SkipSpaces(line, at);
    const bool bracket = at < line.size() && line[at] == '[';
    const bool rate = line.find("/s", at) != std::string_view::npos;
    if (!drawn && !bracket && !rate) continue;
    Bar bar;
    bar.fraction = *fraction;
    bar.has_total = true;
    bar.label = Trim(line.substr(0, begin));
    if (bracket) bar.unit = UnitOf(line.substr(at, line.find(']', at) - at));
    return bar;
  }
  // "1203it [02:01,  9.91it/s, loss=0.4]": the total is not known.
  for (size_t bracket = line.find(" ["); bracket != std::string_view::npos;
       bracket = line.find(" [", bracket + 1)) {
    size_t time = bracket + 2;
    while (time < line.size() && IsDigit(line[time])) ++time;
    if (time == bracket + 2 || time >= line.size() || line[time] != ':') continue;
    size_t unit = bracket;
    while (unit > 0 && IsLetter(line[unit - 1])) --unit;
    size_t begin = unit;
    while (begin > 0 && (IsDigit(line[begin - 1]) || line[begin - 1] == '.')) --begin;
    if (begin == unit || unit == bracket) continue;
    size_t at = begin;
    std::optional<double> done = TakeNumber(line, at);
    if (!done) continue;
    Bar bar;
    bar.fraction.done = *done;
    bar.label = Trim(line.substr(0, begin));
    bar.unit = line.substr(unit, bracket - unit);
    return bar;
  }
  return std::nullopt;
}

bool IsSideLabel(std::string_view label, std::string_view unit) {
  if (unit == "B" || unit == "kB" || unit == "MB" || unit == "GB" || unit == "iB") return true;
  std::string lower;
  for (char c : label) lower += Lower(c);
  constexpr std::string_view kParts[] = {
      "eval",    "valid",        "test",   "predict", "infer",  "download", "upload",     "load",
      "fetch",   "tokeniz",      "filter", "sanity",  "saving", "extract",  "cach",       "scan",
      "generat", ".safetensors", ".bin",   ".zip",    ".tar",   ".json",    "preprocess", "map ("};
  for (std::string_view part : kParts) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return lower == "val" || lower == "map" || lower.rfind("val ", 0) == 0 || lower.rfind("map ", 0) == 0;
}

ProgressReading FromBar(const Bar& bar) {
  ProgressReading reading;
  reading.kind = Kind::kBar;
  reading.done = bar.fraction.done;
  if (bar.has_total) reading.total = bar.fraction.total;
  reading.unit = bar.unit.empty() || bar.unit == "it" ? "step" : std::string(bar.unit);
  reading.label = std::string(bar.label.substr(0, 60));
  reading.side = IsSideLabel(bar.label, bar.unit);
  return reading;
}

// The fraction of an epoch that its own line gives after the epoch: "Step [200/469]", "━━━ 630/1500".
std::optional<double> InsideAfter(std::string_view line, size_t at) {
  while (at < line.size()) {
    if (!IsDigit(line[at])) {
      ++at;
      continue;
    }
    const bool apart = at == 0 || line[at - 1] == ' ' || line[at - 1] == '[' || line[at - 1] == '(';
    size_t end = at;
    std::optional<Fraction> fraction;
    if (apart) fraction = TakeFraction(line, end);
    if (fraction && fraction->done <= fraction->total) return fraction->done / fraction->total;
    while (at < line.size() && (IsWordChar(line[at]) || line[at] == '.' || line[at] == '/')) ++at;
  }
  return std::nullopt;
}

std::optional<ProgressReading> ReadPlain(std::string_view line, size_t at) {
  if (at < line.size() && (line[at] == '[' || line[at] == '(')) ++at;
  SkipSpaces(line, at);
  const size_t begin = at;
  std::optional<Fraction> fraction = TakeFraction(line, at);
  if (!fraction || line.substr(begin, at - begin).find_first_of(".eo") != std::string_view::npos)
    return std::nullopt;
  if (fraction->done > fraction->total || fraction->total < 2) return std::nullopt;
  if (at < line.size() && (line[at] == ']' || line[at] == ')')) ++at;
  if (at < line.size() && std::string_view(" ,:-\t|").find(line[at]) == std::string_view::npos)
    return std::nullopt;
  ProgressReading reading;
  reading.kind = Kind::kPlain;
  reading.done = fraction->done;
  reading.total = fraction->total;
  reading.unit = "step";
  return reading;
}

ProgressReading FromAnchor(const Found& found) {
  ProgressReading reading;
  reading.kind = found.anchor->kind;
  reading.done = found.fraction.done;
  if (found.has_total) reading.total = found.fraction.total;
  reading.unit = reading.kind == Kind::kEpoch ? "epoch" : "step";
  reading.weak = !found.has_total && !found.at_start;
  return reading;
}

}  // namespace

std::string_view SkipLauncherPrefix(std::string_view line) {
  for (std::string_view word : {"[rank", "[default"}) {
    if (line.substr(0, word.size()) != word) continue;
    size_t at = word.size();
    while (at < line.size() && IsDigit(line[at])) ++at;
    if (line.substr(at, 2) == "]:") {
      line.remove_prefix(at + 2);
      if (!line.empty() && line[0] == ' ') line.remove_prefix(1);
    }
  }
  return line;
}

std::optional<ProgressReading> ReadProgress(std::string_view line) {
  line = SkipLauncherPrefix(line.substr(0, kLongest));
  // Most lines of most logs hold no number: nothing to find in them.
  if (std::find_if(line.begin(), line.end(), IsDigit) == line.end()) return std::nullopt;
  size_t start = 0;
  SkipSpaces(line, start);

  const std::optional<Bar> bar = FindBar(line);
  Found epoch, step;
  FindAnchors(bar ? bar->label : line, start, epoch, step);
  if (bar) {
    ProgressReading reading = FromBar(*bar);
    if (reading.side) return reading;
    if (epoch.anchor != nullptr && epoch.has_total) {
      ProgressReading whole = FromAnchor(epoch);
      if (reading.total) whole.inside = std::clamp(reading.done / *reading.total, 0.0, 1.0);
      return whole;
    }
    if (EqualsIgnoringCase(bar->label, "epoch") || EqualsIgnoringCase(bar->label, "epochs") ||
        reading.unit == "epoch") {
      reading.kind = Kind::kEpoch;
      reading.unit = "epoch";
      reading.counted = true;
    }
    return reading;
  }
  if (epoch.anchor != nullptr && epoch.has_total) {
    ProgressReading reading = FromAnchor(epoch);
    reading.inside = InsideAfter(line, epoch.end);
    return reading;
  }
  if (step.anchor != nullptr && step.has_total) return FromAnchor(step);
  if (std::optional<ProgressReading> plain = ReadPlain(line, start)) return plain;
  if (epoch.anchor != nullptr) {
    // "Epoch: [3][ 200/5005]": the epochs have no total, the steps of this one do.
    ProgressReading reading = FromAnchor(epoch);
    reading.inside = InsideAfter(line, epoch.end);
    return reading;
  }
  if (step.anchor != nullptr) return FromAnchor(step);
  return std::nullopt;
}

}  // namespace ty

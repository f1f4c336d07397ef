// TaskSpec from JSON. Each setting has one reader; tables say which settings an object knows.
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/text.h"
#include "model/draft.h"
#include "model/place.h"
#include "model/signals.h"
#include "model/spec.h"
#include "msg/spec.h"

namespace ty {
namespace {

namespace json = boost::json;

constexpr int64_t kMostWord = 128 * 1024 - 1;       // the kernel's MAX_ARG_STRLEN with its NUL
constexpr int64_t kMostTogether = 2 * 1024 * 1024;  // a quarter of the usual 8 MiB stack

using Read = Status (*)(const json::value&, const Place&, Draft&);
struct Setting {
  std::string_view name;
  Read read;
};

Status UnknownKey(std::string_view key, const Place& place, std::span<const Setting> known) {
  std::vector<std::string> names;
  std::string list;
  for (const Setting& setting : known) {
    names.emplace_back(setting.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  std::string field = place.In(key).Pointer(), shown = Printable(key);
  if (std::string nearest = Nearest(key, names); !nearest.empty())
    return Invalid(msg::SpecUnknownKey{.key = shown, .nearest = nearest}, field);
  return Invalid(msg::SpecUnknownKeyAlone{.key = shown, .known = list}, field);
}

// Status of a group whose faults have been noted each by itself.
Status Noted() {
  return Invalid({});
}

bool IsNoted(const Error& error) {
  return error.message.empty();
}

// Returns whether to read on: nobody reads a hundred sentences.
bool Note(const Error& error, Draft& spec) {
  constexpr size_t kMostFaults = 20;
  if (!IsNoted(error)) spec.faults.push_back(error);
  return spec.faults.size() < kMostFaults;
}

Status ReadSettings(const json::value& value, const Place& place, std::span<const Setting> known,
                    Draft& spec) {
  const json::object* object = value.if_object();
  if (!object) return Invalid(msg::SpecMustBeObject{.what = place.Words()}, place.Pointer());
  Status all;
  for (const auto& [key, member] : *object) {
    std::string_view name = key;
    const Setting* setting = nullptr;
    for (const Setting& candidate : known)
      if (candidate.name == name) setting = &candidate;
    Status read = setting ? setting->read(member, place.In(name), spec) : UnknownKey(name, place, known);
    if (read) continue;
    all = Noted();
    if (!Note(read.error(), spec)) break;
  }
  return all;
}

// Leaves: one kind of value each.

Result<std::string> Text(const json::value& value, const Place& place) {
  const json::string* text = value.if_string();
  if (!text) return Invalid(msg::SpecMustBeText{.what = place.Words()}, place.Pointer());
  if (text->find('\0') != json::string::npos)
    return Invalid(msg::SpecNul{.what = place.Words()}, place.Pointer());
  return std::string(*text);
}

// What goes to the kernel byte for byte. Text already stands as UTF-8; other bytes as {"base64": "…"}.
Result<std::string> Bytes(const json::value& value, const Place& place) {
  std::string bytes;
  if (const json::string* text = value.if_string()) {
    bytes.assign(text->data(), text->size());
  } else {
    const json::object* object = value.if_object();
    const json::value* inner = object && object->size() == 1 ? object->if_contains("base64") : nullptr;
    const json::string* encoded = inner ? inner->if_string() : nullptr;
    if (!encoded) return Invalid(msg::SpecMustBeWord{.what = place.Words()}, place.Pointer());
    std::optional<std::string> decoded = FromBase64(*encoded);
    if (!decoded) return Invalid(msg::SpecNotBase64{.what = place.Words()}, place.Pointer());
    bytes = std::move(*decoded);
  }
  if (bytes.find('\0') != std::string::npos)
    return Invalid(msg::SpecNul{.what = place.Words()}, place.Pointer());
  auto size = static_cast<int64_t>(bytes.size());
  if (size > kMostWord)
    return Invalid(msg::SpecWordTooLong{.what = place.Words(), .size = size}, place.Pointer());
  return bytes;
}

Result<std::string> AbsolutePath(const json::value& value, const Place& place) {
  Result<std::string> path = Bytes(value, place);
  if (path && !path->starts_with('/'))
    return Invalid(msg::SpecPathRelative{.what = place.Words(), .path = Printable(*path)}, place.Pointer());
  return path;
}

std::optional<int64_t> Integer(const json::value& value) {
  if (const int64_t* number = value.if_int64()) return *number;
  return std::nullopt;  // beyond 2^63 and reals are out of every range here
}

Result<int64_t> Whole(const json::value& value, const Place& place, int64_t least, int64_t most) {
  std::optional<int64_t> number = Integer(value);
  if (!number || *number < least || *number > most)
    return Invalid(msg::SpecMustBeWhole{.what = place.Words(), .least = least, .most = most},
                   place.Pointer());
  return *number;
}

// A value as the user wrote it, for sentences that quote it.
std::string Shown(const json::value& value) {
  if (const json::string* text = value.if_string()) return Printable(*text);
  std::string text = json::serialize(value);
  constexpr size_t kMost = 60;
  return text.size() > kMost ? Printable(text.substr(0, kMost)) + "…" : Printable(text);
}

Result<Duration> Length(const json::value& value, const Place& place) {
  constexpr double kMostSeconds = 9e9;  // nanoseconds in 64 bits
  std::optional<Duration> length;
  if (const json::string* text = value.if_string()) length = ParseDuration(*text);
  if (std::optional<int64_t> whole = Integer(value); whole && *whole >= 0 && *whole < 9'000'000'000)
    length = seconds(*whole);
  if (const double* real = value.if_double(); real && *real >= 0 && *real < kMostSeconds)
    length = Duration(std::llround(*real * 1e9));
  if (!length)
    return Invalid(msg::SpecDuration{.what = place.Words(), .text = Shown(value)}, place.Pointer());
  return *length;
}

Result<Duration> Limit(const json::value& value, const Place& place) {
  Result<Duration> length = Length(value, place);
  if (length && *length == Duration::zero())
    return Invalid(msg::SpecMustBeAboveZero{.what = place.Words()}, place.Pointer());
  return length;
}

Result<bool> TrueOrFalse(const json::value& value, const Place& place) {
  const bool* said = value.if_bool();
  if (!said) return Invalid(msg::SpecMustBeTrueOrFalse{.what = place.Words()}, place.Pointer());
  return *said;
}

template <class Enum>
struct Word {
  std::string_view name;
  Enum value;
};

template <class Enum, size_t N>
Result<Enum> OneOf(const json::value& value, const Place& place, const Word<Enum> (&words)[N]) {
  const json::string* text = value.if_string();
  std::string known;
  for (const Word<Enum>& word : words) {
    if (text && std::string_view(*text) == word.name) return word.value;
    known += (known.empty() ? "" : ", ") + std::string(word.name);
  }
  return Invalid(msg::SpecOneOf{.what = place.Words(), .text = Shown(value), .known = known},
                 place.Pointer());
}

// Stores what was read, or hands its error on.
template <class Target, class Value>
Status Put(Target& target, Result<Value> read) {
  if (!read) return Forward(read.error());
  target = std::move(*read);
  return {};
}

template <class Target>
Status PutWhole(Target& target, const json::value& value, const Place& place, int64_t least, int64_t most) {
  Result<int64_t> number = Whole(value, place, least, most);
  if (!number) return Forward(number.error());
  target = static_cast<int>(*number);
  return {};
}

// Runs `each` over a list, with the place of every element.
template <class Each>
Status ReadList(const json::value& value, const Place& place, Draft& spec, Each each) {
  const json::array* list = value.if_array();
  if (!list) return Invalid(msg::SpecMustBeList{.what = place.Words()}, place.Pointer());
  Status all;
  for (size_t i = 0; i < list->size(); ++i) {
    Status read = each((*list)[i], place.At(i));
    if (read) continue;
    all = Noted();
    if (!Note(read.error(), spec)) break;
  }
  return all;
}

// Settings that need more than one line.

Status ReadName(const json::value& value, const Place& place, Draft& spec) {
  Result<std::string> name = Text(value, place);
  if (!name) return Forward(name.error());
  if (Status fine = CheckName(*name); !fine) return Invalid(fine.error().message, place.Pointer());
  spec.name = std::move(*name);
  return {};
}

Status ReadCommand(const json::value& value, const Place& place, Draft& spec) {
  const json::array* words = value.if_array();
  if (!words) return Invalid(msg::SpecCommandList{.what = place.Words()}, place.Pointer());
  if (words->empty()) return Invalid(msg::SpecCommandEmpty{}, place.Pointer());
  spec.argv.clear();
  spec.argv.reserve(words->size());
  for (size_t i = 0; i < words->size(); ++i) {
    Result<std::string> word = Bytes((*words)[i], place.At(i));
    if (!word) return Forward(word.error());
    spec.argv.push_back(std::move(*word));
  }
  if (spec.argv[0].empty()) return Invalid(msg::SpecProgramEmpty{}, place.At(0).Pointer());
  return {};
}

Status ReadGpus(const json::value& value, const Place& place, Draft& spec) {
  std::string text;
  if (const json::string* said = value.if_string()) {
    text = *said;
  } else if (const json::array* list = value.if_array()) {
    // A list of numbers is the grammar's choice; anything else in it fails there, quoted as it stands.
    text = "{" + std::string(json::serialize(*list)).substr(1);
    text.back() = '}';
  } else {
    text = json::serialize(value);
  }
  Result<DeviceCounts> counts = DeviceCounts::Parse(text);
  if (!counts) return Invalid(counts.error().message, place.Pointer());
  spec.gpus = std::move(*counts);
  return {};
}

Result<int64_t> Amount(const json::value& value, const Place& place) {
  std::optional<int64_t> bytes = Integer(value);
  if (const json::string* text = value.if_string()) bytes = ParseBytes(*text);
  if (!bytes || *bytes < 0)
    return Invalid(msg::SpecBytes{.what = place.Words(), .text = Shown(value)}, place.Pointer());
  if (*bytes == 0) return Invalid(msg::SpecMustBeAboveZero{.what = place.Words()}, place.Pointer());
  return *bytes;
}

// Below this little is left to remove between the head and the tail that stay.
constexpr int64_t kLeastLog = 32 << 20;

Status ReadLogLimit(const json::value& value, const Place& place, Draft& spec) {
  Result<int64_t> bytes = Amount(value, place);
  if (!bytes) return Forward(bytes.error());
  if (*bytes < kLeastLog)
    return Invalid(msg::SpecLogLimit{.what = place.Words(), .least = kLeastLog, .size = *bytes},
                   place.Pointer());
  spec.log_limit = *bytes;
  return {};
}

// Text, or a number as YAML files have it.
Status ReadShare(const json::value& value, const Place& place, Draft& spec) {
  std::string text = Shown(value);
  if (const double* part = value.if_double()) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", *part);
    text = digits;
  }
  Result<Share> share = Share::Parse(text);
  if (!share) return Invalid(share.error().message, place.Pointer());
  spec.wish.share = *share;
  return {};
}

Status ReadPriority(const json::value& value, const Place& place, Draft& spec) {
  Result<int> priority = ParsePriority(Shown(value));
  if (!priority) return Invalid(priority.error().message, place.Pointer());
  spec.priority = *priority;
  return {};
}

Status ReadDependency(const json::value& value, const Place& place, Draft& spec) {
  static constexpr Word<Dependency::On> kOn[] = {
      {"ok", Dependency::On::kOk}, {"fail", Dependency::On::kFail}, {"any", Dependency::On::kAny}};
  static constexpr Setting kSettings[] = {
      {"task", [](const json::value& v, const Place& p,
                  Draft& s) { return Put(s.after.back().task.value, Whole(v, p, 1, INT64_MAX)); }},
      {"on", [](const json::value& v, const Place& p,
                Draft& s) { return Put(s.after.back().on, OneOf(v, p, kOn)); }},
  };
  spec.after.emplace_back();
  if (Status read = ReadSettings(value, place, kSettings, spec); !read) return read;
  if (spec.after.back().task.value == 0) {
    Place task = place.In("task");
    return Invalid(msg::SpecMissing{.what = task.Words()}, task.Pointer());
  }
  return {};
}

Status ReadAfter(const json::value& value, const Place& place, Draft& spec) {
  spec.after.clear();
  return ReadList(value, place, spec,
                  [&](const json::value& v, const Place& p) { return ReadDependency(v, p, spec); });
}

Status ReadBegin(const json::value& value, const Place& place, Draft& spec) {
  const json::string* text = value.if_string();
  std::optional<Time> time = text ? ParseIso(*text) : std::nullopt;
  if (!time) return Invalid(msg::SpecTime{.what = place.Words(), .text = Shown(value)}, place.Pointer());
  spec.begin = std::chrono::floor<milliseconds>(*time);  // as fine as it is written back
  return {};
}

Status ReadSignal(const json::value& value, const Place& place, Draft& spec) {
  std::optional<int> signal;
  if (const json::string* name = value.if_string()) signal = ParseSignal(*name);
  if (std::optional<int64_t> number = Integer(value); number && *number >= 1 && *number <= 64)
    signal = static_cast<int>(*number);
  if (!signal) return Invalid(msg::SpecSignal{.what = place.Words(), .text = Shown(value)}, place.Pointer());
  spec.stop_signal = *signal;
  return {};
}

Status ReadTags(const json::value& value, const Place& place, Draft& spec) {
  spec.tags.clear();
  return ReadList(value, place, spec, [&](const json::value& v, const Place& p) -> Status {
    Result<std::string> tag = Text(v, p);
    if (!tag) return Forward(tag.error());
    if (tag->empty()) return Invalid(msg::SpecTagEmpty{.what = p.Words()}, p.Pointer());
    spec.tags.push_back(std::move(*tag));
    return {};
  });
}

Status ReadVariables(const json::value& value, const Place& place, Variables& variables) {
  const json::object* object = value.if_object();
  if (!object) return Invalid(msg::SpecMustBeObject{.what = place.Words()}, place.Pointer());
  variables.clear();
  variables.reserve(object->size());
  for (const auto& [key, member] : *object) {
    std::string_view name = key;
    Place here = place.In(name);
    if (name.empty() || name.find('=') != std::string_view::npos)
      return Invalid(msg::SpecVariableName{.name = Printable(ShellQuote(name))}, here.Pointer());
    if (name.find('\0') != std::string_view::npos)
      return Invalid(msg::SpecNul{.what = here.Words()}, here.Pointer());
    Result<std::string> word = Bytes(member, here);
    if (!word) return Forward(word.error());
    variables.emplace_back(name, std::move(*word));
  }
  return {};
}

Status ReadCodeFile(const json::value& value, const Place& place, Draft& spec) {
  static constexpr Setting kSettings[] = {
      {"path", [](const json::value& v, const Place& p,
                  Draft& s) { return Put(s.code.files.back().first, AbsolutePath(v, p)); }},
      {"sha256",
       [](const json::value& v, const Place& p, Draft& s) -> Status {
         Result<std::string> text = Text(v, p);
         if (!text || text->size() != 64 || text->find_first_not_of("0123456789abcdef") != std::string::npos)
           return Invalid(msg::SpecSha256{.what = p.Words()}, p.Pointer());
         s.code.files.back().second = std::move(*text);
         return {};
       }},
  };
  spec.code.files.emplace_back();
  if (Status read = ReadSettings(value, place, kSettings, spec); !read) return read;
  for (auto [key, missing] : {std::pair("path", spec.code.files.back().first.empty()),
                              std::pair("sha256", spec.code.files.back().second.empty())}) {
    Place here = place.In(key);
    if (missing) return Invalid(msg::SpecMissing{.what = here.Words()}, here.Pointer());
  }
  return {};
}

// As chmod and the shell write it: "0027".
Status ReadUmask(const json::value& value, const Place& place, Draft& spec) {
  Result<std::string> text = Text(value, place);
  const bool octal =
      text && !text->empty() && text->size() <= 4 && text->find_first_not_of("01234567") == std::string::npos;
  const long mask = octal ? std::strtol(text->c_str(), nullptr, 8) : -1;
  if (mask < 0 || mask > 0777) return Invalid(msg::SpecUmask{.what = place.Words()}, place.Pointer());
  spec.umask = static_cast<int>(mask);
  return {};
}

// The tables: every setting there is, and where it goes.

constexpr int kMostCpus = 65'536;
constexpr int kMostRetries = 1000;

constexpr Word<RetryPolicy::On> kRetryOn[] = {{"table", RetryPolicy::On::kTable},
                                              {"any", RetryPolicy::On::kAny}};

constexpr Word<TaskSpec::GpuIds> kGpuIds[] = {{"uuid", TaskSpec::GpuIds::kUuid},
                                              {"index", TaskSpec::GpuIds::kIndex}};

constexpr Word<StopTarget> kTargets[] = {
    {"leader", StopTarget::kLeader}, {"group", StopTarget::kGroup}, {"all", StopTarget::kAll}};

constexpr Setting kResources[] = {
    {"gpus", ReadGpus},
    {"cpus",
     [](const json::value& v, const Place& p, Draft& s) { return PutWhole(s.cpus, v, p, 1, kMostCpus); }},
    {"memory", [](const json::value& v, const Place& p, Draft& s) { return Put(s.memory, Amount(v, p)); }},
    {"share", ReadShare},
    {"gpu_memory",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.wish.memory, Amount(v, p)); }},
    {"exclusive",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.wish.exclusive, TrueOrFalse(v, p)); }},
    {"gpu_ids",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.gpu_ids, OneOf(v, p, kGpuIds)); }},
};

constexpr Setting kLimits[] = {
    {"time", [](const json::value& v, const Place& p, Draft& s) { return Put(s.time_limit, Limit(v, p)); }},
    {"idle", [](const json::value& v, const Place& p, Draft& s) { return Put(s.idle_limit, Limit(v, p)); }},
    {"log", ReadLogLimit},
};

constexpr Setting kRetry[] = {
    {"max", [](const json::value& v, const Place& p,
               Draft& s) { return PutWhole(s.retry.max, v, p, 0, kMostRetries); }},
    {"on",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.retry.on, OneOf(v, p, kRetryOn)); }},
    {"delay",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.retry.delay, Length(v, p)); }},
};

constexpr Setting kCheckpoint[] = {
    {"resume",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.resume_path, AbsolutePath(v, p)); }},
    {"signal", ReadSignal},
    {"target", [](const json::value& v, const Place& p,
                  Draft& s) { return Put(s.stop_target, OneOf(v, p, kTargets)); }},
    {"grace", [](const json::value& v, const Place& p, Draft& s) { return Put(s.grace, Length(v, p)); }},
};

constexpr Setting kEnvironment[] = {
    {"variables",
     [](const json::value& v, const Place& p, Draft& s) { return ReadVariables(v, p, s.environment); }},
};

constexpr Setting kCode[] = {
    {"files",
     [](const json::value& v, const Place& p, Draft& s) {
       s.code.files.clear();
       return ReadList(v, p, s,
                       [&](const json::value& file, const Place& at) { return ReadCodeFile(file, at, s); });
     }},
    {"repository",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.code.repository, Bytes(v, p)); }},
    {"commit", [](const json::value& v, const Place& p, Draft& s) { return Put(s.code.commit, Text(v, p)); }},
};

template <const auto& kTable>
Status ReadGroup(const json::value& value, const Place& place, Draft& spec) {
  return ReadSettings(value, place, kTable, spec);
}

constexpr Setting kTask[] = {
    {"name", ReadName},
    {"command", ReadCommand},
    {"workdir",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.workdir, AbsolutePath(v, p)); }},
    {"recipe", [](const json::value& v, const Place& p, Draft& s) { return Put(s.recipe, Text(v, p)); }},
    {"umask", ReadUmask},
    {"resources", ReadGroup<kResources>},
    {"priority", ReadPriority},
    {"after", ReadAfter},
    {"ranks",
     [](const json::value& v, const Place& p, Draft& s) { return Put(s.wish.ranks, TrueOrFalse(v, p)); }},
    {"hold", [](const json::value& v, const Place& p, Draft& s) { return Put(s.hold, TrueOrFalse(v, p)); }},
    {"begin", ReadBegin},
    {"limits", ReadGroup<kLimits>},
    {"retry", ReadGroup<kRetry>},
    {"checkpoint", ReadGroup<kCheckpoint>},
    {"tags", ReadTags},
    {"variables",
     [](const json::value& v, const Place& p, Draft& s) { return ReadVariables(v, p, s.variables); }},
    {"environment", ReadGroup<kEnvironment>},
    {"code", ReadGroup<kCode>},
};

// What no single setting can tell: wishes that contradict each other or need a device that is not asked for.
Status CheckWish(const TaskSpec& spec) {
  const DeviceWish& wish = spec.wish;
  const Place root, resources = root.In("resources"), share = resources.In("share");
  if (spec.gpus.Most() == 0) {
    for (const auto& [place, said] :
         {std::pair(share, wish.share.mode != ShareMode::kWhole),
          std::pair(resources.In("gpu_memory"), wish.memory != 0),
          std::pair(resources.In("exclusive"), wish.exclusive), std::pair(root.In("ranks"), wish.ranks)})
      if (said) return Invalid(msg::SpecNeedsDevice{.what = place.Words()}, place.Pointer());
  }
  if (wish.share.mode == ShareMode::kWhole) return {};
  const std::string part = Share{wish.share.milli, ShareMode::kTogether}.Text();
  if (wish.exclusive)
    return Invalid(msg::SpecExclusiveShare{.share = part}, resources.In("exclusive").Pointer());
  if (wish.share.mode != ShareMode::kTurns) return {};
  if (wish.ranks) return Invalid(msg::SpecTurnsRanks{.share = part}, share.Pointer());
  if (spec.gpus.Most() > 1)
    return Invalid(msg::SpecTurnsMany{.most = spec.gpus.Most(), .share = part}, share.Pointer());
  return {};
}

// What execve copies: each word with its NUL and a pointer to it.
int64_t SizeForKernel(const TaskSpec& spec) {
  constexpr size_t kPointer = sizeof(char*);
  size_t size = 0;
  for (const std::string& word : spec.argv) size += word.size() + 1 + kPointer;
  for (const Variables* variables : {&spec.variables, &spec.environment})
    for (const auto& [name, value] : *variables) size += name.size() + value.size() + 2 + kPointer;
  return static_cast<int64_t>(size);
}

bool HasFaultAt(const Draft& spec, std::string_view field) {
  for (const Error& fault : spec.faults)
    if (std::string_view(fault.field).starts_with(field)) return true;
  return false;
}

// What the whole is asked for once its parts are known: nothing follows from a part that is wrong.
void CheckWhole(Draft& spec) {
  auto note = [&](const Status& fine) {
    if (!fine) Note(fine.error(), spec);
  };
  if (spec.argv.empty() && !HasFaultAt(spec, "/command"))
    note(Invalid(msg::SpecMissing{.what = "command"}, "/command"));
  if (spec.workdir.empty() && !HasFaultAt(spec, "/workdir"))
    note(Invalid(msg::SpecMissing{.what = "workdir"}, "/workdir"));
  if (!HasFaultAt(spec, "/resources") && !HasFaultAt(spec, "/ranks")) note(CheckWish(spec));
  const int64_t size = SizeForKernel(spec);
  if (size > kMostTogether && !HasFaultAt(spec, "/command"))
    note(Invalid(msg::SpecCommandTooLarge{.size = size}, "/command"));
}

}  // namespace

Draft ReadTaskSpec(const json::value& value) {
  Draft spec;
  if (!value.is_object()) {
    spec.faults.push_back(Invalid(msg::SpecNotAnObject{}).value());
    return spec;
  }
  (void)ReadSettings(value, Place(), kTask, spec);
  CheckWhole(spec);
  return spec;
}

Result<TaskSpec> ParseTaskSpec(const json::value& value) {
  Draft spec = ReadTaskSpec(value);
  if (!spec.faults.empty()) return Forward(spec.faults.front());
  return TaskSpec(std::move(spec));
}

void AddFaults(std::vector<Error>& faults, std::vector<Error> more) {
  const size_t said = faults.size();
  for (Error& fault : more) {
    const auto end = faults.begin() + static_cast<ptrdiff_t>(said);
    if (std::none_of(faults.begin(), end, [&](const Error& one) { return one.field == fault.field; }))
      faults.push_back(std::move(fault));
  }
}

Result<std::string> WordFromJson(const json::value& value, std::string_view field) {
  Result<std::string> word = Bytes(value, Place());
  if (word) return word;
  // The caller knows the place; its pointer without the slashes serves the sentence.
  Error error = word.error();
  error.field = field;
  std::string what(field.substr(field.starts_with('/')));
  for (char& c : what)
    if (c == '/') c = '.';
  for (auto& [name, argument] : error.message.args)
    if (name == "what") argument = what;
  return Forward(error);
}

}  // namespace ty

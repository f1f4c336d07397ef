// cancel, hold, release, retry, remove, priority: many tasks in one request, one answer each.
#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <set>

#include "base/text.h"
#include "http/api.h"
#include "http/body.h"
#include "http/render.h"
#include "msg/act.h"
#include "msg/api.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kMostTasks = 100'000;
constexpr size_t kSlice = 1000;  // records of ended tasks in memory at once

struct Selection {
  std::vector<TaskId> ids;         // in the order named
  std::vector<std::string> words;  // names and @last
  std::vector<std::pair<TaskId, TaskId>> ranges;
  std::string tag;
  bool all = false;
  int priority = 0;
  bool first = false;  // instead of a priority, as is
  std::optional<TaskId> beside;
  bool behind = false;
};

// "12", "3-9", a name or "@last".
Status ReadWord(const std::string& word, const std::string& field, Selection& selection) {
  if (IsNumber(word)) {
    selection.ids.push_back(TaskId{*ParseInt(word)});
    return {};
  }
  const size_t dash = word.find('-');
  if (dash != std::string::npos && IsNumber(word.substr(0, dash)) && IsNumber(word.substr(dash + 1))) {
    const int64_t first = *ParseInt(word.substr(0, dash)), last = *ParseInt(word.substr(dash + 1));
    if (first > last) return Invalid(msg::ActRangeBackwards{.range = word}, field);
    if (last - first >= static_cast<int64_t>(kMostTasks))
      return Invalid(msg::ActTooMany{.most = kMostTasks}, field);
    selection.ranges.emplace_back(TaskId{first}, TaskId{last});
    return {};
  }
  if (word != "@last" && !CheckName(word))
    return Invalid(msg::ActBadSelector{.text = Printable(word)}, field);
  selection.words.push_back(word);
  return {};
}

// Where in the queue: a priority or first, one of them for the verb that is about that, none for others.
Status ReadPlace(const json::object& body, Verb verb, Selection& selection) {
  const json::value* priority = body.if_contains("priority");
  if (priority != nullptr && priority->is_null()) priority = nullptr;
  Result<bool> first = ReadBool(body, "first");
  if (!first) return Forward(first.error());
  selection.first = *first;
  int places = (priority != nullptr ? 1 : 0) + (*first ? 1 : 0);
  for (const char* where : {"before", "after"}) {
    const json::value* beside = body.if_contains(where);
    if (beside == nullptr || beside->is_null()) continue;
    const std::string field = std::string("/") + where;
    if (verb != Verb::kPriority) return Invalid(msg::ActPriorityElsewhere{}, field);
    if (!beside->is_int64() || beside->as_int64() < 1)
      return Invalid(msg::ApiMustBe{.name = where, .what = "the number of a task, as 12"}, field);
    if (++places > 1) return Invalid(msg::ActPlaceTwice{}, field);
    selection.beside = TaskId{beside->as_int64()};
    selection.behind = std::string_view(where) == "after";
  }
  if (selection.beside) return {};
  if (verb != Verb::kPriority) {
    if (priority != nullptr) return Invalid(msg::ActPriorityElsewhere{}, "/priority");
    if (*first) return Invalid(msg::ActPriorityElsewhere{}, "/first");
    return {};
  }
  if (priority != nullptr && *first) return Invalid(msg::ActPriorityBoth{}, "/first");
  if (*first) return {};
  if (priority == nullptr) return Invalid(msg::ActPriorityMissing{}, "/priority");
  std::string text;
  if (priority->is_string()) text.assign(priority->as_string().data(), priority->as_string().size());
  if (priority->is_int64()) text = std::to_string(priority->as_int64());
  Result<int> number = ParsePriority(text);
  if (!number) return Invalid(number.error().message, "/priority");
  selection.priority = *number;
  return {};
}

Result<Selection> ReadSelection(const Request& request, Verb verb) {
  Result<json::object> body =
      ParseBody(request.body, {"tasks", "tag", "all", "priority", "first", "before", "after"});
  if (!body) return Forward(body.error());
  Selection selection;
  if (const json::value* tasks = body->if_contains("tasks"); tasks != nullptr && !tasks->is_null()) {
    if (!tasks->is_array())
      return Invalid(msg::ApiMustBe{.name = "tasks", .what = "[\"12\", \"3-9\", \"name\", \"@last\"]"},
                     "/tasks");
    for (size_t i = 0; i < tasks->as_array().size(); i++) {
      const json::value& one = tasks->as_array()[i];
      const std::string field = "/tasks/" + std::to_string(i);
      std::string word;
      if (one.is_string()) word.assign(one.as_string().data(), one.as_string().size());
      if (one.is_int64()) word = std::to_string(one.as_int64());
      if (Status good = ReadWord(word, field, selection); !good) return Forward(good.error());
    }
  }
  Result<std::string> tag = ReadText(*body, "tag");
  if (!tag) return Forward(tag.error());
  selection.tag = std::move(*tag);
  Result<bool> all = ReadBool(*body, "all");
  if (!all) return Forward(all.error());
  selection.all = *all;
  if (selection.all && verb != Verb::kCancel) return Invalid(msg::ActAllCancelOnly{}, "/all");

  if (Status read = ReadPlace(*body, verb, selection); !read) return Forward(read.error());
  if (selection.ids.empty() && selection.words.empty() && selection.ranges.empty() && selection.tag.empty() &&
      !selection.all) {
    return Invalid(msg::ActNothingNamed{}, "/tasks");
  }
  return selection;
}

}  // namespace

// One request of many tasks on its way: names to numbers, then slice by slice to the Yard, with the records
// of those that have ended.
class ActOnTasks : public std::enable_shared_from_this<ActOnTasks> {
 public:
  ActOnTasks(Api& api, CallPtr call, Verb verb, Selection selection)
      : api_(api), call_(std::move(call)), verb_(verb), selection_(std::move(selection)) {}

  void Begin() {
    for (TaskId id : selection_.ids) named_.insert(id);
    const bool ended_by_tag = !selection_.tag.empty() && (verb_ == Verb::kRetry || verb_ == Verb::kRemove);
    if (selection_.words.empty() && !ended_by_tag) return Gather({});
    struct Names {
      std::vector<std::pair<std::string, Result<TaskId>>> words;
      std::vector<TaskId> tagged;
    };
    auto read = [words = selection_.words, tag = ended_by_tag ? selection_.tag : ""](Rows& rows) {
      Names names;
      for (const std::string& word : words) names.words.emplace_back(word, FindSelected(rows, word));
      if (tag.empty()) return names;
      EndedFilter filter;
      filter.tag = tag;
      filter.limit = static_cast<int>(kMostTasks);
      if (Result<std::vector<Task>> tasks = rows.ListEnded(filter)) {
        for (const Task& task : *tasks) names.tagged.push_back(task.id);
      }
      return names;
    };
    Fetch<Names>(api_.backend_, read, [self = shared_from_this()](Names names) {
      for (auto& [word, id] : names.words) {
        if (id) {
          self->named_.insert(*id);
          self->selection_.ids.push_back(*id);
        } else {
          self->AddProblem(json::string(word), id.error());
        }
      }
      self->Gather(std::move(names.tagged));
    });
  }

 private:
  void Gather(std::vector<TaskId> tagged) {
    std::set<TaskId> seen;
    auto add = [&](TaskId id) {
      if (seen.insert(id).second) todo_.push_back(id);
    };
    for (TaskId id : selection_.ids) add(id);
    for (TaskId id : tagged) add(id);
    for (const auto& [first, last] : selection_.ranges) {
      for (int64_t id = first.value; id <= last.value; id++) add(TaskId{id});
    }
    if (todo_.size() > kMostTasks) {
      return call_->Refuse(Error{Code::kInvalid, msg::ActTooMany{.most = kMostTasks}, "/tasks"});
    }
    NextSlice();
  }

  void NextSlice() {
    const bool to_all = std::exchange(selection_.all, false);
    const std::string tag = std::exchange(selection_.tag, {});
    const size_t count = std::min(kSlice, todo_.size() - done_);
    if (count == 0 && !to_all && tag.empty()) return Finish();
    // Each slice that goes first, or right behind a task, goes before the ones already there, so the last one
    // is the first to go.
    const size_t begin = selection_.first || selection_.behind ? todo_.size() - done_ - count : done_;
    std::vector<TaskId> slice(todo_.begin() + static_cast<ptrdiff_t>(begin),
                              todo_.begin() + static_cast<ptrdiff_t>(begin + count));
    done_ += count;
    Run(std::move(slice), to_all, tag, true);
  }

  void Run(std::vector<TaskId> slice, bool to_all, std::string tag, bool again) {
    auto self = shared_from_this();
    api_.backend_.AreOpen(slice, [=](std::vector<bool> open) {
      std::vector<TaskId> ended, were_open;
      for (size_t i = 0; i < slice.size(); i++) (open[i] ? were_open : ended).push_back(slice[i]);
      auto post = [=](std::vector<TaskRecord> records) {
        ty::Act act;
        act.verb = self->verb_;
        act.tasks = slice;
        act.all_open = to_all;
        act.tag = tag;
        act.priority = self->selection_.priority;
        act.first = self->selection_.first;
        act.beside = self->selection_.beside;
        act.behind = self->selection_.behind;
        act.ended = std::move(records);
        act.reply = [=](std::vector<ActAnswer> answers) {
          // Without room on the disk nothing is done to any of them, which is said once.
          if (self->answers_.empty() && !answers.empty() && !answers.front().done &&
              StatusOf(answers.front().done.error()) == kNoRoom)
            return self->call_->Refuse(answers.front().done.error());
          // Open when asked and gone when acted on: it has ended in between, and its record is in the store
          // now.
          std::vector<TaskId> missed;
          for (ActAnswer& answer : answers) {
            const bool gone = !answer.done && answer.done.error().code == Code::kNotFound &&
                              std::find(were_open.begin(), were_open.end(), answer.id) != were_open.end();
            if (gone && again) {
              missed.push_back(answer.id);
            } else {
              self->answers_[answer.id] = std::move(answer.done);
            }
          }
          if (!missed.empty()) return self->Run(missed, false, "", false);
          self->NextSlice();
        };
        self->api_.backend_.Post(std::move(act));
      };
      if (ended.empty()) return post({});
      auto read = [ended](Rows& rows) {
        std::vector<TaskRecord> records;
        for (TaskId id : ended) {
          Result<TaskRecord> record = rows.FindTask(id);
          if (record && IsEnded(record->task)) records.push_back(std::move(*record));
        }
        return records;
      };
      Fetch<std::vector<TaskRecord>>(self->api_.backend_, read, post);
    });
  }

  // A number in a range that names no task is no mistake, unless the whole range names none.
  void Finish() {
    for (const auto& [first, last] : selection_.ranges) {
      auto none = [&](const auto& one) { return !one.second && one.second.error().code == Code::kNotFound; };
      auto from = answers_.lower_bound(first), to = answers_.upper_bound(last);
      if (!std::all_of(from, to, none)) continue;
      const std::string range = std::to_string(first.value) + "-" + std::to_string(last.value);
      AddProblem(json::string(range), Error{Code::kNotFound, msg::ActRangeEmpty{.range = range}, ""});
    }
    // Of several that go first the one named first does: that order is told. Else it is that of the numbers.
    if (selection_.first) {
      for (TaskId id : todo_) {
        if (auto answer = answers_.extract(id)) Tell(id, answer.mapped());
      }
    }
    for (const auto& [id, done] : answers_) Tell(id, done);
    call_->Answer(json::object{{"items", std::move(items_)}});
  }

  void Tell(TaskId id, const Status& done) {
    if (done) {
      items_.push_back(json::object{{"id", id.value}, {"ok", true}});
    } else if (named_.count(id) != 0 || done.error().code != Code::kNotFound) {
      AddProblem(id.value, done.error());
    }
  }

  void AddProblem(json::value id, const Error& error) {
    items_.push_back(json::object{{"id", std::move(id)},
                                  {"ok", false},
                                  {"problem", RenderProblem(StatusOf(error), error, call_->language())}});
  }

  Api& api_;
  CallPtr call_;
  Verb verb_;
  Selection selection_;
  std::set<TaskId> named_;  // by number or name, not by a range alone
  std::vector<TaskId> todo_;
  size_t done_ = 0;
  std::map<TaskId, Status> answers_;
  json::array items_;
};

void Api::Act(CallPtr call, Verb verb) {
  Result<Selection> selection = ReadSelection(call->request, verb);
  if (!selection) return call->Refuse(selection.error());
  std::make_shared<ActOnTasks>(*this, call, verb, std::move(*selection))->Begin();
}

void Api::CancelTasks(CallPtr call) {
  Act(std::move(call), Verb::kCancel);
}
void Api::HoldTasks(CallPtr call) {
  Act(std::move(call), Verb::kHold);
}
void Api::ReleaseTasks(CallPtr call) {
  Act(std::move(call), Verb::kRelease);
}
void Api::RetryTasks(CallPtr call) {
  Act(std::move(call), Verb::kRetry);
}
void Api::RemoveTasks(CallPtr call) {
  Act(std::move(call), Verb::kRemove);
}
void Api::SetPriority(CallPtr call) {
  Act(std::move(call), Verb::kPriority);
}

}  // namespace ty

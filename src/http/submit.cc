// JSON to TaskSpec, nothing more; and what the Yard must know of the store before it can admit a task: ended
// tasks that it follows, and idempotency keys. A submit that names neither costs no look at the store.
#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "base/digest.h"
#include "base/fail_point.h"
#include "base/text.h"
#include "http/api.h"
#include "http/body.h"
#include "http/footing.h"
#include "http/parameters.h"
#include "http/reader.h"
#include "http/render.h"
#include "http/scout.h"
#include "msg/api.h"
#include "msg/submit.h"

namespace ty {

namespace json = boost::json;

namespace {

constexpr size_t kLineLimit = kBodyLimit;
constexpr int64_t kMostLines = 1'000'000;
constexpr size_t kSlice = 2000;

std::string ToString(const json::string& text) {
  return std::string(text.data(), text.size());
}

// The same request, however its keys were ordered and its white space set.
void WriteCanonical(const json::value& value, std::string& out) {
  if (const json::object* object = value.if_object()) {
    std::map<std::string_view, const json::value*> sorted;
    for (const auto& member : *object)
      sorted.emplace(std::string_view(member.key().data(), member.key().size()), &member.value());
    out += '{';
    for (const auto& [key, inner] : sorted) {
      out += json::serialize(json::string(json::string_view(key.data(), key.size())));
      out += ':';
      WriteCanonical(*inner, out);
      out += ',';
    }
    out += '}';
  } else if (const json::array* array = value.if_array()) {
    out += '[';
    for (const json::value& inner : *array) {
      WriteCanonical(inner, out);
      out += ',';
    }
    out += ']';
  } else {
    out += json::serialize(value);
  }
}

// The words of `after[].task`, as numbers or names. What is not as it should be is left to ParseTaskSpec.
std::vector<json::value*> FollowedIn(json::value& task) {
  std::vector<json::value*> words;
  json::object* object = task.if_object();
  json::value* after = object == nullptr ? nullptr : object->if_contains("after");
  if (after == nullptr || !after->is_array()) return words;
  for (json::value& one : after->as_array()) {
    json::object* entry = one.if_object();
    json::value* word = entry == nullptr ? nullptr : entry->if_contains("task");
    if (word != nullptr) words.push_back(word);
  }
  return words;
}

std::string WordOf(const json::value& word) {
  if (word.is_string()) return ToString(word.as_string());
  if (word.is_int64()) return std::to_string(word.as_int64());
  return "";
}

// What the store knows of the words that tasks follow.
struct Known {
  std::map<std::string, Result<TaskId>> words;
  std::unordered_map<TaskId, OutcomeKind> ended;
  std::unordered_map<std::string, KeptKey> kept;
  std::optional<Error> trouble;
};

Known LookUp(Rows& rows, const std::vector<std::string>& words, const std::string& key) {
  Known known;
  for (const std::string& word : words) {
    if (word.empty() || known.words.count(word) != 0) continue;
    Result<TaskId> id = FindSelected(rows, word);
    if (id) {
      Result<TaskRecord> record = rows.FindTask(*id);
      if (record && record->task.outcome && IsEnded(record->task))
        known.ended[*id] = record->task.outcome->kind;
      if (!record && record.error().code != Code::kNotFound) known.trouble = record.error();
    }
    known.words.emplace(word, std::move(id));
  }
  if (!key.empty()) {
    Result<std::optional<KeptKey>> kept = rows.FindKey(key);
    if (!kept) known.trouble = kept.error();
    if (kept && *kept) known.kept.emplace(key, **kept);
  }
  return known;
}

// Puts numbers in the place of names, so that ParseTaskSpec sees numbers alone.
std::vector<Error> PutNumbers(json::value& task, const Known& known) {
  std::vector<Error> unknown;
  size_t index = 0;
  for (json::value* word : FollowedIn(task)) {
    const std::string field = "/after/" + std::to_string(index++) + "/task";
    if (!word->is_string()) continue;
    auto found = known.words.find(ToString(word->as_string()));
    if (found == known.words.end()) continue;
    if (found->second) {
      *word = found->second->value;
    } else {
      unknown.push_back(Error{Code::kInvalid, found->second.error().message, field});
    }
  }
  return unknown;
}

Draft ReadDraft(json::value& task, const Known& known) {
  std::vector<Error> faults = PutNumbers(task, known);
  Draft draft = ReadTaskSpec(task);
  AddFaults(faults, std::move(draft.faults));
  draft.faults = std::move(faults);
  return draft;
}

Result<std::string> ReadKey(const Request& request) {
  const size_t count = request.Count("Idempotency-Key");
  if (count == 0) return std::string();
  const std::string_view key = request.Header("Idempotency-Key");
  if (count > 1 || key.empty() || key.size() > 200 || !IsUtf8(key))
    return Invalid(msg::ApiKeyLength{}, "Idempotency-Key");
  return std::string(key);
}

}  // namespace

void Api::SubmitTask(CallPtr call) {
  Result<std::string> key = ReadKey(call->request);
  if (!key) return call->Refuse(key.error());
  Result<json::value> parsed = ParseJson(call->request.body);
  if (!parsed) return call->Refuse(400, parsed.error());
  auto task = std::make_shared<json::value>(std::move(*parsed));

  std::string hash;
  if (!key->empty()) {
    std::string canonical;
    WriteCanonical(*task, canonical);
    hash = Sha256Hex(canonical);
  }
  Parameters parameters(call->request);
  const bool looked = parameters.Choice("looked", {"yes", "no"}) == "yes";
  if (parameters.error()) return call->Refuse(*parameters.error());

  auto queue = [this, call, task, key = *key, hash](Draft draft, const Known& known) {
    Submit submit;
    submit.items.push_back(SubmitItem{std::move(draft), key, hash, {}});
    submit.ended = known.ended;
    submit.kept = known.kept;
    submit.reply = [this, call, task, ended = known.ended](Result<std::vector<SubmitReceipt>> receipts) {
      if (!receipts && receipts.error().code == Code::kInvalid)
        return RefuseWhole(call, ReadTaskSpec(*task), ended, {receipts.error()});
      if (!receipts) return call->Refuse(receipts.error());
      SubmitReceipt receipt = std::move(receipts->front());
      if (!receipt.repeated)
        return call->Answer(RenderReceipt(receipt, settings_.home, call->language()), 201);
      if (receipt.state != "ended")
        return call->Answer(RenderReceipt(receipt, settings_.home, call->language()), 200);
      // The Yard has forgotten what ended; its name is in the store.
      Fetch<Result<TaskRecord>>(
          backend_, [id = receipt.id](Rows& rows) { return rows.FindTask(id); },
          [this, call, receipt](Result<TaskRecord> record) mutable {
            if (record) {
              receipt.uid = record->task.uid;
              receipt.name = record->task.name;
            }
            call->Answer(RenderReceipt(receipt, settings_.home, call->language()), 200);
          });
    };
    FAIL_POINT("submit.received");
    backend_.Post(std::move(submit));
  };
  auto post = [this, call, task, looked, queue](Known known) {
    if (known.trouble) return call->Refuse(*known.trouble);
    Draft draft = ReadDraft(*task, known);
    // A repeated request is answered whatever has become of its folder.
    if (draft.faults.empty() && (looked || scout_ == nullptr || !known.kept.empty()))
      return queue(std::move(draft), known);
    auto kept = std::make_shared<std::pair<Draft, Known>>(std::move(draft), std::move(known));
    LookAhead(kept->first, [this, call, queue, kept](std::vector<Error> seen) {
      auto& [draft, known] = *kept;
      if (draft.faults.empty() && seen.empty()) return queue(std::move(draft), known);
      RefuseWhole(call, std::move(draft), known.ended, std::move(seen));
    });
  };

  std::vector<std::string> words;
  for (const json::value* word : FollowedIn(*task)) words.push_back(WordOf(*word));
  if (key->empty() && words.empty()) return post({});
  Fetch<Known>(
      backend_, [words, key = *key](Rows& rows) { return LookUp(rows, words, key); }, post);
}

void Api::LookAhead(const TaskSpec& spec, std::function<void(std::vector<Error>)> then) {
  if (scout_ == nullptr) return then({});
  scout_->Send([footing = FootingOf(spec, *settings_.basics)] { return LookAt(footing); }, std::move(then));
}

void Api::RefuseWhole(const CallPtr& call, Draft draft, std::unordered_map<TaskId, OutcomeKind> ended,
                      std::vector<Error> more) {
  Preview preview;
  preview.faults_only = true;
  preview.ended = std::move(ended);
  preview.reply = [call, faults = std::move(draft.faults),
                   more = std::move(more)](Result<PreviewAnswer> answer) mutable {
    if (answer) AddFaults(faults, std::move(answer->faults));
    AddFaults(faults, std::move(more));
    call->Refuse(faults);
  };
  preview.spec = std::move(draft);
  backend_.Post(std::move(preview));
}

void Api::PreviewTask(CallPtr call) {
  Result<json::value> parsed = ParseJson(call->request.body);
  if (!parsed) return call->Refuse(400, parsed.error());
  auto task = std::make_shared<json::value>(std::move(*parsed));
  auto post = [this, call, task](Known known) {
    if (known.trouble) return call->Refuse(*known.trouble);
    auto draft = std::make_shared<Draft>(ReadDraft(*task, known));
    LookAhead(*draft, [this, call, draft, ended = std::move(known.ended)](std::vector<Error> seen) {
      if (!draft->faults.empty() || !seen.empty())
        return RefuseWhole(call, std::move(*draft), ended, std::move(seen));
      Preview preview;
      preview.spec = std::move(*draft);
      preview.ended = ended;
      preview.reply = [call](Result<PreviewAnswer> answer) {
        if (!answer) return call->Refuse(answer.error());
        if (!answer->faults.empty()) return call->Refuse(answer->faults);
        call->Answer(RenderPreview(*answer, call->language()));
      };
      backend_.Post(std::move(preview));
    });
  };
  std::vector<std::string> words;
  for (const json::value* word : FollowedIn(*task)) words.push_back(WordOf(*word));
  if (words.empty()) return post({});
  Fetch<Known>(
      backend_, [words](Rows& rows) { return LookUp(rows, words, ""); }, post);
}

// ---- Many at once.

// Reads the lines as they come. Tasks that follow others wait until all lines are there, since they may name
// one of them; then everything goes to the Yard as one Submit.
class BulkSubmit final : public BodySink, public std::enable_shared_from_this<BulkSubmit> {
 public:
  BulkSubmit(Api& api, CallPtr call, std::string key)
      : api_(api), call_(std::move(call)), key_(std::move(key)) {}

  void Take(std::string_view piece) override {
    while (!call_->answered() && !piece.empty()) {
      const size_t end = piece.find('\n');
      line_.append(piece.substr(0, end));
      if (line_.size() > kLineLimit) {
        return Refuse(
            lines_ + 1,
            Error{Code::kInvalid, msg::SubmitBulkLineTooLong{.limit = static_cast<int64_t>(kLineLimit)}, ""});
      }
      if (end == std::string_view::npos) return;
      piece.remove_prefix(end + 1);
      EndLine();
    }
  }

  void Finish() override {
    if (!call_->answered() && !line_.empty()) EndLine();
    if (call_->answered()) return;
    if (items_.empty()) return call_->Refuse(Error{Code::kInvalid, msg::SubmitBulkEmpty{}, ""});
    std::vector<std::string> words;
    for (Follower& follower : followers_) {
      for (const json::value* word : FollowedIn(follower.task)) {
        std::string text = WordOf(*word);
        if (!(word->is_string() && names_.count(text) != 0)) words.push_back(std::move(text));
      }
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    if (words.empty() && key_.empty()) return Settle(std::make_shared<Known>(), 0);
    Fetch<Known>(
        api_.backend_, [words, key = key_](Rows& rows) { return LookUp(rows, words, key); },
        [self = shared_from_this()](Known known) {
          if (known.trouble) return self->call_->Refuse(*known.trouble);
          self->Settle(std::make_shared<Known>(std::move(known)), 0);
        });
  }

 private:
  struct Follower {
    size_t index;
    json::value task;
  };

  void EndLine() {
    lines_++;
    std::string line = std::exchange(line_, {});
    if (!key_.empty()) hash_ = Sha256Hex(hash_ + line);
    if (line.find_first_not_of(" \t\r") == std::string::npos) return;
    if (static_cast<int64_t>(items_.size()) >= kMostLines) {
      return call_->Refuse(413, Error{Code::kInvalid, msg::SubmitBulkTooMany{.most = kMostLines}, ""});
    }
    Result<json::value> task = ParseJson(line);
    if (!task) return Refuse(lines_, task.error());
    const size_t index = items_.size();
    items_.emplace_back();
    line_of_.push_back(lines_);
    if (const json::object* object = task->if_object()) {
      if (const json::value* name = object->if_contains("name"); name != nullptr && name->is_string()) {
        names_[ToString(name->as_string())].push_back(index);
      }
    }
    if (!FollowedIn(*task).empty()) {
      followers_.push_back(Follower{index, std::move(*task)});
      return;
    }
    Draft draft = ReadTaskSpec(*task);
    if (!draft.faults.empty()) return Refuse(lines_, std::move(draft.faults));
    items_[index].spec = std::move(draft);
  }

  // The followers, some at a time so that others are served in between; then the Yard.
  void Settle(std::shared_ptr<Known> known, size_t from) {
    const size_t to = std::min(followers_.size(), from + kSlice);
    for (size_t i = from; i < to; i++) {
      Follower& follower = followers_[i];
      TakeOutLines(follower);
      Draft draft = ReadDraft(follower.task, *known);
      if (!draft.faults.empty()) return Refuse(line_of_[follower.index], std::move(draft.faults));
      items_[follower.index].spec = std::move(draft);
      follower.task = nullptr;
    }
    if (to < followers_.size()) {
      return api_.loop_.Post([self = shared_from_this(), known, to] { self->Settle(known, to); });
    }
    Submit submit;
    items_.front().idempotency_key = key_;
    items_.front().request_hash = hash_;
    const int64_t count = static_cast<int64_t>(items_.size());
    submit.items = std::move(items_);
    submit.ended = std::move(known->ended);
    submit.kept = std::move(known->kept);
    submit.reply = [self = shared_from_this(), count](Result<std::vector<SubmitReceipt>> receipts) {
      if (!receipts) return self->RefuseAsYardSays(receipts.error());
      const SubmitReceipt& first = receipts->front();
      self->call_->Answer(
          json::object{{"count", count}, {"first", first.id.value}, {"last", first.id.value + count - 1}},
          first.repeated ? 200 : 201);
    };
    FAIL_POINT("submit.bulk_received");
    api_.backend_.Post(std::move(submit));
  }

  // A name of another line: the nearest one before it, else the first behind it. Those leave the JSON.
  void TakeOutLines(Follower& follower) {
    json::array kept;
    for (json::value& one : follower.task.as_object()["after"].as_array()) {
      const json::object* entry = one.if_object();
      const json::value* word = entry == nullptr ? nullptr : entry->if_contains("task");
      auto lines =
          word != nullptr && word->is_string() ? names_.find(ToString(word->as_string())) : names_.end();
      std::optional<Dependency::On> on = OnOf(entry);
      if (lines == names_.end() || !on) {
        kept.push_back(std::move(one));
        continue;
      }
      size_t other = lines->second.front();
      for (size_t line : lines->second) {
        if (line < follower.index) other = line;
      }
      items_[follower.index].after_items.emplace_back(other, *on);
    }
    follower.task.as_object()["after"] = std::move(kept);
  }

  static std::optional<Dependency::On> OnOf(const json::object* entry) {
    if (entry == nullptr) return std::nullopt;
    for (const auto& member : *entry) {
      if (member.key() != "task" && member.key() != "on") return std::nullopt;
    }
    const json::value* on = entry->if_contains("on");
    if (on == nullptr) return Dependency::On::kOk;
    if (!on->is_string()) return std::nullopt;
    if (on->as_string() == "ok") return Dependency::On::kOk;
    if (on->as_string() == "fail") return Dependency::On::kFail;
    if (on->as_string() == "any") return Dependency::On::kAny;
    return std::nullopt;
  }

  void Refuse(int64_t line, Error error) { Refuse(line, std::vector<Error>{std::move(error)}); }
  void Refuse(int64_t line, std::vector<Error> faults) {
    const int status = StatusOf(faults.front());
    const std::string place = "/lines/" + std::to_string(line);
    json::object problem = RenderProblem(
        status, Error{faults.front().code, msg::SubmitBulkRefused{.line = line}, place}, call_->language());
    json::array causes;
    for (Error& fault : faults) {
      fault.field = place + fault.field;
      causes.push_back(RenderProblem(status, fault, call_->language()));
    }
    problem["errors"] = std::move(causes);
    Response response;
    response.status = status;
    response.type = "application/problem+json";
    response.body = json::serialize(problem);
    call_->Answer(std::move(response));
  }

  // The Yard says which item by "/7/resources/gpus"; a single one it does not number.
  void RefuseAsYardSays(Error error) {
    if (error.field == "Idempotency-Key") return call_->Refuse(error);
    size_t index = 0;
    if (line_of_.size() > 1) {
      const size_t slash = error.field.find('/', 1);
      const std::string number = error.field.empty() ? "" : error.field.substr(1, slash - 1);
      if (!IsNumber(number) || static_cast<size_t>(*ParseInt(number)) >= line_of_.size())
        return call_->Refuse(error);
      index = static_cast<size_t>(*ParseInt(number));
      error.field = slash == std::string::npos ? "" : error.field.substr(slash);
    }
    Refuse(line_of_[index], std::move(error));
  }

  Api& api_;
  CallPtr call_;
  std::string key_, hash_;
  std::string line_;
  int64_t lines_ = 0;
  std::vector<SubmitItem> items_;
  std::vector<int64_t> line_of_;
  std::vector<Follower> followers_;
  std::unordered_map<std::string, std::vector<size_t>> names_;
};

void Api::SubmitTasks(CallPtr call) {
  std::shared_ptr<BodySink> sink = OpenBulk(call);
  if (sink == nullptr) return;
  sink->Take(call->request.body);
  sink->Finish();
}

std::shared_ptr<BodySink> Api::OpenBulk(const CallPtr& call) {
  Result<std::string> key = ReadKey(call->request);
  if (!key) {
    call->Refuse(key.error());
    return nullptr;
  }
  return std::make_shared<BulkSubmit>(*this, call, std::move(*key));
}

}  // namespace ty

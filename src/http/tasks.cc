// Lists and single tasks. Open ones are told by the Yard, ended ones by the store.
#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "http/api.h"
#include "http/parameters.h"
#include "http/render.h"
#include "msg/task.h"

namespace ty {

namespace json = boost::json;

bool IsNumber(const std::string& word) {
  return !word.empty() && word.size() <= 18 &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<TaskId> FindSelected(Rows& rows, const std::string& word) {
  if (IsNumber(word)) return TaskId{*ParseInt(word)};
  if (word == "@last") {
    Result<std::optional<TaskId>> last = rows.LastTask();
    if (!last) return Forward(last.error());
    if (!*last) return NotFound(msg::TaskNoneYet{});
    return **last;
  }
  Result<std::optional<TaskId>> found = rows.FindName(word);
  if (!found) return Forward(found.error());
  if (!*found) return NotFound(msg::TaskNoSuchName{.name = Printable(word)});
  return **found;
}

void Api::Select(const CallPtr& call, std::function<void(TaskId)> then) {
  if (IsNumber(call->task)) return then(TaskId{*ParseInt(call->task)});
  Fetch<Result<TaskId>>(
      backend_, [word = call->task](Rows& rows) { return FindSelected(rows, word); },
      [call, then = std::move(then)](Result<TaskId> id) {
        if (!id) return call->Refuse(id.error());
        then(*id);
      });
}

namespace {

struct ListQuery {
  std::string state, tag;
  int limit = 1000;
  int64_t after = 0, before = 0;
  bool open = true, ended = true;
  EndedFilter filter;
};

Result<ListQuery> ReadListQuery(const Request& request, Time now) {
  Parameters parameters(request);
  ListQuery query;
  query.state = parameters.Choice("state", {"open", "ended", "all", "waiting", "held", "running", "succeeded",
                                            "failed", "cancelled", "timeout", "preempted", "lost", "bad"});
  query.tag = parameters.Text("tag");
  query.limit = static_cast<int>(parameters.Number("limit", 1000, 1, 10000));
  query.after = parameters.Number("after", 0, 0, INT64_MAX);
  query.before = parameters.Number("before", 0, 1, INT64_MAX);
  std::optional<Time> since = parameters.At("since");
  if (parameters.error()) return Forward(*parameters.error());

  const std::string& state = query.state;
  std::vector<OutcomeKind> kinds;
  if (state == "bad") kinds = {OutcomeKind::kFailed, OutcomeKind::kTimeout, OutcomeKind::kLost};
  if (const auto kind = ParseOutcomeKind(state)) kinds = {*kind};
  const bool part_of_open = state == "open" || state == "waiting" || state == "held" || state == "running";
  query.open = state != "ended" && kinds.empty() && query.before == 0;
  query.ended = !part_of_open;
  if (state.empty() && !since) since = now - hours(24);
  query.filter.since = since;
  query.filter.tag = query.tag;
  query.filter.kinds = std::move(kinds);
  query.filter.before = query.before;
  return query;
}

}  // namespace

void Api::ListTasks(CallPtr call) {
  Result<ListQuery> read = ReadListQuery(call->request, settings_.now());
  if (!read) return call->Refuse(read.error());
  auto query = std::make_shared<ListQuery>(std::move(*read));
  auto items = std::make_shared<json::array>();

  auto finish = [call, items](std::string next) {
    call->Answer(json::object{{"items", std::move(*items)},
                              {"next", next.empty() ? json::value(nullptr) : json::value(next)}});
  };
  auto add_ended = [this, call, query, items, finish] {
    EndedFilter filter = query->filter;
    const size_t room = static_cast<size_t>(query->limit) - items->size();
    filter.limit = static_cast<int>(room) + 1;
    using Found = Result<std::vector<TaskView>>;
    Fetch<Found>(
        backend_,
        [filter](Rows& rows) -> Found {
          Result<std::vector<Task>> tasks = rows.ListEnded(filter);
          if (!tasks) return Forward(tasks.error());
          std::vector<TaskView> views(tasks->size());
          for (size_t i = 0; i < views.size(); i++) {
            views[i].task = std::move((*tasks)[i]);
            Result<std::optional<Attempt>> last = rows.FindAttempt(views[i].task.id, views[i].task.attempts);
            if (last) TakeLast(*last, views[i]);
          }
          return views;
        },
        [call, items, finish, room](Found tasks) {
          if (!tasks) return call->Refuse(tasks.error());
          const bool more = tasks->size() > room;
          if (more) tasks->resize(room);
          for (const TaskView& view : *tasks) {
            items->emplace_back(RenderTask(view, call->language()));
            if (more && &view == &tasks->back())
              return finish("before=" + std::to_string(view.task.id.value));
          }
          finish("");
        });
  };
  if (!query->open) return add_ended();

  OpenFilter filter;
  filter.tag = query->tag;
  if (query->state != "open" && query->state != "all") filter.state = query->state;
  filter.after = query->after;
  filter.limit = query->limit + 1;
  backend_.ListOpen(filter, [call, query, items, add_ended, finish](std::vector<TaskView> views) {
    const size_t limit = static_cast<size_t>(query->limit);
    const bool full = views.size() > limit || (views.size() == limit && query->ended);
    if (views.size() > limit) views.resize(limit);
    for (const TaskView& view : views) items->emplace_back(RenderTask(view, call->language()));
    if (full) return finish("after=" + std::to_string(views.back().task.id.value));
    if (query->ended) return add_ended();
    finish("");
  });
}

namespace {

// Everything about one task: what the Yard knows of it first, then its rows, which are then at least as new.
void AnswerWithDetail(Backend& backend, const std::string& home, const CallPtr& call, TaskId id) {
  backend.Describe(id, [&backend, home, call, id](std::optional<TaskView> view, int64_t) {
    Fetch<Result<TaskRecord>>(
        backend, [id](Rows& rows) { return rows.FindTask(id); },
        [home, call, view = std::move(view)](Result<TaskRecord> record) {
          if (!record) return call->Refuse(record.error());
          call->Answer(RenderDetail(*record, view, home, call->language()));
        });
  });
}

}  // namespace

void Api::GetTask(CallPtr call) {
  Parameters query(call->request);
  const bool waits = query.Choice("wait", {"ended"}) == "ended";
  const Duration timeout = query.Seconds("timeout", seconds(30), seconds(600));
  if (query.error()) return call->Refuse(*query.error());

  Select(call, [this, call, waits, timeout](TaskId id) {
    auto give = [this, call, id] { AnswerWithDetail(backend_, settings_.home, call, id); };
    if (!waits || timeout <= Duration{}) return give();
    struct Tokens {
      std::shared_ptr<void> end, timer;
    };
    auto tokens = std::make_shared<Tokens>();
    auto end = [tokens, give] {
      const Tokens gone = std::exchange(*tokens, {});
      if (gone.timer) give();
    };
    tokens->timer = loop_.After(timeout, end);
    tokens->end = backend_.AwaitEnd(id, end);
    call->WhenGone(end);
  });
}

void Api::GetWhy(CallPtr call) {
  Select(call, [this, call](TaskId id) {
    auto answer = [call, id](const Task& task, const Message& reason) {
      call->Answer(json::object{{"id", id.value},
                                {"state", std::string(Name(task.state))},
                                {"reason", RenderMessage(reason, call->language())}});
    };
    backend_.Describe(id, [this, call, id, answer](std::optional<TaskView> view, int64_t) {
      if (view) return answer(view->task, view->reason);
      Fetch<Result<TaskRecord>>(
          backend_, [id](Rows& rows) { return rows.FindTask(id); },
          [call, answer](Result<TaskRecord> record) {
            if (!record) return call->Refuse(record.error());
            const Task& task = record->task;
            answer(task, task.outcome ? task.outcome->reason : Message{});
          });
    });
  });
}

}  // namespace ty

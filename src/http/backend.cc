#include "http/backend.h"

#include "series/series.h"
#include "yard/inbox.h"
#include "yard/yard.h"

namespace ty {

namespace {

class YardBackend final : public Backend {
 public:
  YardBackend(Inbox& inbox, Store& store, SeriesStore& series, std::shared_ptr<Loop> loop)
      : inbox_(inbox), store_(store), series_(series), loop_(std::move(loop)) {}

  void Post(Submit submit) override {
    submit.reply = OnLoop(std::move(submit.reply));
    inbox_.Post(std::move(submit));
  }
  void Post(Preview preview) override {
    preview.reply = OnLoop(std::move(preview.reply));
    inbox_.Post(std::move(preview));
  }
  void Post(Act act) override {
    act.reply = OnLoop(std::move(act.reply));
    inbox_.Post(std::move(act));
  }
  void Post(ActOnDevices act) override {
    act.reply = OnLoop(std::move(act.reply));
    inbox_.Post(std::move(act));
  }
  void Post(PauseQueue pause) override {
    pause.reply = OnLoop(std::move(pause.reply));
    inbox_.Post(std::move(pause));
  }

  void Describe(TaskId id, std::function<void(std::optional<TaskView>, int64_t)> then) override {
    AskYard([id](const Yard& yard) { return std::pair(yard.Describe(id), yard.last_durable_event()); },
            [then = std::move(then)](std::pair<std::optional<TaskView>, int64_t> told) {
              then(std::move(told.first), told.second);
            });
  }
  void ListOpen(OpenFilter filter, std::function<void(std::vector<TaskView>)> then) override {
    AskYard([filter = std::move(filter)](const Yard& yard) { return yard.ListOpen(filter); },
            std::move(then));
  }
  void AreOpen(std::vector<TaskId> ids, std::function<void(std::vector<bool>)> then) override {
    AskYard(
        [ids = std::move(ids)](const Yard& yard) {
          std::vector<bool> open;
          open.reserve(ids.size());
          for (TaskId id : ids) open.push_back(yard.IsOpen(id));
          return open;
        },
        std::move(then));
  }
  void Look(std::function<void(YardFacts)> then) override {
    AskYard(
        [](const Yard& yard) {
          const YardSettings& settings = yard.settings();
          return YardFacts{.yard = yard.Overview(),
                           .devices = yard.Devices(),
                           .running = yard.Running(),
                           .home = settings.home,
                           .instance = settings.instance,
                           .owner = settings.owner,
                           .survives_logout = settings.survives_logout,
                           .survives_reboot = settings.survives_reboot};
        },
        std::move(then));
  }

  std::shared_ptr<void> AwaitEnd(TaskId id, std::function<void()> wake) override {
    auto token = MakeWake(std::move(wake));
    inbox_.Post(ty::AwaitEnd{id, token});
    return token;
  }
  std::shared_ptr<void> AwaitEvents(int64_t after, std::function<void()> wake) override {
    auto token = MakeWake(std::move(wake));
    inbox_.Post(ty::AwaitEvents{after, token});
    return token;
  }

  void Read(std::function<void(Rows&)> read, std::function<void()> then) override {
    store_.Read([read = std::move(read), then = std::move(then), loop = loop_](Rows& rows) {
      read(rows);
      loop->Post(then);
    });
  }

  void ReadSeries(std::function<void(SeriesStore&)> read, std::function<void()> then) override {
    series_.Post([read = std::move(read), then = std::move(then), loop = loop_, &series = series_] {
      read(series);
      loop->Post(then);
    });
  }
  int64_t SeriesVersion(TaskId id) override { return series_.Version(id); }

 private:
  template <class T>
  std::function<void(T)> OnLoop(std::function<void(T)> act) {
    return [act = std::move(act), loop = loop_](T value) {
      auto kept = std::make_shared<T>(std::move(value));
      loop->Post([act, kept] { act(std::move(*kept)); });
    };
  }

  // The question runs on the Yard's thread and copies out what it needs.
  template <class Question, class Then>
  void AskYard(Question question, Then then) {
    inbox_.Post(Ask{[question = std::move(question), then = std::move(then), loop = loop_](const Yard& yard) {
      auto told = std::make_shared<decltype(question(yard))>(question(yard));
      loop->Post([then, told] { then(std::move(*told)); });
    }});
  }

  // A wake that was on its way when the waiter left finds the token gone.
  std::shared_ptr<std::function<void()>> MakeWake(std::function<void()> wake) {
    auto token = std::make_shared<std::function<void()>>();
    auto act = std::make_shared<std::function<void()>>(std::move(wake));
    *token = [loop = loop_, act = std::weak_ptr(act)] {
      loop->Post([act] {
        if (auto alive = act.lock()) (*alive)();
      });
    };
    // The waiter holds both by one token; the Yard only ever locks `token`.
    return std::shared_ptr<std::function<void()>>(token.get(), [token, act](std::function<void()>*) mutable {
      act.reset();
      token.reset();
    });
  }

  Inbox& inbox_;
  Store& store_;
  SeriesStore& series_;
  std::shared_ptr<Loop> loop_;
};

}  // namespace

std::unique_ptr<Backend> MakeBackend(Inbox& inbox, Store& store, SeriesStore& series,
                                     std::shared_ptr<Loop> loop) {
  return std::make_unique<YardBackend>(inbox, store, series, std::move(loop));
}

}  // namespace ty

#include <unistd.h>

#include <boost/json.hpp>

#include "http/api.h"
#include "http/body.h"
#include "http/render.h"
#include "msg/store.h"

namespace ty {

// Why nothing new is taken in; empty when all is well.
static Message ReadOnlyReason(const YardFacts& facts) {
  const StoreHealth& store = facts.yard.store;
  if (store.read_only) return msg::StoreReadOnly{.folder = facts.home};
  if (store.stuck) return msg::StoreStuck{.folder = facts.home};
  if (store.low) return msg::StoreLow{.folder = facts.home, .room = store.room, .need = store.need};
  return {};
}

static boost::json::array RenderStrays(const YardView& yard) {
  boost::json::array strays;
  for (const StrayView& stray : yard.strays) {
    boost::json::array devices;
    for (const std::string& label : stray.devices) devices.emplace_back(ToJsonText(label));
    strays.push_back({{"run", stray.uid.Text()},
                      {"task", stray.task.value},
                      {"attempt", stray.number},
                      {"supervisor", stray.supervisor},
                      {"command", ToJsonText(stray.command)},
                      {"devices", std::move(devices)}});
  }
  return strays;
}

static boost::json::array RenderPutAside(const YardView& yard) {
  return boost::json::array(yard.put_aside.begin(), yard.put_aside.end());
}

void Api::GetStatus(CallPtr call) {
  backend_.Look([this, call](YardFacts facts) {
    boost::json::array devices;
    for (const DeviceView& device : facts.devices)
      devices.emplace_back(RenderDevice(device, call->language()));
    const YardView& yard = facts.yard;
    call->Answer(boost::json::object{
        {"pid", ::getpid()},
        {"url", settings_.url()},
        {"version", settings_.version},
        {"instance", facts.instance},
        {"owner", facts.owner},
        {"home", facts.home},
        {"started_at", FormatIso(settings_.started)},
        {"language", call->language() == Language::kChinese ? "zh-CN" : "en"},
        {"containment", yard.containment},
        {"survives_logout", facts.survives_logout},
        {"survives_reboot", facts.survives_reboot},
        {"queue", {{"paused", yard.paused}}},
        {"counts",
         {{"waiting", yard.waiting - yard.held},
          {"held", yard.held},
          {"running", yard.running},
          {"devices", yard.devices},
          {"devices_free", yard.devices_free}}},
        {"adopting", yard.adopting},
        {"strays", RenderStrays(yard)},
        {"put_aside", RenderPutAside(yard)},
        {"read_only", RenderMessage(ReadOnlyReason(facts), call->language())},
        {"bad_backup", yard.store.bad_copy.empty() ? boost::json::value(nullptr)
                                                   : boost::json::value(ToJsonText(yard.store.bad_copy))},
        {"devices", std::move(devices)}});
  });
}

void Api::GetDoctor(CallPtr call) {
  if (!settings_.doctor)
    return call->Answer(boost::json::object{{"items", boost::json::array()}, {"next", nullptr}});
  settings_.doctor(call->language(), [this, call](std::string findings) {
    loop_.Post([call, findings = std::move(findings)] {
      Response response;
      response.body = findings;
      call->Answer(std::move(response));
    });
  });
}

// Ends the daemon after the answer has gone out. With `cancel` every open task is asked to stop first, and
// the daemon waits for their ends; should it die before, their shims see to it all the same. Cancelling all
// pauses the queue, which the next start should not find.
void Api::StopDaemon(CallPtr call) {
  Result<boost::json::object> body = ParseBody(call->request.body, {"cancel"});
  Result<bool> cancel = body ? ReadBool(*body, "cancel") : Forward(body.error());
  if (!cancel) return call->Refuse(cancel.error());

  auto finish = [this, call, cancel = *cancel] {
    backend_.Look([this, call, cancel](YardFacts facts) {
      boost::json::array running;
      if (!cancel) {
        for (TaskId id : facts.running) running.emplace_back(id.value);
      }
      Response response;
      response.body = boost::json::serialize(boost::json::object{{"running", std::move(running)}});
      response.after = [this, cancel] {
        if (settings_.on_down) settings_.on_down(cancel);
      };
      call->Answer(std::move(response));
    });
  };
  if (!*cancel) return finish();
  backend_.Look([this, finish](YardFacts facts) {
    ty::Act act;
    act.verb = Verb::kCancel;
    act.all_open = true;
    act.reply = [this, finish, paused = facts.yard.paused](std::vector<ActAnswer>) {
      if (paused) return finish();
      PauseQueue resume;
      resume.paused = false;
      resume.reply = [finish](Status) { finish(); };
      backend_.Post(std::move(resume));
    };
    backend_.Post(std::move(act));
  });
}

}  // namespace ty

#include <boost/json.hpp>

#include "http/api.h"

namespace ty {

void Api::SetPaused(const CallPtr& call, bool paused) {
  PauseQueue pause;
  pause.paused = paused;
  pause.reply = [call, paused](Status done) {
    if (!done) return call->Refuse(done.error());
    call->Answer(boost::json::object{{"paused", paused}});
  };
  backend_.Post(std::move(pause));
}

void Api::PauseTheQueue(CallPtr call) {
  SetPaused(call, true);
}
void Api::ResumeTheQueue(CallPtr call) {
  SetPaused(call, false);
}

}  // namespace ty

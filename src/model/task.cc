#include "model/task.h"

namespace ty {

std::string_view Name(const TaskState& state) {
  constexpr std::string_view kNames[] = {"waiting", "starting", "running", "stopping", "ended"};
  static_assert(std::size(kNames) == std::variant_size_v<TaskState>);
  return kNames[state.index()];
}

std::optional<TaskState> ParseTaskState(std::string_view name) {
  for (const TaskState& state : {TaskState(Waiting{}), TaskState(Starting{}), TaskState(Running{}),
                                 TaskState(Stopping{}), TaskState(Ended{})})
    if (Name(state) == name) return state;
  return std::nullopt;
}

std::string_view Name(AttemptState state) {
  switch (state) {
    case AttemptState::kStarting:
      return "starting";
    case AttemptState::kRunning:
      return "running";
    case AttemptState::kStopping:
      return "stopping";
    case AttemptState::kEnded:
      return "ended";
  }
  return "";
}

std::optional<AttemptState> ParseAttemptState(std::string_view name) {
  for (AttemptState state :
       {AttemptState::kStarting, AttemptState::kRunning, AttemptState::kStopping, AttemptState::kEnded})
    if (Name(state) == name) return state;
  return std::nullopt;
}

}  // namespace ty

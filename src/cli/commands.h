// Every command, in the order of the help.
#pragma once

#include "cli/command.h"

namespace ty {

inline constexpr const Command* kCommands[] = {
    &kRunCommand,    &kSubmitCommand,     &kLsCommand,      &kShowCommand,
    &kWhyCommand,    &kLogsCommand,       &kWaitCommand,    &kCancelCommand,
    &kHoldCommand,   &kReleaseCommand,    &kRetryCommand,   &kPriorityCommand,
    &kPauseCommand,  &kResumeCommand,     &kRmCommand,      &kDevicesCommand,
    &kEventsCommand, &kDemoCommand,       &kOpenCommand,    &kUpCommand,
    &kDownCommand,   &kStatusCommand,     &kDoctorCommand,  &kRecoverCommand,
    &kConfigCommand, &kCompletionCommand, &kVersionCommand, &kCompleteWordsCommand,
};

}  // namespace ty

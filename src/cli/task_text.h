// Tasks of the API put into words for lists and sentences.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "cli/caller.h"
#include "cli/device_text.h"
#include "model/outcome.h"

namespace ty {

std::string StateText(const Caller& caller,
                      const boost::json::value& task);  // "running", "failed (7)", "on hold"
Paint StatePaint(const boost::json::value& task);
std::string ProgressText(const boost::json::value& task);                        // "3/20 epoch 15%"
std::string LossText(const boost::json::value& task);                            // "0.5312", or empty
std::string TimeLeftText(const Caller& caller, const boost::json::value& task);  // "5 min", or empty
// "cpu:0", "GPU0-3 GPU6"
std::string DevicesText(const boost::json::value& holder, const DeviceLabels& labels = {});
std::string TimeText(const Caller& caller, const boost::json::value& holder, std::string_view key);
// What ended a task, without its words.
std::optional<Outcome> OutcomeAt(const boost::json::value& task);
// “Task 12 (train) failed after 5 min: …”
std::string EndText(const Caller& caller, const boost::json::value& task);
int ExitCodeOfTask(const boost::json::value& task);  // contracts C14

}  // namespace ty

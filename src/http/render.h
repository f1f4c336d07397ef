// Render makes the JSON of api/openapi.yaml from what the Yard and the store know. Sentences are put into
// words here.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "http/exchange.h"
#include "model/device.h"
#include "model/task.h"
#include "store/store.h"
#include "words/words.h"
#include "yard/input.h"
#include "yard/view.h"

namespace ty {

constexpr int kNoRoom = 507;
int StatusOf(const Error& error);
std::string_view StatusText(int status);

// JSON must be UTF-8, whatever a script printed or a file is called: other bytes are made visible.
boost::json::string ToJsonText(std::string_view bytes);
boost::json::value RenderNumber(double number);                               // NaN and infinities are texts
boost::json::value RenderMessage(const Message& message, Language language);  // null when empty
boost::json::object RenderProblem(int status, const Error& error, Language language);
// The first of them, with all of them in `errors` when there are several.
boost::json::object RenderProblem(int status, const std::vector<Error>& errors, Language language);
Response ProblemResponse(int status, const Error& error, Language language);

boost::json::object RenderTask(const TaskView& view, Language language);  // an item of the list
// What an ended task shows: that of its last attempt.
void TakeLast(const std::optional<Attempt>& attempt, TaskView& view);
// `record` gives spec and attempts; `view` what is only known while it is open.
boost::json::object RenderDetail(const TaskRecord& record, const std::optional<TaskView>& view,
                                 const std::string& home, Language language);
boost::json::object RenderReceipt(const SubmitReceipt& receipt, const std::string& home, Language language);
boost::json::object RenderPreview(const PreviewAnswer& answer, Language language);
boost::json::object RenderDevice(const DeviceView& device, Language language);
boost::json::value RenderOutcome(const std::optional<Outcome>& outcome, Language language);

}  // namespace ty

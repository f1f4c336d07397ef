// How the nouns of model/ lie in columns. What is written here is read back equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/task.h"

namespace ty::columns {

std::string FromCounts(const DeviceCounts& counts);
DeviceCounts ToCounts(std::string_view text);

std::string FromDependencies(const std::vector<Dependency>& after);
std::vector<Dependency> ToDependencies(std::string_view text);

std::string FromList(const std::vector<std::string>& words);
Result<std::vector<std::string>> ToList(std::string_view text);

// What it wants of its devices, and whether alone on them. Empty when that is nothing, as of most tasks.
std::string FromWish(const Task& task);
Status ToWish(std::string_view text, Task& task);

// What was seen of an attempt: progress, metrics, changed code, its ranks. Empty when there is nothing of it.
std::string FromSeen(const Attempt& attempt);
Status ToSeen(std::string_view text, Attempt& attempt);

std::string FromMessage(const Message& message);
Result<Message> ToMessage(std::string_view text);

std::string FromOutcome(const Outcome& outcome);
Result<Outcome> ToOutcome(std::string_view text);

std::string FromVariables(const Variables& variables);
Result<Variables> ToVariables(std::string_view bytes);

// Without the environment, which is stored apart. The spec is the same afterwards.
std::string FromSpec(TaskSpec& spec);
Result<TaskSpec> ToSpec(std::string_view text);

std::string_view Name(RetryPolicy::On on);
RetryPolicy::On ToRetryOn(std::string_view name);

// Of bytes on disk: the same everywhere and for ever.
int64_t Hash(std::string_view bytes);

}  // namespace ty::columns

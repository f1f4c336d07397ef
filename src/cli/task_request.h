// From what was typed to the JSON of a task (TaskSpec of api/openapi.yaml): the options that run and submit
// share, the shell's variables, the code as it looks now.
#pragma once

#include <array>
#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"

namespace ty {

// Options of a task, and of what to do after it was queued.
inline constexpr Option kTaskOptions[] = {
    {"-n,--name", Option::Takes::kValue, "NAME", "cli.option_name"},
    {"-g,--gpus,--devices", Option::Takes::kValue, "N|N-M|{1,2,4}", "cli.option_gpus"},
    {"--ranks", Option::Takes::kNothing, "", "cli.option_ranks"},
    {"--share", Option::Takes::kValue, "F[:turns|:together][:SLICE]", "cli.option_share"},
    {"--gpu-memory", Option::Takes::kValue, "8G", "cli.option_gpu_memory"},
    {"--exclusive", Option::Takes::kNothing, "", "cli.option_exclusive"},
    {"--gpu-ids", Option::Takes::kValue, "uuid|index", "cli.option_gpu_ids"},
    {"--cpus", Option::Takes::kValue, "N", "cli.option_cpus"},
    {"--mem", Option::Takes::kValue, "8G", "cli.option_mem"},
    {"-e,--env", Option::Takes::kValues, "K=V", "cli.option_env"},
    {"-C,--workdir", Option::Takes::kValue, "DIR", "cli.option_workdir"},
    {"--after", Option::Takes::kValues, "ID[:any|:fail]", "cli.option_after"},
    {"--begin", Option::Takes::kValue, "22:00|+30m", "cli.option_begin"},
    {"--priority", Option::Takes::kValue, "high|normal|low|N", "cli.option_priority"},
    {"--retry", Option::Takes::kValue, "N", "cli.option_retry"},
    {"--time", Option::Takes::kValue, "90m", "cli.option_time"},
    {"--idle", Option::Takes::kValue, "10m", "cli.option_idle"},
    {"--log-limit", Option::Takes::kValue, "2G", "cli.option_log_limit"},
    {"--stop-signal", Option::Takes::kValue, "INT", "cli.option_stop_signal"},
    {"--stop-target", Option::Takes::kValue, "leader|group|all", "cli.option_stop_target"},
    {"--stop-grace", Option::Takes::kValue, "2m", "stop.option_grace"},
    {"--hold", Option::Takes::kNothing, "", "cli.option_hold"},
    {"--tag", Option::Takes::kValues, "TAG", "cli.option_tag"},
    {"--wait", Option::Takes::kNothing, "", "cli.option_wait"},
    {"-f,--follow", Option::Takes::kNothing, "", "cli.option_follow"},
    {"-q,--quiet", Option::Takes::kNothing, "", "cli.option_quiet"},
    {"--dry-run", Option::Takes::kNothing, "", "cli.option_dry_run"},
};

// kTaskOptions with some of a command's own behind them.
template <size_t N>
constexpr std::array<Option, std::size(kTaskOptions) + N> WithTaskOptions(const Option (&own)[N]) {
  std::array<Option, std::size(kTaskOptions) + N> all{};
  for (size_t i = 0; i < std::size(kTaskOptions); ++i) all[i] = kTaskOptions[i];
  for (size_t i = 0; i < N; ++i) all[std::size(kTaskOptions) + i] = own[i];
  return all;
}

// `-g {1,2,4}` without quotes comes as the words 1 2 4: what the shell made of the braces, or nothing.
// `left` is what followed the options.
Status CheckBraces(const Invocation& invocation, const std::vector<std::string>& left);

// Puts the options given over what `task` says already.
Status ApplyTaskOptions(const Invocation& invocation, Time now, boost::json::object& task);

// The variables of this process that a task may see (contracts C3), in their order.
void RecordShell(boost::json::object& task);

// Script files named in `argv` with their hashes, and the commit of the repository around `workdir`.
void RecordCode(const std::vector<std::string>& argv, const std::string& workdir, boost::json::object& task);

// The program must be there and executable, the words within what the kernel takes. `path` is the PATH of the
// task's final variables; empty when only the yard knows it.
Status CheckCommand(const std::vector<std::string>& argv, const std::string& workdir, const std::string& path,
                    size_t environment_bytes);
Status CheckWorkdir(const std::string& workdir);

}  // namespace ty

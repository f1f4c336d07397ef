#include "cli/demo_trainings.h"

#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/paths.h"
#include "cli/recipe.h"

namespace ty {

namespace {

namespace json = boost::json;

struct Wanted {
  const char* name;
  const char* recipe;
  const char* priority;
  bool shares;  // half of a device in turns, else a whole one
  std::vector<std::pair<std::string, std::string>> values;
};

// A fails once, late, and goes on by itself. B takes about half as long as C: while both share a device each
// gets half of the time, so that about as much of C is left when B ends as has been done. GPUs are faster,
// but take longer to begin.
std::vector<Wanted> Trainings(bool gpus) {
  auto on = [gpus](const char* cpu, const char* gpu) { return std::string(gpus ? gpu : cpu); };
  return {
      {"A-digits-cnn",
       "digits-cnn",
       "high",
       false,
       {{"epochs", on("24", "100")}, {"fail_once_at_epoch", on("20", "80")}}},
      {"B-digits-mlp", "digits-mlp", "normal", true, {{"epochs", on("60", "120")}}},
      {"C-char-transformer", "char-transformer", "normal", true, {{"epochs", on("18", "130")}}},
  };
}

std::string HalfInTurns() {
  return "0.5:turns:" + std::to_string(std::chrono::duration_cast<seconds>(kDemoSlice).count()) + "s";
}

}  // namespace

Result<json::array> DemoTrainings(bool gpus) {
  json::array trainings;
  for (const Wanted& wanted : Trainings(gpus)) {
    Result<json::object> task = TaskOfRecipe(ShareFolder() + "/recipes/" + wanted.recipe, wanted.values);
    if (!task) return Forward(task.error());
    (*task)["name"] = wanted.name;
    (*task)["priority"] = wanted.priority;
    if (wanted.shares) {
      json::value& resources = (*task)["resources"];
      if (!resources.is_object()) resources = json::object();
      resources.get_object()["share"] = HalfInTurns();
    }
    trainings.push_back(std::move(*task));
  }
  return trainings;
}

}  // namespace ty

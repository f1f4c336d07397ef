// Recipe reads what the demo needs of a recipe.yaml: the command with its parameters filled in, retry, grace,
// resources. The whole format (forms, roles, passing styles) comes with the recipes' issue.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ty {

// The body of a submit: command, workdir, resources, retry, checkpoint, recipe. `values` override defaults.
Result<boost::json::object> TaskOfRecipe(const std::string& folder,
                                         const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace ty

// The texts of messages/, as tools/messages.py left them: sorted by id, every placeholder with its type.
#pragma once

#include <span>
#include <string_view>

namespace ty {

struct CatalogueEntry {
  std::string_view id, english, chinese;
};

std::span<const CatalogueEntry> Catalogue();
const CatalogueEntry* FindInCatalogue(std::string_view id);  // null: no such id

}  // namespace ty

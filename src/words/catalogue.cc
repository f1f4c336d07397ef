#include "words/catalogue.h"

#include <algorithm>
#include <iterator>

namespace ty {
namespace {

// The empty entry at the head keeps the table valid while there are no messages; it is never handed out.
constexpr CatalogueEntry kTable[] = {
    {"", "", ""},
#include "catalogue.inc"
};

}  // namespace

std::span<const CatalogueEntry> Catalogue() {
  return std::span(kTable).subspan(1);
}

const CatalogueEntry* FindInCatalogue(std::string_view id) {
  std::span<const CatalogueEntry> all = Catalogue();
  auto entry =
      std::lower_bound(all.begin(), all.end(), id,
                       [](const CatalogueEntry& e, std::string_view wanted) { return e.id < wanted; });
  return entry != all.end() && entry->id == id ? &*entry : nullptr;
}

}  // namespace ty

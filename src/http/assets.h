// Assets are the files of the page: in the program (tools/embed_web.py makes the table), or read from a
// folder at each request while somebody works on them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ty {

struct Asset {
  std::string_view path, type;           // "assets/index-4f2a.js", "text/javascript; charset=utf-8"
  std::string_view digest;               // of its bytes
  std::string_view plain, gzip, brotli;  // a form that is not there is empty
};
std::span<const Asset> EmbeddedAssets();  // empty in a program that was built without the page

const Asset* FindAsset(std::span<const Asset> assets, std::string_view path);

enum class Encoding : unsigned char { kPlain, kGzip, kBrotli };
const char* NameOf(Encoding encoding);  // "br"; empty for kPlain
// The smallest form the asset has of those that Accept-Encoding allows.
Encoding ChooseEncoding(std::string_view accept_encoding, const Asset& asset);
std::string_view FormOf(const Asset& asset, Encoding encoding);

// A strong tag: each form has its own.
std::string TagOf(const Asset& asset, Encoding encoding);
// Whether If-None-Match names the tag.
bool NamesTag(std::string_view if_none_match, std::string_view tag);

std::string_view TypeOfFile(std::string_view path);
// A plain file of `folder`, at most one folder deep ("assets/x.js"); nothing for anything else, links
// included.
std::optional<std::string> ReadWebFile(const std::string& folder, std::string_view path);

}  // namespace ty

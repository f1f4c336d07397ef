// The page: one document for all its places, and its assets. In a program that was built without it, a first
// page of our own that tells a stranger whose yard this is and how to open it.
#include "msg/page.h"
#include "base/text.h"
#include "http/api.h"
#include "http/assets.h"
#include "http/render.h"
#include "msg/api.h"

namespace ty {

namespace {

std::string Escape(std::string_view text) {
  std::string html;
  for (char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// Its hash stands in the policy below; tests/contract holds the two together.
constexpr const char* kStyle =
    "body{font:16px/1.6 system-ui,sans-serif;margin:15vh auto;max-width:32rem;padding:0 1rem;color:#222}"
    "code{background:#eee;padding:.2em .4em;border-radius:4px}section+section{margin-top:2.5rem}";
constexpr const char* kStylePolicy =
    "default-src 'none'; style-src 'sha256-L3Eb7tp+ZFPUqNhwcpQEpkuxI7RETIjQuGyUXtjcl6I='; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

// Styles stand in attributes too, of charts and of components; scripts come from our files alone.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'";

// The name of an asset holds a hash of its content.
constexpr const char* kForEver = "public, max-age=31536000, immutable";

std::string Section(const char* tag, Language language, const std::string& owner) {
  return std::string("<section lang=\"") + tag + "\"><h1>" +
         Escape(Render(msg::PageFirst{.owner = owner}, language)) + "</h1><p>" +
         Escape(Render(msg::PageOpen{}, language)) + " <code>trainyard open</code></p></section>";
}

Response FirstPage(const std::string& owner, Language language) {
  const std::string english = Section("en", Language::kEnglish, owner);
  const std::string chinese = Section("zh-CN", Language::kChinese, owner);
  const bool chinese_first = language == Language::kChinese;
  Response response;
  response.type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", kStylePolicy);
  response.body = std::string("<!doctype html><html lang=\"") + (chinese_first ? "zh-CN" : "en") +
                  "\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                  "<title>Trainyard</title><style>" +
                  kStyle + "</style></head><body>" + (chinese_first ? chinese + english : english + chinese) +
                  "</body></html>\n";
  return response;
}

Response GiveAsset(const Asset& asset, const Request& request, const char* cache) {
  const Encoding encoding = ChooseEncoding(request.Header("Accept-Encoding"), asset);
  Response response;
  response.type = asset.type;
  response.headers.emplace_back("Cache-Control", cache);
  response.headers.emplace_back("Vary", "Accept-Encoding");
  response.headers.emplace_back("ETag", TagOf(asset, encoding));
  if (NamesTag(request.Header("If-None-Match"), TagOf(asset, encoding))) {
    response.status = 304;
    return response;
  }
  if (encoding != Encoding::kPlain) response.headers.emplace_back("Content-Encoding", NameOf(encoding));
  response.lasting = FormOf(asset, encoding);
  return response;
}

}  // namespace

std::optional<Response> Api::FindFile(const Request& request, const std::string& path) const {
  std::optional<Response> found;
  const bool page = path == "index.html";
  if (!settings_.web_folder.empty()) {
    if (std::optional<std::string> bytes = ReadWebFile(settings_.web_folder, path)) {
      found.emplace();
      found->type = TypeOfFile(path);
      found->headers.emplace_back("Cache-Control", "no-cache");
      found->body = std::move(*bytes);
    }
  } else if (const Asset* asset = FindAsset(settings_.assets, path)) {
    found = GiveAsset(*asset, request, path.starts_with("assets/") ? kForEver : "no-cache");
  }
  if (found && page) found->headers.emplace_back("Content-Security-Policy", kPagePolicy);
  return found;
}

void Api::GetPage(CallPtr call) {
  std::optional<Response> page = FindFile(call->request, "index.html");
  call->Answer(page ? std::move(*page) : FirstPage(settings_.owner, call->language()));
}

void Api::GetAsset(CallPtr call) {
  GiveFile(call, "assets/" + call->task);
}
void Api::GetIcon(CallPtr call) {
  GiveFile(call, call->request.path.front());
}

void Api::GiveFile(const CallPtr& call, const std::string& path) {
  std::optional<Response> file = FindFile(call->request, path);
  if (!file) return call->Refuse(Error{Code::kNotFound, msg::ApiNoRoute{.path = Printable("/" + path)}, {}});
  call->Answer(std::move(*file));
}

// A place that the page does not have, typed into a browser: the page says so in its own words.
std::optional<Response> Api::PageNotFound(const Request& request) const {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string& first = request.path.front();
  if (!reads || first == "api" || first == "assets" ||
      request.Header("Accept").find("text/html") == std::string_view::npos)
    return std::nullopt;
  Request plain = request;
  std::erase_if(plain.headers, [](const auto& header) { return header.first == "If-None-Match"; });
  std::optional<Response> page = FindFile(plain, "index.html");
  if (page && page->status == 200) page->status = 404;
  return page;
}

}  // namespace ty

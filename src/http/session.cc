// What strangers may see: that the yard is there, and whose it is.
#include <boost/json.hpp>

#include "http/api.h"
#include "msg/api.h"
#include "msg/page.h"

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

std::string Section(const char* tag, Language language, const std::string& owner) {
  return std::string("<section lang=\"") + tag + "\"><h1>" +
         Escape(Render(msg::PageFirst{.owner = owner}, language)) + "</h1><p>" +
         Escape(Render(msg::PageOpen{}, language)) + " <code>trainyard open</code></p></section>";
}

}  // namespace

void Api::GetHealth(CallPtr call) {
  call->Answer(boost::json::object{{"ok", true}});
}

void Api::GetFirstPage(CallPtr call) {
  const std::string english = Section("en", Language::kEnglish, settings_.owner);
  const std::string chinese = Section("zh-CN", Language::kChinese, settings_.owner);
  const bool chinese_first = call->language() == Language::kChinese;
  Response response;
  response.type = "text/html; charset=utf-8";
  response.headers.emplace_back("Content-Security-Policy", kStylePolicy);
  response.body = std::string("<!doctype html><html lang=\"") + (chinese_first ? "zh-CN" : "en") +
                  "\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                  "<title>Trainyard</title><style>" +
                  kStyle + "</style></head><body>" + (chinese_first ? chinese + english : english + chinese) +
                  "</body></html>\n";
  call->Answer(std::move(response));
}

void Api::GetSession(CallPtr call) {
  call->Answer(boost::json::object{{"owner", settings_.owner}, {"instance", settings_.instance}});
}

// Codes are minted with the page; until then none is right.
void Api::CreateSession(CallPtr call) {
  call->Refuse(401, Error{Code::kInvalid, msg::ApiCodeRefused{}, "/code"});
}

}  // namespace ty

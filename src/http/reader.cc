// The only file that knows Beast. Its parser is used bare, on bytes, so that nothing else of Beast is
// compiled.
#include "http/reader.h"

#include <strings.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace ty {

namespace beast = boost::beast;
namespace http = boost::beast::http;

class Reader::Parser final : public http::basic_parser<true> {
 public:
  Parser() {
    header_limit(kHeadLimit);
    body_limit(kBulkLimit);
  }

  Request request;
  std::string body;

 private:
  using Text = beast::string_view;

  void on_request_impl(http::verb, Text method, Text target, int version, beast::error_code& ec) override {
    request.method.assign(method.data(), method.size());
    request.target.assign(target.data(), target.size());
    request.version = version;
    ec = {};
  }
  void on_response_impl(int, Text, int, beast::error_code& ec) override { ec = {}; }
  void on_field_impl(http::field, Text name, Text value, beast::error_code& ec) override {
    request.headers.emplace_back(std::string(name.data(), name.size()),
                                 std::string(value.data(), value.size()));
    ec = {};
  }
  void on_header_impl(beast::error_code& ec) override { ec = {}; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code& ec) override { ec = {}; }
  std::size_t on_body_impl(Text piece, beast::error_code& ec) override {
    body.append(piece.data(), piece.size());
    ec = {};
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, beast::error_code& ec) override { ec = {}; }
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, beast::error_code& ec) override {
    body.append(piece.data(), piece.size());
    ec = {};
    return piece.size();
  }
  void on_finish_impl(beast::error_code& ec) override { ec = {}; }
};

Reader::Reader() : parser_(std::make_unique<Parser>()) {}
Reader::~Reader() = default;

size_t Reader::Feed(std::string_view bytes) {
  size_t used = 0;
  const bool had_head = has_head();
  while (used < bytes.size() && trouble_ == 0 && !parser_->is_done()) {
    if (!had_head && has_head()) break;
    beast::error_code ec;
    const size_t taken =
        parser_->put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used), ec);
    used += taken;
    if (ec == http::error::need_more) break;
    if (ec == http::error::header_limit) {
      trouble_ = 431;
    } else if (ec == http::error::body_limit) {
      trouble_ = 413;
    } else if (ec) {
      trouble_ = 400;
    } else if (taken == 0) {
      break;
    }
  }
  return used;
}

bool Reader::began() const {
  return parser_->got_some();
}
bool Reader::has_head() const {
  return parser_->is_header_done();
}
bool Reader::done() const {
  return parser_->is_done();
}
int Reader::trouble() const {
  return trouble_;
}

Request Reader::TakeRequest() {
  Request request = std::move(parser_->request);
  request.keep_alive = parser_->keep_alive();
  if (const auto length = parser_->content_length()) request.content_length = *length;
  const std::string_view expect = request.Header("Expect");
  request.expects_continue =
      request.version >= 11 && expect.size() == 12 && ::strncasecmp(expect.data(), "100-continue", 12) == 0;
  return request;
}

std::string Reader::TakeBody() {
  return std::exchange(parser_->body, {});
}

void Reader::Next() {
  parser_ = std::make_unique<Parser>();
  trouble_ = 0;
}

}  // namespace ty

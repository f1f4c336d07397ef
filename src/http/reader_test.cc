#include "http/reader.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

constexpr std::string_view kPost =
    "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";

// Gives the bytes in pieces of `size`, as a slow network would; returns the body.
std::string Read(Reader& reader, std::string_view bytes, size_t size) {
  std::string kept, body;
  for (size_t at = 0; at < bytes.size() && reader.trouble() == 0 && !reader.done(); at += size) {
    kept += bytes.substr(at, size);
    size_t used = 0;
    do {
      used = reader.Feed(kept);
      kept.erase(0, used);
      body += reader.TakeBody();
    } while (used > 0 && !kept.empty() && !reader.done());
  }
  return body;
}

TEST(Reader, TakesARequestInPiecesOfAnySize) {
  for (size_t size = 1; size <= kPost.size(); size++) {
    Reader reader;
    EXPECT_EQ(Read(reader, kPost, size), "hello") << size;
    ASSERT_TRUE(reader.done()) << size;
    const Request request = reader.TakeRequest();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/api/v1/tasks");
    EXPECT_EQ(request.Header("HOST"), "localhost");
    EXPECT_EQ(request.content_length, 5u);
    EXPECT_TRUE(request.keep_alive);
  }
}

TEST(Reader, TakesChunkedBodies) {
  const std::string_view bytes =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  for (size_t size : {size_t{1}, size_t{7}, bytes.size()}) {
    Reader reader;
    EXPECT_EQ(Read(reader, bytes, size), "abcde") << size;
    EXPECT_TRUE(reader.done()) << size;
  }
}

TEST(Reader, StopsBehindOneMessage) {
  const std::string two = std::string(kPost) + std::string(kPost);
  Reader reader;
  std::string kept = two;
  while (!reader.done()) kept.erase(0, reader.Feed(kept));
  EXPECT_EQ(kept, kPost);
  reader.Next();
  EXPECT_FALSE(reader.has_head());
  EXPECT_EQ(Read(reader, kept, kept.size()), "hello");
}

TEST(Reader, RefusesWhatIsNoRequest) {
  for (std::string_view bytes :
       {std::string_view("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03garbage\r\n\r\n"),
        std::string_view("GET\r\n\r\n"), std::string_view("GET / HTTP/9.9\r\n\r\n"),
        std::string_view("\0\0\0\0\r\n\r\n", 8),
        std::string_view("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        std::string_view("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        std::string_view("GET / HTTP/1.1\r\nno colon\r\n\r\n")}) {
    Reader reader;
    Read(reader, bytes, bytes.size());
    EXPECT_EQ(reader.trouble(), 400) << bytes;
  }
}

TEST(Reader, BoundsTheHead) {
  Reader reader;
  Read(reader, "GET / HTTP/1.1\r\nX: " + std::string(kHeadLimit, 'a') + "\r\n\r\n", 4096);
  EXPECT_EQ(reader.trouble(), 431);
}

TEST(Reader, BoundsTheBody) {
  Reader reader;
  Read(reader, "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 4096);
  EXPECT_EQ(reader.trouble(), 413);
}

TEST(Reader, NeverThrowsWhateverComes) {
  uint32_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    std::string bytes(kPost);
    for (int change = 0; change < 3; change++) {
      seed = seed * 1664525 + 1013904223;
      bytes[(seed >> 8) % bytes.size()] = static_cast<char>(seed >> 24);
    }
    Reader reader;
    EXPECT_NO_THROW(Read(reader, bytes, 1 + seed % 9));
  }
}

}  // namespace
}  // namespace ty

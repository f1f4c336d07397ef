#include "http/assets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ty {
namespace {

const Asset kWhole{"assets/a.js", "text/javascript", "d1", "plain", "gz", "br"};
const Asset kBare{"assets/a.woff2", "font/woff2", "d2", "plain", "", ""};

TEST(Encoding, IsTheSmallestThatTheBrowserTakes) {
  struct Row {
    const char *accept, *chosen;
  };
  const Row kRows[] = {
      {"", ""},
      {"gzip", "gzip"},
      {"gzip, deflate, br", "br"},
      {"GZIP , BR", "br"},
      {"br;q=0, gzip;q=0.1", "gzip"},
      {"br; q=0.000, gzip", "gzip"},
      {"br;q=0,gzip;q=0", ""},
      {"*", "br"},
      {"*;q=0", ""},
      {"*;q=0, gzip", "gzip"},
      {"br;q=0, *", "gzip"},
      {"identity", ""},
      {"brr, xgzip", ""},
      {"br;q=1;x", "br"},
      {",,;q=0, ;", ""},
  };
  for (const Row& row : kRows)
    EXPECT_STREQ(NameOf(ChooseEncoding(row.accept, kWhole)), row.chosen) << row.accept;
  EXPECT_EQ(ChooseEncoding("br, gzip", kBare), Encoding::kPlain);
  EXPECT_EQ(FormOf(kWhole, Encoding::kBrotli), "br");
  EXPECT_EQ(FormOf(kWhole, Encoding::kPlain), "plain");
}

TEST(Tag, IsOfOneFormAndMatchedWhole) {
  EXPECT_EQ(TagOf(kWhole, Encoding::kPlain), "\"d1\"");
  EXPECT_EQ(TagOf(kWhole, Encoding::kGzip), "\"d1-gzip\"");
  EXPECT_TRUE(NamesTag("\"d1-gzip\"", "\"d1-gzip\""));
  EXPECT_TRUE(NamesTag("\"x\", W/\"d1\"", "\"d1\""));
  EXPECT_TRUE(NamesTag("*", "\"d1\""));
  EXPECT_FALSE(NamesTag("\"d1-gzip\"", "\"d1\""));
  EXPECT_FALSE(NamesTag("", "\"d1\""));
  EXPECT_FALSE(NamesTag("d1", "\"d1\""));
}

TEST(WebFolder, GivesPlainFilesOfItsOwnAlone) {
  const std::string folder = ::testing::TempDir() + "web-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder + "/dist/assets/deep");
  std::ofstream(folder + "/secret") << "secret";
  std::ofstream(folder + "/dist/index.html") << "page";
  std::ofstream(folder + "/dist/.hidden") << "hidden";
  std::ofstream(folder + "/dist/assets/a.js") << "script";
  std::ofstream(folder + "/dist/assets/deep/b.js") << "deep";
  std::filesystem::create_symlink(folder + "/secret", folder + "/dist/assets/link.js");
  std::filesystem::create_directory_symlink(folder, folder + "/dist/out");
  ASSERT_EQ(::mkfifo((folder + "/dist/assets/pipe.js").c_str(), 0600), 0);
  const std::string dist = folder + "/dist";
  EXPECT_EQ(ReadWebFile(dist, "index.html"), "page");
  EXPECT_EQ(ReadWebFile(dist, "assets/a.js"), "script");
  for (const char* path :
       {"", "missing", "assets", "assets/", "assets/link.js", "assets/pipe.js", "assets/..",
        "assets/deep/b.js", "../secret", "out/secret", ".hidden", "assets/../index.html"}) {
    EXPECT_EQ(ReadWebFile(dist, path), std::nullopt) << path;
  }
  EXPECT_EQ(ReadWebFile(folder + "/missing", "index.html"), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ty

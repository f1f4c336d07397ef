// Codes, signed-in browsers and their cookies.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "http/browsers.h"
#include "http/codes.h"
#include "http/secret.h"

namespace ty {
namespace {

const Time kNow = FromNanos(0) + hours(24 * 365 * 50);
using Verdict = Codes::Verdict;

TEST(Secret, IsOfLettersAndDigitsAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; i++) {
    const std::string secret = MakeSecret();
    EXPECT_TRUE(LooksLikeSecret(secret)) << secret;
    EXPECT_TRUE(seen.insert(secret).second);
  }
  EXPECT_FALSE(LooksLikeSecret(""));
  EXPECT_FALSE(LooksLikeSecret(std::string(31, 'a')));
  EXPECT_FALSE(LooksLikeSecret(std::string(31, 'a') + "\n"));
  EXPECT_TRUE(SameHash("ab", "ab"));
  EXPECT_FALSE(SameHash("ab", "ac"));
  EXPECT_FALSE(SameHash("ab", "abc"));
}

TEST(Codes, WorkOnce) {
  Codes codes;
  const Codes::Minted minted = codes.Mint(kNow);
  EXPECT_EQ(minted.expires, kNow + minutes(5));
  EXPECT_EQ(codes.Spend(minted.code, kNow), Verdict::kRight);
  EXPECT_EQ(codes.Spend(minted.code, kNow), Verdict::kWrong);
  EXPECT_EQ(codes.Spend("", kNow), Verdict::kWrong);
}

TEST(Codes, EndAfterFiveMinutesAndWithAClockThatWasSetBack) {
  Codes codes;
  std::string code = codes.Mint(kNow).code;
  EXPECT_EQ(codes.Spend(code, kNow + minutes(5)), Verdict::kWrong);
  code = codes.Mint(kNow).code;
  EXPECT_EQ(codes.Spend(code, kNow - seconds(1)), Verdict::kWrong);
  code = codes.Mint(kNow).code;
  EXPECT_EQ(codes.Spend(code, kNow + minutes(5) - seconds(1)), Verdict::kRight);
}

TEST(Codes, AreAtMostSixteenAtATime) {
  Codes codes;
  const std::string first = codes.Mint(kNow).code, second = codes.Mint(kNow).code;
  for (int i = 0; i < 15; i++) codes.Mint(kNow);
  EXPECT_EQ(codes.Spend(first, kNow), Verdict::kWrong);
  EXPECT_EQ(codes.Spend(second, kNow), Verdict::kRight);
}

TEST(Codes, AreAllRefusedForAMinuteAfterTwentyWrongOnes) {
  Codes codes;
  const std::string code = codes.Mint(kNow).code;
  for (int i = 0; i < 20; i++) EXPECT_EQ(codes.Spend(MakeSecret(), kNow + seconds(i)), Verdict::kWrong);
  EXPECT_EQ(codes.Spend(code, kNow + seconds(20)), Verdict::kTooMany);
  EXPECT_EQ(codes.Spend(code, kNow + seconds(59)), Verdict::kTooMany);
  EXPECT_EQ(codes.Spend(code, kNow + seconds(60)), Verdict::kRight);
}

TEST(Codes, OfTheOwnerEndTheRefusal) {
  Codes codes;
  for (int i = 0; i < 21; i++) codes.Spend(MakeSecret(), kNow);
  EXPECT_EQ(codes.Spend(MakeSecret(), kNow), Verdict::kTooMany);
  EXPECT_EQ(codes.Spend(codes.Mint(kNow).code, kNow), Verdict::kRight);
}

TEST(Codes, CountNoWordsThatCannotBeOne) {
  Codes codes;
  const std::string code = codes.Mint(kNow).code;
  for (int i = 0; i < 100; i++) codes.Spend("guess", kNow);
  EXPECT_EQ(codes.Spend(code, kNow), Verdict::kRight);
}

class BrowsersTest : public ::testing::Test {
 protected:
  BrowsersTest() : folder_(::testing::TempDir() + "browsers-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~BrowsersTest() override { std::filesystem::remove_all(folder_); }
  std::string file() const { return folder_ + "/browsers.json"; }
  Browsers Open(const std::string& instance = "i1") { return Browsers(file(), instance); }
  std::string Text() const {
    std::ostringstream text;
    text << std::ifstream(file()).rdbuf();
    return text.str();
  }
  void Write(const std::string& text) const { std::ofstream(file()) << text; }

  std::string folder_;
};

TEST_F(BrowsersTest, StayInAfterARestart) {
  std::string token;
  {
    Browsers browsers = Open();
    token = browsers.SignIn(kNow);
    EXPECT_TRUE(LooksLikeSecret(token));
  }
  Browsers again = Open();
  const std::string hash = again.Find(token);
  EXPECT_TRUE(again.IsIn(hash, kNow));
  EXPECT_EQ(again.Find(MakeSecret()), "");
  EXPECT_EQ(again.Find(""), "");
  EXPECT_EQ(again.Find(hash), "") << "what is in the file signs nobody in";
  EXPECT_EQ(Text().find(token), std::string::npos) << "the token is kept nowhere";
  struct stat about {};
  ASSERT_EQ(::stat(file().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(BrowsersTest, AreForgottenThirtyDaysAfterTheirLastUse) {
  Browsers browsers = Open();
  const std::string hash = browsers.Find(browsers.SignIn(kNow));
  EXPECT_FALSE(browsers.Use(hash, kNow + minutes(59)));
  EXPECT_TRUE(browsers.Use(hash, kNow + hours(24 * 29))) << "the file learns of it";
  EXPECT_FALSE(browsers.Use(hash, kNow + hours(24 * 29) + minutes(1)));
  EXPECT_TRUE(Open().IsIn(hash, kNow + hours(24 * 58)));
  EXPECT_FALSE(Open().IsIn(hash, kNow + hours(24 * 60)));
}

TEST_F(BrowsersTest, AreAHundredAtMost) {
  Browsers browsers = Open();
  const std::string first = browsers.SignIn(kNow), second = browsers.SignIn(kNow + seconds(1));
  browsers.Use(browsers.Find(first), kNow + seconds(500));
  for (int i = 2; i < 101; i++) browsers.SignIn(kNow + seconds(i));
  EXPECT_NE(browsers.Find(first), "");
  EXPECT_EQ(browsers.Find(second), "") << "it was the one longest unused";
  Browsers again = Open();
  EXPECT_NE(again.Find(first), "");
}

TEST_F(BrowsersTest, SignOutForGood) {
  Browsers browsers = Open();
  const std::string one = browsers.SignIn(kNow), two = browsers.SignIn(kNow), three = browsers.SignIn(kNow);
  browsers.SignOut(browsers.Find(one));
  EXPECT_EQ(Open().Find(one), "");
  EXPECT_NE(Open().Find(two), "");
  browsers.SignAllOut();
  EXPECT_EQ(Open().Find(three), "");
}

TEST_F(BrowsersTest, AreNoneWhenTheFileIsDamaged) {
  std::string token;
  {
    Browsers browsers = Open();
    token = browsers.SignIn(kNow);
  }
  const std::string good = Text();
  EXPECT_EQ(Open("i2").Find(token), "") << "of another yard";
  for (size_t length = 0; length + 1 < good.size(); length += 7) {
    Write(good.substr(0, length));
    EXPECT_EQ(Open().Find(token), "") << length;
  }
  for (const char* text :
       {"[]", "{}", "null", "\xff\xfe", "{\"format\":2,\"instance\":\"i1\",\"browsers\":[]}",
        "{\"format\":1,\"instance\":\"i1\",\"browsers\":[{}]}",
        "{\"format\":1,\"instance\":\"i1\",\"browsers\":[{\"hash\":1}]}"}) {
    Write(text);
    EXPECT_EQ(Open().Find(token), "") << text;
  }
  Write(std::string(1 << 20, '['));
  EXPECT_EQ(Open().Find(token), "");
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  Browsers browsers = Open();
  EXPECT_EQ(browsers.Find(token), "");
  token = browsers.SignIn(kNow);
  EXPECT_NE(Open().Find(token), "") << "the next sign-in mends it";
}

TEST_F(BrowsersTest, WorkWithoutAPlaceForTheirFile) {
  Browsers browsers(folder_ + "/missing/browsers.json", "i1");
  EXPECT_NE(browsers.Find(browsers.SignIn(kNow)), "");
}

using Headers = std::vector<std::pair<std::string, std::string>>;

TEST(Cookie, IsFoundByItsWholeName) {
  EXPECT_EQ(FindCookie(Headers{{"Cookie", "a=1; trainyard_i1=x;b=2"}}, "trainyard_i1"), "x");
  EXPECT_EQ(FindCookie(Headers{{"cOOKIE", "a=1"}, {"Cookie", " trainyard_i1 = x "}}, "trainyard_i1"), "x");
  for (const char* text : {"", ";", "=", "trainyard_i1", "trainyard_i12=x", "xtrainyard_i1=x",
                           "TRAINYARD_I1=x", "a=trainyard_i1=x"}) {
    EXPECT_EQ(FindCookie(Headers{{"Cookie", text}}, "trainyard_i1"), std::nullopt) << text;
  }
  EXPECT_EQ(FindCookie(Headers{{"Cook", "trainyard_i1=x"}}, "trainyard_i1"), std::nullopt);
}

TEST(Cookie, ThatIsThereTwiceIsNone) {
  EXPECT_EQ(FindCookie(Headers{{"Cookie", "trainyard_i1=x; trainyard_i1=y"}}, "trainyard_i1"), std::nullopt);
  EXPECT_EQ(FindCookie(Headers{{"Cookie", "trainyard_i1=x"}, {"Cookie", "trainyard_i1=x"}}, "trainyard_i1"),
            std::nullopt);
}

TEST(Cookie, IsForOurOwnPagesAlone) {
  EXPECT_EQ(SetCookie("i1", "tok"), "trainyard_i1=tok; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict");
  EXPECT_EQ(DropCookie("i1"), "trainyard_i1=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
}

}  // namespace
}  // namespace ty

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ingest/ingest.h"

namespace ty {
namespace {

class Tail : public testing::Test {
 protected:
  Tail() {
    char folder[] = "/tmp/ty_tail_XXXXXX";
    folder_ = mkdtemp(folder);
  }
  ~Tail() override { std::filesystem::remove_all(folder_); }

  LogTail Of(std::string_view bytes) {
    std::ofstream(folder_ + "/log", std::ios::binary) << bytes;
    return ReadLogTail(folder_ + "/log");
  }
  std::string folder_;
};

TEST_F(Tail, ShowsTheLastFifteenLinesAsATerminalWould) {
  std::string log;
  for (int i = 0; i < 100; ++i) log += "line " + std::to_string(i) + "\n";
  log += "  0%|  | 0/9\r 50%|# | 5/9\r100%|##| 9/9\n\x1b[31mend\x1b[0m\n";
  const LogTail tail = Of(log);
  ASSERT_EQ(tail.lines.size(), 15u);
  EXPECT_EQ(tail.lines.front(), "line 87");
  EXPECT_EQ(tail.lines[13], "100%|##| 9/9");
  EXPECT_EQ(tail.lines.back(), "end");
  EXPECT_EQ(tail.exception, "");
}

TEST_F(Tail, OfNothingIsEmpty) {
  EXPECT_TRUE(Of("").lines.empty());
  EXPECT_TRUE(ReadLogTail(folder_ + "/none").lines.empty());
  EXPECT_TRUE(ReadLogTail(folder_).lines.empty()) << "a folder is no log";
}

constexpr const char* kTraceback =
    "Traceback (most recent call last):\n"
    "  File \"t.py\", line 3, in <module>\n"
    "    main()\n"
    "    ~~~~^^\n"
    "  File \"t.py\", line 2, in main\n"
    "    raise ValueError(\"bad\")\n";

TEST_F(Tail, FindsTheExceptionOfATraceback) {
  EXPECT_EQ(Of("start\n" + std::string(kTraceback) + "ValueError: bad label 7\n").exception,
            "ValueError: bad label 7");
  EXPECT_EQ(Of(std::string(kTraceback) + "KeyboardInterrupt\n").exception, "KeyboardInterrupt");
  EXPECT_EQ(Of(std::string(kTraceback) + "torch.OutOfMemoryError: CUDA out of memory. Tried\nmore of it\n")
                .exception,
            "torch.OutOfMemoryError: CUDA out of memory. Tried");
  EXPECT_EQ(Of(std::string(kTraceback) + "ValueError: no newline at the end").exception,
            "ValueError: no newline at the end");
}

TEST_F(Tail, TakesTheLastOfAChain) {
  const std::string log =
      std::string(kTraceback) +
      "KeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\n" +
      kTraceback + "OSError: [Errno 5] Input/output error\n";
  const LogTail tail = Of(log);
  EXPECT_EQ(tail.exception, "OSError: [Errno 5] Input/output error");
  EXPECT_EQ(tail.errors.front(), "OSError: [Errno 5] Input/output error");
}

TEST_F(Tail, ReadsARanksPrefix) {
  std::string log;
  for (std::string_view line : {"Traceback (most recent call last):", "  File \"t.py\", line 3, in <module>",
                                "RuntimeError: CUDA error: device-side assert triggered"}) {
    log += "[rank1]: " + std::string(line) + "\n[rank0]: epoch 3/20\n";
  }
  EXPECT_EQ(Of(log).exception, "RuntimeError: CUDA error: device-side assert triggered");
}

TEST_F(Tail, ReadsAnExceptionGroup) {
  EXPECT_EQ(Of("  + Exception Group Traceback (most recent call last):\n"
               "  |   File \"x.py\", line 1, in <module>\n"
               "  | ExceptionGroup: several (2 sub-exceptions)\n"
               "  +-+---------------- 1 ----------------\n"
               "    | Traceback (most recent call last):\n"
               "    |   File \"x.py\", line 1, in <module>\n"
               "    | ValueError: a\n"
               "    +---------------- 2 ----------------\n"
               "    | OSError: [Errno 5] b\n"
               "    +------------------------------------\n"
               "Cleanup: done\n")
                .exception,
            "OSError: [Errno 5] b");
}

TEST_F(Tail, ReadsASyntaxErrorWithoutATraceback) {
  EXPECT_EQ(Of("  File \"x.py\", line 3\n    foo(\n       ^\nSyntaxError: '(' was never closed\n").exception,
            "SyntaxError: '(' was never closed");
}

TEST_F(Tail, ReadsARichTraceback) {
  EXPECT_EQ(Of("╭───── Traceback (most recent call last) ─────╮\n│ t.py:3 in <module> │\n│ ❱ 3 main() "
               "│\n╰────╯\nValueError: bad\n")
                .exception,
            "ValueError: bad");
}

TEST_F(Tail, CollectsTellingLinesNewestFirst) {
  const LogTail tail =
      Of("host:1:2 [0] NCCL WARN Net: timeout\nepoch 1/2\nusage: t.py [-h]\nt.py: error: unrecognized "
         "arguments: --lrr\n");
  EXPECT_EQ(tail.errors, (std::vector<std::string>{"t.py: error: unrecognized arguments: --lrr",
                                                   "host:1:2 [0] NCCL WARN Net: timeout"}));
}

TEST_F(Tail, OfALongLogIsItsEnd) {
  std::string log = std::string(kTraceback) + "ValueError: long ago\n";
  log.append(1 << 20, 'x');
  log += "\nthe end\n";
  LogTail tail = Of(log);
  EXPECT_EQ(tail.exception, "");
  EXPECT_EQ(tail.lines.back(), "the end");
  log.append(10 << 20, 'y');
  tail = Of(log);
  ASSERT_EQ(tail.lines.size(), 1u);
  EXPECT_LT(tail.lines[0].size(), 3000u);
}

}  // namespace
}  // namespace ty

// What tests of logs share: streams of everything a program may print, from a seed.
#pragma once

#include <random>
#include <string>

namespace ty::testing {

// One burst; `random` chooses what.
inline std::string Burst(std::mt19937& random) {
  auto pick = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  auto number = [&](int most) { return std::to_string(pick(most)); };
  std::string out;
  switch (pick(14)) {
    case 0:
    case 1:
      for (int i = pick(6); i >= 0; --i) out += "step " + number(1000) + " loss 0." + number(1000) + "\n";
      return out;
    case 2:  // a bar
      for (int i = pick(20); i >= 0; --i) out += "\r " + number(100) + "%|" + std::string(pick(30), '#');
      return out + (pick(2) != 0 ? "\n" : "");
    case 3: {  // nested bars
      const int rows = 1 + pick(4);
      for (int i = pick(10); i >= 0; --i) {
        for (int row = 0; row < rows; ++row) out += "\n\r bar " + number(100) + "%";
        out += "\x1b[" + (pick(5) == 0 ? number(80) : std::to_string(rows)) + "A";
      }
      return out + (pick(2) != 0 ? std::string(rows, '\n') : "");
    }
    case 4:
      return "\x1b[" + number(120) + "m" + "word " + "\x1b[38;5;" + number(300) + "mred\x1b[0m";
    case 5:
      return "\x1b[1;3" + number(9) + ";48;2;" + number(255) + ";3;4mlong " + (pick(2) != 0 ? "\n" : "") +
             "tail";
    case 6:
      return "损失 精度 é🚀e\xCC\x81 " + number(10) + (pick(2) != 0 ? "\n" : "");
    case 7:
      return "back" + std::string(pick(8), '\b') + "over" + std::string(1 + pick(3), '\t') + "x\r\n";
    case 8:
      return "\x1b[" + number(70) + std::string(1, "ABCDEFGHJKfmhlsu"[pick(16)]);
    case 9:
      return "\x1b]0;title" + std::string(pick(2) != 0 ? "\a" : "\x1b\\");
    case 10:
      return pick(3) == 0 ? "\x1b[2J\x1b[H" : "\v\f\n";
    case 11:
      return std::string(pick(40), '\n');
    case 12:
      for (int i = pick(60); i >= 0; --i) out += static_cast<char>(random());
      return out;
    default:
      return std::string(pick(5) == 0 ? 20000 : pick(200), 'y') + "\n";
  }
}

inline std::string Stream(std::mt19937& random, size_t least) {
  std::string stream;
  while (stream.size() < least) stream += Burst(random);
  return stream;
}

}  // namespace ty::testing

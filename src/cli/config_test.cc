#include "cli/config.h"

#include <gtest/gtest.h>

namespace ty {
namespace {

Config Read(std::string_view text) {
  auto config = ParseConfig(text, "trainyard.yaml");
  EXPECT_TRUE(config) << (config ? "" : config.error().message.id);
  return config ? *config : Config();
}

std::string Argument(const Message& message, const std::string& name) {
  for (const auto& [key, value] : message.args)
    if (key == name)
      return std::holds_alternative<int64_t>(value) ? std::to_string(std::get<int64_t>(value))
                                                    : std::get<std::string>(value);
  return "";
}

TEST(Config, EveryKeyIsReadAndMayBeLeftOut) {
  Config config = Read("devices: cpu:2\nlisten: 127.0.0.1:7790\nlanguage: zh\npaths:\n  state: /data/yard\n");
  EXPECT_EQ(config.devices, "cpu:2");
  EXPECT_EQ(config.listen, "127.0.0.1:7790");
  EXPECT_EQ(config.language, "zh");
  EXPECT_EQ(config.state, "/data/yard");
  EXPECT_EQ(Read("").devices, "");
  EXPECT_EQ(Read("# nothing\n").listen, "");
  EXPECT_EQ(Read("devices:\npaths: {}\n").devices, "");
}

TEST(Config, AnUnknownKeyNamesTheNearestWithItsLine) {
  auto config = ParseConfig("listen: 127.0.0.1:1\ndevises: cpu:2\n", "trainyard.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message.id, "config.unknown_near");
  EXPECT_EQ(Argument(config.error().message, "line"), "2");
  EXPECT_EQ(Argument(config.error().message, "nearest"), "devices");
  config = ParseConfig("paths:\n  stade: /x\n", "trainyard.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(Argument(config.error().message, "nearest"), "paths.state");
  EXPECT_EQ(Argument(config.error().message, "line"), "2");
}

TEST(Config, BadFilesAreRefusedWithTheirReason) {
  struct Case {
    const char *text, *id;
  };
  for (const Case& bad : {
           Case{"- a\n", "config.not_map"},
           Case{"just text\n", "config.not_map"},
           Case{"quux: 1\n", "config.unknown"},
           Case{"language: fr\n", "config.language"},
           Case{"devices: [1]\n", "config.not_text"},
           Case{"paths: /x\n", "config.not_paths"},
           Case{"paths: {state: here}\n", "config.relative"},
           Case{"devices: a\ndevices: b\n", "yaml.duplicate"},
           Case{"devices: &x a\n", "yaml.anchor"},
           Case{"devices: *x\n", "yaml.malformed"},
           Case{"devices: !!str a\n", "yaml.tag"},
           Case{"a: {b: [\n", "yaml.malformed"},
           Case{"devices: a\n---\ndevices: b\n", "yaml.documents"},
           Case{"devices: \xff\n", "yaml.not_utf8"},
           Case{"? [a]\n: b\n", "yaml.key"},
       }) {
    auto config = ParseConfig(bad.text, "trainyard.yaml");
    ASSERT_FALSE(config) << bad.text;
    EXPECT_EQ(config.error().message.id, bad.id) << bad.text;
    EXPECT_EQ(config.error().code, Code::kInvalid);
  }
}

TEST(Config, DepthAndSizeAreBounded) {
  std::string deep = "devices: " + std::string(2000, '[') + std::string(2000, ']') + "\n";
  EXPECT_EQ(ParseConfig(deep, "f").error().message.id, "yaml.depth");
  std::string large = "devices: " + std::string((1 << 20) + 1, 'x') + "\n";
  EXPECT_EQ(ParseConfig(large, "f").error().message.id, "yaml.too_large");
}

}  // namespace
}  // namespace ty

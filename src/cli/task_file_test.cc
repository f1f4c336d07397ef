#include "cli/task_file.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ty {
namespace {

namespace json = boost::json;

const Time kNow = *ParseIso("2026-11-30T09:00:00Z");

Result<json::object> Read(std::string_view text) {
  return ParseTaskFile(text, "t.yaml", "/work/configs", "/work", kNow);
}

std::string Text(std::string_view text) {
  auto task = Read(text);
  return task ? json::serialize(*task) : task.error().field + " " + task.error().message.id;
}

TEST(TaskFile, EveryKeyBecomesThatOfTheApi) {
  auto task = Read(R"(
name: digits
command: [python3, train.py, --lr, 1e-4, --version, 3.10, --flag, yes]
workdir: ../run
resources: {gpus: 1-2, cpus: 4, memory: 8G}
priority: high
hold: true
limits: {time: 90m, idle: 600}
retry: {max: 2, on: any, delay: 5s}
checkpoint: {signal: USR1, grace: 30s}
tags: [mnist, 7]
variables: {SEED: 7, EMPTY: "", RATE: 1e-3}
)");
  ASSERT_TRUE(task) << task.error().field << " " << task.error().message.id;
  const json::object& t = *task;
  EXPECT_EQ(json::serialize(t.at("command")),
            R"(["python3","train.py","--lr","1e-4","--version","3.10","--flag","yes"])");
  EXPECT_EQ(t.at("workdir").as_string(), "/work/configs/../run");
  EXPECT_EQ(json::serialize(t.at("resources")), R"({"gpus":"1-2","cpus":4,"memory":"8G"})");
  EXPECT_EQ(t.at("hold"), json::value(true));
  EXPECT_EQ(json::serialize(t.at("limits")), R"({"time":"90m","idle":600})");
  EXPECT_EQ(json::serialize(t.at("tags")), R"(["mnist","7"])");
  EXPECT_EQ(json::serialize(t.at("variables")), R"({"SEED":"7","EMPTY":"","RATE":"1e-3"})");
}

TEST(TaskFile, WhatItWantsOfItsDevicesStaysAsTyped) {
  auto task = Read(
      "command: ['true']\nranks: true\n"
      "resources: {gpus: 2, share: 1, gpu_memory: 8G, exclusive: true, gpu_ids: index}\n");
  ASSERT_TRUE(task) << task.error().field << " " << task.error().message.id;
  EXPECT_EQ(json::serialize(task->at("resources")),
            R"({"gpus":2,"share":"1","gpu_memory":"8G","exclusive":true,"gpu_ids":"index"})");
  EXPECT_EQ(task->at("ranks"), json::value(true));
  task = Read("command: ['true']\nresources: {share: 0.5:turns:3s}\n");
  ASSERT_TRUE(task) << task.error().field << " " << task.error().message.id;
  EXPECT_EQ(json::serialize(task->at("resources")), R"({"share":"0.5:turns:3s"})");
  EXPECT_EQ(Text("command: ['true']\nresources: {share: half}\n"), "t.yaml:2: resources.share spec.share");
}

TEST(TaskFile, TheShortFormsAreSpread) {
  auto task =
      Read("shell: a | b\nretry: 3\nafter: [prepare, 12, '13:any', {task: 14, on: fail}]\nbegin: +1h\n");
  ASSERT_TRUE(task) << task.error().field << " " << task.error().message.id;
  EXPECT_EQ(json::serialize(task->at("command")), R"(["sh","-c","a | b"])");
  EXPECT_EQ(json::serialize(task->at("retry")), R"({"max":3})");
  EXPECT_EQ(json::serialize(task->at("after")),
            R"([{"task":"prepare","on":"ok"},{"task":12},{"task":13,"on":"any"},{"task":14,"on":"fail"}])");
  EXPECT_EQ(task->at("begin").as_string(), "2026-11-30T10:00:00.000Z");
  EXPECT_EQ(task->at("workdir").as_string(), "/work");
  EXPECT_FALSE(task->contains("shell"));
}

TEST(TaskFile, AnEmptyValueIsAKeyLeftOut) {
  auto task = Read("command: ['true']\nname:\nresources:\n");
  ASSERT_TRUE(task) << task.error().field << " " << task.error().message.id;
  EXPECT_FALSE(task->contains("name") && task->at("name").is_null());
  EXPECT_FALSE(task->contains("resources"));
}

TEST(TaskFile, AComplaintSaysLineAndKey) {
  EXPECT_EQ(Text("command: ['true']\nresources:\n  gpu: 2\n"), "t.yaml:3: resources.gpu spec.unknown_key");
  EXPECT_EQ(Text("command: ['true']\n\nlimits:\n  time: soon\n"), "t.yaml:4: limits.time spec.duration");
  EXPECT_EQ(Text("name: '12'\ncommand: ['true']\n").substr(0, 14), "t.yaml:1: name");
  EXPECT_EQ(Text("command: ['true']\nafter:\n  - '12:often'\n"), "t.yaml:3: after.0 cli.after");
  EXPECT_EQ(Text("command: ['true']\nbegin: never\n"), "t.yaml:2: begin cli.begin");
}

TEST(TaskFile, BadFilesAreRefused) {
  for (const char* text :
       {"", "- a\n", "text\n", "name: x\n", "command: []\n", "command: python train.py\n",
        "command: [a]\nshell: b\n", "shell: [a]\n", "command: [{a: b}]\n", "command: [a]\npriority: [1]\n",
        "command: [a]\ntags: x\n", "command: [a]\nhold: maybe\n", "command: [a]\nretry: -1\n",
        "command: [a]\nresources: {gpus: many}\n", "command: [a]\nvariables: {A=B: 1}\n",
        "command: [a]\nafter: {on: any}\n", "command: &a [a]\n", "command: [a]\ncommand: [b]\n"}) {
    auto task = Read(text);
    EXPECT_FALSE(task) << text;
    EXPECT_TRUE(task || task.error().code == Code::kInvalid) << text;
  }
}

}  // namespace
}  // namespace ty

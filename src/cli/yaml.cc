#include "cli/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "msg/yaml.h"

namespace ty {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr size_t kMostDepth = 32;

// Ends the parse from inside yaml-cpp; caught in ParseYaml.
struct Refused {
  Message message;
};

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& file) : file_(file) {}

  Yaml Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Put(Scalar(mark, "", true));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{msg::YamlAnchor{.file = file_, .line = Line(mark)}};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    Put(Scalar(mark, value, tag != "!"));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Yaml::Kind::kList);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, tag, anchor, Yaml::Kind::kMap);
  }
  void OnMapEnd() override { Close(); }

 private:
  static int64_t Line(const YAML::Mark& mark) { return mark.line + 1; }

  static Yaml Scalar(const YAML::Mark& mark, const std::string& text, bool plain) {
    Yaml scalar;
    scalar.line = static_cast<int>(Line(mark));
    scalar.plain = plain;
    scalar.text = text;
    return scalar;
  }

  void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{msg::YamlAnchor{.file = file_, .line = Line(mark)}};
  }
  // yaml-cpp gives "?" to plain nodes and "!" to quoted ones.
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.size() > 1) throw Refused{msg::YamlTag{.file = file_, .line = Line(mark), .tag = tag}};
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Yaml::Kind kind) {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    if (open_.size() >= kMostDepth)
      throw Refused{msg::YamlDepth{.file = file_, .line = Line(mark), .most = int64_t{kMostDepth}}};
    if (!open_.empty() && open_.back().node.kind == Yaml::Kind::kMap && !open_.back().key)
      throw Refused{msg::YamlKey{.file = file_, .line = Line(mark)}};
    Yaml node;
    node.kind = kind;
    node.line = static_cast<int>(Line(mark));
    open_.push_back({std::move(node), std::nullopt});
  }

  void Close() {
    Yaml node = std::move(open_.back().node);
    open_.pop_back();
    Put(std::move(node));
  }

  void Put(Yaml node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Partial& parent = open_.back();
    if (parent.node.kind == Yaml::Kind::kMap && !parent.key) {
      if (std::find(parent.node.keys.begin(), parent.node.keys.end(), node.text) != parent.node.keys.end())
        throw Refused{msg::YamlDuplicate{.file = file_, .line = node.line, .key = node.text}};
      parent.node.key_lines.push_back(node.line);
      parent.key = node.text;
      parent.node.keys.push_back(std::move(node.text));
      return;
    }
    parent.node.items.push_back(std::move(node));
    parent.key.reset();
  }

  struct Partial {
    Yaml node;
    std::optional<std::string> key;  // read, and waiting for its value
  };

  const std::string& file_;
  std::vector<Partial> open_;
  Yaml root_;
};

}  // namespace

const Yaml* Yaml::Find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

Result<Yaml> ParseYaml(std::string_view text, const std::string& file) {
  if (text.size() > kMostBytes)
    return Invalid(msg::YamlTooLarge{
        .file = file, .most = int64_t{kMostBytes}, .size = static_cast<int64_t>(text.size())});
  if (!IsUtf8(text)) return Invalid(msg::YamlNotUtf8{.file = file});
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(file);
    if (!parser.HandleNextDocument(builder)) return Yaml{};
    Yaml document = builder.Take();
    Builder second(file);
    if (parser.HandleNextDocument(second)) return Invalid(msg::YamlDocuments{.file = file});
    return document;
  } catch (const Refused& refused) {
    return Invalid(refused.message);
  } catch (const YAML::Exception& error) {
    return Invalid(msg::YamlMalformed{.file = file, .line = error.mark.line + 1, .what = error.msg});
  } catch (const std::exception& error) {
    return Invalid(msg::YamlMalformed{.file = file, .line = 1, .what = error.what()});
  }
}

}  // namespace ty

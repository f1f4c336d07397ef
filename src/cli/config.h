// Config is trainyard.yaml, read once into a struct: --config, else
// $XDG_CONFIG_HOME/trainyard/trainyard.yaml, else ~/.config/trainyard/trainyard.yaml. Every key may be left
// out; an unknown one is an error naming the nearest.
//
//   devices: cpu:2             # what `up --devices` takes
//   listen: 127.0.0.1:7788     # what `up --listen` takes
//   language: zh               # en or zh
//   paths:
//     state: /data/trainyard   # the state folder, when TRAINYARD_HOME is not set
#pragma once

#include <string>

#include "base/result.h"

namespace ty {

struct Config {
  std::string file;  // where it was read from; empty: there is none
  std::string devices, listen, language;
  std::string state;  // absolute
  bool operator==(const Config&) const = default;
};

// Where the config of this user lies, whether or not it is there; empty without HOME.
std::string ConfigPath();
// The text of one file. Errors name `file`, the line and the key.
Result<Config> ParseConfig(std::string_view text, const std::string& file);
// `asked` is --config: it must be there. Empty: the user's own, and none is fine.
Result<Config> ReadConfig(const std::string& asked);

}  // namespace ty

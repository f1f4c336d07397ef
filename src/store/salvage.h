// Copies rows out of a file that may be damaged: what cannot be read is left out, and said.
#pragma once

#include <cstdint>
#include <string>

#include "store/sqlite.h"

namespace ty {

struct Salvaged {
  int64_t rows = 0;      // put in
  bool complete = true;  // every row of the table was read
};
// Rows that are there already or that the schema refuses are passed over. `key` is the table's primary key.
Result<Salvaged> CopyTable(Connection& from, Connection& to, const std::string& table,
                           const std::string& key);

// Copies a file block by block; blocks that the disk does not give become zeros. False: it is not there.
Result<bool> CopyReadable(const std::string& from, const std::string& to);

}  // namespace ty

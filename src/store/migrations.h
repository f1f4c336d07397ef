// The schema of yard.db and the way to it. PRAGMA user_version holds the number of steps taken.
#pragma once

#include <string>

#include "base/result.h"
#include "store/sqlite.h"

namespace ty {

// Brings the file to the newest schema, all missing steps in one transaction. What was there before is copied
// into the folder `backups` first, where one is named and there is room.
// Refuses a newer schema, a file of another program and a damaged one; then nothing was written.
Status Migrate(Connection& connection, const std::string& backups = {});

int NewestSchema();

// What a step did, from 1 on: with it and the id that marks a file as ours, a test makes one as it was then.
const char* SchemaStep(int number);
int64_t ApplicationId();

}  // namespace ty

#include "store/migrations.h"

#include <iterator>
#include <string>

#include "base/log.h"
#include "msg/store.h"
#include "store/backups.h"

namespace ty {
namespace {

constexpr int64_t kApplicationId = 0x54594431;  // "TYD1", what file(1) sees

// A step, once released, never changes: add the next one below it.
//
// The database itself refuses what must never be true, whoever asks: unknown states, an end without an
// outcome, devices leased over their whole, changed events, a repeated idempotency key. Times are nanoseconds
// since 1970, durations nanoseconds, uids 16 bytes, messages and outcomes JSON without words.
constexpr const char* kSteps[] = {
    // 1
    R"(
CREATE TABLE task(                       -- what the Yard keeps in memory while the task is open
  id INTEGER PRIMARY KEY CHECK(id > 0),
  uid BLOB NOT NULL CHECK(length(uid) = 16),
  name TEXT NOT NULL,
  submitted INTEGER NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'starting', 'running', 'stopping', 'ended')),
  priority INTEGER NOT NULL,
  held INTEGER NOT NULL CHECK(held IN (0, 1)),
  held_reason TEXT,
  gpus TEXT NOT NULL,                    -- counts, ascending: "1,2,4"; empty: not said
  cpus INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  after TEXT NOT NULL,                   -- "12 ok,13 any"
  begin_at INTEGER,
  not_before INTEGER,
  tags TEXT NOT NULL,                    -- JSON list, or empty
  retry_max INTEGER,
  retry_on TEXT NOT NULL CHECK(retry_on IN ('table', 'any')),
  retry_delay INTEGER NOT NULL,
  attempts INTEGER NOT NULL CHECK(attempts >= 0),
  retries INTEGER NOT NULL CHECK(retries >= 0),
  began_progress INTEGER NOT NULL CHECK(began_progress IN (0, 1)),
  checkpoint_path TEXT NOT NULL,
  checkpoint_step INTEGER NOT NULL,
  checkpoint_bytes INTEGER NOT NULL,
  checkpoint_attempt INTEGER NOT NULL,
  outcome_kind TEXT CHECK(outcome_kind IN ('succeeded', 'failed', 'cancelled', 'timeout', 'preempted', 'lost')),
  outcome TEXT,
  ended INTEGER,
  CHECK(state <> 'ended' OR (ended IS NOT NULL AND outcome_kind IS NOT NULL)),
  CHECK((outcome IS NULL) = (outcome_kind IS NULL))
) STRICT;
CREATE INDEX task_open ON task(id) WHERE state <> 'ended';
CREATE INDEX task_ended ON task(ended, id) WHERE state = 'ended';
CREATE INDEX task_name ON task(name);

CREATE TABLE environment(                -- variables of the submitter's shell, each set once
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  variables BLOB NOT NULL
) STRICT;
CREATE INDEX environment_hash ON environment(hash);

CREATE TABLE spec(                       -- what the user asked for; never changes
  task INTEGER PRIMARY KEY REFERENCES task(id),
  environment INTEGER NOT NULL REFERENCES environment(id),
  idempotency_key TEXT,
  request_hash TEXT NOT NULL,
  spec TEXT NOT NULL                     -- JSON, without the environment
) STRICT;
CREATE UNIQUE INDEX spec_key ON spec(idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX spec_environment ON spec(environment);
CREATE TRIGGER spec_never_changes BEFORE UPDATE ON spec
BEGIN SELECT RAISE(ABORT, 'a spec never changes'); END;

CREATE TABLE attempt(
  uid BLOB PRIMARY KEY CHECK(length(uid) = 16),
  task INTEGER NOT NULL REFERENCES task(id),
  number INTEGER NOT NULL CHECK(number >= 1),
  state TEXT NOT NULL CHECK(state IN ('starting', 'running', 'stopping', 'ended')),
  devices TEXT NOT NULL,                 -- JSON list, or empty
  boot TEXT NOT NULL,
  resume TEXT NOT NULL,
  created INTEGER NOT NULL,
  started INTEGER,
  ended INTEGER,
  outcome TEXT,
  stop_reason TEXT,
  stop_kind TEXT NOT NULL CHECK(stop_kind IN ('succeeded', 'failed', 'cancelled', 'timeout', 'preempted', 'lost')),
  seen TEXT NOT NULL,                    -- JSON: progress, metrics, changed_code; or empty
  UNIQUE(task, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_open ON attempt(uid) WHERE state <> 'ended';

CREATE TABLE lease(                      -- active ones; those that were are in the events
  attempt BLOB NOT NULL REFERENCES attempt(uid),
  device TEXT NOT NULL,
  share_milli INTEGER NOT NULL CHECK(share_milli BETWEEN 1 AND 1000),
  PRIMARY KEY(attempt, device)
) STRICT, WITHOUT ROWID;
CREATE INDEX lease_device ON lease(device, share_milli);
CREATE TRIGGER lease_within_the_device BEFORE INSERT ON lease
WHEN (SELECT coalesce(sum(share_milli), 0) FROM lease WHERE device = NEW.device) + NEW.share_milli > 1000
BEGIN SELECT RAISE(ABORT, 'the leases of a device exceed it'); END;
CREATE TRIGGER lease_stays_within_the_device BEFORE UPDATE ON lease
WHEN (SELECT coalesce(sum(share_milli), 0) FROM lease
      WHERE device = NEW.device AND NOT (device = OLD.device AND attempt = OLD.attempt)) + NEW.share_milli > 1000
BEGIN SELECT RAISE(ABORT, 'the leases of a device exceed it'); END;

CREATE TABLE event(                      -- append-only
  seq INTEGER PRIMARY KEY CHECK(seq > 0),
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task INTEGER,                          -- may be erased since
  attempt INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE TRIGGER event_comes_after_the_last BEFORE INSERT ON event
WHEN NEW.seq <= (SELECT max(seq) FROM event)
BEGIN SELECT RAISE(ABORT, 'the number of an event is not above the last'); END;
CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'an event never changes'); END;
CREATE TRIGGER event_never_goes BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'an event never goes'); END;

CREATE TABLE setting(
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
)",
    // 2: shares. Until now every lease was of a whole device and nobody asked for more.
    R"(
ALTER TABLE lease ADD COLUMN asked_milli INTEGER NOT NULL DEFAULT 1000 CHECK(asked_milli BETWEEN 1 AND 1000);
ALTER TABLE lease ADD COLUMN mode TEXT NOT NULL DEFAULT 'whole' CHECK(mode IN ('whole', 'together', 'turns'));
ALTER TABLE lease ADD COLUMN memory INTEGER NOT NULL DEFAULT 0 CHECK(memory >= 0);
ALTER TABLE lease ADD COLUMN slice INTEGER NOT NULL DEFAULT 30000000000 CHECK(slice > 0);
ALTER TABLE task ADD COLUMN wish TEXT NOT NULL DEFAULT '';  -- JSON; empty: whole devices, whatever they are
)",
    // 3: tasks that were moved within their priority.
    R"(
ALTER TABLE task ADD COLUMN place INTEGER;  -- smaller goes first; NULL: where its id says
)",
};
constexpr int kNewest = static_cast<int>(std::size(kSteps));

tl::unexpected<Error> Damaged(const Connection& connection, const Error& trouble) {
  return Forward(connection.AsDamaged(trouble));
}

Status TakeSteps(Connection& connection, int64_t from) {
  Status taken = connection.Begin();
  for (int64_t step = from; taken && step < kNewest; ++step) taken = connection.Script(kSteps[step]);
  const std::string mark = "PRAGMA user_version=" + std::to_string(kNewest) +
                           "; PRAGMA application_id=" + std::to_string(kApplicationId);
  if (taken) taken = connection.Script(mark.c_str());
  if (taken) return connection.Commit();
  connection.Rollback();
  return taken;
}

}  // namespace

int NewestSchema() {
  return kNewest;
}

const char* SchemaStep(int number) {
  return kSteps[number - 1];
}

int64_t ApplicationId() {
  return kApplicationId;
}

Status Migrate(Connection& connection, const std::string& backups) {
  const Result<int64_t> version = connection.Number("PRAGMA user_version");
  if (!version) return Damaged(connection, version.error());
  if (*version > kNewest)
    return Fail(Code::kUnavailable,
                msg::StoreNewer{.path = connection.path(), .found = *version, .known = kNewest});

  const Result<int64_t> objects = connection.Number("SELECT count(*) FROM sqlite_schema");
  if (!objects) return Damaged(connection, objects.error());
  const Result<int64_t> application = connection.Number("PRAGMA application_id");
  if (!application) return Damaged(connection, application.error());
  const bool fresh = *version == 0 && *objects == 0;
  if (!fresh && *application != kApplicationId)
    return Fail(Code::kInternal,
                msg::StoreDamaged{.path = connection.path(), .what = "it was made by another program"});

  if (fresh)
    if (const Status sized = connection.Script("PRAGMA page_size=4096"); !sized) return sized;
  if (const Status logged = connection.Script("PRAGMA journal_mode=WAL"); !logged)
    return Damaged(connection, logged.error());
  if (*version == kNewest) return {};
  // The steps are one transaction, so that a failed copy is no reason to keep people out of their queue.
  if (!fresh && !backups.empty())
    if (const Status copied = CopyBeforeMigration(connection, backups, *version); !copied)
      Log("store: no copy was made before the migration: " + copied.error().message.id);
  return TakeSteps(connection, *version);
}

}  // namespace ty

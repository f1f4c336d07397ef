// Every path under the state folder, in one place (contracts C2, C3, C9). Pure text: nothing is opened here.
#pragma once

#include <string>

#include "base/ids.h"

namespace ty {

struct StatePaths {
  std::string home;  // $TRAINYARD_HOME, else $XDG_STATE_HOME/trainyard, else ~/.local/state/trainyard

  std::string Socket() const { return home + "/sock"; }       // the CLI's HTTP, 0600
  std::string Lock() const { return home + "/daemon.lock"; }  // flock; holds "pid url" for people
  std::string Log() const { return home + "/daemon.log"; }
  std::string DownMark() const { return home + "/down"; }  // `trainyard down` was asked: no autostart
  std::string StartOptions() const { return home + "/start.json"; }  // kept options of `up`
  std::string Port() const { return home + "/port"; }  // the web page was served at, for the next start
  std::string Browsers() const { return home + "/browsers.json"; }   // who is signed in; hashes alone, 0600
  // What `trainyard open` gives a browser: it leads to the page with a code, whose SHA-256 begins the name.
  std::string Opener(const std::string& hash) const { return home + "/open-" + hash.substr(0, 16) + ".html"; }
  std::string Database() const { return home + "/yard.db"; }
  // There while the state file must be checked before it is used: a run ended because of it, or a recovery
  // was interrupted.
  std::string Suspect() const { return Database() + ".suspect"; }
  std::string Ballast() const { return home + "/ballast"; }  // room given up when the disk is full
  std::string Backups() const { return home + "/backups"; }  // copies of the state file
  std::string Attempts() const { return home + "/attempts"; }
  std::string Attempt(const Ulid& uid) const { return Attempts() + "/" + uid.Text(); }
  std::string Out(TaskId task) const { return home + "/tasks/" + std::to_string(task.value); }

  std::string AllSeries() const { return home + "/series"; }
  std::string Series(TaskId task) const { return AllSeries() + "/" + std::to_string(task.value); }

  // From the environment; empty home when there is neither TRAINYARD_HOME, XDG_STATE_HOME nor HOME.
  static StatePaths FromEnvironment();
};

// Files of one attempt's folder.
struct AttemptPaths {
  std::string folder;

  std::string Spec() const { return folder + "/spec"; }
  std::string Slot() const { return folder + "/slot"; }
  std::string Decision() const { return folder + "/decision"; }
  std::string Control() const { return folder + "/ctl.sock"; }
  std::string Log() const { return folder + "/log"; }
  std::string Log(int rank) const { return Log() + "." + std::to_string(rank); }  // with ranks, instead
  static std::string GapsOf(const std::string& log) { return log + ".gaps"; }     // of any of these logs
  std::string LogIndex() const { return folder + "/log.idx"; }
  std::string Head() const { return folder + "/head.json"; }
  std::string Files() const { return folder + "/files"; }
  std::string Stop() const { return folder + "/stop"; }
};

// Files of the metrics of one attempt, in the folder of its task (docs/formats/series.md).
struct SeriesPaths {
  std::string folder;
  int attempt = 1;

  static constexpr const char* kJournal = ".journal";
  std::string Journal() const { return Base() + kJournal; }
  std::string Heads() const { return Base() + ".heads"; }
  std::string Chunks() const { return Base() + ".chunks"; }

 private:
  std::string Base() const { return folder + "/" + std::to_string(attempt); }
};

// What is shipped beside the program: ../share/trainyard of the real path of this executable.
std::string ShareFolder();
std::string ProgramFolder();

}  // namespace ty

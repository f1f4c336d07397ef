#include "http/footing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "msg/submit.h"
#include "posix/program.h"

namespace ty {

namespace {

enum class Seen : uint8_t { kNothing, kFolder, kFile, kUnknown };

Seen SeenAt(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) return S_ISDIR(facts.st_mode) ? Seen::kFolder : Seen::kFile;
  return errno == ENOENT || errno == ENOTDIR ? Seen::kNothing : Seen::kUnknown;
}

Status CheckFolder(const std::string& workdir) {
  const std::string field = "/workdir", shown = Printable(workdir);
  switch (SeenAt(workdir)) {
    case Seen::kNothing:
      return Invalid(msg::SubmitNoFolder{.folder = shown}, field);
    case Seen::kFile:
      return Invalid(msg::SubmitNotFolder{.folder = shown}, field);
    case Seen::kFolder:
      if (::access(workdir.c_str(), X_OK) != 0 && errno == EACCES)
        return Invalid(msg::SubmitFolderDenied{.folder = shown}, field);
      return {};
    case Seen::kUnknown:
      return {};
  }
  return {};
}

// A program with a slash is a path, from the folder on.
Status CheckPath(const Footing& footing) {
  const std::string field = "/command", shown = Printable(footing.program);
  const bool absolute = footing.program.front() == '/';
  if (!absolute && footing.workdir.empty()) return {};
  const std::string file = absolute ? footing.program : footing.workdir + "/" + footing.program;
  switch (SeenAt(file)) {
    case Seen::kNothing:
      return absolute
                 ? Invalid(msg::SubmitNoProgramPath{.program = shown}, field)
                 : Invalid(msg::SubmitNoProgramFile{.program = shown, .folder = Printable(footing.workdir)},
                           field);
    case Seen::kFolder:
      return Invalid(msg::SubmitProgramIsFolder{.program = shown}, field);
    case Seen::kFile:
      if (IsProgram(file)) return {};
      return Invalid(msg::SubmitProgramNotExecutable{.program = shown}, field);
    case Seen::kUnknown:
      return {};
  }
  return {};
}

Status CheckProgram(const Footing& footing) {
  if (footing.program.find('/') != std::string::npos) return CheckPath(footing);
  // Without a PATH execvp has one of its own.
  if (footing.path.empty()) return {};
  const std::string from = footing.workdir.empty() ? "/" : footing.workdir;
  if (!FindProgram(footing.program, footing.path, from).empty()) return {};
  const std::string field = "/command", shown = Printable(footing.program);
  if (!footing.workdir.empty() && SeenAt(footing.workdir + "/" + footing.program) == Seen::kFile)
    return Invalid(msg::SubmitProgramHere{.program = shown}, field);
  if (footing.program == "python" && !FindProgram("python3", footing.path, from).empty())
    return Invalid(msg::SubmitNoPython{}, field);
  return Invalid(msg::SubmitNoProgram{.program = shown}, field);
}

}  // namespace

Footing FootingOf(const TaskSpec& spec, const Variables& basics) {
  Footing footing;
  footing.workdir = spec.workdir;
  if (!spec.argv.empty()) footing.program = spec.argv.front();
  for (const Variables* variables : {spec.environment.empty() ? &basics : &spec.environment, &spec.variables})
    for (const auto& [name, value] : *variables)
      if (name == "PATH") footing.path = value;
  return footing;
}

std::vector<Error> LookAt(const Footing& footing) {
  std::vector<Error> faults;
  Footing sure = footing;
  if (!footing.workdir.empty()) {
    if (Status folder = CheckFolder(footing.workdir); !folder) {
      faults.push_back(folder.error());
      sure.workdir.clear();
    }
  }
  if (footing.program.empty()) return faults;
  if (Status program = CheckProgram(sure); !program) faults.push_back(program.error());
  return faults;
}

}  // namespace ty

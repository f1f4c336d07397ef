// trainyard completion: prints the script that teaches a shell to complete. The scripts hold no knowledge of
// commands and options: they ask `trainyard complete-words`, so a new version needs no new script.
#include "cli/caller.h"
#include "cli/commands.h"
#include "msg/cli.h"

namespace ty {
namespace {

constexpr const char* kBash = R"sh(# Completion of trainyard for bash.
# In ~/.bashrc: eval "$(trainyard completion bash)"
_trainyard() {
  local LC_ALL=C IFS=$' \t\n' i piece gap line stem also= offset
  local rest=${COMP_LINE:0:COMP_POINT} breaks=
  local -a words=() starts=()
  # bash cuts words at : and =; what touches is put together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    gap=${rest%%[![:space:]]*}
    rest=${rest#"$gap"}
    if ((i == COMP_CWORD)); then piece=$rest; fi
    if ((i > 0)) && [[ -z $gap ]]; then
      words[${#words[@]} - 1]+=$piece
    else
      words+=("$piece")
      starts+=("$i")
    fi
    rest=${rest#"$piece"}
  done
  local current=${words[${#words[@]} - 1]}
  local program=${words[0]/#\~\//$HOME/}
  type -P -- "$program" >/dev/null || program=trainyard

  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :command\ *) also=command offset=${line#:command } ;;
      :*) also=${line#:} ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("$program" complete-words -- "${words[@]:1}" 2>/dev/null)

  case $also in
    files)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
      ;;
    folders)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
      ;;
    command)
      if ((offset < ${#words[@]} - 1)) && declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "${starts[offset]}"
      elif ((offset < ${#words[@]} - 1)) && declare -F _command_offset >/dev/null; then
        _command_offset "${starts[offset]}"
      elif ((offset < ${#words[@]} - 1)) || [[ $current == */* ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
      else
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$current" | sort -u)
      fi
      return
      ;;
  esac

  # Only what stands behind the last : or = is replaced.
  if [[ $COMP_WORDBREAKS == *:* ]]; then breaks+=:; fi
  if [[ $COMP_WORDBREAKS == *=* ]]; then breaks+==; fi
  if [[ -n $breaks && $current == *[$breaks]* ]]; then
    stem=${current%"${current##*[$breaks]}"}
    COMPREPLY=("${COMPREPLY[@]#"$stem"}")
  fi
}
complete -o nosort -F _trainyard trainyard 2>/dev/null || complete -F _trainyard trainyard
)sh";

constexpr const char* kZsh = R"sh(#compdef trainyard
# Completion of trainyard for zsh.
# In ~/.zshrc, behind compinit: eval "$(trainyard completion zsh)"
_trainyard() {
  local line also= program="${(Q)words[1]}"
  local -i offset=0
  local -a asked found
  asked=("${(@Q)words[2,CURRENT-1]}" "$PREFIX")
  program="${program/#\~\//$HOME/}"
  (( $+commands[$program] )) || [[ -x $program ]] || program=trainyard
  for line in "${(@f)$("$program" complete-words -- "${asked[@]}" 2>/dev/null)}"; do
    case $line in
      ('') ;;
      (:command\ *) also=command; offset=${line#:command } ;;
      (:*) also=${line#:} ;;
      (*)
        local word="${line%%$'\t'*}" about="${line#*$'\t'}"
        found+=("${word//:/\\:}${about:+:$about}")
        ;;
    esac
  done
  local -i result=1
  if (( $#found )); then _describe -V trainyard found && result=0; fi
  case $also in
    (files) _files && result=0 ;;
    (folders) _files -/ && result=0 ;;
    (command)
      words=("${(@)words[offset+1,-1]}")
      (( CURRENT -= offset ))
      _normal && result=0
      ;;
  esac
  return result
}
if [[ $funcstack[1] == _trainyard ]]; then
  _trainyard "$@"
else
  if (( ! $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
  compdef _trainyard trainyard
fi
)sh";

constexpr const char* kFish = R"sh(# Completion of trainyard for fish.
# As a file: trainyard completion fish > ~/.config/fish/completions/trainyard.fish
function __trainyard_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l program $before[1]
    set -e before[1]
    type -q $program; or set program trainyard
    for line in ($program complete-words -- $before "$current" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case ':command *'
                set -l offset (string replace ':command ' '' -- $line)
                if test $offset -le (count $before)
                    complete -C (string join ' ' -- (string escape -- $before[$offset..-1]) "$current")
                else
                    complete -C "$current"
                end
            case '*'
                echo $line
        end
    end
end
complete -c trainyard -e
complete -c trainyard -f -k -a '(__trainyard_complete)'
)sh";

int PrintCompletion(Caller& caller, const Invocation& invocation) {
  std::string shell = invocation.words.size() == 1 ? invocation.words.front() : "";
  const char* script = shell == "bash" ? kBash : shell == "zsh" ? kZsh : shell == "fish" ? kFish : nullptr;
  if (!script) return caller.Complain({Code::kInvalid, msg::CliCompletionShell{}, {}});
  caller.Print(script);
  return kDone;
}

}  // namespace

const Command kCompletionCommand = {
    "completion", "bash|zsh|fish", "cli.about_completion", {}, PrintCompletion};

}  // namespace ty

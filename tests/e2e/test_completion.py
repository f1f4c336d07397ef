"""The completion scripts in the real shells. zsh and fish are tested where they are installed."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import pytest

from yarding import BIN, DEADLINE, until

SHELLS = ["bash", "zsh", "fish"]
START = {
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "--private", "-i"],
}
SET_UP = {
    "bash": "PS1='READY> '; bind 'set enable-bracketed-paste off'; eval \"$(trainyard completion bash)\"\n",
    "zsh": "PS1='READY> '; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; "
           "eval \"$(trainyard completion zsh)\"\n",
    "fish": "function fish_prompt; echo 'READY> '; end; trainyard completion fish | source\n",
}


def needs(shell):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")


def environment(yard):
    return {**yard.env, "PATH": os.path.dirname(BIN) + ":" + yard.env["PATH"], "TERM": "dumb",
            "LC_ALL": "C.UTF-8"}


class Terminal:
    """A shell on a terminal, with completion loaded."""

    def __init__(self, yard, shell):
        master, slave = pty.openpty()
        self.master = master
        self.process = subprocess.Popen(["setsid", "--ctty", *START[shell]], cwd=yard.work, env=environment(yard),
                                        stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.seen = ""
        self.type(SET_UP[shell])
        # The first one that counts stands at the begin of a line: the other is the echo of what was typed.
        self.wait_for(r"[\r\n](\x1b[^ ]*)?READY> ")

    def type(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, pattern):
        end = time.monotonic() + DEADLINE
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self.master], [], [], max(0, end - time.monotonic()))
            assert ready, f"{pattern!r} never came in {self.seen!r}"
            self.seen += os.read(self.master, 65536).decode(errors="replace")
        return self.seen

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def in_bash(yard, line):
    """What bash would offer at the end of the line, with its words cut as bash cuts them."""
    words = re.findall(r"[^\s:=]+|[:=]+", line)
    if line.endswith(" "):
        words.append("")
    script = 'eval "$(trainyard completion bash)"; COMP_LINE=$1; COMP_POINT=${#1}; shift; COMP_WORDS=("$@"); ' \
             'COMP_CWORD=$(($# - 1)); _trainyard; printf "%s\\n" "${COMPREPLY[@]}"'
    answer = subprocess.run(["bash", "--norc", "--noprofile", "-c", script, "bash", line, *words], cwd=yard.work,
                            env=environment(yard), capture_output=True, timeout=DEADLINE, check=True)
    assert answer.stderr == b""
    return answer.stdout.decode().split()


def in_fish(yard, line):
    script = "trainyard completion fish | source; complete -C $argv[1]"
    answer = subprocess.run(["fish", "--no-config", "--private", "-c", script, line], cwd=yard.work,
                            env=environment(yard), capture_output=True, timeout=DEADLINE, check=True)
    return [offered.split("\t")[0] for offered in answer.stdout.decode().splitlines()]


@pytest.fixture
def busy_yard(yard):
    yard("run", "-q", "-n", "digits", "--hold", "--tag", "mnist", "true")
    yard("run", "-q", "-n", "two words", "true")
    yard("wait", "2")
    os.mkdir(os.path.join(yard.work, "configs"))
    with open(os.path.join(yard.work, "t.yaml"), "w"):
        pass
    # Offers wait a second at most. After its last order the store makes room for the next ones, which may take longer.
    until(lambda: os.path.getsize(yard.home + "/yard.db-wal") >= 16 << 20)
    yard("ls", "-a")
    return yard


CASES = [
    ("trainyard prio", ["priority"]),
    ("trainyard run --gpu-i", ["--gpu-ids"]),
    ("trainyard run --gpu-ids ", ["uuid", "index"]),
    ("trainyard release ", ["1", "digits"]),  # the held one; the other cannot be released
    ("trainyard rm ", ["2"]),  # a name that needs quotes is not offered
    ("trainyard show dig", ["digits"]),
    ("trainyard ls --tag mn", ["mnist"]),
    ("trainyard devices ", ["hold", "release"]),
    ("trainyard run -C c", ["configs/"]),
    ("trainyard submit t", ["t.yaml"]),
    ("trainyard nonsense ", []),
]


@pytest.mark.parametrize("line, offered", CASES)
def test_bash_offers_what_fits(busy_yard, line, offered):
    assert sorted(in_bash(busy_yard, line)) == sorted(word.rstrip("/") for word in offered)


def test_bash_puts_words_with_colons_and_equals_together_again(busy_yard):
    assert in_bash(busy_yard, "trainyard devices hold cpu:") == ["0", "1"]  # bash keeps what stands before
    assert in_bash(busy_yard, "trainyard ls --lang=z") == ["zh"]
    assert in_bash(busy_yard, "trainyard run --share 0.5:t") == ["turns"]
    assert "--name" in in_bash(busy_yard, "trainyard run --share 0.5:turns:3s --na")


def test_bash_leaves_the_tasks_own_words_to_its_program(busy_yard):
    assert in_bash(busy_yard, "trainyard run -g 2 cat t.y") == ["t.yaml"]
    assert "cat" in in_bash(busy_yard, "trainyard run -g 2 cat")


@pytest.mark.parametrize("line, offered", CASES)
def test_fish_offers_what_fits(busy_yard, line, offered):
    needs("fish")
    assert sorted(in_fish(busy_yard, line)) == sorted(offered)


def test_fish_leaves_the_tasks_own_words_to_its_program(busy_yard):
    needs("fish")
    assert "t.yaml" in in_fish(busy_yard, "trainyard run -q cat t.y")
    assert in_fish(busy_yard, "trainyard devices hold cpu:") == ["cpu:0", "cpu:1"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("typed, becomes", [
    ("trainyard prio\t", "trainyard priority "),
    ("trainyard release dig\t", "trainyard release digits "),
    ("trainyard run -q -C con\t", "trainyard run -q -C configs/"),
    ("trainyard devices rel\t", "trainyard devices release "),
    ("trainyard devices hold cpu:1\t--unt\t", "trainyard devices hold cpu:1 --until "),
    ("trainyard ls --lang=z\t", "trainyard ls --lang=zh "),
    ("trainyard run -q cat t.ya\t", "trainyard run -q cat t.yaml "),
])
def test_tab_completes_on_a_terminal(busy_yard, shell, typed, becomes):
    needs(shell)
    terminal = Terminal(busy_yard, shell)
    try:
        terminal.seen = ""
        # Ctrl-A and a leading echo turn the line into one whose output is the line itself.
        for part in re.split(r"(?<=\t)", typed):
            terminal.type(part)
        terminal.type("END\x01printf '<%s>' \n")
        words = "".join(f"<{word}>" for word in (becomes + "END").split())
        terminal.wait_for(re.escape(words))
    finally:
        terminal.close()


def test_completion_is_silent_without_a_yard_and_starts_none(down_yard):
    answer = down_yard("complete-words", "--", "show", "")
    assert answer.out == answer.err == ""
    assert "cancel\t" in down_yard("complete-words", "--", "canc").out
    assert not os.path.exists(down_yard.home)


def test_completion_does_not_wait_for_a_yard_that_hangs(yard):
    pid = yard.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        assert yard("complete-words", "--", "show", "").out == ""
    finally:
        os.kill(pid, signal.SIGCONT)


def test_an_unknown_shell_is_told_which_there_are(down_yard):
    for words in ([], ["tcsh"], ["bash", "zsh"]):
        assert "bash, zsh or fish" in down_yard("completion", *words, code=2).err

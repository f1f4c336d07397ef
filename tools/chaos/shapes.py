"""The tasks that a yard under fire runs. Each testifies of itself: it appends lines
`ATTEMPT TOKEN PID START WORDS…` to the witness file, with O_APPEND and one write a line. `ran` comes first, `exit N` or
`signal N` right before the end that it will have, `overlap` if somebody else has its device."""
import os
import shutil

SCRIPT = r"""#!/bin/sh
# task.sh FOLDER TOKEN SHAPE CODE SECONDS GUARD
folder=$1 token=$2 shape=$3 code=$4 seconds=$5 guard=$6
nap=$folder/nap witness=$folder/witness
ulimit -c 0
read -r stat < /proc/$$/stat
set -- ${stat##*) }
shift 19
start=$1
say() { echo "$TRAINYARD_ID $token $$ $start $*" >> "$witness"; }
leave() { say exit "$code"; exit "$code"; }
say ran

# A lock for each device, by the CPUs of its slot, that lives exactly as long as our processes do.
while read -r name cpus; do [ "$name" = Cpus_allowed_list: ] && break; done < /proc/self/status
case $guard in
  whole) exec 9>> "$folder/device.$cpus"; flock -n 9 || say overlap "$cpus" ;;
  share) exec 9>> "$folder/device.$cpus"; flock -s -n 9 || say overlap "$cpus" ;;
  all) for device in "$folder"/device.*; do
         eval "exec $((fd = ${fd:-6} + 1))>> \"\$device\""
         flock -n "$fd" || say overlap "$device"
       done ;;
esac

case $shape in
  quick) leave ;;
  nap) "$nap" "$seconds"; leave ;;
  sleeper) exec "$nap" 600 ;;
  forker) for child in 1 2 3; do "$nap" 600 & done; ( "$nap" 600 & ); wait; leave ;;
  leaver) "$nap" 600 & ( setsid "$nap" 600 & ); leave ;;
  daemoniser) ( setsid env -i "$nap" 600 < /dev/null > /dev/null 2>&1 7>&- 8>&- 9>&- & )
              "$nap" "$seconds"; leave ;;
  deaf) trap '' TERM; "$nap" 600 & while :; do "$nap" 600; done ;;
  flood) yes "$token says one more line of a log that goes on and on" | head -n 20000; leave ;;
  crash) say signal 11; kill -SEGV $$; "$nap" 600 ;;
  turns) for step in 1 2 3 4 5 6 7 8; do "$nap" 0.3; done; leave ;;
  again) [ "$TRAINYARD_ATTEMPT" -gt 1 ] && code=0; leave ;;
esac
"""

# Those that do not end by themselves, or only after the yard's patience with what they leave: to be cancelled.
CANCELLED = ("sleeper", "forker", "deaf", "daemoniser")
QUICK = ("quick", "quick", "quick", "nap", "nap", "flood", "crash", "again", "dependent", "gang", "noexec")


def prepare(work, slots):
    """`slots`: the CPUs of each device, as lists. A script, a sleep of our own name, the witness file, a lock file a
    device."""
    with open(os.path.join(work, "task.sh"), "w") as file:
        file.write(SCRIPT)
    shutil.copy("/bin/sleep", os.path.join(work, "nap"))
    open(os.path.join(work, "witness"), "a").close()
    for cpus in slots:
        open(os.path.join(work, "device." + ranges(cpus)), "a").close()


def ranges(cpus):
    """[0, 1, 2, 5] as the kernel writes it: 0-2,5."""
    spans = []
    for cpu in sorted(cpus):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


class Shapes:
    """Draws tasks. `apart`: each device has CPUs of its own, so that its lock can be told by them."""

    def __init__(self, random, work, prefix, apart=True):
        self.random, self.work, self.prefix, self.apart = random, work, prefix, apart
        self.made = 0

    def draw(self, known=()):
        """(token, shape, spec); `known` are numbers of tasks that one may depend on."""
        dice = self.random.random()
        if dice < 0.68:
            shape = self.random.choice(QUICK)
        elif dice < 0.95:
            shape = self.random.choice(CANCELLED)
        else:
            shape = self.random.choice(("turns", "leaver"))
        return self.make(shape, known)

    def make(self, shape, known=()):
        self.made += 1
        token = f"{self.prefix}-{self.made}"
        code = self.random.choice((0, 0, 1, 3, 7, 42, 127, 255))
        seconds = f"{self.random.uniform(0.01, 0.3):.2f}"
        does, guard = shape, "whole"
        spec = {"name": f"{shape}-{token}", "retry": {"max": 0}}
        if shape == "dependent":
            does = "quick"
            if known:
                spec["after"] = [{"task": self.random.choice(list(known)), "on": "any"}]
        elif shape == "gang":
            does, guard = "nap", "all"
            spec["resources"] = {"gpus": 2}
        elif shape == "turns":
            guard = "share"
            spec["resources"] = {"share": "0.5:turns:1s"}
        elif shape == "again":
            code = 9
            spec["retry"] = {"max": 2, "on": "any", "delay": 0}
        if shape in ("deaf", "forker"):
            spec["checkpoint"] = {"grace": "200ms"}
        command = ["/bin/sh", os.path.join(self.work, "task.sh"), self.work, token, does, str(code), seconds,
                   guard if self.apart else "none"]
        if shape == "noexec":
            command = [os.path.join(self.work, "not-there"), token]
        spec["command"] = command
        return token, shape, spec

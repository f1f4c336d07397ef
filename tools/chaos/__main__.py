"""script/chaos: kills, cuts and starves yards, and counts what was lost.

Each way is a module beside this file with `main(args) -> int`. args: count (the N of --kills N and --power-cuts N),
seed, seeds, containment, at_once, keep, only. It prints one closing line and returns 1 if anything was lost, doubled,
orphaned or told wrong, else 0. The seed settles the plan of a run: its tasks, and whom it strikes after how long. When
each process comes to its turn is the machine's own, so two runs of one seed may differ in what they hit.
"""
import argparse
import importlib
import os
import random
import sys

WAYS = {
    "kills": ("kills", "random kill -9 of daemon, supervisors and tasks, N in all"),
    "points": ("points", "a kill at every fail point, with --seeds seeds each"),
    "power_cuts": ("power_cuts", "N power cuts, on ext4 and xfs"),
    "disk_full": ("disk_full", "no room left"),
    "io_errors": ("io_errors", "a disk that fails"),
    "clock": ("clock", "the wall clock jumps"),
    "fd_limit": ("fd_limit", "few file descriptors"),
}


def at_least_one(text):
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on, not {text}")
    return number


def parse(words):
    parser = argparse.ArgumentParser(prog="script/chaos", description="Kills, cuts and starves yards, and counts what "
                                     "was lost. Exits 1 on anything lost, doubled, orphaned or told wrong.")
    way = parser.add_mutually_exclusive_group(required=True)
    for name, (_, text) in WAYS.items():
        flag = "--" + name.replace("_", "-")
        if " N " in f" {text} " and name != "points":
            way.add_argument(flag, type=at_least_one, metavar="N", help=text)
        else:
            way.add_argument(flag, action="store_true", help=text)
    parser.add_argument("--seed", type=int, help="of an earlier run, to have its plan again; its timing is the machine's own")
    parser.add_argument("--seeds", type=at_least_one, default=3, metavar="N",
                        help="for --points: runs of each point (3); with one, who is killed there is drawn")
    parser.add_argument("--only", metavar="TEXT", help="for --points: those with TEXT in their name")
    parser.add_argument("--containment", choices=["cgroup2", "freezer", "subreaper"],
                        help="instead of the best that works here")
    parser.add_argument("--at-once", type=at_least_one, default=max(2, min(2 * (os.cpu_count() or 1), 8)), metavar="N",
                        help="yards at the same time")
    parser.add_argument("--keep", action="store_true", help="leave the folders of yards where something was wrong")
    return parser.parse_args(words)


def main():
    args = parse(sys.argv[1:])
    if args.seed is None:
        args.seed = random.SystemRandom().randrange(1 << 32)
    name = next(name for name in WAYS if getattr(args, name))
    args.count = getattr(args, name) if name in ("kills", "power_cuts") else 0
    return importlib.import_module(WAYS[name][0]).main(args)


if __name__ == "__main__":
    sys.exit(main())

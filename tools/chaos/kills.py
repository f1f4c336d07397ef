"""Random kill -9 of daemon, supervisors and tasks while tasks of many shapes run, in several yards at a time."""
import collections
import os
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from fire import Fire
from invariants import KINDS

EACH = 50  # kills in one yard


def one_yard(root, args, index, kills):
    fire = Fire(os.path.join(root, f"y{index}"), f"{args.seed}.{index}", args.containment)
    bad = True
    try:
        fire.open()
        fire.rage(kills)
        fire.settle()
        verdict = fire.judge()
        bad = bool(verdict.faults)
        return fire, verdict, None
    except Exception:  # told as a fault of its own; the other yards go on
        return fire, None, traceback.format_exc()
    finally:
        fire.close(keep=args.keep and bad)


def main(args):
    """Prints each fault as it is found and the counts as the last line."""
    began = time.monotonic()
    root = tempfile.mkdtemp(prefix="chaos.")
    parts = [min(EACH, args.count - done) for done in range(0, args.count, EACH)]
    counts = collections.Counter()
    with ThreadPoolExecutor(args.at_once) as pool:
        runs = [pool.submit(one_yard, root, args, index, kills) for index, kills in enumerate(parts)]
        for run in runs:
            fire, verdict, broken = run.result()
            counts["kills"] += fire.kills
            counts["tasks"] += len(fire.yard.acknowledged)
            if broken:
                counts["broken"] += 1
                print(f"{fire.folder} (seed {fire.seed}): the run itself failed\n{broken}", file=sys.stderr, flush=True)
                continue
            counts["attempts"] += verdict.attempts
            counts["outcome_lost"] += verdict.outcome_lost
            counts["missed"] += verdict.missed
            for kind, sentence in verdict.faults:
                counts[kind] += 1
                print(f"{fire.folder} (seed {fire.seed}): {kind}: {sentence}", file=sys.stderr, flush=True)
    try:
        os.rmdir(root)
    except OSError:
        print(f"kept: {root}", file=sys.stderr)
    wrong = {kind: counts[kind] for kind in KINDS}
    line = " ".join(f"{kind}={count}" for kind, count in wrong.items())
    missed = f" missed={counts['missed']}" if args.containment == "subreaper" else ""
    broken = f" broken={counts['broken']}" if counts["broken"] else ""
    print(f"kills={counts['kills']} {line} outcome_lost={counts['outcome_lost']} tasks={counts['tasks']} "
          f"attempts={counts['attempts']} seconds={time.monotonic() - began:.0f}{missed}{broken} seed={args.seed}", flush=True)
    return 1 if any(wrong.values()) or broken else 0

"""What a training is said to need yet, by a daemon that has seen all of it and by one that came back."""
import os
import signal

from yarding import until

# A bar of 20,000 steps, four a second at most: nobody who looks at it can think it ends within minutes. It says so much
# else that what is there at a restart is read in several pieces.
TRAINING = """
import sys, time
for step in range(1, 20001):
    sys.stdout.write("\\r%d/20000 [00:10<01:00, 4.00it/s] loss=0.5" % step + "\\n" + "chatter\\n" * 3000)
    sys.stdout.flush()
    time.sleep(0.25)
"""


def left_of(yard, task):
    return until(lambda: yard.task(task)["time_left_s"])


def test_a_daemon_that_comes_back_tells_the_same_time_left(down_yard):
    down_yard.up("--devices", "cpu:1")
    down_yard("run", "-q", "python3", "-c", TRAINING)
    before = left_of(down_yard, 1)
    assert before > 2000
    # What was done meanwhile is read in a moment, and was not done in one.
    until(lambda: down_yard.task(1)["progress"]["done"] >= 60)
    os.kill(down_yard.pid(), signal.SIGKILL)
    after = left_of(down_yard, 1)  # the command starts the daemon again
    assert after > 2000
    assert down_yard.task(1)["progress"]["done"] < 10000
    down_yard("down", code=None)
    down_yard.up("--devices", "cpu:1")
    assert left_of(down_yard, 1) > 2000
    down_yard("cancel", "1")

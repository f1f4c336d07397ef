"""Figures of the release build, one line each: what, measured, the peer beside it, the goal of the design."""
import glob
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, "build/release/bin/trainyard")
TSP = shutil.which("tsp")
HZ = os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.home = os.path.join(folder, "state")
        self.env = {"HOME": folder, "PATH": "/usr/bin:/bin", "TRAINYARD_HOME": self.home}
        self.tsp_env = {"PATH": "/usr/bin:/bin", "TMPDIR": folder, "TS_SOCKET": os.path.join(folder, "tsp"),
                        "TS_MAXCONN": "1000"}
        self.probe = os.path.join(folder, "probe")
        subprocess.check_call(["cc", "-O2", "-static", "-o", self.probe, os.path.join(ROOT, "bench/probe.c")])

    def ty(self, *words, check=True, **more):
        return subprocess.run([BIN, *words], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=check, text=True, **more).stdout

    def tsp(self, *words):
        return subprocess.run([TSP, *words], env=self.tsp_env, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def up(self, devices="cpu:2"):
        self.ty("up", "--devices", devices, "--listen", "127.0.0.1:0")
        return self.status()["pid"]

    def status(self):
        return json.loads(self.ty("status", "--json"))

    def fresh(self, devices="cpu:2"):
        self.ty("down", "--cancel", check=False)
        shutil.rmtree(self.home, ignore_errors=True)
        return self.up(devices)

    def end(self):
        self.ty("down", "--cancel", check=False)
        if TSP:
            self.tsp("-K")


def rss_mb(pid):
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024


def cpu_s(pid):
    """User and system seconds of a process and of the children it has waited for."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(int(value) for value in fields[11:15]) / HZ


def times_ms(count, act):
    taken = []
    for _ in range(count):
        begin = time.monotonic()
        act()
        taken.append((time.monotonic() - begin) * 1000)
    return taken


def middle(taken):
    ordered = sorted(taken)
    return statistics.median(ordered), ordered[len(ordered) // 10], ordered[len(ordered) * 9 // 10]


def line(what, measured, peer="", goal=""):
    print(f"{what:<44} {measured:<34} {peer:<34} {goal}", flush=True)


def told(taken):
    return "{:.2f} ms ({:.2f}-{:.2f})".format(*middle(taken))


def against(taken, peer):
    if not peer:
        return ""
    return f"task-spooler {middle(peer)[0]:.2f} ms, ratio {middle(taken)[0] / middle(peer)[0]:.2f}"


def client_start(bench):
    nothing = times_ms(200, lambda: subprocess.run(["/bin/true"], env={}))
    ours = times_ms(200, lambda: subprocess.run([BIN, "version"], env=bench.env, stdout=subprocess.DEVNULL))
    line("client start to exit (trainyard version)", told(ours), f"/bin/true {middle(nothing)[0]:.2f} ms",
         "0.6 ms over /bin/true or less")


def submit(bench):
    bench.fresh()
    bench.ty("pause")
    quiet = dict(env=bench.env, cwd=bench.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL)
    command = [BIN, "run", "-q", "--clean-env", "/bin/true"]
    subprocess.run(command, **quiet)
    ours = times_ms(100, lambda: (time.sleep(0.01), subprocess.run(command, **quiet)))
    ours = [taken - 10 for taken in ours]
    peer = []
    if TSP:
        bench.tsp("-S", "1")
        bench.tsp("sleep", "1000")
        peer = times_ms(100, lambda: (time.sleep(0.01), subprocess.run([TSP, "/bin/true"], env=bench.tsp_env, stdout=subprocess.DEVNULL)))
        peer = [taken - 10 for taken in peer]
        bench.tsp("-K")
    line("one submit, durable before the reply", told(ours), against(ours, peer), "<= 2 x, about 2.2 ms")


def start_latency(bench):
    bench.fresh()
    stamp = os.path.join(bench.folder, "stamp")

    def once(command, env):
        if os.path.exists(stamp):
            os.remove(stamp)
        time.sleep(0.02)
        begin = time.monotonic()
        subprocess.run(command, env=env, cwd=bench.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        while True:
            try:
                with open(stamp) as file:
                    text = file.read()
                if text.endswith("\n"):
                    return (int(text) / 1e9 - begin) * 1000
            except OSError:
                pass
            time.sleep(0.0005)

    ours = [once([BIN, "run", "-q", "--clean-env", bench.probe, stamp], bench.env) for _ in range(100)]
    peer = []
    if TSP:
        bench.tsp("-S", "2")
        peer = [once([TSP, bench.probe, stamp], bench.tsp_env) for _ in range(100)]
        bench.tsp("-K")
    line("client start to the task's first instruction", told(ours), against(ours, peer), "<= 1.6 x, about 3 ms")


def noops(bench):
    pid = bench.fresh()
    tasks = os.path.join(bench.folder, "noops.jsonl")
    with open(tasks, "w") as file:
        for _ in range(1000):
            file.write(json.dumps({"command": ["/bin/true"], "workdir": "/"}) + "\n")
    time.sleep(1)  # the log of the store is grown while idle
    cpu = cpu_s(pid)
    begin = time.monotonic()
    bench.ty("submit", "-q", "--bulk", tasks)
    while True:
        counts = bench.status()["counts"]
        if counts["waiting"] + counts["running"] == 0:
            break
        time.sleep(0.02)
    ours = time.monotonic() - begin
    cpu = cpu_s(pid) - cpu
    peer = ""
    if TSP:
        bench.tsp("-S", "2")
        begin = time.monotonic()
        for _ in range(900):
            subprocess.run([TSP, "-n", "/bin/true"], env=bench.tsp_env, stdout=subprocess.DEVNULL)
        while "queued" in bench.tsp() or "running" in bench.tsp():
            time.sleep(0.02)
        taken = (time.monotonic() - begin) / 900 * 1000
        peer = f"task-spooler {taken:.2f} s, ratio {ours / taken:.2f}"
        bench.tsp("-K")
    line("1,000 no-op tasks on 2 slots, bulk submit", f"{ours:.2f} s, {cpu:.2f} ms CPU a task", peer,
         "<= 2 s, <= 1.5 ms CPU a task")


def memory(bench):
    pid = bench.fresh()
    time.sleep(2)
    idle = rss_mb(pid)
    cpu = cpu_s(pid)
    time.sleep(10)
    load = (cpu_s(pid) - cpu) / 10 * 100
    line("idle daemon", f"{idle:.1f} MB, {load:.2f} % of a core", "", "25 MB, <= 0.2 %")
    bench.ty("run", "-q", "--clean-env", "sleep", "100")
    time.sleep(1)
    shims = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_shim(entry)]
    line("one shim", ", ".join(f"{rss_mb(shim):.2f} MB" for shim in shims[:1]), "", "1 MB")


def is_shim(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0].endswith(b"trainyard-shim")
    except OSError:
        return False


def many_queued(bench):
    pid = bench.fresh("cpu:1")
    bench.ty("pause")
    tasks = os.path.join(bench.folder, "many.jsonl")
    with open(tasks, "w") as file:
        for number in range(100_000):
            file.write(json.dumps({"name": "many", "command": ["/bin/echo", str(number)], "workdir": "/"}) + "\n")
    begin = time.monotonic()
    bench.ty("submit", "-q", "--bulk", tasks)
    taken = time.monotonic() - begin
    line("100,000 tasks in one bulk submit", f"{taken:.2f} s, {100_000 / taken:,.0f}/s", "", ">= 25,000/s")
    time.sleep(1)
    line("daemon with 100,000 queued", f"{rss_mb(pid):.0f} MB", "", "100 MB")
    listing = times_ms(20, lambda: bench.ty("ls", "--limit", "50"))
    line("ls with 100,000 queued", told(listing))
    os.kill(pid, 9)
    begin = time.monotonic()
    bench.ty("up")
    while bench.status()["adopting"]:
        time.sleep(0.01)
    line("kill -9, then up, with 100,000 queued", f"{time.monotonic() - begin:.2f} s", "", "<= 1.5 s")
    pid = bench.status()["pid"]
    time.sleep(1)
    line("the same daemon after the restart", f"{rss_mb(pid):.0f} MB", "", "100 MB")
    begin = time.monotonic()
    bench.ty("cancel", "--all", check=False)
    line("cancel of 100,000 tasks", f"{time.monotonic() - begin:.2f} s", "", "under 2 s")


def hanging_driver(bench):
    """What the API answers while NVML hangs, which a helper process of the yard waits for alone."""
    library = os.path.join(ROOT, "build/release/impostors/libfake-nvml.so")
    if not os.path.exists(library):
        return line("status while NVML hangs", "libfake-nvml.so is not built")
    cards = os.path.join(bench.folder, "cards")

    def write(*lines):
        with open(cards + ".new", "w") as file:
            file.write("\n".join(["driver 550.54.14", "cuda 12.4", *lines, f"card GPU-{uuid.uuid4()}", "pci 0000:01:00.0",
                                  "memory 10240 0 300"]) + "\n")
        os.rename(cards + ".new", cards)

    write()
    bench.ty("down", "--cancel", check=False)
    shutil.rmtree(bench.home, ignore_errors=True)
    plain = bench.env
    bench.env = {**plain, "TRAINYARD_NVML": library, "TRAINYARD_NVML_PIDS": "ours", "FAKE_NVML": cards}
    try:
        bench.ty("up", "--listen", "127.0.0.1:0")
        write("hang nvmlDeviceGetMemoryInfo_v2", "hang nvmlDeviceGetMemoryInfo")
        while json.loads(bench.ty("devices", "--json"))["probe"]["state"] != "hanging":
            time.sleep(0.05)
        taken = times_ms(100, lambda: ask(bench, "/api/v1/status"))
        hanging = json.loads(bench.ty("devices", "--json"))["probe"]["state"] == "hanging"
        line("status while NVML hangs, worst of 100", f"{max(taken):.2f} ms, {middle(taken)[0]:.2f} in the middle" +
             ("" if hanging else " (it came back)"), "", "< 50 ms")
    finally:
        bench.ty("down", "--cancel", check=False)
        bench.env = plain


def ask(bench, path):
    """One answer over the yard's socket, without a client's start."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(os.path.join(bench.home, "sock"))
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while block := peer.recv(65536):
            answer += block
    assert answer.startswith(b"HTTP/1.1 200"), answer[:200]


def decide(bench):
    program = os.path.join(ROOT, "build/release/bin/sched_bench")
    if not os.path.exists(program):
        return line("Decide at 100,000 rows", "sched_bench is not built")
    out = subprocess.run([program, "--benchmark_format=json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    rows = [row for row in json.loads(out.stdout)["benchmarks"] if "Decide" in row["name"]]
    scale = {"ns": 1e-6, "us": 1e-3, "ms": 1}
    worst = max(rows, key=lambda row: row["cpu_time"] * scale[row["time_unit"]])
    line("Decide at 100,000 rows, worst shape", f"{worst['cpu_time'] * scale[worst['time_unit']]:.2f} ms CPU ({worst['name']})",
         "", "<= 5 ms")


def page(bench):
    """In a real browser, which script/setup --tests installs."""
    nodes = glob.glob(os.path.join(ROOT, ".tools/node/node_modules/node-linux-*/bin/node"))
    if not nodes or not any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")):
        return line("page", "no Node or no Chromium: script/setup --tests")
    bench.ty("down", "--cancel", check=False)
    with subprocess.Popen([nodes[0], os.path.join(ROOT, "web/e2e/figures.ts")], env={**os.environ, "TRAINYARD_BIN": BIN},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as figures:
        for text in figures.stdout:
            figure = json.loads(text)
            line(figure["what"], figure["measured"], figure["peer"], figure["goal"])
    if figures.returncode:
        line("page", f"broke off, exit code {figures.returncode}")


def main():
    words = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as folder:
        bench = Bench(folder)
        try:
            for figure in (client_start, submit, start_latency, noops, memory, many_queued, hanging_driver, decide, page):
                if not words or any(word in figure.__name__ for word in words):
                    figure(bench)
        finally:
            bench.end()


main()

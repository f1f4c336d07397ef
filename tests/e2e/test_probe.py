"""The fake NVML against NVIDIA's own binding, and the probe's helper of the real program against the fake."""
import json
import os
import subprocess
import sys

import pytest

from yarding import BIN

BUILD = os.path.dirname(os.path.dirname(BIN))
FAKE = os.path.join(BUILD, "impostors", "libfake-nvml.so")

CARDS = """
driver 550.54.14
cuda 12.4
card GPU-8f6a2b9c-0000-0000-0000-000000000001
  name NVIDIA GeForce RTX 3080
  pci 0000:01:00.0
  memory 10240 512 300
  load 93 41
  temperature 61
  power 220.5 320
  clock 1710 9501
  max_clock 2100
  cores 8704
  fan 45
  throttle 24
  ecc 3
  remap 1 2 0 1
  process 4711 compute 900
  process 4712 graphics -
  xid 79
card GPU-8f6a2b9c-0000-0000-0000-000000000002
  name NVIDIA A100
  pci 0000:c1:00.0
  memory 40960 0 500
  xid 31 8
mig 0 MIG-8f6a2b9c-0000-0000-0000-000000000003 7
  name NVIDIA A100 MIG 1g.5gb
  memory 4864 100 0
mig 5 MIG-8f6a2b9c-0000-0000-0000-000000000004 8
  name NVIDIA A100 MIG 2g.10gb
  memory 9728 0 0
  process 4713 compute 64
card GPU-8f6a2b9c-0000-0000-0000-000000000005
  lost
"""

# Run by a Python of its own: the library is found by its true name, as nvidia-smi's would be.
READ_BACK = r"""
import json
from pynvml import *

def or_error(call, *arguments):
    try:
        return call(*arguments)
    except NVMLError as error:
        return str(error)

def figures(handle):
    memory = nvmlDeviceGetMemoryInfo(handle, version=nvmlMemory_v2)
    return {
        "uuid": nvmlDeviceGetUUID(handle), "name": nvmlDeviceGetName(handle),
        "memory": [memory.total, memory.used, memory.reserved, memory.free],
        "memory_v1": nvmlDeviceGetMemoryInfo(handle).used,
        "compute": [[p.pid, p.usedGpuMemory, p.gpuInstanceId] for p in nvmlDeviceGetComputeRunningProcesses_v3(handle)],
        "compute_v2": [[p.pid, p.usedGpuMemory] for p in nvmlDeviceGetComputeRunningProcesses_v2(handle)],
        "graphics": [[p.pid, p.usedGpuMemory] for p in nvmlDeviceGetGraphicsRunningProcesses_v3(handle)],
    }

nvmlInit()
out = {"driver": nvmlSystemGetDriverVersion(), "cuda": nvmlSystemGetCudaDriverVersion(), "count": nvmlDeviceGetCount()}
card = nvmlDeviceGetHandleByIndex(0)
events = nvmlEventSetCreate()
nvmlDeviceRegisterEvents(card, nvmlEventTypeXidCriticalError, events)
pci = nvmlDeviceGetPciInfo(card)
load = nvmlDeviceGetUtilizationRates(card)
out["card"] = {
    **figures(card), "index": nvmlDeviceGetIndex(card),
    "pci": [pci.busId, pci.busIdLegacy, pci.domain, pci.bus, pci.device, pci.pciDeviceId],
    "load": [load.gpu, load.memory], "temperature": nvmlDeviceGetTemperature(card, NVML_TEMPERATURE_GPU),
    "power": [nvmlDeviceGetPowerUsage(card), nvmlDeviceGetEnforcedPowerLimit(card)],
    "clock": [nvmlDeviceGetClockInfo(card, NVML_CLOCK_SM), nvmlDeviceGetClockInfo(card, NVML_CLOCK_MEM),
              nvmlDeviceGetMaxClockInfo(card, NVML_CLOCK_SM)],
    "cores": nvmlDeviceGetNumGpuCores(card), "fan": nvmlDeviceGetFanSpeed(card),
    "throttle": nvmlDeviceGetCurrentClocksThrottleReasons(card), "slow": nvmlDeviceGetCurrentClocksEventReasons(card),
    "ecc": nvmlDeviceGetTotalEccErrors(card, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC),
    "remap": list(nvmlDeviceGetRemappedRows(card)), "mig": nvmlDeviceGetMigMode(card),
    "same": nvmlDeviceGetUUID(nvmlDeviceGetHandleByPciBusId(pci.busId)) == nvmlDeviceGetUUID(card),
}
event = nvmlEventSetWait_v2(events, 0)
out["event"] = [nvmlDeviceGetUUID(event.device), event.eventType, event.eventData, event.gpuInstanceId]
out["no_event"] = or_error(nvmlEventSetWait_v2, events, 0)
parent = nvmlDeviceGetHandleByIndex(1)
nvmlDeviceRegisterEvents(parent, nvmlEventTypeXidCriticalError, events)
event = nvmlEventSetWait_v2(events, 0)
out["slice_event"] = [nvmlDeviceGetUUID(event.device), event.eventData, event.gpuInstanceId]
nvmlEventSetFree(events)
out["mig_mode"] = nvmlDeviceGetMigMode(parent)
out["slices"] = {}
for index in range(nvmlDeviceGetMaxMigDeviceCount(parent)):
    mig = or_error(nvmlDeviceGetMigDeviceHandleByIndex, parent, index)
    if isinstance(mig, str):
        assert mig == "Not Found", mig
        continue
    assert nvmlDeviceIsMigDeviceHandle(mig)
    assert nvmlDeviceGetUUID(nvmlDeviceGetDeviceHandleFromMigDeviceHandle(mig)) == nvmlDeviceGetUUID(parent)
    out["slices"][index] = {**figures(mig), "instance": nvmlDeviceGetGpuInstanceId(mig)}
out["no_figure"] = or_error(nvmlDeviceGetFanSpeed, parent)
out["lost"] = or_error(nvmlDeviceGetHandleByIndex, 2)
nvmlShutdown()
out["shut"] = or_error(nvmlDeviceGetCount)
print(json.dumps(out))
"""

MIB = 1 << 20
NO_INSTANCE = 0xFFFFFFFF


@pytest.fixture
def cards(tmp_path):
    """Writes the steering file whole or not at all; gives the variables that name it."""

    class Cards:
        path = tmp_path / "cards"
        env = {"PATH": "/usr/bin:/bin", "FAKE_NVML": str(path)}

        def __call__(self, text):
            (tmp_path / "cards.new").write_text(text)
            os.rename(tmp_path / "cards.new", self.path)

    cards = Cards()
    cards(CARDS)
    return cards


def test_nvidias_own_binding_reads_everything_back(cards, tmp_path):
    os.symlink(FAKE, tmp_path / "libnvidia-ml.so.1")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", READ_BACK], capture_output=True, text=True,
                          env={**cards.env, "LD_LIBRARY_PATH": str(tmp_path)}, timeout=60)
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)
    uuid = "8f6a2b9c-0000-0000-0000-00000000000"
    assert read == {
        "driver": "550.54.14", "cuda": 12040, "count": 3,
        "card": {
            "uuid": f"GPU-{uuid}1", "name": "NVIDIA GeForce RTX 3080", "index": 0,
            "memory": [10240 * MIB, 512 * MIB, 300 * MIB, 9428 * MIB], "memory_v1": 812 * MIB,
            "compute": [[4711, 900 * MIB, NO_INSTANCE]], "compute_v2": [[4711, 900 * MIB]], "graphics": [[4712, None]],
            "pci": ["00000000:01:00.0", "0000:01:00.0", 0, 1, 0, 0x220610DE],
            "load": [93, 41], "temperature": 61, "power": [220500, 320000], "clock": [1710, 9501, 2100],
            "cores": 8704, "fan": 45, "throttle": 0x24, "slow": 0x24, "ecc": 3, "remap": [1, 2, 0, 1], "mig": [0, 0],
            "same": True,
        },
        "event": [f"GPU-{uuid}1", 8, 79, NO_INSTANCE], "no_event": "Timeout",
        "slice_event": [f"GPU-{uuid}2", 31, 8],
        "mig_mode": [1, 1],
        "slices": {
            "0": {"uuid": f"MIG-{uuid}3", "name": "NVIDIA A100 MIG 1g.5gb", "instance": 7,
                  "memory": [4864 * MIB, 100 * MIB, 0, 4764 * MIB], "memory_v1": 100 * MIB,
                  "compute": [], "compute_v2": [], "graphics": []},
            "5": {"uuid": f"MIG-{uuid}4", "name": "NVIDIA A100 MIG 2g.10gb", "instance": 8,
                  "memory": [9728 * MIB, 0, 0, 9728 * MIB], "memory_v1": 0,
                  "compute": [[4713, 64 * MIB, 8]], "compute_v2": [[4713, 64 * MIB]], "graphics": []},
        },
        "no_figure": "Not Supported", "lost": "GPU is lost", "shut": "Uninitialized",
    }


class Helper:
    def __init__(self, env):
        self.process = subprocess.Popen([BIN, "probe-devices"], env={**env, "TRAINYARD_NVML": FAKE}, text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def look(self):
        self.process.stdin.write("look\n")
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


def test_the_programs_helper_answers_each_line_with_one_and_ends_with_its_input(cards):
    helper = Helper(cards.env)
    first = helper.look()
    assert first["driver"] == "550.54.14"
    assert [device["label"] for device in first["devices"]] == ["GPU0", "GPU1/0", "GPU1/5", "GPU2"]
    cards(CARDS.replace("load 93 41", "load 7 1"))
    assert helper.look()["devices"][0]["load"] == 0.07
    assert helper.end() == 0


def test_a_library_that_aborts_ends_the_helper_and_nothing_comes_out(cards):
    cards("crash nvmlInit\n" + CARDS)
    helper = Helper(cards.env)
    helper.process.stdin.write("look\n")
    assert helper.process.stdout.read() == ""
    assert helper.process.wait(60) != 0
    assert not list(cards.path.parent.glob("core*"))

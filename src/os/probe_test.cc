// The watch with its real helper process (this program again) and the fake NVML of tests/impostors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>

#include "os/device_watch.h"
#include "os/host_leases.h"
#include "posix/files.h"
#include "posix/process.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "probe-devices") {
    const char* library = getenv("TRAINYARD_NVML");
    return ty::RunProbeHelper(library == nullptr ? "" : library);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

namespace ty {
namespace {

constexpr seconds kDeadline(60);  // of anything that is waited for; nothing is timed

const std::string kOne =
    "card GPU-1\n name NVIDIA GeForce RTX 3080\n pci 0000:01:00.0\n memory 10240 512 300\n load 93 41\n"
    " temperature 61\n power 220.5 320\n clock 1710 9501\n max_clock 2100\n cores 8704\n fan 45\n throttle "
    "25\n"
    " ecc 0\n remap 0 0 0 0\n";
const std::string kTwo = "card GPU-2\n name NVIDIA A100\n pci 0000:02:00.0\n memory 40960 0 500\n";
const std::string kThree = "card GPU-3\n name NVIDIA A100\n pci 0000:03:00.0\n memory 40960 0 500\n";

std::string Ids(const DeviceReport& report) {
  std::string text;
  for (const DeviceReading& one : report.devices) {
    text += (text.empty() ? "" : " ") + one.device.label + "=" + one.device.id;
    if (one.health != DeviceHealth::kGood) text += "(" + std::string(Name(one.health)) + ")";
  }
  return text;
}

class Probe : public testing::Test {
 protected:
  Probe() {
    char name[] = "/tmp/probe-test-XXXXXX";
    folder_ = mkdtemp(name);
    settings_.program = "/proc/self/exe";
    settings_.library = std::string(TY_BINARY_DIR) + "/impostors/libfake-nvml.so";
    settings_.instance = "mine";
    settings_.machine_root = folder_ + "/root";
    settings_.lease_folder = folder_ + "/leases";
    settings_.patience = seconds(30);
    setenv("FAKE_NVML", (folder_ + "/cards").c_str(), 1);
  }
  ~Probe() override {
    watch_.reset();
    EXPECT_TRUE(RemoveTree(folder_));
  }

  void Cards(const std::string& text) {
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (folder_ + "/cards.new").c_str(), text));
    ASSERT_EQ(rename((folder_ + "/cards.new").c_str(), (folder_ + "/cards").c_str()), 0);
  }
  void OnTheBus(const std::string& address, const std::string& vendor, const std::string& kind) {
    const std::string card = settings_.machine_root + "/sys/bus/pci/devices/" + address;
    ASSERT_TRUE(MakeFolders(card));
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (card + "/vendor").c_str(), vendor + "\n"));
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (card + "/class").c_str(), kind + "\n"));
    ASSERT_TRUE(WriteFileAt(AT_FDCWD, (card + "/device").c_str(), "0x2206\n"));
  }
  void ThreeCardsOnTheBus() {
    for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"})
      OnTheBus(address, "0x10de", "0x030000");
  }

  void Start() {
    watch_ = StartDeviceWatch(settings_, [this](DeviceReport report) {
      std::lock_guard lock(mutex_);
      reports_.push_back(std::move(report));
      news_.notify_all();
    });
  }
  DeviceReport Next() {
    std::unique_lock lock(mutex_);
    if (!news_.wait_for(lock, kDeadline, [&] { return !reports_.empty(); })) {
      ADD_FAILURE() << "no report came";
      return {};
    }
    DeviceReport report = std::move(reports_.front());
    reports_.pop_front();
    return report;
  }
  // A report of a look that began after now.
  DeviceReport Look() {
    if (!watch_) {
      Start();
      return Next();
    }
    {
      std::lock_guard lock(mutex_);
      reports_.clear();
    }
    watch_->LookNow();
    return Next();
  }
  DeviceReport LookUntil(ProbeState state) {
    for (;;) {
      DeviceReport report = Look();
      if (report.state == state || HasFailure()) return report;
    }
  }

  std::string folder_;
  DeviceWatchSettings settings_;
  std::unique_ptr<DeviceWatch> watch_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<DeviceReport> reports_;
};

TEST_F(Probe, ReadsEveryFigureOfACard) {
  Cards("driver 550.54.14\ncuda 12.4\n" + kOne);
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kGood);
  EXPECT_EQ(report.driver, "550.54.14");
  EXPECT_EQ(report.cuda, "12.4");
  ASSERT_EQ(report.devices.size(), 1u);
  const DeviceReading& card = report.devices[0];
  EXPECT_EQ(card.device.id, "GPU-1");
  EXPECT_EQ(card.device.kind, Device::Kind::kGpu);
  EXPECT_EQ(card.device.index, 0);
  EXPECT_EQ(card.device.label, "GPU0");
  EXPECT_EQ(card.device.name, "NVIDIA GeForce RTX 3080");
  EXPECT_EQ(card.device.pci, "0000:01:00.0");
  EXPECT_EQ(card.device.memory, int64_t{10240} << 20);
  EXPECT_EQ(card.device.strength, 8704.0 * 2100);
  EXPECT_TRUE(card.device.usable);
  EXPECT_EQ(card.health, DeviceHealth::kGood);
  EXPECT_EQ(card.memory_used, int64_t{512} << 20) << "without what the driver keeps";
  EXPECT_EQ(card.device.reserved, int64_t{300} << 20);
  EXPECT_EQ(card.memory_free, int64_t{10240 - 512 - 300} << 20) << "what it keeps is not free either";
  EXPECT_EQ(card.utilisation, 0.93);
  EXPECT_EQ(card.memory_utilisation, 0.41);
  EXPECT_EQ(card.temperature_c, 61);
  EXPECT_EQ(card.power_w, 220.5);
  EXPECT_EQ(card.power_limit_w, 320);
  EXPECT_EQ(card.clock_mhz, 1710);
  EXPECT_EQ(card.memory_clock_mhz, 9501);
  EXPECT_EQ(card.fan, 0.45);
  EXPECT_EQ(card.throttle, (std::vector<std::string>{"power_cap", "thermal"})) << "being idle is no brake";
  EXPECT_EQ(card.ecc_uncorrectable, 0);
  EXPECT_EQ(card.processes->size(), 0u);
}

TEST_F(Probe, LeavesOutWhatACardCannotTell) {
  Cards("card GPU-1\n pci 0000:01:00.0\n error nvmlDeviceGetComputeRunningProcesses NOT_SUPPORTED\n");
  const DeviceReport report = Look();
  ASSERT_EQ(Ids(report), "GPU0=GPU-1");
  const DeviceReading& card = report.devices[0];
  EXPECT_FALSE(card.memory_used || card.memory_free || card.utilisation || card.memory_utilisation ||
               card.temperature_c || card.power_w || card.power_limit_w || card.clock_mhz ||
               card.memory_clock_mhz || card.fan || card.ecc_uncorrectable);
  EXPECT_FALSE(card.processes) << "a list that cannot be had is not an empty one";
  EXPECT_TRUE(card.device.usable);
}

TEST_F(Probe, ReadsADriverOfTenYearsAgo) {
  settings_.library = std::string(TY_BINARY_DIR) + "/impostors/libfake-nvml-old.so";
  Cards(kOne + " process " + std::to_string(getpid()) + " compute 77\n xid 13\n");
  const DeviceReport report = Look();
  ASSERT_EQ(Ids(report), "GPU0=GPU-1");
  const DeviceReading& card = report.devices[0];
  EXPECT_EQ(card.device.pci, "0000:01:00.0");
  EXPECT_EQ(report.cuda, "12.4");
  EXPECT_EQ(card.memory_used, int64_t{812} << 20) << "it cannot tell what it keeps for itself";
  EXPECT_EQ(card.device.reserved, 0);
  EXPECT_EQ(card.memory_free, int64_t{10240 - 812} << 20);
  EXPECT_EQ(card.throttle, (std::vector<std::string>{"power_cap", "thermal"}));
  ASSERT_EQ(card.processes->size(), 1u);
  EXPECT_EQ(card.processes->front().memory, int64_t{77} << 20);
  EXPECT_EQ(card.device.strength, 0) << "it does not know its cores";
  ASSERT_EQ(report.xids.size(), 1u);
}

// queues.md 86
TEST_F(Probe, OneBadHandleHidesOnlyItself) {
  ThreeCardsOnTheBus();
  Cards(kOne + kTwo + " error nvmlDeviceGetHandleByIndex UNKNOWN\n" + kThree);
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kGood);
  EXPECT_EQ(Ids(report), "GPU0=GPU-1 GPU1=pci:0000:02:00.0(failing) GPU2=GPU-3");
  EXPECT_EQ(report.devices[1].detail, "Unknown Error");
  EXPECT_FALSE(report.devices[1].device.usable);
  Cards(kOne + kTwo + kThree);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1 GPU1=GPU-2 GPU2=GPU-3") << "once it answers it has its name";
}

TEST_F(Probe, TellsACardThatMayNotBeOpened) {
  Cards(kOne + " error nvmlDeviceGetHandleByIndex NO_PERMISSION\n" + kTwo);
  EXPECT_EQ(Ids(Look()), "GPU0=pci:gpu0(no_permission) GPU1=GPU-2");
}

// queues.md 85
TEST_F(Probe, ACardThatFallsOffTheBusKeepsItsNameAndHidesNoOther) {
  ThreeCardsOnTheBus();
  Cards(kOne + kTwo + kThree);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1 GPU1=GPU-2 GPU2=GPU-3");
  Cards(kOne + kTwo + " xid 79\n lost\n" + kThree);
  const DeviceReport report = Look();
  ASSERT_EQ(report.xids.size(), 1u);
  EXPECT_EQ(report.xids[0].device, "GPU-2") << "though its handle cannot be had any more";
  EXPECT_EQ(report.state, ProbeState::kGood);
  EXPECT_EQ(Ids(report), "GPU0=GPU-1 GPU1=GPU-2(lost) GPU2=GPU-3");
  EXPECT_EQ(report.devices[1].detail, "GPU is lost");
  EXPECT_EQ(report.devices[1].device.name, "NVIDIA A100");
  EXPECT_FALSE(report.devices[1].memory_used);
  Cards(kOne + kTwo + kThree);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1 GPU1=GPU-2 GPU2=GPU-3");
}

TEST_F(Probe, ACardWhoseCallsSayThatItIsLostIsLost) {
  Cards(kOne + " error nvmlDeviceGetTemperature GPU_IS_LOST\n" + kTwo +
        " error nvmlDeviceGetPowerUsage UNKNOWN\n" + kThree + " error nvmlDeviceGetMemoryInfo UNKNOWN\n");
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1(lost) GPU1=GPU-2 GPU2=GPU-3(failing)")
      << "one figure that fails is no fault of the card; its memory every card can tell";
}

// queues.md 92
TEST_F(Probe, ACardThatIsNotListedAnyMoreIsLostAndTheOthersWork) {
  Cards(kOne + kTwo + kThree);
  Look();
  Cards(kTwo + kThree);
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kGood);
  EXPECT_EQ(Ids(report), "GPU0=GPU-2 GPU1=GPU-3 GPU0-lost=GPU-1(lost)") << "numbers move, ids do not";
  EXPECT_TRUE(report.devices[0].device.usable);
}

TEST_F(Probe, AnotherOrderOfNumbersChangesNoName) {
  Cards(kOne + kTwo);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1 GPU1=GPU-2");
  Cards(kTwo + kOne);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-2 GPU1=GPU-1");
}

// queues.md 91
TEST_F(Probe, ListsMigSlicesWithGapsByTheirOwnNames) {
  Cards(
      "card GPU-9\n name NVIDIA A100\n pci 0000:01:00.0\n memory 40000 0 0\n cores 6912\n max_clock 1000\n"
      "mig 0 MIG-a 7\n name NVIDIA A100 MIG 1g.5gb\n memory 5000 100 0\n"
      "mig 2 MIG-b 8\n name NVIDIA A100 MIG 1g.5gb\n memory 5000 0 0\n process " +
      std::to_string(getpid()) +
      " compute 100\n"
      "mig 5 MIG-c 11\n name NVIDIA A100 MIG 2g.10gb\n memory 10000 0 0\n error nvmlDeviceGetUUID UNKNOWN\n" +
      kTwo);
  const DeviceReport report = Look();
  EXPECT_EQ(Ids(report), "GPU0/0=MIG-a GPU0/2=MIG-b GPU0/5=pci:0000:01:00.0/5(failing) GPU1=GPU-2");
  const DeviceReading& slice = report.devices[1];
  EXPECT_EQ(slice.device.kind, Device::Kind::kMigSlice);
  EXPECT_EQ(slice.device.name, "NVIDIA A100 MIG 1g.5gb");
  EXPECT_EQ(slice.device.index, 0);
  EXPECT_EQ(slice.device.memory, int64_t{5000} << 20);
  EXPECT_EQ(slice.device.strength, 6912.0 * 1000 / 8);
  ASSERT_EQ(slice.processes->size(), 1u);
  EXPECT_EQ(report.devices[0].processes->size(), 0u);
}

TEST_F(Probe, AnErrorInAnInstanceIsItsSlicesAloneAndOneOfTheCardIsEverybodys) {
  Cards(
      "card GPU-9\n pci 0000:01:00.0\n xid 31 8\n xid 79\n"
      "mig 0 MIG-a 7\n memory 1 0 0\nmig 2 MIG-b 8\n memory 1 0 0\n");
  std::string seen;
  for (const DeviceXid& xid : Look().xids) seen += xid.device + ":" + std::to_string(xid.xid) + " ";
  EXPECT_EQ(seen, "MIG-b:31 MIG-a:79 MIG-b:79 ");
}

TEST_F(Probe, ReportsEachXidOnce) {
  Cards(kOne + " xid 79\n" + kTwo);
  const DeviceReport first = Look();
  ASSERT_EQ(first.xids.size(), 1u);
  EXPECT_EQ(first.xids[0].device, "GPU-1");
  EXPECT_EQ(first.xids[0].xid, 79);
  EXPECT_TRUE(Look().xids.empty());
  Cards(kOne + " xid 79\n" + kTwo + " xid 31\n");
  const DeviceReport later = Look();
  ASSERT_EQ(later.xids.size(), 1u);
  EXPECT_EQ(later.xids[0].device, "GPU-2");
}

TEST_F(Probe, UncorrectableErrorsAreAFaultOfTheCard) {
  Cards("card GPU-1\n memory 1 0 0\n ecc 2\ncard GPU-2\n memory 1 0 0\n ecc 0\n remap 1 1 0 1\n");
  const DeviceReport report = Look();
  EXPECT_EQ(Ids(report), "GPU0=GPU-1(uncorrectable) GPU1=GPU-2(uncorrectable)");
  EXPECT_EQ(report.devices[0].ecc_uncorrectable, 2);
}

// queues.md 88, reliability-security 41
TEST_F(Probe, AMismatchedDriverShowsTheCardsOnTheBusAndHealsByItself) {
  ThreeCardsOnTheBus();
  OnTheBus("0000:04:00.0", "0x8086", "0x030000");  // another maker's
  OnTheBus("0000:05:00.0", "0x10de", "0x040300");  // the sound of a card
  Cards("init LIB_RM_VERSION_MISMATCH\n");
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kMismatch);
  EXPECT_EQ(report.detail, "Driver/library version mismatch");
  EXPECT_EQ(Ids(report),
            "GPU0=pci:0000:01:00.0(failing) GPU1=pci:0000:02:00.0(failing) GPU2=pci:0000:03:00.0(failing)");
  EXPECT_EQ(report.devices[0].device.name, "NVIDIA GPU 10de:2206");
  Cards(kOne + kTwo + kThree);
  EXPECT_EQ(Ids(Look()), "GPU0=GPU-1 GPU1=GPU-2 GPU2=GPU-3") << "initialised afresh, and no card is missing";
}

TEST_F(Probe, NamesWhatKeepsNvmlFromAnswering) {
  for (const auto& [text, state] : std::vector<std::pair<std::string, ProbeState>>{
           {"init DRIVER_NOT_LOADED\n", ProbeState::kNoDriver},
           {"init NO_PERMISSION\n", ProbeState::kNoPermission},
           {"init UNKNOWN\n", ProbeState::kFailing},
           {"error nvmlDeviceGetCount UNKNOWN\n", ProbeState::kFailing}}) {
    Cards(text);
    EXPECT_EQ(Look().state, state) << text;
  }
  settings_.library = folder_ + "/no-such-library.so";
  watch_.reset();
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kNoLibrary);
  EXPECT_NE(report.detail.find("no-such-library.so"), std::string::npos) << report.detail;
}

// reliability-security 41, nvidia-docker#1730
TEST_F(Probe, WhenNvmlFailsLaterTheCardsStayAsTheyWereKnown) {
  Cards(kOne + kTwo);
  EXPECT_EQ(Look().devices.size(), 2u);
  Cards("error nvmlDeviceGetCount UNKNOWN\n" + kOne + kTwo);
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kFailing);
  EXPECT_EQ(Ids(report), "GPU0=GPU-1 GPU1=GPU-2");
  EXPECT_FALSE(report.devices[0].device.usable);
  EXPECT_FALSE(report.devices[0].memory_used) << "an old figure is no figure";
  EXPECT_EQ(report.devices[0].device.name, "NVIDIA GeForce RTX 3080");
  Cards(kOne + kTwo);
  EXPECT_TRUE(Look().devices[0].device.usable);
}

// reliability-security 40
TEST_F(Probe, AHangingLibraryStopsNeitherTheWatchNorWhatNeedsNoLibrary) {
  settings_.patience = milliseconds(300);
  Cards(kOne);
  LookUntil(ProbeState::kGood);
  Cards("hang nvmlDeviceGetCount\n" + kOne);
  EXPECT_EQ(Ids(LookUntil(ProbeState::kHanging)), "GPU0=GPU-1");

  auto other = OpenHostLeases("other", settings_.lease_folder);
  const HostClaim claim = other->Claim("GPU-1", false, false, {.task = {7}, .task_name = "seven"});
  ASSERT_TRUE(claim.lock);
  const Ulid attempt = Ulid::Make(FromNanos(0));
  watch_->Want({.often = true, .elsewhere = {"GPU-1"}, .memory = {{attempt, getpid()}}});
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kHanging);
  ASSERT_EQ(report.elsewhere.size(), 1u);
  EXPECT_EQ(report.elsewhere[0].second.task, 7);
  ASSERT_EQ(report.memory.size(), 1u);
  EXPECT_GT(report.memory[0].bytes, 0);

  Cards(kOne);
  EXPECT_TRUE(LookUntil(ProbeState::kGood).devices[0].device.usable);
}

TEST_F(Probe, ALibraryThatHangsAtOnceIsReportedWithoutWaitingForIt) {
  settings_.patience = milliseconds(200);
  ThreeCardsOnTheBus();
  Cards("hang nvmlInit\n" + kOne);
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kHanging);
  EXPECT_EQ(report.devices.size(), 3u);
  Cards(kOne);
  EXPECT_EQ(LookUntil(ProbeState::kGood).devices.size(), 1u);
}

TEST_F(Probe, ACrashingLibraryTakesOnlyTheHelperAndIsTriedAgain) {
  Cards("crash nvmlDeviceGetCount\n" + kOne);
  EXPECT_EQ(Look().state, ProbeState::kCrashed);
  Cards(kOne);
  EXPECT_EQ(Ids(LookUntil(ProbeState::kGood)), "GPU0=GPU-1");
}

std::vector<Process> Helpers() {
  return FindDescendants(getpid());
}

TEST_F(Probe, AHelperThatSomebodyEndsIsReplaced) {
  Cards(kOne);
  Look();
  const std::vector<Process> helpers = Helpers();
  ASSERT_EQ(helpers.size(), 1u);
  ASSERT_TRUE(SignalProcess(helpers[0], SIGKILL));
  EXPECT_EQ(Ids(LookUntil(ProbeState::kGood)), "GPU0=GPU-1");
}

// queues.md 89
TEST_F(Probe, TheLibraryIsInTheHelperAloneWhichGoesWithTheWatch) {
  Cards(kOne);
  Look();
  const auto maps = ReadFile("/proc/self/maps", 8 << 20);
  ASSERT_TRUE(maps);
  EXPECT_EQ(maps->find("libfake-nvml"), std::string::npos);
  EXPECT_EQ(Helpers().size(), 1u);
  watch_.reset();
  EXPECT_TRUE(Helpers().empty());
}

TEST_F(Probe, AMachineWithoutGpusRunsNoHelperAndLooksOnce) {
  settings_.library.clear();
  EXPECT_FALSE(MayHaveGpus(settings_));
  const DeviceReport report = Look();
  EXPECT_EQ(report.state, ProbeState::kNone);
  EXPECT_TRUE(report.devices.empty());
  EXPECT_TRUE(Helpers().empty());
  EXPECT_EQ(Look().state, ProbeState::kNone) << "only when asked";
}

TEST_F(Probe, ACardOnTheBusWithoutALibraryIsThereAndUnreadable) {
  settings_.library.clear();
  OnTheBus("0000:01:00.0", "0x10de", "0x030200");
  EXPECT_TRUE(MayHaveGpus(settings_));
  const DeviceReport report = Look();
  // The machine that runs this may have the real library, but not this card.
  if (report.state == ProbeState::kGood) GTEST_SKIP() << "this machine has GPUs";
  EXPECT_EQ(Ids(report), "GPU0=pci:0000:01:00.0(failing)");
}

TEST_F(Probe, DeviceNodesAloneAreASignOfGpus) {
  settings_.library.clear();
  ASSERT_TRUE(MakeFolders(settings_.machine_root + "/dev"));
  ASSERT_TRUE(WriteFileAt(AT_FDCWD, (settings_.machine_root + "/dev/nvidiactl").c_str(), ""));
  EXPECT_TRUE(MayHaveGpus(settings_)) << "a container";
}

TEST_F(Probe, UsesTheChosenGpusAndGoesOnWithThoseWhenNumbersMove) {
  settings_.only = {0, 2, 5};
  Cards(kOne + kTwo + kThree + " xid 31\n");
  const DeviceReport report = Look();
  EXPECT_EQ(Ids(report), "GPU0=GPU-1 GPU2=GPU-3 GPU5=pci:gpu5(absent)")
      << "a number that is not there is said";
  EXPECT_EQ(report.devices[2].detail, "GPU0, GPU1, GPU2") << "and what is there";
  EXPECT_EQ(report.xids.size(), 1u);
  Cards(kTwo + " xid 31\n" + kThree);
  const DeviceReport moved = Look();
  EXPECT_EQ(Ids(moved), "GPU1=GPU-3 GPU5=pci:gpu5(absent) GPU0=GPU-1(lost)");
  EXPECT_TRUE(moved.xids.empty()) << "GPU-2 is none of our business";
}

// A child that waits, with variables of its own; ends with the object.
class Sleeper {
 public:
  explicit Sleeper(const char* variable) {
    int pipes[2];
    EXPECT_EQ(pipe2(pipes, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      char* argv[] = {const_cast<char*>("/bin/sleep"), const_cast<char*>("1000"), nullptr};
      char* envp[] = {const_cast<char*>(variable), nullptr};
      execve(argv[0], argv, envp);
      _exit(127);
    }
    close(pipes[1]);
    char byte;
    EXPECT_EQ(read(pipes[0], &byte, 1), 0);  // closed by the execve
    close(pipes[0]);
    // A moment before its words and variables can be read.
    const std::string words = "/proc/" + std::to_string(pid_) + "/cmdline";
    while (ReadFile(words, 1 << 16).value_or("").empty()) usleep(1000);
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  int pid() const { return pid_; }

 private:
  int pid_ = 0;
};

// queues.md 83, 94
TEST_F(Probe, NamesProcessesAndSkipsThoseThatAreGone) {
  setenv("TRAINYARD_NVML_PIDS", "ours", 1);
  const Ulid attempt = Ulid::Make(FromNanos(1));
  const Sleeper ours(("TRAINYARD_ID=" + attempt.Text()).c_str());
  const Sleeper foreign("A=1");
  int gone;
  {
    const Sleeper ended("A=1");
    gone = ended.pid();
  }
  Cards(kOne + " process " + std::to_string(ours.pid()) + " both 900\n process " +
        std::to_string(foreign.pid()) + " graphics -\n process " + std::to_string(gone) + " compute 5\n");
  const DeviceReport report = Look();
  unsetenv("TRAINYARD_NVML_PIDS");
  EXPECT_TRUE(report.lists_trusted);
  ASSERT_EQ(report.devices.size(), 1u);
  ASSERT_TRUE(report.devices[0].processes);
  std::map<int, DeviceProcess> processes;
  for (const DeviceProcess& process : *report.devices[0].processes) processes[process.pid] = process;
  ASSERT_EQ(processes.size(), 2u);
  const DeviceProcess& task = processes[ours.pid()];
  EXPECT_EQ(task.type, DeviceProcess::Type::kCompute) << "in both lists: it computes";
  EXPECT_TRUE(task.draws);
  EXPECT_EQ(task.memory, int64_t{900} << 20);
  EXPECT_TRUE(task.visible);
  EXPECT_EQ(task.command, "/bin/sleep 1000");
  EXPECT_FALSE(task.user.empty());
  EXPECT_EQ(task.attempt, attempt);
  EXPECT_EQ(task.start, ProcessStartTime(ours.pid()));
  ASSERT_TRUE(task.since);
  EXPECT_LE(*task.since, report.at);
  const DeviceProcess& stranger = processes[foreign.pid()];
  EXPECT_EQ(stranger.type, DeviceProcess::Type::kGraphics);
  EXPECT_FALSE(stranger.draws);
  EXPECT_FALSE(stranger.memory);
  EXPECT_FALSE(stranger.attempt);
}

}  // namespace
}  // namespace ty

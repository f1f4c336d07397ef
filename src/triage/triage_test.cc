#include "triage/triage.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <ostream>

#include "msg/outcome.h"

namespace ty {
namespace {

Evidence Exit(int code) {
  Evidence evidence;
  evidence.exit_code = code;
  return evidence;
}
Evidence Signal(int signal) {
  Evidence evidence;
  evidence.signal = signal;
  return evidence;
}
Evidence Raised(std::string exception) {
  Evidence evidence = Exit(1);
  evidence.exception = std::move(exception);
  return evidence;
}
Evidence Wrote(std::string line, int code = 1) {
  Evidence evidence = Exit(code);
  evidence.errors = {"Epoch 3/20", std::move(line)};
  return evidence;
}
std::string ClassOf(const Evidence& evidence) {
  return std::string(Name(Classify(evidence).failure));
}
std::string ReasonOf(const Evidence& evidence) {
  return Classify(evidence).reason.id;
}

struct Case {
  const char* line;
  const char* failure;
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.line;
}

class ExceptionLine : public testing::TestWithParam<Case> {};
TEST_P(ExceptionLine, HasItsClass) {
  const Outcome outcome = Classify(Raised(GetParam().line));
  EXPECT_EQ(outcome.kind, OutcomeKind::kFailed);
  EXPECT_EQ(Name(outcome.failure), GetParam().failure);
  EXPECT_EQ(outcome.evidence, GetParam().line);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(outcome.reason.empty());
}
constexpr Case kExceptions[] = {
    {"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 9.78 GiB total "
     "capacity)",
     "device_oom"},
    {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "device_oom"},
    {"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB", "device_oom"},
    {"RuntimeError: CUDA error: out of memory", "device_oom"},
    {"jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8 "
     "bytes",
     "device_oom"},
    {"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
     "device_oom"},
    {"RuntimeError: CUDA error: an illegal memory access was encountered", "cuda_fault"},
    {"RuntimeError: CUDA error: device-side assert triggered", "cuda_fault"},
    {"torch.AcceleratorError: CUDA error: unspecified launch failure", "cuda_fault"},
    {"RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED", "cuda_fault"},
    {"RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1269, unhandled "
     "system error, NCCL version 2.14.3",
     "nccl"},
    {"torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/ProcessGroupNCCL.cpp:1970, unhandled "
     "system error (run with NCCL_DEBUG=INFO), ncclSystemError",
     "nccl"},
    {"torch.distributed.DistNetworkError: The server socket has failed to listen. EADDRINUSE", "nccl"},
    {"torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError", "nccl"},
    {"RuntimeError: DataLoader worker (pid(s) 123, 124) exited unexpectedly", "data_loading"},
    {"RuntimeError: DataLoader worker (pid 123) is killed by signal: Killed.", "data_loading"},
    {"KeyError: Caught KeyError in DataLoader worker process 0.", "data_loading"},
    {"OSError: [Errno 5] Input/output error: '/data/a.npy'", "data_loading"},
    {"ConnectionResetError: [Errno 104] Connection reset by peer", "data_loading"},
    {"requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443)",
     "data_loading"},
    {"zipfile.BadZipFile: File is not a zip file", "data_loading"},
    {"PIL.UnidentifiedImageError: cannot identify image file 'a.jpg'", "data_loading"},
    {"OSError: [Errno 28] No space left on device", "disk_full"},
    {"OSError: [Errno 122] Disk quota exceeded: 'ckpt.pt'", "disk_full"},
    {"RuntimeError: [enforce fail at inline_container.cc:595] . PytorchStreamWriter failed writing file "
     "data/1: file write failed",
     "disk_full"},
    {"ModuleNotFoundError: No module named 'torch'", "import_error"},
    {"ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
     "import_error"},
    {"FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'", "file_missing"},
    {"FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 0.", "file_missing"},
    {"PermissionError: [Errno 13] Permission denied: '/out'", "file_missing"},
    {"MemoryError", "host_oom"},
    {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 74.5 GiB for an array with shape (100000, "
     "100000)",
     "host_oom"},
    {"RuntimeError: [enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: can't allocate memory: you tried "
     "to allocate 8 bytes",
     "host_oom"},
    {"OSError: [Errno 12] Cannot allocate memory", "host_oom"},
    {"ValueError: Loss is nan, stopping training", "divergence"},
    {"FloatingPointError: Loss became infinite or NaN at iteration=12!", "divergence"},
    {"RuntimeError: Function 'MseLossBackward0' returned nan values in its 0th output.", "divergence"},
    {"ValueError: too many values to unpack", "script"},
    {"AssertionError", "script"},
    {"KeyError: 'loss'", "script"},
    {"RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x784 and 10x128)", "script"},
    {"SyntaxError: '(' was never closed", "script"},
};
INSTANTIATE_TEST_SUITE_P(Exceptions, ExceptionLine, testing::ValuesIn(kExceptions));

class LogLine : public testing::TestWithParam<Case> {};
TEST_P(LogLine, ExplainsAnEndWithoutAnException) {
  EXPECT_EQ(ClassOf(Wrote(GetParam().line)), GetParam().failure);
  EXPECT_EQ(Classify(Wrote(GetParam().line)).evidence, GetParam().line);
}
constexpr Case kLines[] = {
    {"train.py: error: unrecognized arguments: --lrr 0.1", "bad_argument"},
    {"train.py: error: argument --lr: invalid float value: 'x'", "bad_argument"},
    {"train.py: error: the following arguments are required: --data", "bad_argument"},
    {"Error: No such option: --lrr", "bad_argument"},
    {"host:123:456 [0] transport/net_socket.cc:50 NCCL WARN Net: connection timed out", "nccl"},
    {"[E ProcessGroupNCCL.cpp:474] [Rank 0] Watchdog caught collective operation timeout: "
     "WorkNCCL(SeqNum=12)",
     "nccl"},
    {"/usr/bin/python3: No module named trainer", "import_error"},
    {"./a.out: error while loading shared libraries: libfoo.so.1: cannot open shared object file",
     "import_error"},
    {"/usr/bin/python3: can't open file '/w/train.py': [Errno 2] No such file or directory", "file_missing"},
    {"terminate called after throwing an instance of 'std::bad_alloc'", "host_oom"},
    {"cp: error writing 'x': No space left on device", "disk_full"},
    {"step 40 loss: nan", "divergence"},
};
INSTANTIATE_TEST_SUITE_P(Lines, LogLine, testing::ValuesIn(kLines));

TEST(Sign, IsSeenInFewLines) {
  for (const char* line : {"", "Epoch 3/20", "loss: 0.53", "grad_norm: 0.7 info", "saved model.pt",
                           "inference done", "financial loss dataset loaded"}) {
    EXPECT_EQ(ReadSign(line), FailureClass::kNone) << line;
  }
}

TEST(Classify, ExitCodeZeroIsSuccessWhateverTheLogSays) {
  Evidence evidence = Raised("OSError: [Errno 28] No space left on device");
  evidence.exit_code = 0;
  const Outcome outcome = Classify(evidence);
  EXPECT_EQ(outcome.kind, OutcomeKind::kSucceeded);
  EXPECT_EQ(outcome.failure, FailureClass::kNone);
  EXPECT_EQ(outcome.evidence, "");
  evidence.oom_kills = 1;
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kSucceeded);
  EXPECT_EQ(ReasonOf(evidence), "outcome.succeeded_oom");
}

TEST(Classify, AnExceptionOutweighsOlderLines) {
  Evidence evidence = Raised("ValueError: bad label");
  evidence.errors = {"FileNotFoundError: [Errno 2] No such file or directory: 'cache'"};
  EXPECT_EQ(ClassOf(evidence), "script");
}

TEST(Classify, ALauncherExceptionSendsTheQuestionToTheRanks) {
  Evidence evidence = Raised("torch.distributed.elastic.multiprocessing.errors.ChildFailedError:");
  evidence.errors = {"torch.OutOfMemoryError: CUDA out of memory."};
  EXPECT_EQ(ClassOf(evidence), "device_oom");
  EXPECT_EQ(Classify(evidence).evidence, "torch.OutOfMemoryError: CUDA out of memory.");
}

// Case 50: hashicorp/nomad#12735, HTCONDOR-3094.
TEST(Classify, TellsThreeKindsOf137Apart) {
  Evidence oom = Signal(SIGKILL);
  oom.oom_kills = 1;
  EXPECT_EQ(ClassOf(oom) + " " + ReasonOf(oom), "host_oom outcome.killed_oom");
  EXPECT_EQ(ClassOf(Signal(SIGKILL)) + " " + ReasonOf(Signal(SIGKILL)),
            "killed_from_outside outcome.killed_9");
  Evidence nearby = Signal(SIGKILL);
  nearby.oom_kills_nearby = 1;
  EXPECT_EQ(ClassOf(nearby) + " " + ReasonOf(nearby), "host_oom outcome.killed_oom_nearby");
  EXPECT_EQ(ReasonOf(Exit(137)), "outcome.exit_137_uncounted");
  Evidence counted = Exit(137);
  counted.oom_counted = true;
  EXPECT_EQ(ReasonOf(counted), "outcome.exit_137") << "only who has looked may say that nothing was seen";
  EXPECT_EQ(Classify(Exit(137)).exit_code, 137);
  EXPECT_FALSE(Classify(Signal(SIGKILL)).exit_code);
  EXPECT_EQ(Classify(Signal(SIGKILL)).signal, SIGKILL);
}

TEST(Classify, AKillForMemoryAroundTheTaskExplainsWhatItDoesNotExplainItself) {
  Evidence evidence = Exit(137);
  evidence.oom_counted = true;
  evidence.oom_kills_nearby = 2;
  EXPECT_EQ(ClassOf(evidence) + " " + ReasonOf(evidence), "host_oom outcome.exit_oom_nearby");
  evidence.exit_code = 1;
  EXPECT_EQ(ClassOf(evidence) + " " + ReasonOf(evidence), "host_oom outcome.exit_oom_nearby");
  evidence.exception = "subprocess.CalledProcessError: Command 'x' died with <Signals.SIGKILL: 9>.";
  EXPECT_EQ(ClassOf(evidence), "host_oom");
  evidence.exception = "RuntimeError: DataLoader worker (pid 42) is killed by signal: Killed.";
  EXPECT_EQ(ClassOf(evidence), "host_oom");
  evidence.exception = "ValueError: bad label";
  EXPECT_EQ(ClassOf(evidence), "script")
      << "it names its own cause, and the kill may have been another task's";
  evidence.exception.clear();
  evidence.exit_code = 0;
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kSucceeded);
  EXPECT_EQ(ReasonOf(evidence), "outcome.succeeded_oom_nearby");
}

TEST(Classify, SaysThatACoreWasWrittenAndWhere) {
  Evidence evidence = Signal(SIGABRT);
  EXPECT_FALSE(Classify(evidence).core_dumped);
  evidence.core_dumped = true;
  EXPECT_EQ(ClassOf(evidence) + " " + ReasonOf(evidence), "script outcome.crashed_core");
  evidence.core_file = "/work/core.42";
  EXPECT_EQ(ReasonOf(evidence), "outcome.crashed_core_file");
  EXPECT_TRUE(Classify(evidence).core_dumped);
  EXPECT_EQ(Classify(evidence).core_file, "/work/core.42");
}

TEST(Classify, NamesSignals) {
  EXPECT_EQ(ClassOf(Signal(SIGTERM)), "killed_from_outside");
  EXPECT_EQ(ClassOf(Signal(SIGSEGV)) + " " + ReasonOf(Signal(SIGSEGV)), "script outcome.crashed");
  Evidence abort = Signal(SIGABRT);
  abort.errors = {"  what():  CUDA error: an illegal memory access was encountered"};
  EXPECT_EQ(ClassOf(abort), "cuda_fault");
  abort.errors = {"FileNotFoundError: gone"};
  EXPECT_EQ(ClassOf(abort), "script") << "an abort is no missing file";
  EXPECT_EQ(ReasonOf(Exit(139)), "outcome.exit_signal");
}

TEST(Classify, PlainCodesAreTheScriptsOwn) {
  EXPECT_EQ(ClassOf(Exit(7)) + " " + ReasonOf(Exit(7)), "script outcome.exit_code");
  EXPECT_EQ(ReasonOf(Exit(127)), "outcome.command_not_found");
  EXPECT_EQ(ClassOf(Exit(2)), "script");
}

TEST(Classify, WhatTheDriverSawExplainsAnEndTheProgramSaysNothingOf) {
  auto with_xid = [](Evidence evidence) {
    evidence.xid = Evidence::Xid{31, "GPU0"};
    return evidence;
  };
  const Outcome outcome = Classify(with_xid(Exit(1)));
  EXPECT_EQ(outcome.failure, FailureClass::kCudaFault);
  EXPECT_EQ(outcome.reason, Message(msg::OutcomeXid{.xid = 31, .device = "GPU0"}));
  EXPECT_EQ(ClassOf(with_xid(Signal(SIGSEGV))), "cuda_fault");
  EXPECT_EQ(ClassOf(with_xid(Exit(134))), "cuda_fault") << "a shell tells of an abort";
  EXPECT_EQ(ClassOf(with_xid(Exit(0))), "");
  EXPECT_EQ(ClassOf(with_xid(Raised("ValueError: no such label"))), "script") << "the log has the first word";
  EXPECT_EQ(ClassOf(with_xid(Raised("torch.cuda.OutOfMemoryError: CUDA out of memory."))), "device_oom");
  EXPECT_EQ(ClassOf(with_xid(Signal(SIGKILL))), "killed_from_outside");
  EXPECT_EQ(ReasonOf(with_xid(Exit(143))), "outcome.exit_signal");
  EXPECT_EQ(ReasonOf(with_xid(Exit(127))), "outcome.command_not_found");
}

TEST(Classify, OfRanksTheOneThatFailedFirstIsNamed) {
  Evidence evidence = Exit(3);
  evidence.failed_rank = 1;
  const Outcome outcome = Classify(evidence);
  EXPECT_EQ(outcome.failed_rank, 1);
  EXPECT_EQ(outcome.reason, Message(msg::OutcomeRankExitCode{.rank = 1, .code = 3}));
  evidence.exception = "KeyError: 'label'";
  EXPECT_EQ(Classify(evidence).failed_rank, 1);
  EXPECT_EQ(ReasonOf(evidence), "outcome.script_exception");
  EXPECT_FALSE(Classify(Exit(3)).failed_rank);
}

TEST(Classify, ALossPromisesNoMoreThanCouldBeSeen) {
  Evidence evidence;
  evidence.end = Evidence::End::kLostShim;
  EXPECT_EQ(ReasonOf(evidence), "outcome.lost_shim");
  evidence.sees_all = false;
  EXPECT_EQ(ReasonOf(evidence), "outcome.lost_shim_seen");
}

TEST(Classify, AMemoryKillOfAChildIsSaid) {
  Evidence evidence = Raised("RuntimeError: DataLoader worker (pid 5) is killed by signal: Killed.");
  evidence.oom_kills = 1;
  EXPECT_EQ(ClassOf(evidence) + " " + ReasonOf(evidence), "host_oom outcome.child_oom");
}

TEST(Classify, OurOwnStopsComeFirst) {
  Evidence evidence = Signal(SIGTERM);
  evidence.stop_reason = Message{"outcome.cancelled_by_user", {}};
  Outcome outcome = Classify(evidence);
  EXPECT_EQ(outcome.kind, OutcomeKind::kCancelled);
  EXPECT_EQ(outcome.reason.id, "outcome.cancelled_by_user");
  EXPECT_EQ(outcome.signal, SIGTERM);
  evidence.stop_kind = OutcomeKind::kPreempted;
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kPreempted);
  evidence.end = Evidence::End::kLostShim;
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kPreempted) << "it was to end anyway";
}

TEST(Classify, LimitsAndLosses) {
  Evidence evidence = Signal(SIGTERM);
  evidence.hit_time_limit = true;
  evidence.limit = minutes(90);
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kTimeout);
  EXPECT_EQ(ReasonOf(evidence), "outcome.time_limit");
  evidence.hit_time_limit = false;
  evidence.hit_idle_limit = true;
  EXPECT_EQ(Classify(evidence).kind, OutcomeKind::kTimeout);
  EXPECT_EQ(ClassOf(evidence), "hang");
  Evidence lost;
  lost.end = Evidence::End::kLostReboot;
  EXPECT_EQ(Classify(lost).kind, OutcomeKind::kLost);
  EXPECT_EQ(ReasonOf(lost), "outcome.lost_reboot");
}

struct StartFailure {
  const char* step;
  int error;
  const char* reason;
};
void PrintTo(const StartFailure& one, std::ostream* out) {
  *out << one.step << " " << one.error;
}
class NotStarted : public testing::TestWithParam<StartFailure> {};
TEST_P(NotStarted, SaysWhatToDo) {
  Evidence evidence;
  evidence.end = Evidence::End::kExecFailed;
  evidence.exec_step = GetParam().step;
  evidence.exec_errno = GetParam().error;
  evidence.program = "/w/train.py";
  const Outcome outcome = Classify(evidence);
  EXPECT_EQ(outcome.failure, FailureClass::kExecFailed);
  EXPECT_EQ(outcome.reason.id, GetParam().reason);
  EXPECT_FALSE(outcome.exit_code || outcome.signal);
  EXPECT_EQ(
      Advise(outcome, RetryPolicy{5, RetryPolicy::On::kAny, seconds(1)}, History{.made_progress = true}).act,
      RetryAdvice::Act::kEnd);
}
constexpr StartFailure kStartFailures[] = {
    {"exec", ENOENT, "outcome.program_missing"},  {"exec", EACCES, "outcome.program_denied"},
    {"exec", ENOEXEC, "outcome.program_unfit"},   {"exec", E2BIG, "outcome.command_too_long"},
    {"exec", ENOMEM, "outcome.no_processes"},     {"exec", ELOOP, "outcome.exec_failed"},
    {"chdir", ENOENT, "outcome.workdir_missing"}, {"chdir", EACCES, "outcome.workdir_denied"},
    {"log", ENOSPC, "outcome.exec_disk_full"},    {"fork", EAGAIN, "outcome.no_processes"},
    {"log", EROFS, "outcome.exec_failed"},
};
INSTANTIATE_TEST_SUITE_P(Steps, NotStarted, testing::ValuesIn(kStartFailures));

// ---- Retries, contracts C10.

std::string AdviceFor(const Evidence& evidence, History history, RetryPolicy policy = {}) {
  const RetryAdvice advice = Advise(Classify(evidence), policy, history);
  constexpr const char* kActs[] = {"end", "retry", "requeue", "hold"};
  return std::string(kActs[static_cast<int>(advice.act)]) + " " + advice.reason.id;
}
constexpr History kProgress{.ran = minutes(5), .made_progress = true};
constexpr History kNoProgress{.ran = minutes(5)};

TEST(Advise, RetriesWhatMayPassAfterProgress) {
  EXPECT_EQ(AdviceFor(Signal(SIGKILL), kProgress), "retry retry.signal");
  EXPECT_EQ(AdviceFor(Signal(SIGSEGV), kProgress), "retry retry.signal");
  EXPECT_EQ(AdviceFor(Raised("OSError: [Errno 5] Input/output error"), kProgress),
            "retry retry.data_loading");
  EXPECT_EQ(AdviceFor(Raised("RuntimeError: CUDA error: unknown error"), kProgress),
            "retry retry.device_fault");
  EXPECT_EQ(AdviceFor(Raised("RuntimeError: NCCL error in: x"), kProgress), "retry retry.device_fault");
  EXPECT_EQ(Advise(Classify(Signal(9)), {}, kProgress).delay, seconds(10));
}

TEST(Advise, RetriesNothingBeforeProgress) {
  EXPECT_EQ(AdviceFor(Signal(SIGKILL), kNoProgress), "end retry.no_progress");
  EXPECT_EQ(AdviceFor(Raised("OSError: [Errno 5] Input/output error"), kNoProgress), "end retry.no_progress");
  EXPECT_EQ(AdviceFor(Raised("OSError: [Errno 5] Input/output error"),
                      History{.ran = seconds(20), .previous = FailureClass::kDataLoading}),
            "end retry.same_error");
}

TEST(Advise, RetriesOnceUnlessMoreWereAsked) {
  History again = kProgress;
  again.retries = 1;
  EXPECT_EQ(AdviceFor(Signal(SIGKILL), again), "end retry.used_up");
  EXPECT_EQ(AdviceFor(Signal(SIGKILL), again, RetryPolicy{.max = 3}), "retry retry.signal");
  EXPECT_EQ(AdviceFor(Signal(SIGKILL), kProgress, RetryPolicy{.max = 0}), "end retry.off");
}

TEST(Advise, LeavesErrorsOfTheCodeAlone) {
  for (const char* line :
       {"ValueError: x", "ModuleNotFoundError: No module named 'x'", "FileNotFoundError: x", "MemoryError",
        "torch.OutOfMemoryError: CUDA out of memory.", "OSError: [Errno 28] No space left on device"}) {
    EXPECT_EQ(AdviceFor(Raised(line), kProgress), "end retry.not_helpful") << line;
  }
  EXPECT_EQ(AdviceFor(Exit(7), kProgress), "end retry.not_helpful");
  EXPECT_EQ(AdviceFor(Exit(7), kProgress, RetryPolicy{.max = 3}), "end retry.not_helpful");
  Evidence oom = Signal(SIGKILL);
  oom.oom_kills = 1;
  EXPECT_EQ(AdviceFor(oom, kProgress), "end retry.not_helpful") << "memory would run out again";
}

TEST(Advise, RetriesAnyFailureWhenAsked) {
  EXPECT_EQ(AdviceFor(Exit(7), kNoProgress, RetryPolicy{.max = 2, .on = RetryPolicy::On::kAny}),
            "retry retry.asked");
  History used = kNoProgress;
  used.retries = 2;
  EXPECT_EQ(AdviceFor(Exit(7), used, RetryPolicy{.max = 2, .on = RetryPolicy::On::kAny}),
            "end retry.used_up");
}

TEST(Advise, LostRunsGoOnFromTheirCheckpointOrWaitForAPerson) {
  Evidence lost;
  lost.end = Evidence::End::kLostShim;
  EXPECT_EQ(AdviceFor(lost, History{.has_checkpoint = true}), "retry retry.lost");
  EXPECT_EQ(AdviceFor(lost, kProgress), "hold retry.lost_held");
  EXPECT_EQ(AdviceFor(lost, kProgress, RetryPolicy{.max = 1}), "retry retry.lost_asked");
  EXPECT_EQ(AdviceFor(lost, History{.has_checkpoint = true, .retries = 1}), "end retry.used_up");
}

TEST(Advise, StopsOfOursAreNoFailures) {
  Evidence stopped = Signal(SIGTERM);
  stopped.stop_reason = Message{"x", {}};
  EXPECT_EQ(AdviceFor(stopped, kProgress), "end retry.cancelled");
  stopped.stop_kind = OutcomeKind::kPreempted;
  EXPECT_EQ(AdviceFor(stopped, kProgress), "requeue retry.requeued");
  Evidence late = Signal(SIGTERM);
  late.hit_time_limit = true;
  EXPECT_EQ(AdviceFor(late, kProgress), "end retry.limit");
  EXPECT_EQ(AdviceFor(Exit(0), kProgress), "end retry.done");
}

TEST(DescribeRetry, PutsThePolicyInOneSentence) {
  EXPECT_EQ(DescribeRetry({}).id, "receipt.retry_table");
  EXPECT_EQ(DescribeRetry({.max = 3}).id, "receipt.retry_most");
  EXPECT_EQ(DescribeRetry({.max = 0}).id, "receipt.retry_off");
  EXPECT_EQ(DescribeRetry({.on = RetryPolicy::On::kAny}).id, "receipt.retry_any");
}

}  // namespace
}  // namespace ty

#include "triage/signs.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "triage/triage.h"

namespace ty {

namespace {

struct Sign {
  FailureClass failure;
  std::string_view text;
  std::string_view also = {};  // must be there too
};

// In this order, the first that fits: what names its cause exactly comes before what only names a place.
constexpr Sign kSigns[] = {
    {FailureClass::kDeviceOom, "CUDA out of memory"},
    {FailureClass::kDeviceOom, "HIP out of memory"},
    {FailureClass::kDeviceOom, "CUDA error: out of memory"},
    {FailureClass::kDeviceOom, "Cuda failure", "out of memory"},
    {FailureClass::kDeviceOom, "cudaErrorMemoryAllocation"},
    {FailureClass::kDeviceOom, "CUBLAS_STATUS_ALLOC_FAILED"},
    {FailureClass::kDeviceOom, "CUDNN_STATUS_ALLOC_FAILED"},
    {FailureClass::kDeviceOom, "RESOURCE_EXHAUSTED", "memory"},
    {FailureClass::kDeviceOom, "torch.cuda.OutOfMemoryError"},
    {FailureClass::kDeviceOom, "torch.OutOfMemoryError"},
    {FailureClass::kDiskFull, "No space left on device"},
    {FailureClass::kDiskFull, "[Errno 28]"},
    {FailureClass::kDiskFull, "Disk quota exceeded"},
    {FailureClass::kDiskFull, "[Errno 122]"},
    {FailureClass::kDiskFull, "PytorchStreamWriter failed writing"},
    {FailureClass::kHostOom, "DefaultCPUAllocator", "memory"},
    {FailureClass::kHostOom, "std::bad_alloc"},
    {FailureClass::kHostOom, "Cannot allocate memory"},
    {FailureClass::kHostOom, "Unable to allocate", "array"},
    {FailureClass::kDataLoading, "DataLoader worker"},
    {FailureClass::kDataLoading, "insufficient shared memory"},
    {FailureClass::kDataLoading, "[Errno 5]"},
    {FailureClass::kDataLoading, "Input/output error"},
    {FailureClass::kCudaFault, "CUDA error:"},
    {FailureClass::kCudaFault, "device-side assert triggered"},
    {FailureClass::kCudaFault, "illegal memory access"},
    {FailureClass::kCudaFault, "uncorrectable ECC error"},
    {FailureClass::kCudaFault, "CUDNN_STATUS_"},
    {FailureClass::kCudaFault, "CUBLAS_STATUS_"},
    {FailureClass::kCudaFault, "cuDNN error:"},
    {FailureClass::kCudaFault, "NVRM: Xid"},
    {FailureClass::kCudaFault, "No CUDA GPUs are available"},
    {FailureClass::kCudaFault, "Unexpected error from cudaGetDeviceCount"},
    {FailureClass::kNccl, "ncclSystemError"},
    {FailureClass::kNccl, "ncclUnhandledCudaError"},
    {FailureClass::kNccl, "ncclInternalError"},
    {FailureClass::kNccl, "ncclRemoteError"},
    {FailureClass::kNccl, "NCCL error"},
    {FailureClass::kNccl, "NCCL Error"},
    {FailureClass::kNccl, "NCCL WARN"},
    {FailureClass::kNccl, "NCCL communicator"},
    {FailureClass::kNccl, "Watchdog caught collective operation timeout"},
    {FailureClass::kNccl, "ProcessGroupNCCL", "timeout"},
    {FailureClass::kNccl, "gloo", "Connection closed by peer"},
    {FailureClass::kNccl, "EADDRINUSE"},
    {FailureClass::kNccl, "Address already in use"},
    {FailureClass::kNccl, "client socket has timed out"},
    {FailureClass::kImportError, "No module named"},
    {FailureClass::kImportError, "error while loading shared libraries"},
    {FailureClass::kImportError, "cannot open shared object file"},
    {FailureClass::kBadArgument, ": error: unrecognized arguments"},
    {FailureClass::kBadArgument, ": error: the following arguments are required"},
    {FailureClass::kBadArgument, ": error: argument "},
    {FailureClass::kBadArgument, ": error: ambiguous option"},
    {FailureClass::kBadArgument, "Error: No such option"},
    {FailureClass::kBadArgument, "Error: Missing option"},
    {FailureClass::kBadArgument, "Error: Missing argument"},
    {FailureClass::kBadArgument, "Error: Invalid value for"},
    {FailureClass::kBadArgument, "FATAL Flags parsing error"},
    {FailureClass::kBadArgument, "Could not override '"},
    {FailureClass::kFileMissing, "can't open file '"},
    {FailureClass::kFileMissing, "No such file or directory"},
    {FailureClass::kFileMissing, ": command not found"},
    {FailureClass::kFileMissing, ": not found"},
    {FailureClass::kDivergence, "returned nan values in its"},
};

struct Type {
  FailureClass failure;
  std::string_view name;  // without its module
};

// Types that say more than their text.
constexpr Type kExactTypes[] = {
    {FailureClass::kDeviceOom, "OutOfMemoryError"},
    {FailureClass::kHostOom, "MemoryError"},
    {FailureClass::kHostOom, "_ArrayMemoryError"},
    {FailureClass::kImportError, "ModuleNotFoundError"},
    {FailureClass::kImportError, "ImportError"},
    {FailureClass::kFileMissing, "FileNotFoundError"},
    {FailureClass::kFileMissing, "PermissionError"},
    {FailureClass::kFileMissing, "NotADirectoryError"},
    {FailureClass::kFileMissing, "IsADirectoryError"},
    {FailureClass::kDivergence, "FloatingPointError"},
    {FailureClass::kBadArgument, "ArgumentError"},
    {FailureClass::kBadArgument, "ConfigCompositionException"},
    {FailureClass::kBadArgument, "MissingConfigException"},
};

// Types whose text was asked first.
constexpr Type kBroadTypes[] = {
    {FailureClass::kNccl, "DistBackendError"},
    {FailureClass::kNccl, "DistNetworkError"},
    {FailureClass::kNccl, "DistStoreError"},
    {FailureClass::kNccl, "RendezvousTimeoutError"},
    {FailureClass::kNccl, "RendezvousConnectionError"},
    {FailureClass::kNccl, "RendezvousClosedError"},
    {FailureClass::kDataLoading, "OSError"},
    {FailureClass::kDataLoading, "IOError"},
    {FailureClass::kDataLoading, "ConnectionError"},
    {FailureClass::kDataLoading, "ConnectionResetError"},
    {FailureClass::kDataLoading, "ConnectionRefusedError"},
    {FailureClass::kDataLoading, "ConnectionAbortedError"},
    {FailureClass::kDataLoading, "BrokenPipeError"},
    {FailureClass::kDataLoading, "TimeoutError"},
    {FailureClass::kDataLoading, "ReadTimeout"},
    {FailureClass::kDataLoading, "ReadTimeoutError"},
    {FailureClass::kDataLoading, "IncompleteRead"},
    {FailureClass::kDataLoading, "ChunkedEncodingError"},
    {FailureClass::kDataLoading, "RemoteDisconnected"},
    {FailureClass::kDataLoading, "BadZipFile"},
    {FailureClass::kDataLoading, "BadGzipFile"},
    {FailureClass::kDataLoading, "UnpicklingError"},
    {FailureClass::kDataLoading, "EOFError"},
    {FailureClass::kDataLoading, "UnidentifiedImageError"},
};

constexpr std::string_view kSecondHand[] = {
    "ChildFailedError",       "CalledProcessError", "ProcessExitedException",
    "ProcessRaisedException", "SystemExit",         "KeyboardInterrupt"};

bool Has(std::string_view line, std::string_view text) {
  return line.find(text) != std::string_view::npos;
}

// "torch.cuda.OutOfMemoryError: CUDA out …" -> "OutOfMemoryError"; empty when the line does not begin with a
// type.
std::string_view TypeOf(std::string_view line) {
  size_t end = 0;
  while (end < line.size() &&
         (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_' || line[end] == '.')) {
    ++end;
  }
  if (end == 0 || (end < line.size() && line[end] != ':')) return {};
  std::string_view name = line.substr(0, end);
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

template <size_t N>
FailureClass Look(const Type (&types)[N], std::string_view name) {
  for (const Type& type : types) {
    if (type.name == name) return type.failure;
  }
  return FailureClass::kNone;
}

FailureClass LookSigns(std::string_view line) {
  for (const Sign& sign : kSigns) {
    if (Has(line, sign.text) && (sign.also.empty() || Has(line, sign.also))) return sign.failure;
  }
  return FailureClass::kNone;
}

bool HasWord(std::string_view line, std::string_view word) {
  auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(line[at - 1])) && (end == line.size() || !is_letter(line[end]))) return true;
  }
  return false;
}

// "Loss is nan, stopping training", "Gradient overflow: inf"; also a line of metrics with loss: nan.
bool SaysDiverged(std::string_view line) {
  if (line.size() > 1000) return false;
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!Has(lower, "loss") && !Has(lower, "grad")) return Has(lower, "training diverged");
  return HasWord(lower, "nan") || HasWord(lower, "inf") || HasWord(lower, "infinite") ||
         Has(lower, "non-finite") || HasWord(lower, "diverged");
}

}  // namespace

FailureClass ReadException(std::string_view line) {
  const std::string_view type = TypeOf(line);
  if (FailureClass found = Look(kExactTypes, type); found != FailureClass::kNone) return found;
  if (FailureClass found = LookSigns(line); found != FailureClass::kNone) return found;
  if (FailureClass found = Look(kBroadTypes, type); found != FailureClass::kNone) return found;
  return SaysDiverged(line) ? FailureClass::kDivergence : FailureClass::kNone;
}

bool IsSecondHand(std::string_view exception) {
  const std::string_view type = TypeOf(exception);
  return std::find(std::begin(kSecondHand), std::end(kSecondHand), type) != std::end(kSecondHand);
}

FailureClass ReadSign(std::string_view line) {
  if (line.size() < 4) return FailureClass::kNone;
  if (line.size() > 4096) line = line.substr(0, 4096);
  if (FailureClass found = LookSigns(line); found != FailureClass::kNone) {
    // A missing file and the like often stand in a log that goes on: an exception's type says more than its
    // words.
    const FailureClass exact = Look(kExactTypes, TypeOf(line));
    return exact != FailureClass::kNone ? exact : found;
  }
  const std::string_view type = TypeOf(line);
  if (type.size() > 5 && type.size() < line.size()) {
    if (FailureClass found = Look(kExactTypes, type); found != FailureClass::kNone) return found;
    if (FailureClass found = Look(kBroadTypes, type); found != FailureClass::kNone) return found;
  }
  return SaysDiverged(line) ? FailureClass::kDivergence : FailureClass::kNone;
}

}  // namespace ty

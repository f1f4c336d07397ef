#include "series/record.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "wire/crc32c.h"

namespace ty {

namespace {

constexpr Axis kAllAxes[] = {Axis::kStep, Axis::kTime, Axis::kElapsed};

}  // namespace

bool GoesUp(double last, double next, Axis axis) {
  return axis == Axis::kStep ? last < next : last <= next;
}

uint32_t Head::Check() const {
  const char* bytes = reinterpret_cast<const char*>(this);
  return Crc32c({bytes + sizeof crc, sizeof *this - sizeof crc});
}

Head Summarise(std::span<const Sample> samples) {
  Head head{};
  head.order = (1 << kAxes) - 1;
  head.least = head.most = std::numeric_limits<double>::quiet_NaN();
  head.first = samples.front().value;
  head.last = samples.back().value;
  head.low_step = head.high_step = samples.front().step;
  const Sample *least = nullptr, *most = nullptr, *before = nullptr;
  for (const Sample& sample : samples) {
    head.low_step = std::min(head.low_step, sample.step);
    head.high_step = std::max(head.high_step, sample.step);
    if (std::isfinite(sample.value)) {
      head.sum += sample.value;
      if (least == nullptr || sample.value < least->value) least = &sample;
      if (most == nullptr || sample.value > most->value) most = &sample;
    } else {
      ++(std::isnan(sample.value) ? head.nan : sample.value > 0 ? head.plus : head.minus);
    }
    for (const Axis axis : kAllAxes) {
      if (before != nullptr && !GoesUp(before->At(axis), sample.At(axis), axis))
        head.order &= static_cast<uint16_t>(~(1U << static_cast<int>(axis)));
    }
    before = &sample;
  }
  if (least != nullptr) {
    head.least = least->value;
    head.most = most->value;
  }
  for (const Axis axis : kAllAxes) {
    Extent& x = head.x[static_cast<int>(axis)];
    x.first = samples.front().At(axis);
    x.last = samples.back().At(axis);
    if (least != nullptr) {
      x.at_least = least->At(axis);
      x.at_most = most->At(axis);
    }
  }
  return head;
}

std::string EncodeChunk(std::span<const Sample> samples) {
  std::string bytes(kChunkBytes, '\0');
  for (size_t i = 0; i < samples.size(); ++i) {
    const double columns[] = {samples[i].step, samples[i].value, samples[i].time, samples[i].elapsed};
    for (size_t column = 0; column < 4; ++column)
      std::memcpy(bytes.data() + (column * kChunk + i) * sizeof(double), &columns[column], sizeof(double));
  }
  return bytes;
}

}  // namespace ty

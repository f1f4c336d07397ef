// Lines as real trainings print them.
#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>

#include "wire/metric_line.h"
#include "wire/progress_line.h"

namespace ty {
namespace {

std::string Short(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// "epoch 3/20", "epoch 3/20 in 0.45", "bar 45/100 step", "side", "step 40/?", "-".
std::string Progress(std::string_view line) {
  const std::optional<ProgressReading> reading = ReadProgress(line);
  if (!reading) return "-";
  if (reading->side) return "side";
  constexpr const char* kKinds[] = {"epoch", "bar", "step", "plain"};
  std::string text = kKinds[static_cast<int>(reading->kind)];
  text += " " + Short(reading->done) + "/" + (reading->total ? Short(*reading->total) : "?");
  if (reading->inside) text += " in " + Short(*reading->inside);
  if (reading->kind == ProgressReading::Kind::kBar) text += " " + reading->unit;
  if (reading->weak) text += " weak";
  return text;
}

std::string Metrics(std::string_view line) {
  std::string text;
  for (const auto& [name, value] : ReadMetrics(line, ReadProgress(line).has_value())) {
    text += (text.empty() ? "" : " ") + name + "=" + Short(value);
  }
  return text;
}

struct Line {
  const char* text;
  const char* progress;
  const char* metrics;
};

void PrintTo(const Line& line, std::ostream* out) {
  *out << line.text;
}

class RealLine : public testing::TestWithParam<Line> {};
TEST_P(RealLine, IsUnderstood) {
  EXPECT_EQ(Progress(GetParam().text), GetParam().progress) << GetParam().text;
  EXPECT_EQ(Metrics(GetParam().text), GetParam().metrics) << GetParam().text;
}

constexpr Line kEpochs[] = {
    {"epoch 3/20", "epoch 3/20", ""},
    {"Epoch [3/20]", "epoch 3/20", ""},
    {"Epoch 3 of 20", "epoch 3/20", ""},
    {"Epoch: 03/20 | loss: 0.53 | acc: 91.2%", "epoch 3/20", "loss=0.53 acc=91.2"},
    {"[Epoch 3/20] train_loss=0.5, val_loss=nan", "epoch 3/20", "train_loss=0.5 val_loss=nan"},
    {"Epoch 3 / 20 loss 0.53 acc 0.9", "epoch 3/20", "loss=0.53 acc=0.9"},
    {"Epoch [3/10], Step [200/469], Loss: 0.3127", "epoch 3/10 in 0.426439", "loss=0.3127"},
    {"2026-01-02 10:00:00,123 INFO train: epoch 3/20 lr=1e-05", "epoch 3/20", "lr=1e-05"},
    {"[rank0]: Epoch 3/20 loss=-inf", "epoch 3/20", "loss=-inf"},
    {"第 3/20 轮 loss: 0.4", "epoch 3/20", "loss=0.4"},
    {"Epoch: [3][ 200/5005]\tTime  0.1 ( 0.2)\tLoss 6.9e+00 (7.0e+00)\tAcc@1   0.39 (  0.2)",
     "epoch 3/? in 0.03996", "loss=6.9"},
    {"Epoch 2/9  ━━━━━━━━━╺━━━━━━━ 630/1500 0:01:03 • 0:01:27 9.94it/s v_num: 4.000 train_loss: 0.318",
     "epoch 2/9 in 0.42", "train_loss=0.318"},
    {"Epoch 7: loss 0.25", "epoch 7/?", "loss=0.25"},
    {"{'loss': 0.9123, 'grad_norm': 0.71, 'learning_rate': 4.8e-05, 'epoch': 0.12}", "epoch 0.12/? weak",
     "loss=0.9123 grad_norm=0.71 learning_rate=4.8e-05"},
    {"{'loss': '0.9123', 'grad_norm': '0.71', 'learning_rate': '4.8e-05', 'epoch': '0.12'}",
     "epoch 0.12/? weak", "loss=0.9123 grad_norm=0.71 learning_rate=4.8e-05"},
    {"Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.250", "epoch 1/? in 0.0106667 weak", "loss=2.25"},
    {"Train Loss: 0.3120 Val Accuracy: 0.91", "-", "train_loss=0.312 val_accuracy=0.91"},
};
INSTANTIATE_TEST_SUITE_P(Epochs, RealLine, testing::ValuesIn(kEpochs));

constexpr Line kBars[] = {
    {" 45%|####5     | 45/100 [00:10<00:12, 4.4it/s, loss=0.53]", "bar 45/100 step", "loss=0.53"},
    {"  0%|          | 0/1500 [00:00<?, ?it/s]", "bar 0/1500 step", ""},
    {"Epoch 2:  42%|████▏     | 630/1500 [01:03<01:27,  9.94it/s, v_num=4, train_loss=0.318]",
     "bar 630/1500 step", "train_loss=0.318"},
    {"Epoch 3/20:  45%|████▌     | 45/100 [00:10<00:12,  4.4it/s, loss=nan]", "epoch 3/20 in 0.45",
     "loss=nan"},
    {"Epochs:  45%|████▌     | 9/20 [00:10<00:12,  1.2s/it]", "epoch 9/20", ""},
    {"steps:  12%|█▏        | 512/4200 [10:25<1:14:59,  1.22s/it, avr_loss=nan]", "bar 512/4200 step",
     "avr_loss=nan"},
    {" 14%|#3        | 391/2800 [14:02:25<86:30:11, 129.27s/it]", "bar 391/2800 step", ""},
    {"train: 30%|███       | 3.00k/10.0k [00:10<00:12, 300img/s]", "bar 3000/10000 img", ""},
    {"model.safetensors:  24%|██▍       | 1.21G/4.98G [00:11<00:36, 104MB/s]", "side", ""},
    {"eval:  63% 63/100 [00:07<00:04, 8.51it/s]", "side", ""},
    {" 63% 63/100 [00:07<00:04, 8.51it/s]", "bar 63/100 step", ""},
    {"1203it [02:01,  9.91it/s, loss=0.4]", "bar 1203/? step", "loss=0.4"},
    {"Validation DataLoader 0:  50%|█████     | 5/10 [00:00<00:00, 99.1it/s]", "side", ""},
    {"Downloading shards: 100%|██████████| 2/2 [00:10<00:00,  5.1s/it]", "side", ""},
    {"      3/100      4.21G      1.234     0.9876       1.05         17        640:  42% ━━━━━─────── "
     "66/157 9.9it/s 6.6s<9.2s",
     "bar 66/157 step", ""},
};
INSTANTIATE_TEST_SUITE_P(Bars, RealLine, testing::ValuesIn(kBars));

constexpr Line kSteps[] = {
    {"step 40/200", "step 40/200", ""},
    {"step 00120/05000 (2.40%) | loss: 2.314 | dt: 412.00ms | tok/sec: 12,345", "step 120/5000",
     "loss=2.314 tok/sec=12345"},
    {"iteration 1,170/2,000 loss=0.1", "step 1170/2000", "loss=0.1"},
    {"12/100", "plain 12/100", ""},
    {"[12/100] loss: 0.4", "plain 12/100", "loss=0.4"},
    {"120/469 ━━━━━━━━━━━━━━━━━━━━ 4s 12ms/step - accuracy: 0.9124 - loss: 3.0100e-04", "plain 120/469",
     "accuracy=0.9124 loss=0.000301"},
    {"469/469 - 6s - 12ms/step - loss: 0.29 - val_loss: 0.21", "plain 469/469", "loss=0.29 val_loss=0.21"},
    {"120/469 [=====>....] - ETA: 4s - loss: 0.3", "plain 120/469", "loss=0.3"},
    {"step=30, skipped=2, lr=[1e-05], mom=[(0.9, 0.999)]", "step 30/?", "skipped=2 lr=1e-05"},
    {"steps: 40 loss: 2.1034 iter time (s): 0.512", "-", "loss=2.1034"},
    {"Step 12: loss=tensor(0.5312, device='cuda:0')", "step 12/?", "loss=0.5312"},
    {"loss=inf lr: 1e-4", "-", "loss=inf lr=0.0001"},
};
INSTANTIATE_TEST_SUITE_P(Steps, RealLine, testing::ValuesIn(kSteps));

constexpr Line kOthers[] = {
    {"", "-", ""},
    {"Loading data", "-", ""},
    {"2026/01/02 10:00:00 starting", "-", ""},
    {"10/12/2025 10:00", "-", ""},
    {"reading /data/a/12/100.png", "-", ""},
    {"max_epochs=20 --epochs 30/40 num_epochs: 3", "-", ""},
    {"Num Epochs = 3", "-", ""},
    {"epochs: 20", "-", ""},
    {"  File \"train.py\", line 12, in main", "-", ""},
    {"GPU mem 4.21G, 12ms", "-", ""},
    {"error: 5 of them", "-", ""},
    {"version 1/2-beta", "-", ""},
    {"3/2", "-", ""},
    {"epoch", "-", ""},
    {"epoch /", "-", ""},
    {"100%", "-", ""},
    {"%|%|%|", "-", ""},
    {"loss", "-", ""},
    {"loss=", "-", ""},
    {"loss=abc", "-", ""},
};
INSTANTIATE_TEST_SUITE_P(Others, RealLine, testing::ValuesIn(kOthers));

TEST(MetricLine, LimitsNamesAndNumbers) {
  std::string line = "epoch 1/2 ";
  for (int i = 0; i < 200; ++i) line += "m" + std::to_string(i) + "=1 ";
  EXPECT_EQ(ReadMetrics(line, true).size(), 64u);
  EXPECT_TRUE(ReadMetrics("epoch 1/2 " + std::string(100, 'x') + "=1", true).empty());
}

}  // namespace
}  // namespace ty

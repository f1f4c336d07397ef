// Whether trying again can help (contracts C10), and the policy in words.
#include "msg/receipt.h"
#include "msg/retry.h"
#include "triage/triage.h"

namespace ty {

namespace {

constexpr Duration kAtOnce = seconds(60);

RetryAdvice End(Message why) {
  return {RetryAdvice::Act::kEnd, {}, std::move(why)};
}

// The rule of the table for a failure that may pass by itself after progress; nothing for all others.
std::optional<Message> RuleFor(const Outcome& outcome) {
  switch (outcome.failure) {
    case FailureClass::kDataLoading:
      return msg::RetryDataLoading{};
    case FailureClass::kCudaFault:
    case FailureClass::kNccl:
      return msg::RetryDeviceFault{};
    case FailureClass::kDeviceOom:
    case FailureClass::kHostOom:  // a signal's end, too, when memory was the reason: it would run out again
      return std::nullopt;
    case FailureClass::kKilledFromOutside:
      return msg::RetrySignal{};
    default:
      return outcome.signal ? std::optional<Message>(msg::RetrySignal{}) : std::nullopt;
  }
}

bool Asked(const RetryPolicy& policy) {
  return policy.max.value_or(0) > 0 || policy.on == RetryPolicy::On::kAny;
}

}  // namespace

RetryAdvice Advise(const Outcome& outcome, const RetryPolicy& policy, const History& history) {
  switch (outcome.kind) {
    case OutcomeKind::kSucceeded:
      return End(msg::RetryDone{});
    case OutcomeKind::kCancelled:
      return End(msg::RetryCancelled{});
    case OutcomeKind::kTimeout:
      return End(msg::RetryLimit{});
    case OutcomeKind::kPreempted:
      return {RetryAdvice::Act::kRequeue, {}, msg::RetryRequeued{}};
    case OutcomeKind::kLost:
    case OutcomeKind::kFailed:
      break;
  }
  if (outcome.failure == FailureClass::kExecFailed || outcome.failure == FailureClass::kDependency) {
    return End(msg::RetryNeverStarted{});
  }
  const int most = policy.max.value_or(1);
  if (most <= 0) return End(msg::RetryOff{});
  if (outcome.kind == OutcomeKind::kLost) {
    if (!history.has_checkpoint && !Asked(policy)) return {RetryAdvice::Act::kHold, {}, msg::RetryLostHeld{}};
    if (history.retries >= most) return End(msg::RetryUsedUp{.most = most});
    Message rule = history.has_checkpoint ? Message(msg::RetryLost{}) : Message(msg::RetryLostAsked{});
    return {RetryAdvice::Act::kRetry, policy.delay, std::move(rule)};
  }
  const bool any = policy.on == RetryPolicy::On::kAny;
  std::optional<Message> rule = any ? std::optional<Message>(msg::RetryAsked{}) : RuleFor(outcome);
  if (!rule) return End(msg::RetryNotHelpful{});
  if (history.retries >= most) return End(msg::RetryUsedUp{.most = most});
  if (!any && !history.made_progress) {
    if (history.previous == outcome.failure && history.ran < kAtOnce) return End(msg::RetrySameError{});
    return End(msg::RetryNoProgress{});
  }
  return {RetryAdvice::Act::kRetry, policy.delay, std::move(*rule)};
}

Message DescribeRetry(const RetryPolicy& policy) {
  const int most = policy.max.value_or(1);
  if (most <= 0) return msg::ReceiptRetryOff{};
  if (policy.on == RetryPolicy::On::kAny) return msg::ReceiptRetryAny{.most = most};
  if (policy.max) return msg::ReceiptRetryMost{.most = most};
  return msg::ReceiptRetryTable{};
}

}  // namespace ty

#include "http/desk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <vector>

namespace ty {
namespace {

TEST(Desk, DoesJobsInOrderOnAThreadOfItsOwn) {
  Desk desk;
  std::vector<int> done;  // by the desk's thread alone, until Close
  std::promise<std::thread::id> where;
  for (int i = 0; i < 1000; ++i) desk.Do([&done, i] { done.push_back(i); });
  desk.Do([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
  desk.Close();
  ASSERT_EQ(done.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(Desk, ClosedItEndsTheJobInHandAndDropsTheOthers) {
  Desk desk;
  std::promise<void> begun, go;
  bool ended = false, other = false;
  desk.Do([&] {
    begun.set_value();
    go.get_future().wait();
    ended = true;
  });
  desk.Do([&] { other = true; });
  begun.get_future().wait();
  std::thread closer([&] { desk.Close(); });
  go.set_value();
  closer.join();
  EXPECT_TRUE(ended);
  desk.Do([&] { other = true; });
  (void)other;  // the second job may have come before the close; after it nothing does
}

TEST(Desk, JobsMayAskForJobs) {
  Desk desk;
  std::promise<int> last;
  std::function<void(int)> next = [&](int i) {
    if (i == 100) return last.set_value(i);
    desk.Do([&next, i] { next(i + 1); });
  };
  desk.Do([&] { next(0); });
  EXPECT_EQ(last.get_future().get(), 100);
}

}  // namespace
}  // namespace ty

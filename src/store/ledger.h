// A Ledger is a store without its thread; OnThread puts one on a thread of its own and makes a Store of it.
#pragma once

#include <memory>
#include <vector>

#include "store/store.h"

namespace ty {

class Ledger {
 public:
  virtual ~Ledger() = default;
  // Commits all of them as one; a bad one is left out whole. One receipt each, in order.
  virtual std::vector<Receipt> Write(std::vector<Batch> batches) = 0;
  virtual Rows& rows() = 0;
  virtual void Rest() {}  // once, when nothing has come for a moment: time to tidy up
};

std::unique_ptr<Store> OnThread(std::unique_ptr<Ledger> ledger);

}  // namespace ty

// A Ledger is a store without its thread; OnThread puts one on a thread of its own and makes a Store of it.
#pragma once

#include <memory>
#include <vector>

#include "store/store.h"

namespace ty {

class Ledger {
 public:
  virtual ~Ledger() = default;
  // Commits all of them as one; a bad one is left out whole. One receipt each, in order. Fails when there is
  // no room on the disk: then none of them was kept, and they can be handed over again as they are.
  virtual Status Write(std::vector<Batch>& batches, std::vector<Receipt>& receipts) = 0;
  virtual Rows& rows() = 0;
  virtual void Rest() {}  // once, when nothing has come for a moment: time to tidy up
  virtual void Look() {}  // at the disk, every few seconds; batches that wait for room are tried after it
  // What takes long, a small piece of it. True: there is more to do soon.
  virtual bool Work() { return false; }
};

std::unique_ptr<Store> OnThread(std::unique_ptr<Ledger> ledger, Duration look_every = seconds(5));

}  // namespace ty

#include "testing/fakes.h"

#include <future>

namespace ty {

void PatientStore::Commit(Batch batch, std::function<void(Receipt)> done) {
  batches.push_back(batch);
  if (refuse_next) {
    Receipt receipt;
    receipt.number = batch.number;
    receipt.committed = Forward(*refuse_next);
    refuse_next.reset();
    return done(std::move(receipt));
  }
  std::promise<Receipt> kept;
  store_->Commit(std::move(batch), [&](Receipt receipt) { kept.set_value(std::move(receipt)); });
  done(kept.get_future().get());
}

void PatientStore::Read(std::function<void(Rows&)> read) {
  std::promise<void> over;
  store_->Read([&](Rows& rows) {
    read(rows);
    over.set_value();
  });
  over.get_future().get();
}

}  // namespace ty

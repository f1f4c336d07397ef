#include <boost/json.hpp>

#include "http/api.h"
#include "http/render.h"

namespace ty {

void Api::ListDevices(CallPtr call) {
  backend_.Look([call](YardFacts facts) {
    boost::json::array items;
    for (const DeviceView& device : facts.devices) items.emplace_back(RenderDevice(device));
    call->Answer(boost::json::object{{"items", std::move(items)}, {"next", nullptr}});
  });
}

}  // namespace ty

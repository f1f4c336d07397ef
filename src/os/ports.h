// Ports for the rendezvous of ranks.
#pragma once

namespace ty {

// Nobody listens on it at 127.0.0.1 or on every address just now.
bool PortIsFree(int port);

}  // namespace ty

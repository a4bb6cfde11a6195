// Bindings: diagonal weights in single storage.
#include "diagonal.hpp"

namespace surelearn::bind {

void bind_diagonal32(nb::module_& m) { bind_kind<float>(m, "Diagonal32"); }

}  // namespace surelearn::bind

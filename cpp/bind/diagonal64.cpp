// Bindings: diagonal weights in double storage.
#include "diagonal.hpp"

namespace surelearn::bind {

void bind_diagonal64(nb::module_& m) { bind_kind<double>(m, "Diagonal64"); }

}  // namespace surelearn::bind

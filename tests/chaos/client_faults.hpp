#pragma once

#include "crew.hpp"
#include "faults.hpp"

#include <memory>

namespace paddock::test {

/// What goes wrong with the processes, and with their connections.
class client_faults {
public:
    client_faults(faults& all, crew& workers);

    /// Of one process, to one server or to all.
    void disturb_link();
    void disturb_worker();

private:
    std::size_t any_client();

    faults& all_;
    crew& workers_;
    std::unique_ptr<bool[]> link_busy_, worker_busy_;
};

} // namespace paddock::test

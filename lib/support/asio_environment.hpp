#pragma once

#include "support/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <memory>

namespace paddock {

/// Not type-erased once more, which would cost every task a few allocations.
using io_strand = boost::asio::strand<boost::asio::any_io_executor>;

/// The real world: Asio's reactor and resolver, the machine's clocks and random numbers. It may
/// be destroyed on the strand, or while nothing runs any more (from within an execution_context
/// service's shutdown(), too).
std::unique_ptr<environment> make_asio_environment(io_strand strand);

} // namespace paddock

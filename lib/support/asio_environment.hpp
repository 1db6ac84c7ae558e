#pragma once

#include "support/environment.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <memory>

namespace paddock {

/// A strand without a second type erasure, which would cost several allocations per task.
using io_strand = boost::asio::strand<boost::asio::any_io_executor>;

/// The real environment: Asio's reactor and resolver, the machine's clocks and random numbers.
/// Destroy it on the strand, or when no handler runs any more, for example from the shutdown() of
/// an execution_context service.
std::unique_ptr<environment> make_asio_environment(io_strand strand);

} // namespace paddock

#pragma once

#include "support/environment.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace paddock {

/// The real world: Asio's reactor and resolver, the machine's clocks and random numbers. `strand`
/// must run one thing at a time; the environment may be destroyed on it, or while nothing runs any
/// more (from within an execution_context service's shutdown(), too).
std::unique_ptr<environment> make_asio_environment(boost::asio::any_io_executor strand);

} // namespace paddock

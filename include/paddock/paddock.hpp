#pragma once

#include <paddock/boot_clock.hpp>
#include <paddock/client.hpp>
#include <paddock/contender.hpp>
#include <paddock/election.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/lock_all.hpp>
#include <paddock/mutex.hpp>
#include <paddock/options.hpp>
#include <paddock/recursive_mutex.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/shared_mutex.hpp>
#include <paddock/simple_mutex.hpp>
#include <paddock/ticket.hpp>
#include <paddock/watch.hpp>
#include <paddock/znode.hpp>

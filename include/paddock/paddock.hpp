#pragma once

#include <paddock/client.hpp>
#include <paddock/error.hpp>
#include <paddock/guard.hpp>
#include <paddock/mutex.hpp>
#include <paddock/options.hpp>
#include <paddock/semaphore.hpp>
#include <paddock/watch.hpp>
#include <paddock/znode.hpp>

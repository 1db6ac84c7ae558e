// Semaphores when connections break, sessions end, and callers leave.
#include "support/semaphore_harness.hpp"

#include <doctest/doctest.h>

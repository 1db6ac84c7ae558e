// Boost.JSON without its library: its sources are compiled here, once.
#include <boost/json/src.hpp>

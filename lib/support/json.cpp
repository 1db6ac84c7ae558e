// Compiles Boost.JSON's sources, so that its library is not needed.
#include <boost/json/src.hpp>

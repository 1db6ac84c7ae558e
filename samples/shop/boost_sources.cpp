// Boost.JSON and Boost.URL are used without their libraries: this is the one place that compiles
// them.
#include <boost/json/src.hpp>
#include <boost/url/src.hpp>

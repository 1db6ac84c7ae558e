// Boost.URL is used without its library: this is the one place that compiles it.
#include <boost/url/src.hpp>

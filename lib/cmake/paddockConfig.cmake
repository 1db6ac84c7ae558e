# For find_package(paddock CONFIG): the target paddock::paddock. A template, which meson.build fills in.
include(CMakeFindDependencyMacro)
# The Boost that the library was built with; include/paddock/version.hpp says why.
find_dependency(Boost @BOOST_VERSION@ EXACT)
find_dependency(Threads)

if(NOT TARGET paddock::paddock)
  # The installation may have been moved, or be found through a link.
  get_filename_component(paddock_libdir "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
  get_filename_component(paddock_libdir "${paddock_libdir}/../.." ABSOLUTE)
  get_filename_component(paddock_prefix "${paddock_libdir}/@UP_FROM_LIBDIR@" ABSOLUTE)
  add_library(paddock::paddock @KIND@ IMPORTED)
  set_target_properties(paddock::paddock PROPERTIES
    IMPORTED_LOCATION "${paddock_libdir}/@FILE@"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${paddock_prefix}/@INCLUDEDIR@"
    INTERFACE_LINK_LIBRARIES "@NEEDS@")
  unset(paddock_libdir)
  unset(paddock_prefix)
endif()

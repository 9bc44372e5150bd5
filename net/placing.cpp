// SPDX-License-Identifier: BSL-1.0
// placing: an exception of a thread model as a reason.
#include <quintet/net/placing.hpp>

#include <boost/system/system_error.hpp>

#include <new>
#include <system_error>

namespace quintet::detail {

error_code reason_of_exception() noexcept {
  try {
    throw;
  } catch (const boost::system::system_error& e) {
    return e.code();
  } catch (const std::system_error& e) {  // from std::thread
    return e.code();
  } catch (const std::bad_alloc&) {
    return make_error_code(boost::system::errc::not_enough_memory);
  } catch (...) {
    return errc::not_placed;
  }
}

}  // namespace quintet::detail

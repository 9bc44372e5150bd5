// SPDX-License-Identifier: BSL-1.0
// unix_path: binds a Unix socket; handles stale files, races and file modes.
#include "unix_path.hpp"

#include "../../base/error.hpp"
#include "file_descriptor.hpp"
#include "freed_address.hpp"

#include <boost/system/system_error.hpp>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quintet {
namespace {

[[noreturn]] void refuse(int error, const address& at, const std::string& why) {
  throw_system_error(error, "cannot listen on " + at.to_string() + why);
}

/// Prevents two servers of this library from both finding a file stale: held from that check until listen(). Locks the
/// directory itself, so no lock file remains. Any reader of the directory can hold the lock for ever, so this waits a
/// second at most. Without the lock, only servers that start at the same instant can collide.
class directory_lock {
 public:
  explicit directory_lock(const std::string& path)
      : directory_(::open(path.substr(0, path.rfind('/') + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int tries = 0; directory_ && tries < 100 && ::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }

 private:
  file_descriptor directory_;
};

bool somebody_listens(const address& at) {
  const file_descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) refuse(errno, at, "");
  return ::connect(probe.get(), at.data(), at.size()) == 0 || (errno != ECONNREFUSED && errno != ENOENT);
}

// Returns false if another socket has the path. A server that ends meanwhile removes its file at any of these steps.
bool try_to_bind(int socket, const address& at, const std::string& path) {
  if (::bind(socket, at.data(), at.size()) == 0) return true;
  if (errno != EADDRINUSE) refuse(errno, at, "");
  struct stat found{};
  const bool exists = ::lstat(path.c_str(), &found) == 0;
  if (exists && !S_ISSOCK(found.st_mode)) refuse(EADDRINUSE, at, ": the path exists and is not a socket");
  if (exists && somebody_listens(at)) return false;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) refuse(errno, at, ": cannot remove the stale socket file");
  if (::bind(socket, at.data(), at.size()) == 0) return true;
  if (errno != EADDRINUSE) refuse(errno, at, "");
  return false;
}

void bind_in_place_of_the_dead(int socket, const address& at, const std::string& path) {
  if (!becomes_free([&] { return try_to_bind(socket, at, path); })) refuse(EADDRINUSE, at, "");
}

// In a directory that others may write to, somebody may have replaced the file. chmod of the path would follow a
// symbolic link to any file of this process's user.
file_descriptor open_what_was_made(const address& at, const std::string& path, struct stat& made) {
  file_descriptor file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file || ::fstat(file.get(), &made) != 0) refuse(errno, at, "");
  if (!S_ISSOCK(made.st_mode)) refuse(EPERM, at, ": another process has replaced the socket file");
  return file;
}

// Linux before 6.6 has no fchmod for O_PATH descriptors.
void set_mode(const file_descriptor& file, mode_t mode, const address& at) {
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  if (::chmod(name.c_str(), mode) != 0) refuse(errno, at, ": cannot set the mode of the socket file");
}

}  // namespace

unix_path::unix_path(int socket, const address& at, const listener_settings& how) : unix_path() {
  const std::string path(at.path());
  const directory_lock lock(path);
  // bind() copies this mode, less the umask, to the file. So the mode is never wider than requested.
  if (how.mode && ::fchmod(socket, *how.mode) != 0) refuse(errno, at, ": cannot set the mode of the socket file");
  bind_in_place_of_the_dead(socket, at, path);
  struct stat made{};
  const file_descriptor file = open_what_was_made(at, path, made);
  path_ = path;  // from here on the destructor removes the file, also if a later call throws
  device_ = made.st_dev;
  inode_ = made.st_ino;
  if (how.mode && (made.st_mode & 07777) != *how.mode) set_mode(file, *how.mode, at);
  if (::listen(socket, how.backlog) != 0) refuse(errno, at, "");
}

unix_path::unix_path(unix_path&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}

unix_path::~unix_path() {
  struct stat now{};
  if (!path_.empty() && ::lstat(path_.c_str(), &now) == 0 && now.st_dev == device_ && now.st_ino == inode_)
    ::unlink(path_.c_str());
}

}  // namespace quintet

// For tests: a binary cache on 127.0.0.1 as workers see one. What is PUT is staged at once, signed with a key
// of its own; faults are ordered by the test.
#ifndef HYDRANT_WORKER_PUSH_TEST_CACHE_H_
#define HYDRANT_WORKER_PUSH_TEST_CACHE_H_

#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/mutex.h"
#include "lib/base/unique_fd.h"
#include "lib/nix/signing_key.h"

namespace hydrant::worker {

class TestCache {
 public:
  struct Request {
    std::string method, path;
    std::map<std::string, std::string> headers;  // names in lower case
  };
  struct Fault {
    std::string method, part;  // of the path
    int times = 1;
    int code = 500;            // the answer; 0: the connection is dropped
    bool before_body = false;  // answer instead of "100 Continue"
    bool truncate = false;     // a GET announces all and sends half
    std::string extra_header;  // "Retry-After: 1"
    std::string text;
  };

  TestCache();
  ~TestCache();

  std::string url() const;
  const nix::SecretKey& key() const { return key_; }

  void Order(Fault fault);
  void Heal();  // no more faults
  void Put(const std::string& path, std::string bytes);
  void Remove(const std::string& path);
  std::optional<std::string> File(const std::string& path) const;
  // "PUT /x" in order of arrival.
  std::vector<std::string> Seen() const;
  Request Last(const std::string& method) const;
  // True: a narinfo whose references are not all staged is answered 409.
  void DemandReferences();

 private:
  void Accept();
  void Serve(int fd);
  bool Answer(int fd, Request& request, std::string& buffered);
  std::optional<Fault> FaultFor(const Request& request);
  int Store(const std::string& path, const std::string& body, std::string& text);

  nix::SecretKey key_ = nix::SecretKey::Generate("staged-test-1");
  UniqueFd listener_;
  int port_ = 0;
  mutable Mutex mu_;
  std::map<std::string, std::string> files_ ABSL_GUARDED_BY(mu_);
  std::list<Fault> faults_ ABSL_GUARDED_BY(mu_);
  std::vector<Request> seen_ ABSL_GUARDED_BY(mu_);
  std::vector<int> open_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
  bool demand_references_ ABSL_GUARDED_BY(mu_) = false, ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread acceptor_;
};

}  // namespace hydrant::worker

#endif  // HYDRANT_WORKER_PUSH_TEST_CACHE_H_

#include "daemon/serve/http_upload.h"

#include <algorithm>
#include <utility>

namespace hydrant {
namespace {

constexpr size_t kBlock = 128 << 10;

}  // namespace

UploadPool::UploadPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

UploadPool::~UploadPool() { Stop(); }

void UploadPool::Schedule(std::shared_ptr<UploadStream> stream) {
  MutexLock lock(mu_);
  if (stopped_) return;
  ready_.push_back(std::move(stream));
  changed_.NotifyOne();
}

void UploadPool::Stop() {
  {
    MutexLock lock(mu_);
    stopped_ = true;
    ready_.clear();
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void UploadPool::Work() {
  while (true) {
    std::shared_ptr<UploadStream> stream;
    {
      MutexLock lock(mu_);
      while (ready_.empty() && !stopped_) changed_.Wait(mu_);
      if (stopped_) return;
      stream = std::move(ready_.front());
      ready_.pop_front();
    }
    if (stream->Run()) Schedule(std::move(stream));
  }
}

size_t UploadStream::Feed(std::string_view bytes) {
  MutexLock lock(mu_);
  if (cancelled_) return 0;
  const size_t taken = std::min(bytes.size(), kRing - held_);
  for (std::string_view rest = bytes.substr(0, taken); !rest.empty();) {
    if (blocks_.empty() || blocks_.back().size() == kBlock) blocks_.emplace_back().reserve(kBlock);
    const std::string_view part = rest.substr(0, kBlock - blocks_.back().size());
    blocks_.back().append(part);
    rest.remove_prefix(part.size());
  }
  held_ += taken;
  if (taken < bytes.size()) {
    waiting_ = true;
    suspend_();
  }
  ScheduleLocked();
  return taken;
}

std::optional<HttpResponse> UploadStream::End() {
  MutexLock lock(mu_);
  if (cancelled_) return std::nullopt;
  if (response_) return std::exchange(response_, std::nullopt);
  ended_ = true;
  waiting_ = true;
  suspend_();
  ScheduleLocked();
  return std::nullopt;
}

void UploadStream::Cancel() {
  std::unique_ptr<BodyReceiver> receiver;
  MutexLock lock(mu_);
  cancelled_ = true;
  blocks_.clear();
  if (!running_) receiver = std::move(receiver_);
  WakeLocked();
}

bool UploadStream::cancelled() const {
  MutexLock lock(mu_);
  return cancelled_;
}

void UploadStream::ScheduleLocked() {
  if (running_) return;
  running_ = true;
  pool_.Schedule(shared_from_this());
}

void UploadStream::WakeLocked() {
  if (!waiting_) return;
  waiting_ = false;
  resume_();
}

bool UploadStream::Run() {
  for (size_t done = 0; done < kTurn;) {
    std::string block;
    bool finish = false;
    {
      MutexLock lock(mu_);
      if (cancelled_) {
        receiver_.reset();
        running_ = false;
        return false;
      }
      if (!blocks_.empty()) {
        block = std::move(blocks_.front());
        blocks_.pop_front();
      } else if (ended_) {
        finish = true;
      } else {
        running_ = false;
        return false;
      }
    }
    if (finish) {
      HttpResponse response = receiver_->Finish();
      receiver_.reset();
      MutexLock lock(mu_);
      response_ = std::move(response);
      running_ = false;
      WakeLocked();
      return false;
    }
    receiver_->Write(block);
    done += block.size();
    MutexLock lock(mu_);
    held_ -= block.size();
    if (!ended_ && held_ <= kRing / 2) WakeLocked();
  }
  return true;
}

}  // namespace hydrant

#include "daemon/serve/cache_http_upload.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/base/log.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/store_path.h"

namespace hydrant {
namespace {

constexpr size_t kMaxNarInfo = 1 << 20;  // bytes, encoded and decoded

class NarReceiver final : public BodyReceiver {
 public:
  NarReceiver(std::unique_ptr<NarIntake::Upload> upload, bool by_worker)
      : upload_(std::move(upload)), by_worker_(by_worker) {}
  void Write(std::string_view bytes) override {
    if (!status_.ok()) return;
    status_ = upload_->Write(bytes);
    if (!status_.ok()) upload_.reset();
  }
  HttpResponse Finish() override {
    if (status_.ok()) status_ = upload_->Finish().status();
    return status_.ok() ? TextResponse(201, "verified and kept")
                        : UploadFault(status_, /*late=*/true, by_worker_);
  }

 private:
  std::unique_ptr<NarIntake::Upload> upload_;
  const bool by_worker_;
  absl::Status status_;
};

class SmallBody : public BodyReceiver {
 public:
  void Write(std::string_view bytes) override {
    if (body_.size() <= kMaxNarInfo) body_ += bytes;
  }
  HttpResponse Finish() override {
    return body_.size() > kMaxNarInfo ? TextResponse(413, "the body is larger than 1 MiB") : Answer(body_);
  }

 private:
  virtual HttpResponse Answer(const std::string& body) = 0;
  std::string body_;
};

// Keeps at most kMaxNarInfo bytes and fails beyond.
class BoundedText final : public Sink {
 public:
  absl::Status Write(std::string_view bytes) override {
    if (text.size() + bytes.size() > kMaxNarInfo)
      return absl::InvalidArgumentError("the narinfo decodes to more than 1 MiB");
    text += bytes;
    return absl::OkStatus();
  }
  std::string text;
};

absl::StatusOr<std::string> DecodeBody(const std::string& body, const std::string& encoding) {
  if (encoding.empty() || encoding == "identity") return body;
  BoundedText out;
  HYDRANT_ASSIGN_OR_RETURN(auto decoder, nix::Decompressor(encoding, out));
  if (absl::Status written = decoder->Write(body); !written.ok()) return written;
  HYDRANT_RETURN_IF_ERROR(decoder->Finish());
  return out.text;
}

class NarInfoReceiver final : public SmallBody {
 public:
  explicit NarInfoReceiver(NarInfoUpload upload) : upload_(std::move(upload)) {}

 private:
  HttpResponse Answer(const std::string& body) override {
    const absl::Status status = Take(body);
    return status.ok() ? TextResponse(201, upload_.lease ? "staged" : "published")
                       : UploadFault(status, /*late=*/true, upload_.lease.has_value());
  }
  absl::Status Take(const std::string& body) {
    const absl::StatusOr<std::string> text = DecodeBody(body, upload_.content_encoding);
    if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
    HYDRANT_ASSIGN_OR_RETURN(const nix::NarInfo info, nix::ParseNarInfo(*text));
    if (info.store_path.hash_part() != upload_.hash_part) {
      return absl::InvalidArgumentError(
          absl::StrCat("the narinfo is of ", info.store_path.path(), ", not of ", upload_.hash_part));
    }
    if (!upload_.lease) return upload_.publisher.PublishByHand(info);
    HYDRANT_RETURN_IF_ERROR(
        upload_.rights.MayUpload(upload_.lease->attempt, upload_.lease->token, info.store_path.path()));
    return upload_.publisher.Stage(info, upload_.lease->attempt);
  }
  const NarInfoUpload upload_;
};

class CacheInfoReceiver final : public SmallBody {
  HttpResponse Answer(const std::string& body) override {
    const std::string expected = absl::StrCat("StoreDir: ", AbslView(nix::kStoreDir));
    for (const absl::string_view line : absl::StrSplit(body, '\n')) {
      if (absl::StripAsciiWhitespace(line) == expected) return TextResponse(200, "as it is here");
    }
    return TextResponse(403, absl::StrCat("nix-cache-info is the daemon's; it says ", expected));
  }
};

std::optional<int64_t> PositiveHeader(const HttpRequest& request, std::string_view name) {
  int64_t value = 0;
  const auto header = request.Header(name);
  if (!header || !absl::SimpleAtoi(AbslView(*header), &value) || value <= 0) return std::nullopt;
  return value;
}

}  // namespace

absl::StatusOr<UploadLease> LeaseOf(const HttpRequest& request) {
  const auto attempt = PositiveHeader(request, "Hydrant-Attempt"),
             token = PositiveHeader(request, "Hydrant-Token");
  if (!attempt || !token) {
    return absl::PermissionDeniedError(
        "a worker uploads for a lease: the headers Hydrant-Attempt and Hydrant-Token must name it");
  }
  return UploadLease{AttemptId{*attempt}, LeaseToken{*token}};
}

HttpResponse UploadFault(const absl::Status& status, bool late, bool by_worker) {
  const std::string_view message = StdView(status.message());
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return TextResponse(422, message);
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return TextResponse(403, message);
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return TextResponse(409, message);
    default:
      break;
  }
  Log(LogLevel::kError, "upload failed", {{"error", status.ToString()}});
  if (late && !by_worker)
    return TextResponse(409, absl::StrCat("not kept, send it again later: ", AbslView(message)));
  HttpResponse response = TextResponse(503, message);
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

std::unique_ptr<BodyReceiver> ReceiveNar(std::unique_ptr<NarIntake::Upload> upload, bool by_worker) {
  return std::make_unique<NarReceiver>(std::move(upload), by_worker);
}

std::unique_ptr<BodyReceiver> ReceiveNarInfo(NarInfoUpload upload) {
  return std::make_unique<NarInfoReceiver>(std::move(upload));
}

std::unique_ptr<BodyReceiver> ReceiveCacheInfo() { return std::make_unique<CacheInfoReceiver>(); }

}  // namespace hydrant

// Values of the daemon's protocol: the first byte of an input is the kind of value, the second the version,
// the third the features, the rest the bytes. What is read and written again reads the same.
#include "lib/nix/daemon_encoding.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/targets.h"

namespace hydrant::fuzz {
namespace {

using nix::DaemonProtocol;
using nix::WireBytes;
using nix::WireWriter;

constexpr size_t kHeader = 3;

DaemonProtocol Protocol(std::string_view input) {
  const uint64_t versions = nix::kProtocolMinor - nix::kOldestProtocolMinor + 1;
  DaemonProtocol protocol{.minor =
                              nix::kOldestProtocolMinor + static_cast<unsigned char>(input[1]) % versions};
  unsigned bit = 1;
  for (const std::string& feature : nix::OurFeatures()) {
    if (protocol.minor >= 38 && (static_cast<unsigned char>(input[2]) & bit) != 0)
      protocol.features.insert(feature);
    bit <<= 1;
  }
  return protocol;
}

template <typename Read, typename Put>
void Judge(std::string_view bytes, Read read, Put put) {
  WireBytes in(bytes);
  const auto value = read(in);
  if (!value.ok()) {
    Demand(value.status() == in.broken(), "what cannot be read breaks the reader", value.status().ToString());
    const bool expected = absl::IsDataLoss(value.status()) || absl::IsUnavailable(value.status());
    Demand(expected, "bad bytes are DataLoss, too few Unavailable", value.status().ToString());
    return;
  }
  WireWriter out;
  put(out, *value);
  WireBytes written(out.bytes());
  const auto again = read(written);
  DemandOk(again.status(), "what is written can be read");
  Demand(*again == *value, "what is written reads the same");
  Demand(!written.has_unread(), "all that is written is read");
}

void JudgePaths(std::string_view bytes, const DaemonProtocol& protocol) {
  Judge(
      bytes, [&](WireBytes& in) { return nix::ReadDerivedPaths(in, protocol); },
      [&](WireWriter& out, const auto& paths) {
        DemandOk(nix::PutDerivedPaths(out, protocol, paths), "paths that were read can be written");
      });
}

void JudgeBuilds(char kind, std::string_view bytes, const DaemonProtocol& protocol) {
  if (kind == 0) {
    Judge(
        bytes,
        [&](WireBytes& in) {
          auto result = nix::ReadBuildResult(in, protocol);
          // 15 is read and never written.
          if (result.ok() && result->status == nix::BuildStatus::kHashMismatch) {
            result->status = nix::BuildStatus::kOutputRejected;
          }
          return result;
        },
        [&](WireWriter& out, const auto& result) { nix::PutBuildResult(out, protocol, result); });
  } else {
    WireBytes in(bytes);
    for (const auto& keyed :
         nix::ReadKeyedBuildResults(in, protocol).value_or(std::vector<nix::KeyedBuildResult>())) {
      Demand(!nix::BuildStatusName(keyed.result.status).empty(), "a status has a name");
      keyed.result.plain_error();
    }
  }
}

void JudgeGarbage(char kind, std::string_view bytes, const DaemonProtocol& protocol) {
  if (kind == 0) {
    Judge(bytes, nix::ReadGarbageRoots, nix::PutGarbageRoots);
  } else if (kind == 1) {
    Judge(bytes, nix::ReadGarbageResult, nix::PutGarbageResult);
  } else {
    WireBytes in(bytes);
    nix::ReadGarbageRequest(in, protocol).status().IgnoreError();
  }
}

}  // namespace

void FuzzDaemonValues(std::string_view input) {
  if (input.size() < kHeader) return;
  const DaemonProtocol protocol = Protocol(input);
  const std::string_view bytes = input.substr(kHeader);
  const nix::DerivationOutputId id{"sha256:0", "out"};
  switch (static_cast<unsigned char>(input[0]) % 11) {
    case 0:
    case 1:
      return JudgeBuilds(static_cast<char>(static_cast<unsigned char>(input[0]) % 11), bytes, protocol);
    case 2:
      return Judge(bytes, nix::ReadPathInfo, nix::PutPathInfo);
    case 3:
      return Judge(bytes, nix::ReadBasicDerivation, nix::PutBasicDerivation);
    case 4:
      return JudgePaths(bytes, protocol);
    case 5:
      return Judge(bytes, nix::ReadMissingPaths, nix::PutMissingPaths);
    case 6:
      return Judge(bytes, nix::ReadSubstitutablePaths, nix::PutSubstitutablePaths);
    case 7:
      return Judge(
          bytes, [&](WireBytes& in) { return nix::ReadFoundRealisation(in, protocol, id); },
          [&](WireWriter& out, const auto& realisation) {
            nix::PutFoundRealisation(out, protocol, realisation);
          });
    default:
      return JudgeGarbage(static_cast<char>(static_cast<unsigned char>(input[0]) % 11 - 8), bytes, protocol);
  }
}

}  // namespace hydrant::fuzz

#include <unistd.h>

#include <cstdlib>

#include "lib/base/fd_stream.h"
#include "lib/base/status_macros.h"
#include "lib/nix/compression.h"
#include "lib/nix/positioned_source.h"
#include "lib/nix/zstd_file_decoder.h"
#include "tests/bench/nix/verbs.h"

namespace hydrant::nix::bench {
namespace {

absl::Status Through(FinishingSink& codec) {
  FdSource in(STDIN_FILENO, "the input");
  HYDRANT_RETURN_IF_ERROR(Copy(in, codec).status());
  return codec.Finish();
}

}  // namespace

absl::Status Compress(const Arguments& arguments) {
  FdSink out(STDOUT_FILENO, "the output");
  HYDRANT_ASSIGN_OR_RETURN(const auto codec, ZstdCompressor(out, std::atoi(arguments[0].c_str()),
                                                            std::atoi(arguments[1].c_str())));
  return Through(*codec);
}

absl::Status Decompress(const Arguments& arguments) {
  FdSink out(STDOUT_FILENO, "the output");
  if (const int threads = std::atoi(arguments[1].c_str()); threads > 1) {
    HYDRANT_ASSIGN_OR_RETURN(const FileBytes file, FileBytes::Of(STDIN_FILENO));
    return DecodeZstdFile(file, out, {.threads = threads});
  }
  HYDRANT_ASSIGN_OR_RETURN(const auto codec, Decompressor(arguments[0], out));
  return Through(*codec);
}

}  // namespace hydrant::nix::bench

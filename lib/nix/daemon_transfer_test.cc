#include "lib/nix/daemon_client_fixture.h"

namespace hydrant::nix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(DaemonClientTest, DerivationTextGetsTheSamePathAsFromNix) {
  const std::string drv = store_.Instantiate(ProbeExpression("echo > $out")).value();
  const TestStore other;
  auto client = other.Connect().value();
  EXPECT_EQ(client->AddTextToStore("probe.drv", ReadFile(store_.RealPath(drv)).value(), {}).value(), drv);
}

// Copies the closure of `path` as a worker does: references first, from one daemon into another.
void CopyClosure(DaemonClient& from, DaemonClient& to, const std::string& path) {
  const std::vector<PathInfo> closure = from.QueryClosure({path}).value();
  for (const PathInfo& info : closure) {
    StringSink nar;
    ASSERT_TRUE(from.NarFromPath(info.path, nar).ok());
    StringSource source(nar.value);
    const absl::Status added = to.AddToStoreNar(info, source);
    ASSERT_TRUE(added.ok()) << added;
  }
}

TEST_F(DaemonClientTest, ClosureCopiedToAnotherStoreIsEnoughToBuildOnIt) {
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  const std::string first = OutPath();
  ASSERT_TRUE(
      Build(ProbeExpression("read x < ${" + ProbeExpression("echo one > $out") + "}; echo $x $out > $out"))
          .ok());
  const std::string top_drv = drv_;
  const TestStore other;
  auto worker = other.Connect().value();
  CopyClosure(*client_, *worker, first);
  const auto result = worker->BuildDerivation(top_drv, ResolveInputs(store_, top_drv), nullptr);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->status, BuildStatus::kBuilt) << result->error;
  EXPECT_FALSE(FileExists(other.RealPath(top_drv))) << "no .drv is needed";
  EXPECT_EQ(worker->QueryPathInfo(OutPath())->nar_hash, client_->QueryPathInfo(OutPath())->nar_hash);
}

TEST_F(DaemonClientTest, WrongArchiveIsRefusedAndTheConnectionGoesOn) {
  const std::string a = client_->AddTextToStore("a", "1", {}).value();
  PathInfo info = client_->QueryPathInfo(a).value();
  StringSink nar;
  ASSERT_TRUE(client_->NarFromPath(a, nar).ok());
  const TestStore other;
  auto worker = other.Connect().value();
  PathInfo wrong = info;
  wrong.nar_hash.bytes[0] ^= 1;
  StringSource whole(nar.value), half(std::string_view(nar.value).substr(0, 50)), whole_again(nar.value);
  EXPECT_THAT(std::string(worker->AddToStoreNar(wrong, whole).message()), HasSubstr("hash mismatch"));
  EXPECT_FALSE(worker->AddToStoreNar(info, half).ok());
  EXPECT_FALSE(worker->IsValidPath(a).value());
  EXPECT_TRUE(worker->AddToStoreNar(info, whole_again).ok());
  EXPECT_TRUE(worker->IsValidPath(a).value());
}

TEST_F(DaemonClientTest, BrokenSourceAddsNothingAndItsErrorComesBack) {
  PathInfo info = client_->QueryPathInfo(client_->AddTextToStore("a", "1", {}).value()).value();
  const TestStore other;
  auto worker = other.Connect().value();
  struct Broken final : Source {
    absl::StatusOr<size_t> Read(std::span<char>) override { return absl::DataLossError("disk"); }
  } source;
  EXPECT_EQ(worker->AddToStoreNar(info, source).message(), "disk");
  EXPECT_FALSE(worker->IsValidPath(info.path).value());
}

TEST_F(DaemonClientTest, UnsignedArchiveIsRefusedWhenSignaturesAreChecked) {
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  PathInfo info = client_->QueryPathInfo(OutPath()).value();
  info.ultimate = false;
  StringSink nar;
  ASSERT_TRUE(client_->NarFromPath(info.path, nar).ok());
  const TestStore other;
  auto worker = other.Connect().value();
  StringSource source(nar.value);
  EXPECT_EQ(worker->AddToStoreNar(info, source, /*check_signatures=*/true).code(),
            absl::StatusCode::kPermissionDenied);
}

TEST_F(DaemonClientTest, BigFileCrossesInFrames) {
  ASSERT_TRUE(Build(ProbeExpression("i=0; while test $i -lt 20000; do echo "
                                    "012345678901234567890123456789012345678901234567890123456789; "
                                    "i=$((i+1)); done > $out"))
                  .ok());
  const TestStore other;
  auto worker = other.Connect().value();
  CopyClosure(*client_, *worker, OutPath());
  EXPECT_EQ(worker->QueryPathInfo(OutPath())->nar_size, client_->QueryPathInfo(OutPath())->nar_size);
}

TEST_F(DaemonClientTest, FullSinkStopsTheArchive) {
  struct Full final : Sink {
    absl::Status Write(std::string_view) override { return absl::ResourceExhaustedError("full"); }
  } sink;
  EXPECT_EQ(client_->NarFromPath(client_->AddTextToStore("a", "1", {}).value(), sink).message(), "full");
}

PathArchive ArchiveOf(PathInfo info, std::string nar) {
  struct Owner final : Source {
    explicit Owner(std::string bytes) : bytes(std::move(bytes)), source(this->bytes) {}
    absl::StatusOr<size_t> Read(std::span<char> buffer) override { return source.Read(buffer); }
    std::string bytes;
    StringSource source;
  };
  return {std::move(info), [nar] { return std::unique_ptr<Source>(std::make_unique<Owner>(nar)); }};
}

TEST_F(DaemonClientTest, ClosureCrossesInOneCall) {
  const std::string a = AddText("a", "1"), b = AddText("b", a, {a}), c = AddText("c", b, {b});
  std::vector<PathArchive> archives;
  const std::vector<PathInfo> closure = client_->QueryClosure({c}).value();
  for (const PathInfo& info : closure) archives.push_back(ArchiveOf(info, NarOf(info.path)));
  const TestStore other;
  auto reader = other.Connect().value();
  const absl::Status added = reader->AddMultipleToStore(archives);
  ASSERT_TRUE(added.ok()) << added;
  EXPECT_EQ(reader->QueryClosure({c})->size(), 3u);
  for (const std::string& path : {a, b, c}) EXPECT_TRUE(reader->VerifyPath(path).ok());
  EXPECT_TRUE(reader->AddMultipleToStore({}).ok());
}

TEST_F(DaemonClientTest, ShortArchiveAmongManyIsNamedAndThoseBeforeItAreIn) {
  const std::string a = AddText("a", "1"), b = AddText("b", "2");
  std::vector<PathArchive> archives = {ArchiveOf(client_->QueryPathInfo(a).value(), NarOf(a)),
                                       ArchiveOf(client_->QueryPathInfo(b).value(), NarOf(b).substr(8))};
  const TestStore other;
  auto reader = other.Connect().value();
  EXPECT_FALSE(reader->AddMultipleToStore(archives).ok());
  EXPECT_TRUE(reader->IsValidPath(a).value());
  EXPECT_FALSE(reader->IsValidPath(b).value());
  archives[1].open = [] { return absl::DataLossError("disk"); };
  EXPECT_THAT(std::string(reader->AddMultipleToStore(archives).message()), HasSubstr(b + ": disk"));
}

TEST_F(DaemonClientTest, SourcesGetTheSamePathsAsFromNix) {
  const std::string file = store_.dir() / "file";
  ASSERT_TRUE(WriteFileAtomically(file, "some source").ok());
  StringSource flat("some source");
  const PathInfo by_bytes = client_->AddToStore("file", ContentMethod::kFlat, flat).value();
  const auto fixed = store_.Nix({"nix-store", "--add-fixed", "sha256", file});
  EXPECT_EQ(by_bytes.path + "\n", fixed->out) << fixed->err;
  const std::string bytes = NarOf(by_bytes.path);
  StringSource tree(bytes);
  const PathInfo by_archive = client_->AddToStore("file", ContentMethod::kRecursive, tree).value();
  EXPECT_EQ(by_archive.path + "\n", store_.Nix({"nix-store", "--add", file})->out);
  EXPECT_EQ(by_archive.nar_hash, by_bytes.nar_hash);
  EXPECT_THAT(by_archive.content_address, HasSubstr("fixed:r:sha256:"));
}

TEST_F(DaemonClientTest, BrokenSourceOfATextEndsTheConnection) {
  struct Broken final : Source {
    absl::StatusOr<size_t> Read(std::span<char> buffer) override {
      if (std::exchange(told, true)) return absl::DataLossError("disk");
      buffer[0] = 'x';
      return size_t{1};
    }
    bool told = false;
  } source;
  EXPECT_EQ(client_->AddToStore("text", ContentMethod::kText, source).status().message(), "disk");
  EXPECT_EQ(client_->IsValidPath(absent_).status().message(), "disk")
      << "the connection is of no further use";
}

TEST_F(DaemonClientTest, SignaturesAndLogsAreAdded) {
  ASSERT_TRUE(Build(ProbeExpression("echo one > $out")).ok());
  const std::string signature = "key-1:" + std::string(86, 'A') + "==";
  ASSERT_TRUE(client_->AddSignatures(OutPath(), {signature}).ok());
  EXPECT_THAT(client_->QueryPathInfo(OutPath())->signatures, ElementsAre(signature));
  const std::string other = store_.Instantiate(ProbeExpression("echo two > $out")).value();
  StringSource log("a line\nanother\n");
  const absl::Status added = client_->AddBuildLog(other, log);
  ASSERT_TRUE(added.ok()) << added;
  EXPECT_EQ(store_.Nix({"nix-store", "--read-log", other})->out, "a line\nanother\n");
}

}  // namespace
}  // namespace hydrant::nix

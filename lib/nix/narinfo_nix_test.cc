// What our reader of narinfos accepts, refuses and understands, against the Nix of this machine: some hundred
// changed narinfos in a file:// cache, asked for through one daemon process and one `nix path-info`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "lib/base/file.h"
#include "lib/base/status_macros.h"
#include "lib/nix/narinfo.h"
#include "lib/nix/test_store.h"

namespace hydrant::nix {
namespace {

constexpr char kHash[] = "sha256:0yzhigwjl6bws649vcs2asa4lbs8hg93hyix187gc7s7a74w5h80";
constexpr char kReference[] = "3n58xw4373jp0ljirf06d8077j15pc4j-glibc-2.37-8";

// kByVersion: versions of Nix differ.
enum class Expected { kAsNix, kStricter, kByVersion };

struct Change {
  std::string from, to;  // replaced everywhere; from "" stands for the end of the text
  Expected expected = Expected::kAsNix;
};

const Sha256Digest& NarHash() {
  static const Sha256Digest digest = Sha256Digest::Parse(kHash).value();
  return digest;
}
std::string Base16() { return NarHash().ToBase16(); }
std::string Zeros(size_t length) { return std::string(length, '0'); }
std::string Base64() { return NarHash().ToSri().substr(7); }

std::vector<Change> MissingRepeatedAndEmptyFields() {
  return {
      {"StorePath", "Other"},
      {"URL", "Other"},
      {"Compression", "Other"},
      {"FileHash", "Other"},
      {"FileSize", "Other"},
      {"NarHash", "Other"},
      {"NarSize", "Other"},
      {"References", "Other"},
      {"Deriver", "Other"},
      {"", "URL: second\n"},
      {"", "NarSize: 7\nNarSize: 8\n"},
      {"", "NarSize: 0\n"},
      {"", "Compression: br\n"},
      {"", "Deriver: unknown-deriver\n"},
      {"", absl::StrCat("References: ", kReference, "\n")},
      {"", "StorePath: /nix/store/00000000000000000000000000000000-other\n"},
      {"References: 3", "References: \nReferences: 3"},
      {"Deriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-x.drv", "Deriver: "},
      {"URL: nar/x", "URL: "},
      {"Compression: xz", "Compression: "},
      {"Compression: xz", "Compression: rar"},
      {"System", "Sys tem"},
      {"", "Sig: \n"},
      {"", "Sig: garbage without a colon\nSig: b:c\nSig: b:c\nSig: a:b\n"},
      {"", ": no key\n"},
      {"", "Key:x\n"},
      {"", "Key: \r\n"},
      {"", absl::StrCat("Nul", std::string(1, '\0'), ": x", std::string(1, '\0'), "y\n")},
  };
}

std::vector<Change> Numbers() {
  return {
      {"NarSize: 226488", "NarSize: 0"},
      {"NarSize: 226488", "NarSize: -1"},
      {"NarSize: 226488", "NarSize: -0"},
      {"NarSize: 226488", "NarSize: +5"},
      {"NarSize: 226488", "NarSize: ++5"},
      {"NarSize: 226488", "NarSize: 007"},
      {"NarSize: 226488", "NarSize: 0x10"},
      {"NarSize: 226488", "NarSize: 1e3"},
      {"NarSize: 226488", "NarSize: 12 "},
      {"NarSize: 226488", "NarSize:  12"},
      {"NarSize: 226488", "NarSize: 1,000"},
      {"NarSize: 226488", "NarSize: 9223372036854775807"},
      {"NarSize: 226488", "NarSize: 18446744073709551615"},
      {"NarSize: 226488", "NarSize: 18446744073709551616"},
      {"NarSize: 226488", "NarSize: \r226488"},
      {"NarSize: 226488", "NarSize: 226488\r"},
      {"NarSize: 226488", "NarSize:\t226488"},
      {"FileSize: 50184", "FileSize: 0"},
      {"FileSize: 50184", "FileSize: "},
      {"FileSize: 50184", "FileSize: -5"},
      {"FileSize: 50184", "FileSize: 50184x"},
  };
}

std::vector<Change> Hashes() {
  const std::string base16 = Base16(), base64 = Base64();
  const std::string nar_hash = absl::StrCat("NarHash: ", kHash);
  return {
      {nar_hash, "NarHash: sha256:" + base16},
      {nar_hash, "NarHash: sha256:" + absl::AsciiStrToUpper(base16)},
      {nar_hash, "NarHash: sha256:" + base64},
      {nar_hash, "NarHash: sha256-" + base64},
      {nar_hash, "NarHash: sha256-" + base64.substr(0, 43)},
      {nar_hash, "NarHash: sha256:" + base64.substr(0, 43)},
      {nar_hash, "NarHash: sha256-" + base64 + "="},
      {nar_hash, "NarHash: sha256-" + base64 + "rubbish"},
      {nar_hash, "NarHash: sha256-" + base64.substr(0, 42) + "B="},
      {nar_hash, "NarHash: sha256-" + base64.substr(0, 42) + "*="},
      {nar_hash, "NarHash: sha256-" + base16},
      {nar_hash, absl::StrCat("NarHash: ", kHash + 7)},
      {nar_hash, "NarHash: " + base16},
      {nar_hash, "NarHash: sha256:" + base16.substr(1)},
      {nar_hash, "NarHash: sha256:e" + std::string(51, '0')},
      {nar_hash, "NarHash: sha256:z" + std::string(51, '0')},
      {nar_hash, "NarHash: sha256:1" + std::string(51, '0')},
      {nar_hash, "NarHash: SHA256:" + base16},
      {nar_hash, "NarHash: sha3:" + base16},
      {nar_hash, "NarHash: sha256: " + base16},
      {nar_hash, "NarHash: "},
      {nar_hash, "NarHash: sha256:"},
      {"FileHash: sha256:", "FileHash: md5:d41d8cd98f00b204e9800998ecf8427e\nOther: "},
      {"FileHash: sha256:", "FileHash: md5:xyz\nOther: "},
      {"FileHash: sha256:", "FileHash: sha512:" + Zeros(128) + "\nOther: "},
      {"FileHash: sha256:", "FileHash: "},
  };
}

std::vector<Change> ReferencesAndDerivers() {
  return {
      {"References: ", "References:  "},
      {kReference, absl::StrCat(kReference, "   ", kReference)},
      {kReference, absl::StrCat(kReference, " ")},
      {kReference, absl::StrCat("/nix/store/", kReference)},
      {kReference, absl::StrCat(kReference, "\t")},
      {kReference, absl::StrCat(kReference, "\r")},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4-glibc"},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-"},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j"},
      {kReference, "en58xw4373jp0ljirf06d8077j15pc4j-x"},
      {kReference, "3N58xw4373jp0ljirf06d8077j15pc4j-x"},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-" + Zeros(211)},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-" + Zeros(212)},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-a+b-c.d_e?f=g"},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-a~b"},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-\xC3\xA9"},
      {absl::StrCat("References: ", kReference), "References: "},
      {"-x.drv", "-x"},
      {"Deriver: ib3", "Deriver: /nix/store/ib3"},
      {"Deriver: ib3", "Deriver:  ib3"},
      {"Deriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-x.drv", "Deriver: unknown-deriver"},
  };
}

std::vector<Change> StorePaths() {
  return {
      {"StorePath: /nix/store/", "StorePath: "},
      {"StorePath: /nix/store/", "StorePath: //nix/./store///"},
      {"StorePath: /nix/store/", "StorePath: /nix/x/../store/"},
      {"StorePath: /nix/store/", "StorePath: /nix/stores/"},
      {"StorePath: /nix/store/", "StorePath: nix/store/"},
      {"StorePath: /nix/store/", "StorePath: /nix/store/sub/"},
      {"-name\n", "-name/\n"},
      {"-name\n", "-name/.\n"},
      {"-name\n", "-name/file\n"},
  };
}

std::vector<Change> ContentAddresses() {
  const std::string base16 = Base16(), base64 = Base64();
  return {
      {"", "CA: \n"},
      {"", "CA: \nCA: \n"},
      {"", "CA: fixed:r:sha256:" + base16 + "\n"},
      {"", "CA: fixed:r:sha256:" + base64 + "\n"},
      {"", absl::StrCat("CA: fixed:", kHash, "\n")},
      {"", absl::StrCat("CA: text:", kHash, "\n")},
      {"", absl::StrCat("CA: text:", kHash, "\nCA: \n")},
      {"", absl::StrCat("CA: text:r:", kHash, "\n")},
      {"", absl::StrCat("CA:  text:", kHash, "\n")},
      {"", "CA: text:md5:d41d8cd98f00b204e9800998ecf8427e\n", Expected::kByVersion},
      {"", "CA: fixed:md5:d41d8cd98f00b204e9800998ecf8427e\n"},
      {"", "CA: fixed:r:sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709\n"},
      {"", "CA: fixed:sha512:" + Zeros(128) + "\n"},
      {"", "CA: fixed:sha256-" + base64 + "\n"},
      {"", "CA: fixed:sha256:sha256-" + base64 + "\n"},
      {"", "CA: fixed:r:r:sha256:" + base16 + "\n"},
      {"", "CA: fixed\n"},
      {"", "CA: nonsense\n"},
  };
}

std::vector<Change> Lines() {
  return {
      {"NarSize: 226488\n", "NarSize: 226488\r\n"},
      {"\n", "\r\n"},
      {"", "no newline at the end"},
      {"", "Sig: a:b"},
  };
}

// Or accepts although it is of no use.
std::vector<Change> WhatNixMisreads() {
  const std::string nar_hash = absl::StrCat("NarHash: ", kHash);
  return {
      {"NarSize: 226488", "NarSize:2226488", Expected::kStricter},
      {"URL: nar/x", "URL:nnar/x", Expected::kStricter},
      {absl::StrCat("References: ", kReference), "References:\n", Expected::kStricter},
      {"", "Other:\nSig: a:b\n", Expected::kStricter},
      {"NarSize", "\nNarSize: 1\nNarSize", Expected::kStricter},
      {"URL", "a line without a colon\nX: y\nURL", Expected::kStricter},
      {"URL", "\nX: y\nURL", Expected::kStricter},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4j-.hidden", Expected::kStricter},
      {kReference, "3n58xw4373jp0ljirf06d8077j15pc4jxglibc", Expected::kStricter},
      {nar_hash, "NarHash: md5:d41d8cd98f00b204e9800998ecf8427e", Expected::kStricter},
  };
}

// All of them.
const std::vector<Change>& Changes() {
  static const std::vector<Change> changes = [] {
    std::vector<Change> all;
    for (const auto& some : {MissingRepeatedAndEmptyFields(), Numbers(), Hashes(), ReferencesAndDerivers(),
                             StorePaths(), ContentAddresses(), Lines(), WhatNixMisreads()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return changes;
}

struct Sample {
  std::string path, text, change;
  bool stricter = false, by_version = false;
};

Sample MakeSample(size_t number, const std::vector<const Change*>& changes) {
  Sample sample;
  std::string digits = absl::StrCat(number);
  sample.path = absl::StrCat("/nix/store/", std::string(32 - digits.size(), '0'), digits, "-name");
  sample.text =
      absl::StrCat("StorePath: ", sample.path,
                   "\nURL: nar/x\nCompression: xz\nFileHash: "
                   "sha256:1nhgq6wcggx0plpy4991h3ginj6hipsdslv4fd4zml1n707j26yq\nFileSize: 50184\nNarHash: ",
                   kHash, "\nNarSize: 226488\nReferences: ", kReference,
                   "\nDeriver: ib3sh3pcz10wsmavxvkdbayhqivbghlq-x.drv\nSystem: x86_64-linux\n");
  for (const Change* change : changes) {
    if (change->from.empty()) {
      sample.text += change->to;
    } else {
      sample.text = absl::StrReplaceAll(sample.text, {{change->from, change->to}});
    }
    sample.stricter |= change->expected == Expected::kStricter;
    sample.by_version |= change->expected == Expected::kByVersion;
    absl::StrAppend(&sample.change, "[", absl::CHexEscape(change->from.substr(0, 60)), "] -> [",
                    absl::CHexEscape(change->to.substr(0, 120)), "] ");
  }
  return sample;
}

// Every change alone, then pairs of those that Nix and we read alike.
std::vector<Sample> MakeSamples() {
  std::vector<Sample> samples = {MakeSample(0, {})};
  for (const Change& change : Changes()) samples.push_back(MakeSample(samples.size(), {&change}));
  std::mt19937 random(7);
  const auto pick = [&] { return &Changes()[random() % Changes().size()]; };
  while (samples.size() < 500) {
    const std::vector<const Change*> two = {pick(), pick()};
    if (two[0]->expected == Expected::kAsNix && two[1]->expected == Expected::kAsNix)
      samples.push_back(MakeSample(samples.size(), two));
  }
  return samples;
}

// Newer versions of Nix tell also what is not known, and what does not stand in a narinfo.
nlohmann::json WithoutNothing(nlohmann::json value) {
  for (const char* key : {"valid", "ultimate", "registrationTime", "storeDir"}) value.erase(key);
  for (const char* key : {"ca", "deriver", "downloadHash", "downloadSize", "signatures"}) {
    if (value.contains(key) && (value[key].is_null() || value[key].empty())) value.erase(key);
  }
  return value;
}

class NarInfoOfNixTest : public testing::Test {
 protected:
  NarInfoOfNixTest() : samples_(MakeSamples()) {
    for (const Sample& sample : samples_) {
      const std::string file = absl::StrCat(cache_ / sample.path.substr(11, 32), ".narinfo");
      if (!WriteFileAtomically(file, sample.text).ok()) abort();
    }
  }

  // Which samples Nix has an answer for.
  std::map<std::string, absl::Status> AskDaemon() {
    std::map<std::string, absl::Status> answers;
    std::unique_ptr<DaemonClient> client;
    for (const Sample& sample : samples_) {
      if (client == nullptr) {
        DaemonClient::Options options = store_.client_options();
        options.store_root = uri();
        options.env["NIX_REMOTE"] = uri();
        auto connected = DaemonClient::Connect(options);
        EXPECT_TRUE(connected.ok()) << connected.status();
        if (!connected.ok()) return answers;
        client = *std::move(connected);
      }
      absl::Status status = client->QueryPathInfo(sample.path).status();
      // An answer that our client does not understand is one, too.
      if (absl::IsDataLoss(status)) client.reset();
      if (absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) status = absl::OkStatus();
      answers[sample.path] = status;
    }
    return answers;
  }

  // By path.
  std::map<std::string, nlohmann::json> AskForValues(const std::vector<std::string>& paths) {
    std::vector<std::string> argv = {"nix", "path-info", "--json", "--store", uri()};
    argv.insert(argv.end(), paths.begin(), paths.end());
    const auto done = store_.Nix(argv);
    EXPECT_TRUE(done.ok() && done->status.ok()) << done.status() << (done.ok() ? done->err : "");
    std::map<std::string, nlohmann::json> values;
    if (!done.ok()) return values;
    const auto all = nlohmann::json::parse(done->out, nullptr, /*allow_exceptions=*/false);
    for (const auto& [key, value] : all.items()) {
      if (!value.is_object()) continue;
      const std::string path = all.is_array() ? value.value("path", "") : key;
      values[path] = WithoutNothing(value);
      values[path]["path"] = path;
    }
    return values;
  }

  std::string uri() const { return "file://" + cache_.path(); }

  TestStore store_;
  TestDir cache_;
  const std::vector<Sample> samples_;
};

// As `nix path-info --json` tells it.
nlohmann::json ValuesOf(const NarInfo& info) {
  nlohmann::json json = {{"path", info.store_path.path()},
                         {"narHash", info.nar_hash.ToSri()},
                         {"narSize", info.nar_size},
                         {"url", info.url},
                         {"references", nlohmann::json::array()}};
  for (const StorePath& reference : info.references) json["references"].push_back(reference.path());
  if (!info.deriver.empty()) json["deriver"] = absl::StrCat(AbslView(kStoreDir), "/", info.deriver);
  if (!info.content_address.empty()) json["ca"] = info.content_address;
  if (info.file_hash) json["downloadHash"] = info.file_hash->ToSri();
  if (info.file_size > 0) json["downloadSize"] = info.file_size;
  const std::set<std::string> signatures(info.signatures.begin(), info.signatures.end());
  if (!signatures.empty()) json["signatures"] = signatures;
  return json;
}

TEST_F(NarInfoOfNixTest, IsReadAsNixReadsIt) {
  const auto answers = AskDaemon();
  std::map<std::string, NarInfo> ours;
  std::vector<std::string> accepted;
  int refused = 0;
  for (const Sample& sample : samples_) {
    const absl::Status nix = answers.at(sample.path);
    auto parsed = ParseNarInfo(sample.text);
    if (parsed.ok() && parsed->store_path.path() != sample.path)
      parsed = absl::NotFoundError("of another path");
    if (sample.stricter) {
      EXPECT_TRUE(nix.ok() && absl::IsInvalidArgument(parsed.status()))
          << sample.change << nix << parsed.status();
      continue;
    }
    if (sample.by_version && parsed.ok() != nix.ok()) continue;
    EXPECT_EQ(parsed.ok(), nix.ok()) << sample.change << "\nwe: " << parsed.status() << "\nNix: " << nix;
    refused += nix.ok() ? 0 : 1;
    if (!parsed.ok() || !nix.ok()) continue;
    accepted.push_back(sample.path);
    ours[sample.path] = *parsed;
  }
  EXPECT_GT(accepted.size(), 100u);
  EXPECT_GT(refused, 100);
  const auto theirs = AskForValues(accepted);
  for (const Sample& sample : samples_) {
    const auto our = ours.find(sample.path);
    if (our == ours.end()) continue;
    nlohmann::json values = ValuesOf(our->second);
    ASSERT_TRUE(theirs.contains(sample.path)) << sample.change;
    nlohmann::json their = theirs.at(sample.path);
    if (their.contains("compression")) values["compression"] = our->second.compression;
    if (!our->second.file_hash) their.erase("downloadHash");
    EXPECT_EQ(values.dump(), their.dump()) << sample.change;
  }
}

}  // namespace
}  // namespace hydrant::nix

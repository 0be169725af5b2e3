// The two stores under one suite: a harness is one database, and opens stores on it.
#ifndef HYDRANT_TESTS_CONFORMANCE_STATE_STORE_HARNESS_H_
#define HYDRANT_TESTS_CONFORMANCE_STATE_STORE_HARNESS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/record/postgres_store.h"
#include "tests/conformance/describe_records.h"
#include "tests/conformance/sample_records.h"
#include "tests/conformance/test_postgres.h"
#include "tests/fakes/memory_store.h"

namespace hydrant {

struct MemoryHarness {
  static constexpr char kName[] = "Memory";
  std::unique_ptr<StateStore> Open() { return std::make_unique<MemoryStore>(database); }
  std::shared_ptr<MemoryDatabase> database = std::make_shared<MemoryDatabase>();
};

struct PostgresHarness {
  static constexpr char kName[] = "Postgres";
  std::unique_ptr<StateStore> Open() { return PostgresStore::Open({.url = url}).value(); }
  std::string url = FreshDatabase();
};

struct HarnessName {
  template <class Harness>
  static std::string GetName(int) {
    return Harness::kName;
  }
};
using StateStores = testing::Types<MemoryHarness, PostgresHarness>;

// A store on a database of the test's own, loaded.
template <class Harness>
class StateStoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_->Load().ok()) << store_->Load().status(); }

  // As after hydrantd's death.
  Recorded Reopen() {
    store_.reset();
    store_ = harness_.Open();
    return Load();
  }
  Recorded Load() {
    absl::StatusOr<Recorded> recorded = store_->Load();
    EXPECT_TRUE(recorded.ok()) << recorded.status();
    return recorded.value_or(Recorded{});
  }
  // Commits that must succeed.
  void Record(const Batch& batch) {
    const absl::Status status = store_->Commit(batch);
    ASSERT_TRUE(status.ok()) << status;
  }

  Harness harness_;
  std::unique_ptr<StateStore> store_ = harness_.Open();
  SampleFarm farm_;
};

}  // namespace hydrant

#endif  // HYDRANT_TESTS_CONFORMANCE_STATE_STORE_HARNESS_H_

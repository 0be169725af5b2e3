#include "tests/conformance/test_postgres.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "daemon/record/postgres_store.h"
#include "lib/base/test_dir.h"

namespace hydrant {
namespace {

void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "PostgreSQL for tests: %s\n", status.ToString().c_str());
  std::exit(1);
}

struct Running {
  Running() {
    auto started = EmbeddedPostgres::Start({.folder = folder / "postgres", .durable = false});
    Require(started.status());
    cluster = *std::move(started);
  }
  ~Running() { (void)cluster->Stop(); }

  TestDir folder;
  std::unique_ptr<EmbeddedPostgres> cluster;
  int databases = 0;
};

Running& TheOne() {
  static Running running;
  return running;
}

std::string NewDatabase(const std::string& source) {
  Running& running = TheOne();
  const std::string name = absl::StrCat("test_", ++running.databases);
  Require(running.cluster->CreateDatabase(name, source));
  return running.cluster->Url(name);
}

}  // namespace

EmbeddedPostgres& TestPostgres() { return *TheOne().cluster; }

std::string EmptyDatabase() { return NewDatabase(""); }

std::string FreshDatabase() {
  // Copying a database is faster than making a schema.
  static const bool made = [] {
    Require(TestPostgres().CreateDatabase("fresh"));
    auto store = PostgresStore::Open({.url = TestPostgres().Url("fresh")});
    Require(store.status());
    Require((*store)->Load().status());
    return true;
  }();
  return NewDatabase(made ? "fresh" : "");
}

}  // namespace hydrant

// For tests: one real PostgreSQL a test program, started at first use in a temporary folder and ended with
// the program, and as many databases in it as there are tests.
#ifndef HYDRANT_TESTS_CONFORMANCE_TEST_POSTGRES_H_
#define HYDRANT_TESTS_CONFORMANCE_TEST_POSTGRES_H_

#include <string>

#include "daemon/record/postgres_cluster.h"

namespace hydrant {

// The program fails when it cannot be started.
EmbeddedPostgres& TestPostgres();

// The URL of a database that is empty, or that has the schema and no rows, as after the first Load.
std::string EmptyDatabase();
std::string FreshDatabase();

}  // namespace hydrant

#endif  // HYDRANT_TESTS_CONFORMANCE_TEST_POSTGRES_H_

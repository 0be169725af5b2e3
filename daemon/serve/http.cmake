hydrant_library(hydrant_daemon_serve_http
  SOURCES authenticator.cc cache_http.cc cache_http_route.cc cache_http_upload.cc http_health.cc http_listen.cc http_message.cc
    http_range.cc http_server.cc http_token.cc http_upload.cc tokens_file.cc
  LINK hydrant_lib_base hydrant_lib_nix hydrant_daemon_cache
  PRIVATE_LINK PkgConfig::microhttpd)

# For tests/bench/http_server_trial/run.
hydrant_program(http_trial_server
  SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/http_server_trial/server.cc
  LINK hydrant_daemon_serve_http)
set_target_properties(http_trial_server PROPERTIES EXCLUDE_FROM_ALL ON)

hydrant_test(daemon_serve_http_test
  LABEL cache
  SOURCES cache_http_route_test.cc cache_http_test.cc http_message_test.cc http_range_test.cc http_server_test.cc
    http_upload_test.cc
  LINK hydrant_daemon_serve_http hydrant_tests_memory_store)

hydrant_test(daemon_serve_security_test
  LABEL security
  SOURCES authenticator_test.cc cache_http_rights_test.cc
  LINK hydrant_daemon_serve_http hydrant_tests_memory_store)

hydrant_test(daemon_serve_nix_test
  LABEL cache TIMEOUT 300
  SOURCES cache_http_nix_test.cc
  LINK hydrant_daemon_serve_http hydrant_tests_memory_store)

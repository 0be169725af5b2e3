# cmake -DFOLDER=… -DOUTPUT=… -P embed_sql.cmake: every file of queries/ and schema/ with its SHA-256, as C++.
function(list_files folder result)
  file(GLOB files ${FOLDER}/${folder}/*.sql)
  list(SORT files)
  set(lines "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    file(SHA256 "${file}" sum)
    string(APPEND lines "    {\"${name}\", R\"sql(${text})sql\", \"${sum}\"},\n")
  endforeach()
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

list_files(queries queries)
list_files(schema schema)
file(WRITE "${OUTPUT}" "// Made by embed_sql.cmake.
#include \"daemon/record/embedded_sql.h\"

namespace hydrant {
namespace {
constexpr EmbeddedFile kQueries[] = {
${queries}};
constexpr EmbeddedFile kSchema[] = {
${schema}};
}  // namespace

std::span<const EmbeddedFile> QueryFiles() { return kQueries; }
std::span<const EmbeddedFile> SchemaFiles() { return kSchema; }

}  // namespace hydrant
")

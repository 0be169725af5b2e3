# cmake -DOUTPUT=x.cc -DFOLDER=dir -DFILES="driver.nix;recipes/a.nix" -P embed.cmake: the files as C++ text.
set(text "#include \"daemon/evaluate/driver_files.h\"\n\nnamespace hydrant {\nnamespace {\n\nconstexpr DriverFile kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(READ ${FOLDER}/${file} content)
  string(APPEND text "    {\"${file}\", R\"nix(${content})nix\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const DriverFile> DriverFiles() { return kFiles; }\n\n}  // namespace hydrant\n")
file(WRITE ${OUTPUT} "${text}")

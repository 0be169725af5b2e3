{ lib, stdenv }:

stdenv.mkDerivation {
  pname = "jetson-stats";
  version = "4.2.0";
  meta = {
    description = "What a Jetson board is doing";
    license = lib.licenses.mit;
    platforms = [ "aarch64-linux" ];
  };
}

{ lib, stdenv, blasProvider ? null }:

let
  provider = if blasProvider == null then "openblas" else blasProvider.pname;
in
stdenv.mkDerivation {
  pname = "blas";
  version = "3";
  inherit provider;
  buildInputs = lib.optional (blasProvider != null) blasProvider;
  installPhase = ''
    mkdir -p $out/lib
    echo "$provider $buildInputs" > $out/lib/libblas.so
  '';
  passthru = { inherit provider; };
  meta = {
    description = "Basic linear algebra, by ${provider}";
    license = lib.licenses.bsd3;
  };
}

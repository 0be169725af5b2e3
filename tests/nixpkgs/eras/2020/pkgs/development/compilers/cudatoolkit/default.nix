# One attribute a release, from the vendor's runfile; the two oldest in the spelling of 2018.
{ stdenv }:

let
  toolkit =
    version:
    stdenv.mkDerivation {
      name = "cudatoolkit-${version}";
      inherit version;
      outputs = [ "out" "lib" "doc" ];
      passthru = { inherit version; };
      meta.license = {
        shortName = "unfree";
        free = false;
      };
    };
in
{
  cudatoolkit8 = toolkit "8.0.61.2";
  cudatoolkit9 = toolkit "9.1.85.1";
  cudatoolkit_10_1 = toolkit "10.1.243";
  cudatoolkit_10_2 = toolkit "10.2.89";
  cudatoolkit_11_0 = toolkit "11.0.2";
}

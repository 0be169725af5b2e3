# What all CUDA sets share: the GPU architectures with the releases that compile for them, and the licences' predicate.
{ lib }:

let
  entry = min: max: { inherit min max; jetson = false; };
in
{
  capabilities = {
    "6.1" = entry "10.0" "12.9";
    "7.5" = entry "10.0" null;
    "8.0" = entry "11.2" null;
    "8.6" = entry "11.2" null;
    "8.7" = entry "11.4" null // { jetson = true; };
    "8.9" = entry "11.8" null;
    "9.0" = entry "11.8" null;
    "10.0" = entry "12.8" null;
    "12.0" = entry "12.8" null;
  };
  defaults = [ "7.5" "8.0" "8.6" "8.9" "9.0" "10.0" "12.0" ];
  releases = {
    "12.6" = { cudnn = "9.8.0"; cusparselt = "0.6.3.2"; };
    "12.8" = { cudnn = "9.13.0"; cusparselt = "0.8.1.1"; };
    "12.9" = { cudnn = "9.13.0"; cusparselt = "0.8.1.1"; };
    "13.0" = { cudnn = "9.13.0"; cusparselt = "0.8.1.1"; };
  };
  lib.allowUnfreeCudaPredicate = package: builtins.all (licence: builtins.match ".* EULA" licence.shortName != null) (lib.toList package.meta.license);
}

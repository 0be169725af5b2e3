# The tree's settings with their defaults; `given` wins.
given:
{
  allowUnfree = false;
  allowUnfreePredicate = _: false;
  allowBroken = false;
  allowUnsupportedSystem = false;
  permittedInsecurePackages = [ ];
  allowAliases = true;
  inHydra = false; # refusals without the paragraph on how to allow
  cudaSupport = false;
  cudaFlavour = "redist"; # or "runfile": the toolkit from one installer
  cudaCapabilities = [ ]; # empty: what the CUDA version builds by default
  cudaForwardCompat = true;
}
// given

# Names that are gone, each with the sentence that says where to.
final: prev:

prev.lib.optionalAttrs prev.config.allowAliases {
  cudnn = throw "cudnn* is now part of cudaPackages*";
  cutensor = throw "cutensor* is now part of cudaPackages*";
  cudatoolkit_10_2 = throw "cudatoolkit_10_2 has been removed from Nixpkgs, as it is unmaintained upstream";
  cudaPackages_10_2 = throw "CUDA 10.2 has been removed from Nixpkgs, as it is unmaintained upstream and depends on unsupported compilers";
  python27Packages = throw "python27 has been removed, as it has reached its end of life";
}

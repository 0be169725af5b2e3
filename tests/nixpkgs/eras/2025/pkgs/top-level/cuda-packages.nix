# One set a CUDA release, of redistributables only.
{ lib, stdenv, config, system, newScope, pkgs, _cuda }:

cudaMajorMinorVersion:

let
  name = "cudaPackages_${lib.underscored cudaMajorMinorVersion}";
  release = _cuda.releases.${cudaMajorMinorVersion};
  requested = config.cudaCapabilities or [ ];
  known = builtins.filter (capability: _cuda.capabilities ? ${capability}) requested;
  unknown = builtins.filter (capability: !(_cuda.capabilities ? ${capability})) requested;
  tooNew = builtins.filter (capability: !lib.atLeast cudaMajorMinorVersion _cuda.capabilities.${capability}.min) known;
  tooOld = builtins.filter (
    capability: _cuda.capabilities.${capability}.max != null && !lib.atLeast _cuda.capabilities.${capability}.max cudaMajorMinorVersion
  ) known;
  jetson = builtins.filter (capability: _cuda.capabilities.${capability}.jetson) known;
  say = list: text: lib.optional (list != [ ]) "- ${text}: ${builtins.toJSON list}";
  failed =
    say unknown "Requested unrecognized CUDA capabilities"
    ++ say tooNew "Requested CUDA capabilities which are too new for CUDA ${cudaMajorMinorVersion}"
    ++ say tooOld "Requested CUDA capabilities which are too old for CUDA ${cudaMajorMinorVersion}"
    ++ lib.optional (
      jetson != [ ] && system != "aarch64-linux"
    ) "- Requested Jetson CUDA capabilities (${builtins.toJSON jetson}) require hostPlatform (${system}) to be aarch64-linux";

  part =
    pname: licence:
    stdenv.mkDerivation {
      name = pname;
      meta = {
        license = {
          shortName = licence;
          free = false;
        };
        platforms = [ "x86_64-linux" "aarch64-linux" ];
      };
    };
in
lib.makeScope newScope (self: {
  inherit cudaMajorMinorVersion;
  cudaMajorVersion = builtins.head (builtins.splitVersion cudaMajorMinorVersion);
  # All packages, with this set as the default.
  pkgs = pkgs.extend (final: prev: { cudaPackages = final.${name}; });
  flags = {
    inherit (self.backendStdenv) cudaCapabilities;
    cudaForwardCompat = config.cudaForwardCompat or true;
  };
  backendStdenv =
    if failed != [ ] then
      throw "${name}.backendStdenv has failed assertions:\n${builtins.concatStringsSep "\n" failed}"
    else
      {
        cudaCapabilities =
          if requested != [ ] then
            requested
          else
            builtins.filter (capability: lib.atLeast cudaMajorMinorVersion _cuda.capabilities.${capability}.min) _cuda.defaults;
      };
  cuda_nvcc = part "cuda_nvcc-${cudaMajorMinorVersion}" "CUDA EULA";
  cuda_cudart = part "cuda_cudart-${cudaMajorMinorVersion}" "CUDA EULA";
  cudnn = part "cudnn-${release.cudnn}-cuda${cudaMajorMinorVersion}" "cuDNN EULA";
  cusparselt = part "cusparselt-${release.cusparselt}-cuda${cudaMajorMinorVersion}" "cuSPARSELt EULA";
  tensorrt = part "tensorrt-10.9.0-cuda${cudaMajorMinorVersion}" "TensorRT EULA";
  nccl = self.callPackage (
    { flags, cuda_nvcc, cuda_cudart }:
    stdenv.mkDerivation {
      name = "nccl-2.28.3-cuda${cudaMajorMinorVersion}";
      buildInputs = [ cuda_nvcc cuda_cudart ];
      targets = flags.cudaCapabilities;
      ptx = flags.cudaForwardCompat;
    }
  ) { };
})

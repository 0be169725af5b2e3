# One set a CUDA release. The toolkit comes in parts (redist), and still as the vendor's one installer.
{ lib, stdenv, config, system, newScope }:

cudaVersion:

let
  eula = shortName: {
    inherit shortName;
    free = false;
  };
  part =
    name: licence:
    stdenv.mkDerivation {
      inherit name;
      passthru = { inherit cudaVersion; };
      meta = {
        license = eula licence;
        platforms = [ "x86_64-linux" "aarch64-linux" ];
      };
    };
  cudnn = { "11.4" = "8.3.2"; "11.8" = "8.7.0"; "12.2" = "8.9.7"; };

  jetson = builtins.filter (capability: builtins.elem capability [ "6.2" "7.2" "8.7" ]) requested;
  requested = config.cudaCapabilities or [ ];
  flags = {
    cudaCapabilities =
      if jetson != [ ] && (jetson != requested || system != "aarch64-linux") then
        throw ''
          Jetson devices cannot be targeted with non-Jetson devices. Additionally, they require targetPlatform to be aarch64.
          You requested ${builtins.toJSON requested} for:
          - Build platform ${system}''
      else if requested != [ ] then
        requested
      else
        [ "7.5" "8.0" "8.6" ];
    enableForwardCompat = config.cudaForwardCompat or true;
  };
in
lib.makeScope newScope (self: {
  inherit cudaVersion flags;
  cudaMajorVersion = builtins.head (builtins.splitVersion cudaVersion);
  cudaFlags = flags;
  cuda_nvcc = part "cuda_nvcc-${cudaVersion}" "CUDA EULA";
  libcublas = part "libcublas-${cudaVersion}" "CUDA EULA";
  cudnn = part "cudnn-${cudnn.${cudaVersion}}" "cuDNN EULA";
  cutensor = part "cutensor-1.7.0-cuda${cudaVersion}" "cuTENSOR EULA";
  cudatoolkit = stdenv.mkDerivation {
    name = "cudatoolkit-${cudaVersion}-joined";
    parts = [ self.cuda_nvcc self.libcublas ];
    meta.license = eula "CUDA EULA";
  };
  cudatoolkit-legacy-runfile = part "cudatoolkit-${cudaVersion}" "CUDA EULA";
  nccl = self.callPackage (
    { cudatoolkit, flags }:
    stdenv.mkDerivation {
      name = "nccl-2.20.5-${cudaVersion}";
      buildInputs = [ cudatoolkit ];
      targets = flags.cudaCapabilities;
      ptx = flags.enableForwardCompat;
    }
  ) { };
})

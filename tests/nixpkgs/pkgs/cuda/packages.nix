# One set `cudaPackages_X_Y`.
{
  lib,
  config,
  stdenv,
  system,
  newScope,
}:

{ cudaVersion, release }:

let
  callPackage = newScope self;
  flags = import ./flags.nix { inherit lib config system cudaVersion; };
  base = "https://developer.download.nvidia.com/compute";
  platform = if system == "aarch64-linux" then "linux-sbsa" else "linux-x86_64";
  runfile = config.cudaFlavour == "runfile";

  # The vendor's archive of one component. In the runfile flavour the toolkit's own components come out of the one
  # installer instead.
  component =
    {
      pname,
      version ? release.full,
      license ? lib.licenses.nvidiaCuda,
      separate ? false,
      ...
    }@args:
    stdenv.mkDerivation (
      removeAttrs args [ "license" "separate" ]
      // {
        inherit pname version;
        src =
          if runfile && !separate then
            installer
          else
            stdenv.fetchurl {
              url = "${base}/redist/${pname}/${platform}/${pname}-${platform}-${version}-archive.tar.xz";
              text = "${pname} ${version} for CUDA ${cudaVersion}\n";
            };
        buildPhase = args.buildPhase or "" + ''
          echo "${if runfile && !separate then "extracting from the installer" else "patching the archive"}: ${pname} ${version}"
        '';
        installPhase = args.installPhase or ''
          mkdir -p $out/lib
          { echo "${pname}=${version}"; cat $src; } > $out/lib/${pname}.so
        '';
        meta = {
          description = "${pname} of CUDA ${cudaVersion}";
          inherit license;
          platforms = [ "x86_64-linux" "aarch64-linux" ];
        } // args.meta or { };
      }
    );

  installer = stdenv.fetchurl {
    url = "${base}/cuda/${release.full}/local_installers/cuda_${release.full}_${release.driver}_linux.run";
    text = "CUDA ${release.full} with driver ${release.driver}\n";
  };

  self = {
    inherit callPackage cudaVersion flags;
    cudaMajorVersion = lib.major cudaVersion;
    cudaFullVersion = release.full;
    inherit (flags) cudaCapabilities;
    inherit (config) cudaFlavour;

    cuda_nvcc = component {
      pname = "cuda_nvcc";
      installPhase = ''
        mkdir -p $out/bin
        { echo '#!/bin/sh'; echo 'echo "nvcc: Cuda compilation tools, release ${cudaVersion}, V${release.full}"'; } > $out/bin/nvcc
        chmod 755 $out/bin/nvcc
      '';
    };

    # Three outputs: what runs, what compiles, what links.
    cuda_cudart = component {
      pname = "cuda_cudart";
      outputs = [ "out" "dev" "lib" ];
      installPhase = ''
        mkdir -p $out/share $dev/include $lib/lib
        echo "cuda_cudart ${release.full}" > $out/share/cuda_cudart
        echo "#define CUDART_VERSION ${lib.undotted cudaVersion}0" > $dev/include/cuda_runtime_api.h
        echo "$lib" > $dev/include/cudart.libpath
        cat $src > $lib/lib/libcudart.so
      '';
    };

    libcublas = component { pname = "libcublas"; };

    cudnn = component {
      pname = "cudnn";
      version = release.cudnn;
      license = lib.licenses.cudnn;
      separate = true;
    };

    cutensor = component {
      pname = "cutensor";
      version = release.cutensor;
      license = lib.licenses.cutensor;
      separate = true;
    };

    # Free, and built from source by nvcc.
    nccl = stdenv.mkDerivation {
      pname = "nccl";
      version = release.nccl;
      src = stdenv.fetchurl {
        url = "https://github.com/NVIDIA/nccl/archive/v${release.nccl}-1.tar.gz";
        text = "nccl ${release.nccl}\n";
      };
      nativeBuildInputs = [ self.cuda_nvcc ];
      buildInputs = [ self.cuda_cudart.lib ];
      buildPhase = ''
        for target in ${flags.targets}; do echo "nvcc -c all_reduce.cu for $target"; done
      '';
      installPhase = ''
        mkdir -p $out/lib
        echo "nccl=${release.nccl} targets=${flags.targets} cudart=${self.cuda_cudart.lib}" > $out/lib/libnccl.so
      '';
      meta = {
        description = "Communication between GPUs";
        license = lib.licenses.bsd3;
      };
    };

    cudatoolkit = stdenv.mkDerivation {
      pname = "cudatoolkit";
      version = release.full;
      parts = [
        self.cuda_nvcc
        self.cuda_cudart
        self.cuda_cudart.dev
        self.cuda_cudart.lib
        self.libcublas
      ];
      buildPhase = ''echo "joining the parts of CUDA ${release.full}"'';
      installPhase = ''
        for part in $parts; do
          for folder in bin include lib share; do
            [ -d $part/$folder ] || continue
            mkdir -p $out/$folder
            ln -s $part/$folder/* $out/$folder/
          done
        done
      '';
      passthru = { inherit cudaVersion; };
      meta = {
        description = "CUDA ${cudaVersion}: compiler, runtime and libraries";
        license = lib.licenses.nvidiaCuda;
        platforms = [ "x86_64-linux" ];
      };
    };

    nccl-tests = callPackage ../nccl-tests.nix { };
    saxpy = callPackage ../saxpy.nix { };

    # Only after accepting the vendor's licence: the source cannot be had by a farm.
    tensorrt = stdenv.mkDerivation {
      pname = "tensorrt";
      version = "8.6.1";
      src = stdenv.requireFile {
        name = "TensorRT-8.6.1.6.Linux.x86_64-gnu.cuda-${cudaVersion}.tar.gz";
        url = "https://developer.nvidia.com/tensorrt";
      };
      meta = {
        description = "Inference optimiser";
        license = lib.licenses.tensorrt;
      };
    };

    # Jetson's own.
    cuda_compat = component {
      pname = "cuda_compat";
      meta = {
        description = "Forward compatibility of CUDA ${cudaVersion}";
        platforms = [ "aarch64-linux" ];
      };
    };
  };
in
self

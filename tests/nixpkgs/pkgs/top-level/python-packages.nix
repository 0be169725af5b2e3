# The packages of one interpreter: set `pythonXYPackages`.
{ lib, pkgs, config, callPackage, buildPythonPackage, stdenv }:

self:

let
  inherit (lib) licenses;

  # A package that needs nothing but others of the set.
  pure =
    pname: version: propagatedBuildInputs:
    buildPythonPackage { inherit pname version propagatedBuildInputs; };

  broken =
    pname: version: propagatedBuildInputs:
    buildPythonPackage {
      inherit pname version propagatedBuildInputs;
      meta = {
        description = "${pname}, which does not build with this set";
        broken = true;
      };
    };
in
with self;
{
  # What everything shares.
  six = pure "six" "1.16.0" [ ];
  typing-extensions = pure "typing-extensions" "4.4.0" [ ];
  msgpack = pure "msgpack" "1.0.4" [ ];
  absl-py = buildPythonPackage {
    pname = "absl-py";
    version = "1.3.0";
    propagatedBuildInputs = [ six ];
    modules.absl = { };
  };
  opt-einsum = pure "opt-einsum" "3.3.0" [ numpy ];
  numpy = callPackage ../python/numpy.nix { };
  scipy = pure "scipy" "1.9.3" [ numpy ];
  pillow = pure "pillow" "9.2.0" [ ];

  # JAX: the library knows nothing of the compiled half, which comes with or without CUDA.
  jax = buildPythonPackage {
    pname = "jax";
    version = "0.4.1";
    propagatedBuildInputs = [ numpy scipy opt-einsum typing-extensions ];
    modules.jax = {
      "numpy.__name__" = "jax.numpy";
      "scipy.__name__" = "jax.scipy";
    };
  };
  jaxlib = callPackage ../python/jaxlib.nix { };
  jaxlibWithCuda = jaxlib.override { cudaSupport = true; };
  jaxlibWithoutCuda = jaxlib.override { cudaSupport = false; };

  # These depend on jax and leave the choice of jaxlib to who uses them.
  chex = pure "chex" "0.1.5" [ absl-py jax numpy ];
  jmp = pure "jmp" "0.0.2" [ jax ];
  optax = pure "optax" "0.1.3" [ absl-py chex jax ];
  flax = pure "flax" "0.6.3" [ jax msgpack optax ];
  dm-haiku = buildPythonPackage {
    pname = "dm-haiku";
    version = "0.0.9";
    propagatedBuildInputs = [ absl-py jax jmp ];
    modules.haiku = { };
  };
  equinox = pure "equinox" "0.9.2" [ jax typing-extensions ];
  jaxopt = pure "jaxopt" "0.5.5" [ jax scipy ];
  distrax = pure "distrax" "0.1.2" [ chex jax ];
  rlax = pure "rlax" "0.1.4" [ chex distrax dm-haiku ];
  numpyro = pure "numpyro" "0.10.1" [ jax ];
  blackjax = pure "blackjax" "0.9.6" [ jax jaxopt ];
  evosax = pure "evosax" "0.1.0" [ chex flax jax ];
  brax = pure "brax" "0.0.16" [ flax jaxopt optax ];
  arviz = pure "arviz" "0.14.0" [ numpyro scipy ];

  # PyTorch, under both of its names.
  pytorch = callPackage ../python/pytorch.nix { };
  pytorchWithCuda = pytorch.override { cudaSupport = true; };
  pytorchWithoutCuda = pytorch.override { cudaSupport = false; };
  torch = pytorch;
  torchWithCuda = pytorchWithCuda;
  torchWithoutCuda = pytorchWithoutCuda;
  # The override that people try first: magma keeps the CUDA of the set, so this holds only where that is 11.8 anyway.
  pytorchWithCuda11 = pytorchWithCuda.override { cudaPackages = pkgs.cudaPackages_11_8; };
  torchvision = pure "torchvision" "0.14.1" [ numpy pillow pytorch ];

  cupy = callPackage ../python/cupy.nix { };
  hello-cuda = callPackage ../python/hello-cuda.nix { };

  # A package that compiles for the slice, and one that only depends on it.
  a = callPackage ../python/a.nix { };
  b = pure "b" "1.0" [ a ];

  # What goes wrong.
  tensorflow = broken "tensorflow" "2.10.0" [ numpy ];
  tensorflowWithCuda = broken "tensorflow-gpu" "2.10.0" [ numpy ];
  TheanoWithCuda = buildPythonPackage {
    pname = "theano";
    version = "1.0.5";
    disabled = pythonAtLeast "3.12";
    propagatedBuildInputs = [ numpy six ];
  };
  pycuda = callPackage ../python/pycuda.nix { }; # its tests fail
  scikit-cuda = pure "scikit-cuda" "0.5.3" [ numpy pycuda ]; # its dependency fails
  faster-whisper = pure "faster-whisper" "0.9.0" [ numpy ctranslate2 ]; # fails where ctranslate2 does
  ctranslate2 = callPackage ../python/ctranslate2.nix { };
  # CPU and CUDA jaxlib in one closure.
  jax-both = pure "jax-both" "0.4.1" [ jax jaxlibWithCuda jax-cpu-tools ];
  jax-cpu-tools = pure "jax-cpu-tools" "0.4.1" [ jaxlibWithoutCuda ];
  pillow-legacy = buildPythonPackage {
    pname = "pillow-legacy";
    version = "6.2.2";
    meta = {
      description = "The last pillow of the old decoder";
      knownVulnerabilities = [ "CVE-2021-34552: buffer overflow in Convert.c" ];
    };
  };
  # A name that is misspelt inside the package.
  misspelt = pure "misspelt" "0.1" [ self.nunpy ];
  mistyped = pure "mistyped" ("0." + 1) [ ];
}

# Names under which a package stands in the trees of an era, for who asks by the name of another. Only a missing attribute is
# looked up here. Data: era = { asked-for = [ candidate … ]; }, the first candidate that is there is taken:
#   "a.b"                              an attribute path beside the missing one; {cuda} stands for the slice's CUDA major
#   { of = "x"; override = { … }; }    x of the same set with arguments, where it takes them
# Sources: nixpkgs' python-aliases.nix (pytorch became torch on 2022-09-30, triton was openai-triton until 2024), release notes.
let
  withCuda = of: { inherit of; override = { cudaSupport = true; }; };
  withoutCuda = of: { inherit of; override = { cudaSupport = false; }; };

  # A compiled half that a flag of its own switches, in the eras of such attributes.
  flagged = {
    jaxlibWithCuda = [ (withCuda "jaxlib") ];
    jaxlibWithoutCuda = [ (withoutCuda "jaxlib") ];
    tensorflowWithCuda = [ (withCuda "tensorflow") ];
    tensorflowWithoutCuda = [ (withoutCuda "tensorflow") ];
    TheanoWithCuda = [ "theanoWithCuda" (withCuda "Theano") (withCuda "theano") ];
    xgboostWithCuda = [ (withCuda "xgboost") ];
    magma-cuda = [ "magma" ];
  };

  torch = {
    torch = [ "pytorch" ];
    pytorch = [ "torch" ];
    torch-bin = [ "pytorch-bin" ];
    pytorch-bin = [ "torch-bin" ];
    torchWithCuda = [ "pytorchWithCuda" (withCuda "torch") (withCuda "pytorch") ];
    pytorchWithCuda = [ "torchWithCuda" (withCuda "pytorch") (withCuda "torch") ];
    torchWithoutCuda = [ "pytorchWithoutCuda" (withoutCuda "torch") (withoutCuda "pytorch") ];
    pytorchWithoutCuda = [ "torchWithoutCuda" (withoutCuda "pytorch") (withoutCuda "torch") ];
  };

  triton = {
    triton = [ "openai-triton" ];
    openai-triton = [ "triton" ];
  };

  # What the CUDA sets took in.
  ofTheSets = {
    cudatoolkit = [ "cudaPackages.cudatoolkit" ];
    cudnn = [ "cudaPackages.cudnn" ];
    cutensor = [ "cudaPackages.cutensor" ];
    nccl = [ "cudaPackages.nccl" ];
    nccl-tests = [ "cudaPackages.nccl-tests" ];
  };
in
{
  "2020" = flagged // torch;
  "2022" = flagged // torch // triton // ofTheSets;
  # The global flag decides; JAX's compiled half for GPUs is a plugin named by the CUDA major.
  "2025" =
    flagged
    // torch
    // triton
    // ofTheSets
    // {
      jaxlibWithCuda = [ "jax-cuda{cuda}-plugin" (withCuda "jaxlib") ];
      cupyWithCuda = [ "cupy" ];
    };
}

let
  free = shortName: fullName: {
    inherit shortName fullName;
    free = true;
    redistributable = true;
  };
  unfree = shortName: fullName: {
    inherit shortName fullName;
    free = false;
    redistributable = false;
  };
in
{
  mit = free "mit" "MIT License";
  asl20 = free "asl20" "Apache License 2.0";
  bsd3 = free "bsd3" "BSD 3-clause License";
  psfl = free "psfl" "Python Software Foundation License";
  nvidiaCuda = unfree "CUDA EULA" "CUDA Toolkit End User License Agreement";
  cudnn = unfree "cuDNN EULA" "cuDNN Software License Agreement";
  cutensor = unfree "cuTENSOR EULA" "cuTENSOR Software License Agreement";
  tensorrt = unfree "TensorRT EULA" "TensorRT Software License Agreement";
  unfree = unfree "unfree" "Unfree";
}

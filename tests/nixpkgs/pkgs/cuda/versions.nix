# The CUDA releases of the tree, and what each brings.
{
  "11.4" = { full = "11.4.4"; cudnn = "8.2.4"; nccl = "2.11.4"; cutensor = "1.3.1"; driver = "470.82.01"; };
  "11.8" = { full = "11.8.0"; cudnn = "8.6.0"; nccl = "2.15.5"; cutensor = "1.6.1"; driver = "520.61.05"; };
  "12.0" = { full = "12.0.1"; cudnn = "8.8.0"; nccl = "2.16.5"; cutensor = "1.6.2"; driver = "525.85.12"; };
  "12.2" = { full = "12.2.2"; cudnn = "8.9.7"; nccl = "2.19.3"; cutensor = "1.7.0"; driver = "535.104.05"; };
  "12.4" = { full = "12.4.1"; cudnn = "9.1.1"; nccl = "2.21.5"; cutensor = "2.0.1"; driver = "550.54.15"; };
  "12.6" = { full = "12.6.3"; cudnn = "9.5.1"; nccl = "2.23.4"; cutensor = "2.0.2"; driver = "560.35.05"; };
  "12.8" = { full = "12.8.1"; cudnn = "9.8.0"; nccl = "2.25.1"; cutensor = "2.2.0"; driver = "570.124.06"; };
  "12.9" = { full = "12.9.1"; cudnn = "9.11.0"; nccl = "2.27.3"; cutensor = "2.2.0"; driver = "575.57.08"; };
  "13.0" = { full = "13.0.1"; cudnn = "9.13.0"; nccl = "2.28.3"; cutensor = "2.3.0"; driver = "580.82.07"; };
}

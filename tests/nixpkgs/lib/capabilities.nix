# GPU architectures: the CUDA versions that compile for them (null: no end yet), whether they are Jetson's, and the last
# CUDA version that builds them without being asked ("": none does).
let
  entry = min: max: default: { inherit min max default; jetson = false; };
  jetson = min: max: { inherit min max; default = ""; jetson = true; };
in
{
  "3.5" = entry "10.0" "11.8" "";
  "3.7" = entry "10.0" "11.8" "";
  "5.0" = entry "10.0" "12.9" "";
  "5.2" = entry "10.0" "12.9" "";
  "6.0" = entry "10.0" "12.9" "12.3";
  "6.1" = entry "10.0" "12.9" "12.3";
  "7.0" = entry "10.0" "12.9" "12.5";
  "7.2" = jetson "10.0" "12.2";
  "7.5" = entry "10.0" null "99";
  "8.0" = entry "11.2" null "99";
  "8.6" = entry "11.2" null "99";
  "8.7" = jetson "11.4" null;
  "8.9" = entry "11.8" null "99";
  "9.0" = entry "11.8" null "99";
  "9.0a" = entry "12.0" null "";
  "10.0" = entry "12.8" null "99";
  "10.0a" = entry "12.8" null "";
  "10.3" = entry "12.9" null "99";
  "12.0" = entry "12.8" null "99";
  "12.0a" = entry "12.8" null "";
  "12.1" = entry "12.9" null "99";
}

{
  python39 = "3.9.18";
  python310 = "3.10.14";
  python311 = "3.11.9";
  python312 = "3.12.4";
  python313 = "3.13.0";
}

{
  nix.settings = {
    extra-substituters = [ "http://farm:8580" ];
    extra-trusted-public-keys = [ "farm-1:a2V5" ];
    connect-timeout = 5;
    fallback = true;
    narinfo-cache-negative-ttl = 60;  # an hour by default
  };
}

# Which GPU architectures a CUDA release compiles for: those of the config, or the release's own, judged when they are used.
{ lib, config, system, cudaVersion }:

let
  inherit (builtins) filter attrNames elem;
  table = lib.capabilities;
  requested = config.cudaCapabilities;
  supports = name: lib.versionAtLeast cudaVersion table.${name}.min && (table.${name}.max == null || lib.versionAtLeast table.${name}.max cudaVersion);
  byDefault = name: table.${name}.default != "" && lib.versionAtLeast table.${name}.default cudaVersion && supports name;

  unknown = filter (name: !table ? ${name}) requested;
  known = filter (name: table ? ${name}) requested;
  tooNew = filter (name: lib.versionOlder cudaVersion table.${name}.min) known;
  tooOld = filter (name: table.${name}.max != null && lib.versionOlder table.${name}.max cudaVersion) known;
  jetson = filter (name: table.${name}.jetson) known;

  complaints =
    lib.optional (unknown != [ ]) "Requested unrecognized CUDA capabilities: ${lib.quoted unknown}"
    ++ lib.optional (tooNew != [ ]) "Requested CUDA capabilities which are too new for CUDA ${cudaVersion}: ${lib.quoted tooNew}"
    ++ lib.optional (tooOld != [ ]) "Requested CUDA capabilities which are too old for CUDA ${cudaVersion}: ${lib.quoted tooOld}"
    ++ lib.optional (
      jetson != [ ] && system != "aarch64-linux"
    ) "Requested Jetson CUDA capabilities (${lib.quoted jetson}) require hostPlatform (${system}) to be aarch64-linux";

  # In the order of the releases: 9.0 comes before 10.0.
  ordered = builtins.sort (a: b: lib.versionOlder a b) (attrNames table);
in
rec {
  cudaCapabilities =
    if complaints != [ ] then
      throw "cudaPackages_${lib.underscored cudaVersion}.backendStdenv has failed assertions:\n${
        lib.concatStringsSep "\n" (map (text: "- ${text}") complaints)
      }"
    else if requested != [ ] then
      requested
    else
      filter byDefault ordered;

  # "sm_80 sm_86 compute_86": code for each architecture, and PTX of the last one for those to come.
  targets =
    lib.concatStringsSep " " (map (name: "sm_${lib.undotted name}") cudaCapabilities)
    + lib.optionalString config.cudaForwardCompat " compute_${lib.undotted (lib.last cudaCapabilities)}";
}

{ lib, stdenv, python, closure }:

# `modules` is what `import` finds: {name = {attribute = value;};}, by default one module that knows its version. Values
# that python3.sh understands beyond text: `gpu` (true where a GPU is visible) and `kernel` (a call that needs code for it).
{
  pname,
  version,
  disabled ? false,
  modules ? { ${builtins.replaceStrings [ "-" ] [ "_" ] pname} = { }; },
  propagatedBuildInputs ? [ ],
  installPhase ? "",
  passthru ? { },
  ...
}@args:

let
  required = closure propagatedBuildInputs;

  moduleFile =
    attributes:
    let
      all = { __version__ = version; } // attributes;
    in
    builtins.toFile "module" (lib.concatStringsSep "" (map (key: "${key}=${all.${key}}\n") (builtins.attrNames all)));

  package = stdenv.mkDerivation (
    removeAttrs args [ "disabled" "modules" "passthru" "pname" ]
    // {
      name = "${python.executable}-${pname}-${version}";
      src =
        args.src or (stdenv.fetchurl {
          url = "https://files.pythonhosted.org/packages/source/${pname}-${version}.tar.gz";
          text = "${pname} ${version}\n";
        });
      nativeBuildInputs = [ python ];
      inherit propagatedBuildInputs;
      # One path for each distribution: two of one name cannot both be imported.
      required = map (module: "${module.distribution}=${module}") required;
      moduleNames = builtins.attrNames modules;
      moduleFiles = map moduleFile (builtins.attrValues modules);
      installPhase = ''
        site=$out/${python.sitePackages}
        set -- $moduleFiles
        for module in $moduleNames; do
          mkdir -p $site/$module
          cat $1 > $site/$module/__init__.attributes
          shift
        done
      ''
      + installPhase;
      fixupPhase = ''
        seen=" ${pname}=$out "
        for entry in $required; do
          distribution=''${entry%%=*}
          case $seen in
            *" $distribution="*)
              other=''${seen#*" $distribution="}
              echo "Found duplicated packages in closure for dependency '$distribution':"
              echo "  $distribution (''${other%% *})"
              echo "  $distribution (''${entry#*=})"
              echo "Package duplicates found in closure, see above. Usually this happens if two packages depend on different version of the same dependency."
              exit 1 ;;
          esac
          seen="$seen$entry "
        done
      '';
      passthru = {
        distribution = pname;
        pythonModule = python;
        requiredPythonModules = required;
      } // passthru;
      meta = {
        description = "${pname} for ${python.executable}";
        license = lib.licenses.asl20;
        inherit (python.meta) platforms;
      } // args.meta or { };
    }
  );
in
if disabled then throw "${pname}-${version} not supported for interpreter ${python.executable}" else package

# One interpreter: a stand-in that knows imports, attributes, assert and print (python3.sh), its package set, and
# environments of it.
{
  lib,
  stdenv,
  config,
  newScope,
  pkgs,
}:

{ version, attribute }:

let
  pythonVersion = lib.majorMinor version;
  sitePackages = "lib/python${pythonVersion}/site-packages";

  # Everything that must be importable when `modules` are: themselves and what they require.
  closure = modules: lib.uniqueByPath (modules ++ lib.concatMap (module: module.requiredPythonModules) modules);

  python = stdenv.mkDerivation {
    pname = "python3";
    inherit version;
    src = ./python3.sh;
    installPhase = ''
      mkdir -p $out/bin $out/${sitePackages}
      while IFS= read -r line; do
        case $line in
          'version='*) echo "version=${version}" ;;
          *) printf '%s\n' "$line" ;;
        esac
      done < $src > $out/bin/python3
      chmod 755 $out/bin/python3
      ln -s python3 $out/bin/python
      ln -s python3 $out/bin/python${pythonVersion}
    '';
    passthru = {
      inherit pythonVersion sitePackages closure;
      executable = "python${pythonVersion}";
      isPy3k = true;
      pkgs = set;
      withPackages = select: environment (select set);
    };
    meta = {
      description = "A stand-in for CPython ${pythonVersion}";
      license = lib.licenses.psfl;
    };
  };

  environment =
    modules:
    stdenv.mkDerivation {
      name = "${python.name}-env";
      interpreter = python;
      modules = closure modules;
      installPhase = ''
        site=$out/${sitePackages}
        mkdir -p $out/bin $site
        cat $interpreter/bin/python3 > $out/bin/python3
        chmod 755 $out/bin/python3
        ln -s python3 $out/bin/python
        ln -s python3 $out/bin/python${pythonVersion}
        for module in $modules; do
          for entry in $module/${sitePackages}/*; do
            imported=''${entry##*/}
            if [ -e $site/$imported ]; then
              echo "collision between \`$entry' and \`$(readlink $site/$imported)'" >&2
              exit 25
            fi
            ln -s $entry $site/$imported
          done
          for program in $module/bin/*; do
            if [ -e "$program" ]; then ln -s "$program" $out/bin/; fi
          done
        done
      '';
      passthru = { inherit python; };
      meta = {
        description = "${python.executable} with packages";
        license = lib.licenses.psfl;
      };
    };

  buildPythonPackage = import ./build-python-package.nix {
    inherit lib stdenv python closure;
  };

  callPackage = newScope (
    set
    // {
      inherit pkgs;
      # What both sets have under one name: the tree's own.
      inherit (pkgs) stdenv lib config;
    }
  );

  set = {
    inherit python callPackage buildPythonPackage;
    pythonAtLeast = lib.versionAtLeast pythonVersion;
    pythonOlder = lib.versionOlder pythonVersion;
  } // import ../top-level/python-packages.nix { inherit lib pkgs config callPackage buildPythonPackage stdenv; } set;
in
python

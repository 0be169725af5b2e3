# A slice in the way of nixpkgs from 25.05 on. Its derivations are those of `cudaPackages_X_Y.pkgs.…`, and where one capability
# without forward compatibility is asked for, those of `pkgsForCudaArch.sm_NN.…`; both would import the tree once more for
# each level, so the slice is made in one import: by config, and by an overlay that sets the default CUDA set.
#
# The axes are those of 2022.nix, where they mean the same. What differs:
# cuda            "13" takes cudaPackages_13, the newest of its major, where the tree names one
# accelerator     cuda and rocm exclude one another in the config, as in pkgsCuda and pkgsRocm
# flavour         runfile only while the sets still have `cudatoolkit-legacy-runfile`
arguments: import ./2022.nix (arguments // { recipe = "2025"; })

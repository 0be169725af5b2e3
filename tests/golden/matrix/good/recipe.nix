{ nixpkgs, slice, ... }: import nixpkgs { system = slice.system; }

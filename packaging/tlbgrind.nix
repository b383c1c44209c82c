# tlbgrind.nix -- a package for Nix: nix-build packaging/tlbgrind.nix in the source tree.
# Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
#
# A store path holds its Valgrind by name, so the tool cannot meet another version.

{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "tlbgrind";
  version = "0.1.0";
  src = pkgs.lib.cleanSource ./..;

  # autoreconfHook: a git checkout has no configure yet.
  nativeBuildInputs = [ pkgs.autoreconfHook pkgs.pkg-config ];
  buildInputs = [ pkgs.valgrind pkgs.python3 ];

  # The 32-bit tool would need a compiler with 32-bit libraries.
  configureFlags = [ "--enable-x86=no" ];
  enableParallelBuilding = true;

  # The tool is a static program without a C library.
  hardeningDisable = [ "fortify" "pie" "stackprotector" ];

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/tlbgrind -q --log-file=/dev/null --tlbgrind-out-file=/dev/null true
    $out/bin/tg_annotate --version
  '';

  meta = {
    description = "Valgrind tool that simulates TLBs and page faults";
    license = pkgs.lib.licenses.gpl2Plus;
    mainProgram = "tlbgrind";
    platforms = [ "x86_64-linux" ];
  };
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# by_path.sh CMAKE BUILD PROGRAM: libvscan_mpi as it is installed, in a folder that no loader searches, opened by its
# path alone.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for component in runtime ranks mpi; do
    "$1" --install "$2" --prefix "$folder" --component $component >"$folder/log" || { cat "$folder/log" && exit 1; }
done
unset LD_LIBRARY_PATH LD_PRELOAD
library=$(find "$folder" -name 'libvscan_mpi.so.*' -type l)
"$3" "$library"
# The program's folder is in no path, and the installation may be moved.
mkdir "$folder/moved"
mv "$(dirname "$library")" "$folder/moved/lib"
cd /
"$3" "$folder/moved/lib/${library##*/}"

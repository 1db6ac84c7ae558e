#!/bin/sh
# Compiles Java sources into a jar.
#   build_jar.sh JAVAC JAR CLASS-PATH FOLDER-FOR-CLASSES OUTPUT SOURCE…
set -eu
javac=$1
jar=$2
class_path=$3
folder=$4
output=$5
shift 5
rm -rf "$folder"
mkdir -p "$folder"
# Debian's jars name more than they bring; what is really missing is an error all the same.
"$javac" -Xlint:all,-path -Werror -d "$folder" -cp "$class_path" "$@"
"$jar" --create --file "$output" -C "$folder" .

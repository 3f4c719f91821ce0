# Sourced by the scripts that run experiments: from a fresh Debian machine to the built program. Bash.
# shellcheck shell=bash

# Installs the packages that are missing and builds the program with preset release, in the root of the project.
build_proxbench() {
  scripts/install-deps
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)" --target proxbench
}

# Finds or downloads the OCR data, and has the program find them. Returns 3 where they cannot be had; any other failure
# ends the script.
get_ocr_data() {
  local data status=0
  data=$(scripts/get-data) || status=$?
  case $status in
    0) export PROXBENCH_DATA=${PROXBENCH_DATA:-$data} ;;
    3) return 3 ;;
    *) exit "$status" ;;
  esac
}

# Bash functions for scripts that run experiments: from a fresh Debian machine to the built program. To be sourced.
# shellcheck shell=bash

# Installs missing packages and builds the program, and its module for Python, with preset release. Call it in the root of the project.
build_proxbench() {
  scripts/install-deps
  cmake --preset release
  cmake --build --preset release --parallel "$(nproc)" --target proxbench proxbench_python
}

# Finds or downloads the OCR data, and sets PROXBENCH_DATA for the program. Returns 3 if they are not available. Any
# other failure ends the script.
get_ocr_data() {
  local data status=0
  data=$(scripts/get-data) || status=$?
  case $status in
    0) export PROXBENCH_DATA=${PROXBENCH_DATA:-$data} ;;
    3) return 3 ;;
    *) exit "$status" ;;
  esac
}
